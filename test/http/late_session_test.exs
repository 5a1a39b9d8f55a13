defmodule McpServer.HttpLateSessionTest do
  # A session whose process is late. A request then gets a stream. Notifications and responses get 202 without a body.
  use McpServer.HttpCase, async: true

  import McpServer.HttpRequests

  alias McpServer.{Conn, JSON, LateSession}
  alias McpServer.Http.{Exchange, Sessions}
  alias McpServer.Http.Cluster.Proxy

  @moduletag :capture_log

  @stream_after 5
  @options [http: [stream_after: @stream_after]]

  @initialized %{"jsonrpc" => "2.0", "method" => "notifications/initialized"}
  @cancelled %{"jsonrpc" => "2.0", "method" => "notifications/cancelled", "params" => %{"requestId" => 99}}
  @result %{"jsonrpc" => "2.0", "id" => 99, "result" => %{}}
  @error %{"jsonrpc" => "2.0", "id" => 99, "error" => %{"code" => -32_603, "message" => "no"}}
  @unanswered [@initialized, @cancelled, @result, @error]
  @set_level %{"jsonrpc" => "2.0", "id" => 1, "method" => "logging/setLevel", "params" => %{"level" => "error"}}

  defp late(session, message) do
    LateSession.next(session.id, @stream_after)
    {response, messages} = HttpSession.exchange(session, in_session(JSON.encode!(message)))
    {response.status, HttpResponse.header(response, "content-type"), response.body, messages}
  end

  both "accepts a notification or a response with 202 and no body", @options, %{server: server} do
    session = HttpSession.open(server)
    for message <- @unanswered, do: assert({message, late(session, message)} == {message, {202, nil, "", []}})
  end

  both "accepts a batch of notifications and responses with 202 and no body", @options, %{server: server} do
    session = HttpSession.open(server, "2025-03-26")

    for batch <- [@unanswered, [@initialized], [@result, @error]],
        do: assert({batch, late(session, batch)} == {batch, {202, nil, "", []}})
  end

  both "accepts a forwarded notification or response with 202 and no body", @options, %{server: server} do
    session = HttpSession.open(server)

    for message <- @unanswered do
      LateSession.next(session.id, @stream_after)
      assert {message, forwarded(session, message)} == {message, {:reply, 202, [], []}}
    end

    LateSession.next(session.id, @stream_after)
    assert {:stream, 200, _headers, _first} = forwarded(session, @set_level)
  end

  # Serves a request as if another node had forwarded it. Returns the first command to that node.
  defp forwarded(session, message) do
    %{method: method, target: target, headers: headers, body: body} =
      HttpSession.of(session, in_session(JSON.encode!(message)))

    head = %{method: method, target: target, authority: nil, headers: [{"host", "localhost"} | headers], peer: nil}
    place = :ets.lookup_element(Sessions, session.id, 4)
    exchange = %{ref: ref} = Exchange.new()
    known = %{principal: nil, auth: nil, place: place, base: %Conn{transport: :http}}
    :ok = Proxy.serve(exchange, session.id, head, known, body)

    assert_receive {:mcp_respond, ^ref, {:own, _session}}, 30_000
    assert_receive {:mcp_respond, ^ref, command}, 30_000
    command
  end

  both "opens a stream for a request, alone or in a batch", @options, %{server: server} do
    session = HttpSession.open(server, "2025-03-26")
    answer = %{"jsonrpc" => "2.0", "id" => 1, "result" => %{}}
    assert late(session, @set_level) == {200, "text/event-stream", :stream, [answer]}
    assert late(session, [@initialized, @set_level]) == {200, "text/event-stream", :stream, [[answer]]}
  end
end
