defmodule McpServer.HttpCutTest do
  # H13: a response of 2 KB is cut at every byte. A resuming client of the session era gets the rest, and no event
  # twice. Not async: counts processes of the whole node.
  use McpServer.HttpCase, async: false

  import McpServer.HttpRequests

  alias McpServer.{HttpEvents, JSON}

  @moduletag :capture_log

  @whole ["step", "step", "step", "answer"]
  @at_once 8

  @tag req: "H13"
  test "a stream, cut and resumed (session era)" do
    server = HttpServers.start(:listener)
    length = server |> HttpSession.open() |> received(:all) |> byte_size()
    assert length > 2_000

    # Each client has its own session: after many cuts at once a session resumes only the last streams.
    cuts = for part <- 0..(@at_once - 1), do: Enum.filter(0..length, &(rem(&1, @at_once) == part))

    cuts
    |> in_parallel(fn cuts ->
      session = HttpSession.open(server)
      for cut <- cuts, do: {cut, seen(session, received(session, cut))}
    end)
    |> List.flatten()
    |> Enum.each(fn {cut, seen} -> assert {cut, seen} == {cut, @whole} end)
  end

  @tag req: "H13"
  test "a whole answer (2026-07-28): the server is untouched" do
    server = HttpServers.start(:listener)
    request = modern_call("echo", %{"text" => String.duplicate("x", 2_000)})

    assert_nothing_left(fn ->
      in_parallel(0..2_200, fn cut ->
        peer = HttpPeer.connect(server.port)
        HttpPeer.send_request(peer, request)
        read(peer, cut, "")
        HttpPeer.cut(peer)
      end)
    end)

    assert HttpClient.text(HttpClient.call(server, "echo", %{"text" => "x"})) == "x"
  end

  test "a client that sends a large body and goes away leaves no exchange behind" do
    server = HttpServers.start(:listener)
    # Long enough to be checked on a separate thread.
    request = modern_call("echo", %{"text" => String.duplicate("x", 100_000)})

    assert_nothing_left(fn ->
      in_parallel(1..200, fn _n ->
        peer = HttpPeer.connect(server.port)
        HttpPeer.send_request(peer, request)
        HttpPeer.close(peer)
      end)

      none? = &match?(%{exchanges: 0, connections: 0, body_bytes: 0}, &1)
      eventually(fn -> none?.(McpServer.HttpServer.stats(server.pid)) end)
    end)
  end

  # The bytes of a call's response, up to a position.
  defp received(session, cut) do
    peer = HttpPeer.connect(session.server.port)
    tag = "cut-#{System.unique_integer()}"
    id = System.unique_integer([:positive])
    params = %{"name" => "perform", "arguments" => HttpScript.arguments(tag), "_meta" => %{"progressToken" => id}}
    request = legacy("tools/call", params, id: id, headers: [{"connection", "close"}])
    HttpPeer.send_request(peer, HttpSession.of(session, request))
    {call, _conn} = HttpScript.performing(tag)
    for n <- 1..3, do: HttpScript.tell(call, {:progress, n})
    HttpScript.tell(call, {:answer, String.duplicate("x", 1_500)})
    bytes = read(peer, cut, "")
    HttpPeer.cut(peer)
    HttpScript.gone(call)
    bytes
  end

  defp read(_peer, cut, bytes) when is_integer(cut) and byte_size(bytes) >= cut, do: binary_part(bytes, 0, cut)

  defp read(peer, cut, bytes) do
    case HttpPeer.raw(peer) do
      {:ok, more} -> read(peer, cut, bytes <> more)
      {:error, :closed} -> bytes
    end
  end

  # The client's messages from these bytes and from the resumed stream.
  defp seen(session, bytes) do
    {events, _part} = bytes |> body() |> HttpEvents.take_all()

    case for(%{id: id} when id != nil <- events, do: id) do
      # Before the first event a client has no id to resume from.
      [] -> @whole
      ids -> Enum.flat_map(events, &kind/1) ++ resumed(session, List.last(ids))
    end
  end

  defp resumed(session, last) do
    peer = HttpSession.get(session, last)
    kinds = peer |> HttpPeer.events() |> Enum.flat_map(&kind/1)
    HttpPeer.close(peer)
    kinds
  end

  defp kind(%{data: empty}) when empty in [nil, ""], do: []

  defp kind(%{data: data}) do
    case JSON.decode(data) do
      {:ok, %{"method" => "notifications/progress"}} -> ["step"]
      {:ok, %{"result" => _}} -> ["answer"]
    end
  end

  # The chunks of a body, as far as they were received.
  defp body(bytes) do
    case :binary.split(bytes, "\r\n\r\n") do
      [_head, chunks] -> chunks |> chunks() |> IO.iodata_to_binary()
      [_part] -> ""
    end
  end

  defp chunks(bytes) do
    with [line, rest] <- :binary.split(bytes, "\r\n"),
         size when size > 0 <- String.to_integer(line, 16) do
      taken = min(size, byte_size(rest))
      {chunk, rest} = :erlang.split_binary(rest, taken)
      if byte_size(rest) < 2, do: [chunk], else: [chunk | chunks(binary_part(rest, 2, byte_size(rest) - 2))]
    else
      _end -> []
    end
  end
end
