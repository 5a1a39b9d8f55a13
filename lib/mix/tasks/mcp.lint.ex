defmodule Mix.Tasks.Mcp.Lint do
  @shortdoc "Finds mistakes in routers that clients refuse or models misread"

  @moduledoc """
  Reports mistakes in the routers of a project that do not stop them from compiling.

      mix mcp.lint
      mix mcp.lint MyApp.MCP --strict --ignore format,reference

  Without a name the task checks all routers of the project. Each finding is a line with the problem and a line with the
  fix:

      lib/my_app/mcp.ex:12: error: tool "tag" /inputSchema/properties/tags: the array has no `items` [array_items]
        Say what its elements are, such as `items: :string`.

  The exit status is 1 if there are errors. Paths are relative to the current folder. `McpServer.Lint` returns the
  findings as data; the guide on linting has a table of the codes.

  ## Options

    * `--strict` – warnings count as errors
    * `--only CODES` – check these codes only, separated by commas; may be repeated
    * `--ignore CODES` – ignore these codes; may be repeated
    * `--format json` – one JSON object on stdout, nothing else (`text`)
    * `--description-tokens N` – limit for a tool's description (256)
    * `--instructions-tokens N` – limit for the server's instructions (512)
    * `--catalogue-tokens N` – limit for all tools together (20000)
    * `--max-tools N` – largest number of tools (128)
    * `--no-compile` – check the compiled routers, without compiling first
  """

  use Mix.Task

  alias McpServer.{JSON, Lint}
  alias McpServer.Lint.Finding

  @budgets [:description_tokens, :instructions_tokens, :catalogue_tokens, :max_tools]
  @switches [strict: :boolean, only: [:string, :keep], ignore: [:string, :keep], format: :string, compile: :boolean] ++
              Enum.map(@budgets, &{&1, :integer})
  @usage "usage: mix mcp.lint [ROUTER …] [--strict] [--only CODES] [--ignore CODES] [--format text|json] " <>
           "[--description-tokens N] [--instructions-tokens N] [--catalogue-tokens N] [--max-tools N] [--no-compile]"

  @impl true
  def run(arguments) do
    {options, names} = Mix.McpServer.options!(arguments, @switches, @usage)
    json? = Mix.McpServer.json?(options, @usage)
    rules = codes!(options) ++ budgets!(options)
    :ok = Mix.McpServer.compile(compile: options[:compile], quiet: json?)
    routers = Mix.McpServer.routers!(names)
    findings = Enum.flat_map(routers, &findings(&1, rules))
    # `Mix.shell()` prints nothing with MIX_QUIET=1.
    IO.puts(if(json?, do: json(findings), else: text(findings, length(routers))))
    if failed?(findings, options[:strict]), do: exit({:shutdown, 1})
    :ok
  end

  # Paths in findings are relative to their application, which may be in another folder than the task.
  defp findings(router, rules) do
    folder = Mix.McpServer.folder(router)
    for finding <- Lint.run(router, rules), do: %{finding | file: Path.join(folder, finding.file)}
  end

  defp budgets!(options) do
    Mix.McpServer.limits!(options, Enum.map(@budgets, &{&1, :count}), @usage)
    Keyword.take(options, @budgets)
  end

  # Repeated options add up.
  defp codes!(options) do
    for name <- [:only, :ignore], texts = Keyword.get_values(options, name), texts != [] do
      {name, Enum.flat_map(texts, &codes!(name, &1))}
    end
  end

  defp codes!(name, text) do
    case for(part <- String.split(text, ","), code = String.trim(part), code != "", do: code!(code)) do
      [] -> Mix.McpServer.refuse!("expected --#{name} to name at least one code, got: #{inspect(text)}", @usage)
      codes -> codes
    end
  end

  defp code!(name) do
    case Lint.fetch_code(name) do
      {:ok, code} -> code
      :error -> Mix.raise("there is no code #{name}. The codes are: #{Enum.join(Lint.codes(), ", ")}")
    end
  end

  defp failed?(findings, strict), do: Enum.any?(findings, &(&1.severity == :error or strict))

  defp text(findings, routers) do
    lines = for finding <- findings, do: [Finding.format(finding), "\n  ", finding.advice, "\n"]
    IO.iodata_to_binary([lines, if(lines == [], do: "", else: "\n"), summary(findings, routers)])
  end

  defp summary(findings, routers) do
    {errors, warnings} = Enum.split_with(findings, &(&1.severity == :error))
    "#{count(length(errors), "error")}, #{count(length(warnings), "warning")} in #{count(routers, "router")}"
  end

  defp count(1, noun), do: "1 #{noun}"
  defp count(number, noun), do: "#{number} #{noun}s"

  defp json(findings) do
    {errors, warnings} = Enum.split_with(findings, &(&1.severity == :error))

    JSON.encode!(
      %{
        findings: for(finding <- findings, do: %{Map.from_struct(finding) | router: inspect(finding.router)}),
        errors: length(errors),
        warnings: length(warnings)
      },
      pretty: true,
      order: ["errors", "warnings", {"findings", ~w(severity code router kind name pointer message advice file line)}]
    )
  end
end
