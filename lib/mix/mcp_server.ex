defmodule Mix.McpServer do
  # What the tasks about routers have in common.
  @moduledoc false

  @switches [timeout: :integer, compile: :boolean, start: :boolean]

  @doc "The router's name and the options of a task that knows `switches` beside those of all."
  @spec parse!([String.t()], keyword(atom()), String.t()) :: {String.t(), keyword()}
  def parse!(arguments, switches, usage) do
    case OptionParser.parse(arguments, strict: switches ++ @switches) do
      {options, [name], []} -> {name, options}
      _wrong -> Mix.raise(usage)
    end
  end

  @doc "Compiles and starts the application, as far as the options want it, and the library."
  @spec start_application(keyword()) :: :ok
  def start_application(options) do
    Mix.Task.run("app.start", for(switch <- [:compile, :start], options[switch] == false, do: "--no-#{switch}"))
    {:ok, _started} = Application.ensure_all_started(:mcp_server)
    :ok
  end

  @doc """
  Compiles the project and loads its configuration, and the library, without starting the application. With
  `quiet: true` what the compiler prints to stdout is kept from there.
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

    :ok
  end

  @doc "The routers with these names; without names every router of the project, of each application in an umbrella."
  @spec routers!([String.t()]) :: [module()]
  def routers!([]) do
    case Enum.sort(Enum.flat_map(applications(), &routers/1)) do
      [] -> Mix.raise("there is no router in this project: no module says `use McpServer.Router`")
      routers -> routers
    end
  end

  def routers!(names), do: Enum.map(names, &router!/1)

  defp applications do
    case Mix.Project.apps_paths() do
      nil -> [Mix.Project.config()[:app]]
      paths -> Map.keys(paths)
    end
  end

  defp routers(application) do
    _loaded = Application.load(application)
    for module <- Application.spec(application, :modules) || [], router?(module), do: module
  end

  defp router?(module), do: Code.ensure_loaded?(module) and function_exported?(module, :__mcp__, 1)

  # The name comes from whoever starts the server, not from a peer.
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
