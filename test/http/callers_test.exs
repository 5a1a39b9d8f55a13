defmodule McpServer.HttpCallersTest do
  # A sandbox of Ecto or a mock that a test has allowed itself applies in what its requests start: `$callers` say so.
  use McpServer.HttpCase, async: true

  import McpServer.DualResponses, only: [create!: 3, server: 0]
  import McpServer.HttpRequests
  import McpServer.RestServers, only: [rest: 3]

  alias McpServer.RestServers
  alias McpServer.Test.PlugServer

  # Loaded at run time. See `HttpServers`.
  @compile {:no_warn_undefined, PlugServer}

  defmodule OfTest do
    # Like `Phoenix.Ecto.SQL.Sandbox`: a header names the test. Its process is the plug's caller.
    @moduledoc false

    def init({module, options}), do: {module, module.init(options)}

    def call(conn, {module, options}) do
      {_name, pid} = List.keyfind(conn.req_headers, "x-test", 0)
      Process.put(:"$callers", [pid |> String.to_charlist() |> :erlang.list_to_pid()])
      module.call(conn, options)
    end
  end

  defp start(:listener, options), do: HttpServers.start(:listener, [callers: [self()]] ++ options)

  defp start(:plug, options) do
    plug = {McpServer.HttpPlug, HttpServers.patient(options) ++ [router: McpServer.HttpRouter]}
    %HttpServers{kind: :plug, port: PlugServer.start_plug({OfTest, plug})}
  end

  defp test_header, do: {"x-test", self() |> :erlang.pid_to_list() |> to_string()}
  defp of_test(request), do: with_headers(request, [test_header()])

  defp callers(pid), do: pid |> Process.info(:dictionary) |> elem(1) |> Keyword.get(:"$callers")

  # A plug has a process of its own, which is a caller too.
  defp of_test?(:listener, callers), do: callers == [self()]
  defp of_test?(:plug, callers), do: match?([_plug, _test], callers) and List.last(callers) == self()

  on_both "calls of both eras and of batches have them", %{kind: kind} do
    server = start(kind, [])

    for revision <- [nil, "2025-11-25", "2025-03-26"] do
      session = revision && HttpSession.open(server, revision, headers: [test_header()])
      peer = HttpClient.start(server, performs(session, revision))
      {call, _conn} = HttpScript.performing()
      assert of_test?(kind, callers(call))
      HttpScript.tell(call, {:answer, "done"})
      assert [_answer] = HttpClient.messages(peer, HttpPeer.response(peer))
    end
  end

  defp performs(nil, nil), do: of_test(modern_call("perform", HttpScript.arguments()))
  defp performs(session, "2025-11-25"), do: HttpSession.of(session, legacy_call("perform", HttpScript.arguments()))

  defp performs(session, "2025-03-26") do
    call = message("tools/call", %{"name" => "perform", "arguments" => HttpScript.arguments()})
    HttpSession.of(session, in_session(McpServer.JSON.encode!([call])))
  end

  on_both "hooks have them", %{kind: kind} do
    test = self()

    hook = fn answer ->
      fn _request ->
        send(test, {:callers, Process.get(:"$callers")})
        answer
      end
    end

    server = start(kind, identify: hook.({:ok, "ada"}), init: hook.(%McpServer.Conn{}))
    assert {%{status: 200}, _messages} = HttpClient.exchange(server, of_test(modern_call("echo", %{"text" => "x"})))

    for _hook <- 1..2 do
      assert_receive {:callers, callers}
      assert List.last(callers) == test
    end
  end

  rest "queries of stored results have them", %{kind: kind} do
    test = self()
    results = server()

    execute = fn %{limit: limit} ->
      send(test, {:callers, Process.get(:"$callers")})
      List.duplicate(%{"n" => 1}, limit)
    end

    path = "/resources/" <> create!(results, 20, execute: execute).resource_id
    # What is read when it is created is no part of a request.
    flush()
    http = serve(kind, results)
    peer = HttpPeer.connect(http.port)
    page = RestServers.request("POST", path, headers: [test_header()], body: ~s({"offset":10,"limit":5}))
    assert HttpPeer.request(peer, page).status == 200
    assert_receive {:callers, callers}
    assert List.last(callers) == test
  end

  defp flush do
    receive do
      {:callers, _callers} -> flush()
    after
      0 -> :ok
    end
  end

  defp serve(:listener, results), do: RestServers.start(:listener, results, callers: [self()])

  defp serve(:plug, results),
    do: %HttpServers{kind: :plug, port: PlugServer.start_plug({OfTest, {RestServers.Forward, [server: results]}})}
end
