# A server of the benchmark on this library: `mix run bench/http/serve.exs listener`; `tls` for the same over TLS, `plug` or
# `bare_plug` for Bandit.
# It prints its port and its process id, and ends at the end of its stdin.

for file <- ~w(../support/workloads request router), do: Code.require_file("#{file}.exs", __DIR__)

defmodule Bench.Http.BarePlug do
  @moduledoc "Reads a request's body and always gives the answer of `echo`: measures the cost of Bandit and Plug."

  @compile {:no_warn_undefined, Plug.Conn}

  alias Bench.Http.Request
  alias McpServer.JSON

  def init(_options), do: JSON.encode!(%{jsonrpc: "2.0", id: 1, result: Request.echo(:stateless).answer})

  def call(conn, answer) do
    {:ok, _body, conn} = Plug.Conn.read_body(conn)
    conn |> Plug.Conn.put_resp_content_type("application/json") |> Plug.Conn.send_resp(200, answer)
  end
end

defmodule Bench.Http.Serve do
  @moduledoc "Starts one of the servers."

  alias Bench.Http.Router

  def start("listener"), do: start_listener([])
  def start("tls"), do: start_listener(tls: certificate())

  def start("plug"), do: start_bandit({McpServer.HttpPlug, router: Router})
  def start("bare_plug"), do: start_bandit({Bench.Http.BarePlug, []})

  defp start_listener(options) do
    {:ok, server} = McpServer.HttpServer.start_link([router: Router, port: 0] ++ options)
    McpServer.HttpServer.port(server)
  end

  # A chain with one authority, on the most common curve of certificates.
  defp certificate do
    signed = [key: {:namedCurve, :secp256r1}, digest: :sha256]
    chain = %{root: signed, intermediates: [], peer: signed}
    %{server_config: config} = :public_key.pkix_test_data(%{server_chain: chain, client_chain: chain})
    Keyword.take(config, [:cert, :key])
  end

  defp start_bandit(plug) do
    {:ok, _applications} = Application.ensure_all_started(:bandit)
    {:ok, server} = Bandit.start_link(plug: plug, ip: :loopback, port: 0, startup_log: false)
    {:ok, {_address, port}} = ThousandIsland.listener_info(server)
    port
  end
end

[kind] = System.argv()
# The server logs its address to stdout by default, which the benchmark must not read.
Logger.configure(level: :warning)
port = Bench.Http.Serve.start(kind)
IO.puts("#{port} #{System.pid()}")
:eof = IO.read(:stdio, :line)
System.halt(0)
