defmodule McpServer.Stdio.Server do
  @moduledoc false
  # Runs the transport of `McpServer.Stdio.run/2` as a separate application. It is started last, so a stopping VM stops
  # it first: calls are answered while the applications that they use still run. A supervisor without an application
  # would be killed at the very end.

  use Application

  @name :mcp_server_stdio

  @doc "Starts the application, and returns its supervisor."
  @spec start([McpServer.Stdio.option()]) :: pid()
  def start(options) do
    description = [vsn: ~c"1", modules: [__MODULE__], registered: [__MODULE__], applications: [:kernel, :stdlib]]
    _loaded_before = :application.load({:application, @name, [mod: {__MODULE__, options}] ++ description})
    :ok = :application.start(@name)
    Process.whereis(__MODULE__)
  end

  @impl true
  def start(_type, options) do
    Supervisor.start_link([{McpServer.Stdio, options}], strategy: :one_for_one, name: __MODULE__)
  end
end
