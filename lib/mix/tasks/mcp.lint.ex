defmodule Mix.Tasks.Mcp.Lint do
  @shortdoc "Says what clients refuse of a router, and models stumble over"

  @moduledoc """
  Says what is wrong with the routers of a project although they can be served.

      mix mcp.lint
      mix mcp.lint MyApp.MCP --strict --ignore format,reference

  Without a name all routers of the project are looked at. Each finding is a line and, below it, what to do:

      lib/my_app/mcp.ex:12: error: tool "tag" /inputSchema/properties/tags: the array has no `items` [array_items]
        Say what its elements are.

  The exit status is 1 when there are errors. `McpServer.Lint` gives the same as data; the guide on linting has a table
  of the codes.

  ## Options

    * `--strict` – warnings count as errors
    * `--only CODES` – look for these codes only, separated by commas
    * `--ignore CODES` – do not look for these
    * `--format json` – one JSON object on stdout, nothing else (`text`)
    * `--description-tokens N` – what a tool's description may take (256)
    * `--instructions-tokens N` – what the server's instructions may take (512)
    * `--catalogue-tokens N` – what all tools may take together (20000)
    * `--max-tools N` – how many tools there may be (128)
    * `--no-compile` – look at what is compiled
  """

  use Mix.Task

  alias McpServer.{JSON, Lint}
  alias McpServer.Lint.Finding

  @budgets [
    description_tokens: :integer,
    instructions_tokens: :integer,
    catalogue_tokens: :integer,
    max_tools: :integer
  ]
  @switches [strict: :boolean, only: :string, ignore: :string, format: :string, compile: :boolean] ++ @budgets
  @usage "usage: mix mcp.lint [ROUTER …] [--strict] [--only CODES] [--ignore CODES] [--format text|json] " <>
           "[--description-tokens N] [--instructions-tokens N] [--catalogue-tokens N] [--max-tools N] [--no-compile]"

  @impl true
  def run(arguments) do
    {options, names} = parse!(arguments)
    json? = options[:format] == "json"
    :ok = Mix.McpServer.compile(compile: options[:compile], quiet: json?)
    routers = Mix.McpServer.routers!(names)
    findings = Enum.flat_map(routers, &Lint.run(&1, rules!(options)))
    Mix.shell().info(if(json?, do: json(findings), else: text(findings, length(routers))))
    if failed?(findings, options[:strict]), do: exit({:shutdown, 1})
    :ok
  end

  defp parse!(arguments) do
    case OptionParser.parse(arguments, strict: @switches) do
      {options, names, []} -> {check!(options), names}
      _wrong -> Mix.raise(@usage)
    end
  end

  defp check!(options) do
    if Keyword.get(options, :format, "text") not in ["text", "json"], do: Mix.raise(@usage)
    if Enum.any?(@budgets, fn {name, _type} -> Keyword.get(options, name, 1) < 1 end), do: Mix.raise(@usage)
    options
  end

  defp rules!(options) do
    codes = for {name, text} <- Keyword.take(options, [:only, :ignore]), do: {name, codes!(text)}
    codes ++ Keyword.take(options, Keyword.keys(@budgets))
  end

  defp codes!(text) do
    for name <- String.split(text, ",", trim: true) do
      case Lint.fetch_code(String.trim(name)) do
        {:ok, code} -> code
        :error -> Mix.raise("there is no code #{name}. The codes are: #{Enum.join(Lint.codes(), ", ")}")
      end
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
