defmodule Mix.McpServer do
  # What the tasks that serve a router have in common.
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

  # The name comes from whoever starts the server, not from a peer.
  @doc "The router with that name."
  @spec router!(String.t()) :: module()
  def router!(name) do
    router = Module.concat([name])

    cond do
      not Code.ensure_loaded?(router) ->
        Mix.raise("there is no module #{name} in this project")

      not function_exported?(router, :__mcp__, 1) ->
        Mix.raise("#{name} is not a router: it does not `use McpServer.Router`")

      true ->
        router
    end
  end
end
