# A server of the benchmark on this library: `mix run bench/http/serve.exs listener`, or `plug` for Bandit. Prints its
# port and its process id, and ends at the end of its stdin.

for file <- ~w(../support/workloads request), do: Code.require_file("#{file}.exs", __DIR__)

defmodule Bench.Http.Tools do
  @moduledoc "What the tools do."
  use McpServer.Controller

  def echo(_conn, %{"text" => text}), do: {:ok, [text(text)]}
  def search(_conn, _arguments), do: {:ok, []}
end

defmodule Bench.Http.Router do
  @moduledoc "The tool that is called, and those that are only listed."
  use McpServer.Router, name: "bench", version: "1.0.0"

  for %{"name" => name, "description" => description, "inputSchema" => schema} = tool <- Bench.Http.Request.tools() do
    options = for annotations <- List.wrap(tool["annotations"]), do: {:annotations, annotations}
    function = if name == "echo", do: :echo, else: :search
    tool name, description, Bench.Http.Tools, function, [{:input_schema, schema} | options]
  end
end

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
