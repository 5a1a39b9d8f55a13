defmodule McpServer.Protocol.StdioTableTest do
  # Messages and their responses, row by row, over stdio; see `McpServer.StdioTable`. The last tests fit no row.
  use ExUnit.Case, async: true

  import McpServer.StdioPeer, only: [initialize: 2, message: 1, read: 1, request: 3, vm: 1, write: 2]

  alias McpServer.{HttpTable, JSON, StdioPeer, StdioTable}

  setup_all do
    tmp_dir = Path.join(System.tmp_dir!(), "mcp_stdio_table_#{System.unique_integer([:positive])}")
    File.mkdir_p!(tmp_dir)
    on_exit(fn -> File.rm_rf!(tmp_dir) end)

    revisions = StdioTable.rows() |> Enum.map(& &1.session) |> Enum.uniq()
    {:ok, transports: Map.new(revisions, &{&1, start_supervised!({StdioTable, {&1, tmp_dir}})})}
  end

  for %{name: name, req: req, session: session} <- StdioTable.rows() do
    @tag req: req
    test "stdio: #{name}", %{transports: transports} do
      StdioTable.check(transports[unquote(session)], StdioTable.fetch(unquote(name)))
    end
  end

  test "every row of the messages is run over stdio, but for what is said in headers" do
    ids = fn rows -> for(%{req: req} <- rows, "M" <> _ = id <- req, do: id) |> Enum.uniq() end
    assert ids.(HttpTable.rows()) -- ids.(StdioTable.rows()) == ["M21"]
  end

  describe "stdio: a session" do
    @describetag :tmp_dir

    defp session(context) do
      peer =
        StdioPeer.start(vm("McpServer.Stdio.run(McpServer.FaultRouter, app: :mcp_server)"), tmp_dir: context.tmp_dir)

      write(peer, initialize("open", "2025-11-25"))
      assert %{"id" => "open"} = read(peer)
      peer
    end

    defp sleep(id, ms), do: request(id, "tools/call", %{"name" => "sleep", "arguments" => %{"ms" => ms}})
    defp note(method, params), do: JSON.encode!(%{"jsonrpc" => "2.0", "method" => method, "params" => params})

    @tag req: "M7"
    test "the same id twice in flight: the second is refused, the first is unharmed", context do
      peer = session(context)
      write(peer, [sleep(7, 3_000), sleep(7, 0)])
      assert %{"id" => 7, "error" => %{"code" => -32600}} = message(peer)
      assert %{"id" => 7, "result" => %{"isError" => false}} = message(peer)
    end

    @tag req: "M7"
    test "the id of a call in flight for requests without a call: they are refused, the call is unharmed", context do
      peer = session(context)
      write(peer, [sleep(7, 3_000), request(7, "ping", %{}), request(7, "tools/list", %{}), request(8, "ping", %{})])
      for _ <- 1..2, do: assert(%{"id" => 7, "error" => %{"code" => -32600}} = message(peer))
      assert %{"id" => 8, "result" => %{}} = message(peer)
      assert %{"id" => 7, "result" => %{"isError" => false}} = message(peer)
    end

    @tag req: "M8"
    test "the same id again and again: each request has its own answer", context do
      peer = session(context)

      for n <- 1..500 do
        write(peer, request(1, "tools/call", %{"name" => "echo", "arguments" => %{"n" => n}}))
        assert StdioPeer.text(message(peer)) == ~s({"n":#{n}})
      end
    end

    @tag req: "M8"
    test "500 requests in flight, in any order: each has its own answer", context do
      peer = session(context)
      ids = Enum.shuffle(1..250) ++ Enum.map(Enum.shuffle(1..250), &"#{&1}")

      write(peer, for(id <- ids, do: request(id, "tools/call", %{"name" => "echo", "arguments" => %{"of" => id}})))
      answers = for _id <- ids, message = message(peer), do: {message["id"], StdioPeer.text(message)}

      assert Enum.sort(answers) == for(id <- Enum.sort(ids), do: {id, JSON.encode!(%{"of" => id})})
    end

    @tag req: "M25"
    test "cancelling what is unknown harms nobody; a cancelled request has no answer", context do
      peer = session(context)
      write(peer, [sleep(1, 60_000), sleep(2, 500)])
      for id <- [3, "1", -1, nil, %{}], do: write(peer, note("notifications/cancelled", %{"requestId" => id}))
      write(peer, note("notifications/progress", %{"progressToken" => "unknown", "progress" => 1}))
      write(peer, note("notifications/cancelled", %{"requestId" => 1}))
      assert %{"id" => 2, "result" => %{"isError" => false}} = message(peer)
      write(peer, request(4, "ping", %{}))
      assert %{"id" => 4} = message(peer)
    end
  end
end
