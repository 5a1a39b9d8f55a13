# A server of the benchmark on this library: `mix run bench/http/serve.exs listener`, or `plug` for Bandit. Prints its
# port and its process id, and ends at the end of its stdin.

for file <- ~w(../support/workloads request router), do: Code.require_file("#{file}.exs", __DIR__)

defmodule Bench.Http.Serve do
  @moduledoc "Starts one of the two servers."

  alias Bench.Http.Router

  def start("listener") do
    {:ok, server} = McpServer.HttpServer.start_link(router: Router, port: 0)
    McpServer.HttpServer.port(server)
  end

  def start("plug") do
    {:ok, _applications} = Application.ensure_all_started(:bandit)
    plug = {McpServer.HttpPlug, router: Router}
    {:ok, server} = Bandit.start_link(plug: plug, ip: :loopback, port: 0, startup_log: false)
    {:ok, {_address, port}} = ThousandIsland.listener_info(server)
    port
  end
end

[kind] = System.argv()
port = Bench.Http.Serve.start(kind)
IO.puts("#{port} #{System.pid()}")
:eof = IO.read(:stdio, :line)
System.halt(0)
