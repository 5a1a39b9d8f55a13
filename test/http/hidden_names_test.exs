defmodule McpServer.HttpHiddenNamesTest.Handlers do
  @moduledoc false
  use McpServer.Controller

  def run(_conn, _arguments), do: {:ok, "secret"}
  def get(_conn, _arguments), do: [message("user", "secret")]
  def read(_conn, _variables), do: content("secret", "hidden://secret", text: "secret")
  def complete(_conn, _name, _value), do: completion(["secret"])

  def endless(_conn), do: Process.sleep(:infinity)

  # Tells the test of each check.
  def never(conn) do
    if test = conn.assigns[:test], do: send(test, :checked)
    false
  end
end

defmodule McpServer.HttpHiddenNamesTest.Router do
  @moduledoc false
  use McpServer.Router, name: "hidden"

  alias McpServer.HttpHiddenNamesTest.Handlers

  tool "perform", "Does what the test says", McpServer.HttpRouter.Handlers, :perform,
    input_schema: %{"type" => "object"}

  tool "secret", "For nobody", Handlers, :run, visible: {Handlers, :never} do
    input_field "count", "A number", :integer, required: true
  end

  prompt "secret", "For nobody", visible: {Handlers, :never} do
    argument "name", "Whom", required: true
    get Handlers, :get
    complete Handlers, :complete
  end

  resource "secret", "hidden://secret", visible: {Handlers, :never} do
    read Handlers, :read
  end

  resource "secrets", "hidden://secrets/{id}", visible: {Handlers, :never} do
    read Handlers, :read
    complete Handlers, :complete
  end
end

defmodule McpServer.HttpHiddenNamesTest.OneResource do
  @moduledoc false
  use McpServer.Router, name: "hidden"

  alias McpServer.HttpHiddenNamesTest.Handlers

  tool "perform", "Does what the test says", McpServer.HttpRouter.Handlers, :perform,
    input_schema: %{"type" => "object"}

  # Without a function that completes there is no such method.
  prompt "open", "For all" do
    argument "name", "Whom"
    get Handlers, :get
    complete Handlers, :complete
  end

  resource "secret", "hidden://secret", visible: {Handlers, :never} do
    read Handlers, :read
  end
end

defmodule McpServer.HttpHiddenNamesTest.Brief do
  @moduledoc false
  use McpServer.Router, name: "hidden"

  alias McpServer.HttpHiddenNamesTest.Handlers

  tool "secret", "For nobody", Handlers, :run, visible: {Handlers, :endless}, timeout: 50
end

defmodule McpServer.HttpHiddenNamesTest do
  # A client cannot tell a hidden name from one that nobody has declared, whatever else the client does meanwhile.
  use McpServer.HttpCase, async: true

  alias McpServer.HttpHiddenNamesTest.{Brief, OneResource, Router}

  # Pairs of requests, for a hidden name and for one of the same length that nobody has declared.
  defp pairs(message) do
    about = fn method, params, name -> {message.(method, params.(name)), name} end

    for {method, hidden, absent, params} <- [
          {"tools/call", "secret", "absent", &%{"name" => &1}},
          {"tools/call", "secret", "absent", &%{"name" => &1, "arguments" => %{"count" => 1}}},
          {"tools/call", "secret", "absent", &%{"name" => &1, "arguments" => %{"count" => "1", "more" => [1]}}},
          {"tools/call", "secret", "absent", &%{"name" => &1, "arguments" => 1}},
          {"prompts/get", "secret", "absent", &%{"name" => &1}},
          {"prompts/get", "secret", "absent", &%{"name" => &1, "arguments" => %{"name" => "Ada"}}},
          {"resources/read", "hidden://secret", "hidden://absent", &%{"uri" => &1}},
          {"resources/read", "hidden://secrets/1", "hidden://absence/1", &%{"uri" => &1}},
          {"completion/complete", "secret", "absent", &completion("ref/prompt", "name", &1, "name")},
          {"completion/complete", "secret", "absent", &completion("ref/prompt", "name", &1, "other")},
          {"completion/complete", "hidden://secrets/{id}", "hidden://absence/{id}",
           &completion("ref/resource", "uri", &1, "id")},
          {"completion/complete", "hidden://secret", "hidden://absent", &completion("ref/resource", "uri", &1, "id")}
        ] do
      {about.(method, params, hidden), about.(method, params, absent)}
    end
  end

  defp completion(type, member, name, argument),
    do: %{"ref" => %{"type" => type, member => name}, "argument" => %{"name" => argument, "value" => ""}}

  # Status, headers without the date, and body, without the name.
  defp outcome(server, {request, name}) do
    {response, [message]} = HttpClient.exchange(server, request)

    # A client without a place waits a random number of seconds.
    varying = ["date", "content-length", "retry-after"]
    headers = for {key, value} <- response.headers, String.downcase(key) not in varying, do: {key, value}

    {response.status, Enum.sort(headers), message |> McpServer.JSON.encode!() |> String.replace(name, "NAME")}
  end

  defp fill(server, request, count) do
    for n <- 1..count do
      HttpClient.start(
        server,
        request.("tools/call", %{"name" => "perform", "arguments" => HttpScript.arguments("#{n}")}, n)
      )

      {call, _conn} = HttpScript.performing("#{n}")
      call
    end
  end

  both "without calls, in the stateless era", [router: Router], %{server: server} do
    for {hidden, absent} <- pairs(&modern/2) do
      {status, _headers, text} = outcome = outcome(server, hidden)
      assert outcome(server, absent) == outcome
      assert {status, text =~ "not found", text =~ "must be"} in [{200, true, false}, {400, false, true}]
    end
  end

  both "without calls, in a session", [router: Router], %{server: server} do
    session = HttpSession.open(server)

    for {hidden, absent} <- pairs(&legacy/2) ++ subscriptions() do
      outcome = outcome(server, of(session, hidden))
      assert outcome(server, of(session, absent)) == outcome
    end
  end

  # All places of the server are taken, so no function of the router can be asked.
  both "without a place, in the stateless era", [router: Router, http: [max_calls: 1]], %{server: server} do
    calls = fill(server, &modern(&1, &2, id: &3), System.schedulers_online())

    for {hidden, absent} <- pairs(&modern/2) do
      outcome = outcome(server, hidden)
      assert outcome(server, absent) == outcome
    end

    assert {503, _headers, _text} = outcome(server, hd(pairs(&modern/2)) |> elem(1))
    for call <- calls, do: HttpScript.tell(call, {:answer, "done"})
  end

  # Earlier, only a template stood in for an absent name that is completed.
  both "without a place, where the only hidden entry is a resource", [router: OneResource, http: [max_calls: 1]], %{
    server: server
  } do
    calls = fill(server, &modern(&1, &2, id: &3), System.schedulers_online())
    request = &modern("completion/complete", completion("ref/resource", "uri", &1, "id"))
    [hidden, absent] = for name <- ["hidden://secret", "hidden://absent"], do: outcome(server, {request.(name), name})
    assert {503, _headers, _text} = hidden
    assert absent == hidden
    for call <- calls, do: HttpScript.tell(call, {:answer, "done"})
  end

  both "without a place, in a session", [router: Router, limits: [max_calls: 1]], %{server: server} do
    session = HttpSession.open(server)
    [call] = fill(server, &HttpSession.of(session, legacy(&1, &2, id: &3)), 1)

    for {hidden, absent} <- pairs(&legacy(&1, &2, id: "next")) ++ subscriptions() do
      outcome = outcome(server, of(session, hidden))
      assert outcome(server, of(session, absent)) == outcome
    end

    assert {429, _headers, _text} = outcome(server, of(session, hd(pairs(&legacy(&1, &2, id: "next"))) |> elem(1)))
    HttpScript.tell(call, {:answer, "done"})
  end

  both "without a place of the client's share, in both eras",
       [router: Router, identify: &who/1, http: [max_calls: 4, max_share: 25, max_tool_share: 100]],
       %{server: server} do
    session = HttpSession.open(server, "2025-11-25", headers: [{"authorization", "Bearer eve"}])
    stateless = &as(modern(&1, &2), "eve")
    calls = fill(server, &as(modern(&1, &2, id: &3), "eve"), System.schedulers_online())

    for {message, status} <- [
          {stateless, 503},
          {&HttpSession.of(session, legacy(&1, &2, id: "next")), 429}
        ] do
      for {hidden, absent} <- pairs(message) do
        outcome = outcome(server, hidden)
        assert outcome(server, absent) == outcome
      end

      assert {^status, _headers, _text} = outcome(server, message |> pairs() |> hd() |> elem(1))
    end

    # The server has places: another client is answered.
    absent = {as(modern("tools/call", %{"name" => "absent"}), "ada"), "absent"}
    assert {200, _headers, text} = outcome(server, absent)
    assert text =~ "not found"
    for call <- calls, do: HttpScript.tell(call, {:answer, "done"})
  end

  # Earlier, a check that outlived the tool's timeout: ended a call of this tool only.
  test "a tool's time tells nothing" do
    server = HttpServers.start(:listener, router: Brief)
    session = HttpSession.open(server)

    for request <- [
          &modern("tools/call", %{"name" => &1}),
          &of_session(legacy("tools/call", %{"name" => &1}), session.id)
        ] do
      [hidden, absent] =
        for name <- ["secret", "absent"] do
          {status, headers, text} = outcome(server, {request.(name), name})
          {status, headers, String.replace(text, ~r/[0-9a-f]{16}/, "ID")}
        end

      assert {200, _headers, text} = hidden
      assert text =~ "error id ID"
      assert absent == hidden
    end
  end

  # The time of a check would tell, too.
  test "a check of access is made for each of them" do
    server = HttpServers.start(:listener, router: Router, assigns: %{test: self()})
    session = HttpSession.open(server)
    in_session = for {hidden, absent} <- subscriptions(), do: {of(session, hidden), of(session, absent)}

    for {hidden, absent} <- pairs(&modern/2) ++ in_session do
      assert {checks(server, hidden), checks(server, absent)} in [{1, 1}, {0, 0}]
    end
  end

  test "a stream of changes is opened for neither" do
    server = HttpServers.start(:listener, router: Router, assigns: %{test: self()})

    for uri <- ["hidden://secret", "hidden://absent"] do
      filter = %{"notifications" => %{"resourceSubscriptions" => [uri]}}
      {peer, %{status: 200}} = HttpClient.open(server, modern("subscriptions/listen", filter))
      assert %{"params" => %{"notifications" => allowed}} = HttpClient.message(peer)
      assert allowed == %{}
      assert_receive :checked
      refute_received :checked
      HttpPeer.cut(peer)
    end
  end

  defp subscriptions do
    subscribe = fn uri -> {legacy("resources/subscribe", %{"uri" => uri}, id: "next"), uri} end
    [{subscribe.("hidden://secret"), subscribe.("hidden://absent")}]
  end

  defp of(session, {request, name}), do: {HttpSession.of(session, request), name}

  defp checks(server, request) do
    outcome(server, request)
    received(0)
  end

  # The answer comes after the check, so that no message is on its way.
  defp received(count) do
    receive do
      :checked -> received(count + 1)
    after
      0 -> count
    end
  end
end
