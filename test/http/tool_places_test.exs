defmodule McpServer.HttpToolPlacesTest do
  # How many calls of one tool run at once: its share of the places of a server, a client and a session, and its own
  # limit for the node. Each is given back whatever way a call ends.
  use McpServer.HttpCase, async: true

  import McpServer.HttpRequests

  alias __MODULE__.{Alone, Handlers, Others, Router}
  alias McpServer.Dispatch.ToolPlaces

  doctest ToolPlaces

  defmodule Router do
    use McpServer.Router, name: "places"

    tool "limited", "Runs until the test ends it", Handlers, :run, max_concurrent: 2
    tool "hangs", "Runs until the test ends it", Handlers, :run
    tool "shared", "Runs until the test ends it", Handlers, :run, max_concurrent: 4, task_support: :optional
    tool "computes", "Runs until the test ends it, and computes", Handlers, :compute
    tool "echo", "Answers at once", Handlers, :echo
  end

  defmodule Others do
    @moduledoc false
    use McpServer.Router, name: "others"

    tool "limited", "Runs until the test ends it", Handlers, :run, max_concurrent: 1, task_support: :optional
    tool "asks", "Asks for a name", Handlers, :ask, max_concurrent: 1
  end

  defmodule Alone do
    @moduledoc false
    use McpServer.Router, name: "alone"

    tool "alone", "Runs until the test ends it", Handlers, :run, max_concurrent: 1
    tool "nests", "Calls itself", Handlers, :nest, max_concurrent: 1
    tool "miscounted", "Answers at once", Handlers, :echo, max_concurrent: 1
  end

  defmodule Handlers do
    @moduledoc false
    use McpServer.Controller

    @form %{"type" => "object", "properties" => %{}}

    def run(_conn, %{"test" => test}) do
      send(test |> String.to_charlist() |> :erlang.list_to_pid(), {:runs, self()})
      receive(do: (:end -> {:ok, "done"}))
    end

    def run(_conn, _arguments), do: {:ok, "done"}

    # Its first step alone is a call of a tool that computes.
    def compute(_conn, %{"test" => test}) do
      spin(1_000_000)
      send(test |> String.to_charlist() |> :erlang.list_to_pid(), {:runs, self()})
      spin(:infinity)
    end

    def compute(_conn, _arguments), do: {:ok, "done"}

    defp spin(0), do: nil
    defp spin(left) when is_integer(left), do: spin(left - 1)
    defp spin(:infinity), do: receive(do: (:end -> {:ok, "done"}), after: (0 -> spin(:infinity)))

    def ask(conn, _arguments) do
      if input(conn, "name"), do: {:ok, "done"}, else: input_required(name: elicit("Your name?", @form))
    end

    def nest(_conn, %{"levels" => 0}), do: {:ok, "done"}

    def nest(conn, %{"levels" => levels}),
      do: apply(McpServer.HttpToolPlacesTest.Alone, :call_tool, [conn, "nests", %{"levels" => levels - 1}])

    def echo(_conn, _arguments), do: {:ok, "echo"}
  end

  @busy ~r/^Too many calls. Try again in [1-3] seconds?\.$/

  defp call(tool, session, name, arguments \\ %{}) do
    options = [id: "#{System.unique_integer([:positive])}"]

    request =
      if session,
        do: HttpSession.of(session, legacy_call(tool, arguments, options)),
        else: modern_call(tool, arguments, options)

    as(request, name)
  end

  defp begin(server, tool, session, name \\ "nobody") do
    arguments = HttpScript.arguments()
    peer = HttpClient.start(server, call(tool, session, name, arguments))
    assert_receive {:runs, call}, 30_000
    {peer, call}
  end

  defp finish({peer, call}) do
    send(call, :end)
    assert [answer] = HttpClient.messages(peer, HttpPeer.response(peer))
    assert HttpClient.text(answer) == "done"
  end

  defp refused(server, tool, session, name \\ "nobody") do
    {response, [answer]} = HttpClient.exchange(server, call(tool, session, name))
    assert HttpClient.text(answer) =~ @busy
    assert String.to_integer(HttpResponse.header(response, "retry-after")) in 1..3
    response.status
  end

  defp said(server, tool, session, name \\ "nobody") do
    {_response, [answer]} = HttpClient.exchange(server, call(tool, session, name))
    HttpClient.text(answer)
  end

  defp session(server, name \\ "nobody"),
    do: HttpSession.open(server, "2025-11-25", headers: [{"authorization", "Bearer #{name}"}])

  # `http: [max_calls: 5]` is five places for each scheduler. A tool has three quarters of them, rounded up.
  @places 5 * System.schedulers_online()
  @of_tool div(@places * 3 + 3, 4)

  both "one that hangs leaves places of the server to others", [router: Router, http: [max_calls: 5]], %{server: server} do
    calls = for _ <- 1..@of_tool, do: begin(server, "hangs", nil)
    assert refused(server, "hangs", nil) == 429
    assert said(server, "echo", nil) == "echo"
    session = session(server)
    assert refused(server, "hangs", session) == 429
    assert said(server, "echo", session) == "echo"
    finish(hd(calls))
    assert said(server, "hangs", session) == "done"
    again = begin(server, "hangs", session)
    assert refused(server, "hangs", nil) == 429
    Enum.each([again | tl(calls)], &finish/1)
    assert said(server, "hangs", nil) == "done"
  end

  both "may have all places", [router: Router, http: [max_calls: 5, max_tool_share: 100]], %{server: server} do
    calls = for _ <- 1..@places, do: begin(server, "hangs", nil)
    assert {%{status: 503}, _error} = HttpClient.exchange(server, call("hangs", nil, "nobody"))
    Enum.each(calls, &finish/1)
  end

  both "one that hangs leaves places of the client to others",
       [router: Router, identify: &who/1, http: [max_calls: 20, max_share: 25]],
       %{server: server} do
    of_client = div(20 * System.schedulers_online(), 4)
    calls = for _ <- 1..div(of_client * 3 + 3, 4), do: begin(server, "hangs", nil, "eve")
    assert refused(server, "hangs", nil, "eve") == 429
    assert said(server, "echo", nil, "eve") == "echo"
    assert said(server, "hangs", nil, "ada") == "done"
    Enum.each(calls, &finish/1)
  end

  both "one that hangs leaves places of the session to others", [router: Router, limits: [max_calls: 4]], %{
    server: server
  } do
    session = session(server)
    calls = for _ <- 1..3, do: begin(server, "hangs", session)
    assert refused(server, "hangs", session) == 429
    assert said(server, "echo", session) == "echo"
    assert said(server, "hangs", session(server)) == "done"
    Enum.each(calls, &finish/1)
  end

  # Earlier, so many calls shared the schedulers as there were places.
  both "few calls of one that computes run while the schedulers are busy",
       [router: Router, http: [max_computing: 2]],
       %{
         server: server
       } do
    most = 2 * System.schedulers_online()
    [first | others] = for _ <- 1..most, do: begin(server, "computes", nil)
    # Now it is known that the tool computes.
    finish(first)
    again = begin(server, "computes", nil)
    assert refused(server, "computes", nil) == 429
    assert said(server, "echo", nil) == "echo"
    waiting = for _ <- 1..(most + 1), do: begin(server, "hangs", nil)
    Enum.each([again | others], &finish/1)
    assert said(server, "computes", nil) == "done"
    Enum.each(waiting, &finish/1)
  end

  # Earlier, a client that computed took all of them.
  both "a client that computes leaves such calls to others",
       [router: Router, identify: &who/1, http: [max_computing: 2, max_share: 100]],
       %{server: server} do
    # One call for each scheduler does not make them busy.
    most = System.schedulers_online()
    busy = for _ <- 1..most, do: spawn_link(&keep_busy/0)
    [first | others] = for _ <- 1..most, do: begin(server, "computes", nil, "eve")
    finish(first)
    again = begin(server, "computes", nil, "eve")
    assert refused(server, "computes", nil, "eve") == 429
    assert said(server, "computes", nil, "ada") == "done"
    Enum.each([again | others], &finish/1)
    # Earlier, it was forgotten with her last call that the tool computes.
    calls = for _ <- 1..most, do: begin(server, "computes", nil, "eve")
    assert refused(server, "computes", nil, "eve") == 429
    Enum.each(calls, &finish/1)
    for pid <- busy, do: send(pid, :end)
  end

  defp keep_busy, do: receive(do: (:end -> :ok), after: (0 -> keep_busy()))

  # The limit of a tool is that of the node, so that two tests at once would share it.
  test "max_concurrent: is the limit of a tool for the node, in both eras, until a call ends in any way" do
    [one, other] = for kind <- [:listener, :plug], do: HttpServers.start(kind, router: Router)
    session = session(other)
    stays = begin(one, "limited", nil)
    {peer, killed} = begin(other, "limited", session)

    for {server, session} <- [{one, nil}, {other, nil}, {other, session}],
        do: assert(refused(server, "limited", session) == 429)

    Process.exit(killed, :kill)
    assert [%{"result" => %{"isError" => true}}] = HttpClient.messages(peer, HttpPeer.response(peer))
    eventually(fn -> said(one, "limited", nil) == "done" end)

    {peer, cancelled} = begin(one, "limited", nil)
    assert refused(other, "limited", nil) == 429
    HttpPeer.close(peer)
    HttpScript.gone(cancelled)
    eventually(fn -> said(other, "limited", session) == "done" end)
    finish(stays)
  end

  # Earlier, one client had all, also in tasks without a connection.
  test "max_concurrent: leaves a quarter to other clients" do
    server = HttpServers.start(:listener, router: Router, identify: &who/1)
    session = session(server, "eve")
    params = %{"name" => "shared", "arguments" => HttpScript.arguments(), "task" => %{}}
    assert %{"result" => %{"task" => _}} = HttpSession.answer(session, as(legacy("tools/call", params), "eve"))
    assert_receive {:runs, task}, 30_000
    calls = for session <- [nil, session], do: begin(server, "shared", session, "eve")
    for session <- [nil, session], do: assert(refused(server, "shared", session, "eve") == 429)
    of_ada = begin(server, "shared", nil, "ada")
    assert refused(server, "shared", nil, "bob") == 429
    Enum.each([of_ada | calls], &finish/1)
    send(task, :end)
    HttpScript.gone(task)
    assert said(server, "shared", nil, "eve") == "done"
  end

  test "max_concurrent: counts tasks, and no calls that wait for their client" do
    arguments = HttpScript.arguments()
    server = HttpServers.start(:listener, router: Others)
    session = HttpSession.open(server, "2025-11-25", capabilities: %{"elicitation" => %{}})
    params = %{"name" => "limited", "arguments" => arguments, "task" => %{}}
    assert %{"result" => %{"task" => _}} = HttpSession.answer(session, legacy("tools/call", params))
    assert_receive {:runs, task}, 30_000
    assert refused(server, "limited", session) == 429
    send(task, :end)
    HttpScript.gone(task)
    assert said(server, "limited", session) == "done"

    for id <- ["first", "second"] do
      {peer, %{body: :stream}} = HttpSession.open_stream(session, legacy_call("asks", %{}, id: id))
      assert %{"method" => "elicitation/create"} = HttpClient.message(peer)
    end
  end

  test "max_concurrent: holds for calls of the router, too" do
    arguments = HttpScript.arguments()
    call = Task.async(fn -> Alone.call_tool(%McpServer.Conn{}, "alone", arguments) end)
    assert_receive {:runs, running}, 30_000
    assert {:error, text} = Alone.call_tool(%McpServer.Conn{}, "alone", %{})
    assert text =~ @busy
    send(running, :end)
    assert {:ok, [%{text: "done"}]} = Task.await(call)
    assert {:ok, [%{text: "done"}]} = Alone.call_tool(%McpServer.Conn{}, "alone", %{})
  end

  # Earlier, such rows stayed until the place was full again.
  test "nothing is kept of a session whose calls were killed" do
    server = HttpServers.start(:listener, router: Router)
    [session, _other] = for _ <- 1..2, do: session(server)
    {_peer, call} = begin(server, "hangs", session)
    kept = fn -> for {_pid, places} <- :ets.lookup(ToolPlaces.Holders, call), do: length(places) end
    assert kept.() == [2]
    assert HttpSession.delete(session).status == 204
    HttpScript.gone(call)
    ToolPlaces.sweep(%{})
    assert kept.() == []
  end

  # A call can be killed between counting and recording. No test can do that in time.
  test "a count that nobody had in two rounds is corrected" do
    place = {Alone, "miscounted"}
    call = fn -> Alone.call_tool(%McpServer.Conn{}, "miscounted", %{}) end
    assert {:ok, [%{text: "echo"}]} = call.()
    [{_place, numbers}] = :ets.lookup(ToolPlaces, place)

    for miscounted <- [2, -1] do
      :atomics.add(numbers, 1, miscounted)
      %{} |> ToolPlaces.sweep() |> ToolPlaces.sweep()
      assert :atomics.get(numbers, 1) == 0
      assert {:ok, [%{text: "echo"}]} = call.()
    end
  end

  test "max_concurrent: lets a handler call its own tool" do
    for _ <- 1..2, do: assert({:ok, _content} = Alone.call_tool(%McpServer.Conn{}, "nests", %{"levels" => 2}))
  end
end
