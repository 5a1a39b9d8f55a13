defmodule Mix.McpServer do
  # The shared parts of the tasks for routers.
  @moduledoc false

  alias McpServer.{Limit, Suggestion}

  @switches [timeout: :integer, compile: :boolean, start: :boolean]

  @doc "The router's name and the options of a task that serves it. `switches` are added to those of all tasks."
  @spec parse!([String.t()], keyword(atom()), String.t()) :: {String.t(), keyword()}
  def parse!(arguments, switches, usage) do
    case options!(arguments, switches ++ @switches, usage) do
      {options, [name]} -> {name, limits!(options, [timeout: :milliseconds], usage)}
      _names -> Mix.raise(usage)
    end
  end

  @doc "The options and the names. Raises for a wrong option, with the usage line below the error."
  @spec options!([String.t()], keyword(), String.t()) :: {keyword(), [String.t()]}
  def options!(arguments, switches, usage) do
    case OptionParser.parse(arguments, strict: switches) do
      {options, names, []} -> {options, names}
      {_options, _names, [wrong | _more]} -> refuse!(wrong(wrong, switches), usage)
    end
  end

  defp wrong({switch, value}, switches) do
    types = for {name, type} <- switches, switch(name) == switch, type <- List.wrap(type), type != :keep, do: type

    case {types, value} do
      {[], _value} -> "there is no option #{switch}#{meant(switch, switches)}"
      {[:boolean], _value} -> "expected #{switch} to have no value, got: #{value}"
      {[_type], nil} -> "expected #{switch} to have a value"
      {[type], _value} -> "expected #{switch} to be #{article(type)}, got: #{value}"
    end
  end

  defp meant("--" <> given, switches) do
    names = for {name, type} <- switches, "--" <> text = switch(name), text <- negated(text, type), do: text
    Suggestion.did_you_mean(given, names, "--")
  end

  defp meant(_short, _switches), do: ""

  defp negated(text, :boolean), do: [text, "no-" <> text]
  defp negated(text, _type), do: [text]

  defp article(:integer), do: "an integer"
  defp article(:string), do: "a string"

  @doc "The options. Raises unless those in `units` are limits of these units."
  @spec limits!(keyword(), [{atom(), Limit.unit()}], String.t()) :: keyword()
  def limits!(options, units, usage) do
    for {name, unit} <- units, Keyword.has_key?(options, name), do: Limit.check!(switch(name), options[name], unit)
    options
  rescue
    error in ArgumentError -> refuse!(error.message, usage)
  end

  @doc "Whether the results are printed as JSON."
  @spec json?(keyword(), String.t()) :: boolean()
  def json?(options, usage) do
    case Keyword.get(options, :format, "text") do
      "text" -> false
      "json" -> true
      other -> refuse!("expected --format to be text or json, got: #{other}", usage)
    end
  end

  defp switch(name), do: "--" <> String.replace(Atom.to_string(name), "_", "-")

  @doc "Raises with an error about an option, and the usage line below it."
  @spec refuse!(String.t(), String.t()) :: no_return()
  def refuse!(sentence, usage), do: Mix.raise("#{sentence}\n#{usage}")

  @doc "Compiles and starts the application, unless the options prevent it. Starts the library."
  @spec start_application(keyword()) :: :ok
  def start_application(options) do
    Mix.Task.run("app.start", for(switch <- [:compile, :start], options[switch] == false, do: "--no-#{switch}"))
    {:ok, _started} = Application.ensure_all_started(:mcp_server)
    :ok
  end

  @doc """
  Compiles the project, and loads its configuration and the library, without starting the application. With
  `quiet: true` the compiler prints nothing to stdout.
  """
  @spec compile(keyword()) :: :ok
  def compile(options) do
    shell = Mix.shell()
    if options[:quiet], do: Mix.shell(Mix.Shell.Quiet)

    try do
      Mix.Task.run("app.config", for(switch <- [:compile], options[switch] == false, do: "--no-#{switch}"))
    after
      Mix.shell(shell)
    end

    if not Enum.any?(Map.keys(folders()), &loaded?/1), do: Mix.raise("nothing is compiled yet: run mix compile first")
    :ok
  end

  @doc "The routers with these names. Without names, all routers of the project or of an umbrella's applications."
  @spec routers!([String.t()]) :: [module()]
  def routers!([]) do
    case all_routers() do
      [] -> Mix.raise("there is no router in this project: no module says `use McpServer.Router`")
      routers -> routers
    end
  end

  def routers!(names), do: Enum.map(names, &router!/1)

  @doc "All routers of the project."
  @spec all_routers() :: [module()]
  def all_routers, do: Enum.sort(Enum.flat_map(Map.keys(folders()), &routers/1))

  @doc "The folder of the router's application, relative to the project: `\"\"`, in an umbrella `apps/shop`."
  @spec folder(module()) :: Path.t()
  def folder(router), do: Map.get(folders(), Application.get_application(router), "")

  @doc "The applications of the project or the umbrella, with their folders."
  @spec folders() :: %{atom() => Path.t()}
  def folders, do: Mix.Project.apps_paths() || %{Mix.Project.config()[:app] => ""}

  defp routers(application),
    do: for(module <- Application.spec(application, :modules) || [], router?(module), do: module)

  defp loaded?(application), do: Application.load(application) in [:ok, {:error, {:already_loaded, application}}]

  defp router?(module), do: Code.ensure_loaded?(module) and function_exported?(module, :__mcp__, 1)

  # The name comes from the developer and not from a client, so creating an atom is safe.
  @doc "The router with that name."
  @spec router!(String.t()) :: module()
  def router!(name) do
    router = Module.concat([name])

    cond do
      not Code.ensure_loaded?(router) ->
        Mix.raise("there is no module #{name} in this project")

      not router?(router) ->
        Mix.raise("#{name} is not a router: it does not `use McpServer.Router`")

      true ->
        router
    end
  end
end
