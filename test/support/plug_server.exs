defmodule McpServer.Test.PlugServer do
  # The plug in a web server on a loopback port: Bandit if it is installed, else the stand-in.
  #
  # `MCP_PLUG_PATH` names a folder with the compiled applications of Plug and its servers (`plug/ebin`, `bandit/ebin`
  # and so on). `MCP_PLUG_SERVER=cowboy` uses Cowboy instead of Bandit.

  for ebin <- Path.wildcard(Path.join(System.get_env("MCP_PLUG_PATH", ""), "*/ebin")), do: Code.append_path(ebin)

  @server (cond do
             not Code.ensure_loaded?(Plug.Conn) -> :stand_in
             System.get_env("MCP_PLUG_SERVER") == "cowboy" -> :cowboy
             true -> :bandit
           end)
  if @server == :stand_in, do: Code.require_file("plug_stand_in.exs", __DIR__)

  @doc "The web server."
  def server, do: @server

  @doc "Serves `router` with the options of `McpServer.HttpPlug`, and returns the port."
  def start(router, options \\ []), do: start_plug({McpServer.HttpPlug, [router: router] ++ options})

  @doc "Serves any plug. The server ends with the calling process."
  def start_plug(plug), do: apply(__MODULE__, @server, [plug])

  # Called by name, because the servers may be missing at compile time.
  @doc false
  def stand_in(plug) do
    {:ok, port} = apply(McpServer.Test.StandInServer, :start_link, [plug])
    port
  end

  @doc false
  def bandit(plug) do
    {:ok, _started} = Application.ensure_all_started(:bandit)
    {:ok, server} = apply(Bandit, :start_link, [[plug: plug, ip: {127, 0, 0, 1}, port: 0, startup_log: false]])
    {:ok, {_address, port}} = apply(ThousandIsland, :listener_info, [server])
    port
  end

  @doc false
  def cowboy(plug) do
    {:ok, _started} = Application.ensure_all_started(:plug_cowboy)
    name = {__MODULE__, make_ref()}
    settings = [ip: {127, 0, 0, 1}, port: 0, ref: name, protocol_options: [reset_idle_timeout_on_send: true]]
    child = apply(Plug.Cowboy, :child_spec, [[scheme: :http, plug: plug, options: settings]])
    {:ok, _supervisor} = Supervisor.start_link([child], strategy: :one_for_one)
    apply(:ranch, :get_port, [name])
  end
end
