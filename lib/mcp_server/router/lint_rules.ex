defmodule McpServer.Router.LintRules do
  @moduledoc false
  # `lint:` of a router and its declarations, and the warnings while a router compiles.

  alias McpServer.{Lint, Suggestion}
  alias McpServer.Lint.Finding
  alias McpServer.Router.Refusal

  @type t :: %{warn?: boolean, ignore: [Lint.code()]}

  @doc "The rules of `lint:`. `owner` is its owner in messages."
  @spec new!(term, String.t(), Refusal.place()) :: t
  def new!(nil, _owner, _place), do: %{warn?: true, ignore: []}
  def new!(false, _owner, _place), do: %{warn?: false, ignore: []}

  def new!([ignore: codes], owner, place) when is_list(codes) do
    %{warn?: true, ignore: Enum.map(codes, &code!(&1, owner, place))}
  end

  def new!(other, owner, place) do
    Refusal.refuse!(place, "`lint` of #{owner} is false or [ignore: [codes]], got: #{inspect(other)}")
  end

  @doc "The codes that a tool, a prompt or a resource ignores."
  @spec ignored!(term, String.t(), Refusal.place()) :: [Lint.code()]
  def ignored!(false, owner, place) do
    Refusal.refuse!(place, "`lint` of #{owner} is [ignore: [codes]]; a whole router says `lint: false`")
  end

  def ignored!(given, owner, place), do: new!(given, owner, place).ignore

  defp code!(code, owner, place) do
    if code in Lint.codes() do
      code
    else
      names = Enum.map(Lint.codes(), &Atom.to_string/1)
      hint = Suggestion.did_you_mean(inspect(code), names)
      Refusal.refuse!(place, "`lint` of #{owner} ignores #{inspect(code)}, which is no code of McpServer.Lint#{hint}")
    end
  end

  @doc "Warns of errors at the declaration's line."
  @spec warn(module) :: :ok
  def warn(router) do
    if router.__mcp__(:lint).warn? do
      for %{severity: :error} = finding <- Lint.run(router) do
        IO.warn("#{Finding.sentence(finding)}\n  #{finding.advice}", file: finding.file, line: finding.line)
      end
    end

    :ok
  end
end
