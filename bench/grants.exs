defmodule Bench.Grants do
  @moduledoc """
  Lists that differ between clients: `tools/list` of 100 declared tools over HTTP, from a router that lists
  them for all clients and from a router that filters them with a function; and 1,000 principals with 50 run-time tools
  each in addition to the declared tools.

  Each list is read once, and must contain the tools.
  Times are microseconds of processor time of server and client, with wall time in brackets.
  """

  alias Bench.{Measure, Workloads}
  alias McpServer.{Catalog, Conn, Dispatch, HttpServer, JSON, Protocol, Tools}

  # The most time of a filtered list, as a multiple of an open list.
  @at_most 1.5
  @principals 1_000
  @tools 50
  # The most MiB for 50,000 tools.
  @at_most_mib 128

  defmodule Router do
    defmacro __using__(options) do
      quote do
        use McpServer.Router, lint: false

        for i <- 1..100 do
          tool "tool_#{i}",
               "Searches the collection number #{i}",
               Bench.Grants,
               :search,
               [input_schema: Workloads.schema()] ++ unquote(options)
        end
      end
    end
  end

  defmodule Open do
    use Bench.Grants.Router
  end

  defmodule Filtered do
    use Bench.Grants.Router, authorize: {Bench.Grants, :allowed?}
  end

  def search(_conn, _arguments), do: {:ok, []}
  def allowed?(conn), do: conn.assigns.user == "ada"

  def run do
    [open, filtered] = for router <- [Open, Filtered], do: connect(router)
    times = Measure.timings([{"open", fn -> ask(open) end}, {"filtered", fn -> ask(filtered) end}])
    rows = for name <- ["open", "filtered"], do: [name, Measure.both(times[name])]
    Measure.table("tools/list of 100 tools over HTTP, 2026-07-28, µs", ["", "ours"], rows)
    ratio = times["filtered"].cpu / times["open"].cpu

    [
      {"a filtered tools/list of 100 tools: #{Float.round(ratio, 2)} times the open one, at most #{@at_most}",
       ratio <= @at_most}
      | run_time_tools()
    ]
  end

  defp run_time_tools do
    before = memory()
    schema = Workloads.schema()

    for principal <- 1..@principals, i <- 1..@tools do
      tool = [name: "own_#{i}", description: "Tool #{i} of #{principal}", inputSchema: schema]
      :ok = Tools.put({Open, principal: principal}, tool, {__MODULE__, :search})
    end

    mib = memory() - before
    catalog = Catalog.fetch(Open)
    if length(listed(catalog, 1)) != 100 + @tools, do: raise("not the tools of the principal")

    times =
      Measure.timings([
        {"one of #{@principals} at random", fn -> list(catalog, :rand.uniform(@principals)) end},
        {"the same again", fn -> list(catalog, 7) end}
      ])

    rows = for {name, time} <- Enum.sort(times), do: [name, Measure.both(time)]
    title = "tools/list of 100 declared and #{@tools} run-time tools, #{@principals} principals, 2026-07-28, µs"
    Measure.table(title, ["", "ours"], rows)

    [
      {"#{@principals * @tools} run-time tools: #{round(mib)} MiB of memory, at most #{@at_most_mib} MiB",
       mib <= @at_most_mib}
    ]
  end

  defp memory do
    :erlang.garbage_collect()
    :erlang.memory(:total) / 1_048_576
  end

  defp listed(catalog, principal) do
    %{"result" => %{"tools" => tools}} = catalog |> list(principal) |> IO.iodata_to_binary() |> JSON.decode!()
    tools
  end

  defp list(catalog, principal) do
    {:request, request} = Protocol.admit(catalog, %{revision: nil}, body())
    {:ok, reply} = Dispatch.run(catalog, request, %Conn{principal: principal}, 10_000_000)
    reply
  end

  defp body do
    JSON.encode!(%{
      "jsonrpc" => "2.0",
      "id" => 1,
      "method" => "tools/list",
      "params" => %{
        "_meta" => %{
          "io.modelcontextprotocol/protocolVersion" => "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities" => %{},
          "io.modelcontextprotocol/clientInfo" => %{"name" => "bench", "version" => "1"}
        }
      }
    })
  end

  # A connection, the request's bytes, and the size of the response, which never changes.
  defp connect(router) do
    {:ok, server} = HttpServer.start_link(router: router, port: 0, assigns: %{user: "ada"})
    {:ok, socket} = :gen_tcp.connect({127, 0, 0, 1}, HttpServer.port(server), [:binary, active: false, nodelay: true])
    body = body()

    request =
      "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n" <>
        "accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n" <>
        "mcp-method: tools/list\r\ncontent-length: #{byte_size(body)}\r\n\r\n" <> body

    :ok = :gen_tcp.send(socket, request)
    response = response(socket, "")
    [_head, reply] = :binary.split(response, "\r\n\r\n")
    100 = length(JSON.decode!(reply)["result"]["tools"])
    {socket, request, byte_size(response)}
  end

  defp response(socket, read) do
    {:ok, bytes} = :gen_tcp.recv(socket, 0, 5_000)
    read = read <> bytes

    with [head, body] <- :binary.split(read, "\r\n\r\n"),
         [_all, length] = Regex.run(~r/content-length: (\d+)/i, head),
         true <- byte_size(body) == String.to_integer(length) do
      read
    else
      _unfinished -> response(socket, read)
    end
  end

  defp ask({socket, request, size}) do
    :ok = :gen_tcp.send(socket, request)
    {:ok, _response} = :gen_tcp.recv(socket, size)
  end
end
