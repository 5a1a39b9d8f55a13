defmodule McpServer.HttpServer.Connection do
  @moduledoc false
  # One connection of `McpServer.HttpServer`, in the process that holds its socket.
  #
  # It reads a request, lets the core check it, and answers it before it reads the next request. Most requests need two
  # calls of the core, one for the received bytes and one for the answer, and one process for the call.

  alias McpServer.Auth.{Cache, Refusal}
  alias McpServer.Http.{Mount, Pipeline, Route, Sink, StatelessCall, Usage}
  alias McpServer.HttpServer.{Body, Polling, Socket}
  alias McpServer.Native.Dirty
  alias McpServer.Protocol.{HTTP, Outcome}
  alias McpServer.Quota.Keeper

  # An idle connection frees its heap after this time, in milliseconds.
  @rest_ms 500

  @doc """
  Serves a socket until it is closed. The calling process owns the socket.

  The mount is looked up by `mount_id` for each request: it may be replaced while the connection is open.
  """
  @spec serve(Socket.t(), mount_id :: term()) :: :ok
  def serve(sink, mount_id) do
    Dirty.work_for(nil, Sink.peer(sink))
    sink |> Socket.activate() |> await_head(mount_id, Sink.now())
  end

  # `began` is the time of the head's first byte, or of the connection.
  defp await_head(sink, mount_id, began) do
    mount = mount!(mount_id)

    case Socket.receive_more(sink, began + mount.sockets.head_timeout) do
      # The mount may have been replaced while the connection waited.
      {:ok, sink} -> read(%{sink | mount: mount!(mount_id)}, mount_id, 0, began)
      {:timeout, %{buffer: ""} = sink} -> leave(sink)
      {why, sink} -> unread(why, %{sink | mount: mount})
    end
  end

  defp mount!(mount_id) do
    {:ok, mount} = Mount.fetch(mount_id)
    # A client that was notified of a changed list must get the new list.
    Mount.current(mount)
  end

  # `scanned` bytes were searched for the end of the head. `began` is `nil` while the head may be complete.
  defp read(%{mount: mount, buffer: buffer} = sink, mount_id, scanned, began) do
    case HTTP.next(mount.service, buffer, scanned) do
      {:more, scanned} -> read_on(sink, mount_id, scanned, began)
      {:body, head_bytes, length, continue?} -> read_body(sink, mount_id, {head_bytes, length, continue?}, began)
      judged -> judged |> answer(count(sink)) |> go_on(mount_id)
    end
  end

  defp read_on(sink, mount_id, scanned, began) do
    began = began || Sink.now()

    case rest_of_head(sink, began) do
      {:ok, sink} -> read(sink, mount_id, scanned, began)
      {why, sink} -> unread(why, sink)
    end
  end

  # Bytes of an unfinished head count as those of a body do. The wait is the last call, as in `Body`.
  defp rest_of_head(sink, began) do
    with {:ok, sink} <- Body.reserve(sink, byte_size(sink.buffer)),
         do: Socket.receive_rest(sink, began + sink.mount.sockets.head_timeout)
  end

  # A message without hook and session is admitted together with its head, once it is complete.
  defp read_body(sink, mount_id, {head_bytes, length, continue?}, began) do
    continue? = continue? and byte_size(sink.buffer) == head_bytes

    case Body.await(sink, head_bytes + length, continue?) do
      # The search for the end of the head begins at its last byte.
      {:ok, sink} -> read(sink, mount_id, head_bytes - 1, began)
      {why, sink} -> unread(why, sink)
    end
  end

  # The connection closes, because the rest of the request would be read as another request.
  defp unread(:closed, sink), do: leave(sink)
  defp unread(:timeout, sink), do: refuse(sink, HTTP.answer(:request_timeout))
  defp unread(:full, sink), do: refuse(sink, HTTP.answer(:overloaded, Usage.retry_after(sink.account)))

  defp refuse(sink, {status, headers, body}),
    do: leave(Sink.reply(%{sink | flow: :close, body: sink.body || {:chunked, false}}, status, headers, body))

  defp count(sink) do
    Usage.count(sink.account, :requests)
    sink
  end

  # The identity of clients on a server without authentication.
  @nobody %{principal: nil, auth: nil}

  defp answer({:known, digest, ends, judged}, sink) do
    case Cache.grant(sink.mount.auth, digest) do
      {:ok, auth} -> answer_known(judged, auth, sink)
      :error -> answer_anew(judged, ends, sink)
    end
  end

  defp answer({:denied, reason, judged}, sink) do
    Refusal.count(reason)
    answer(judged, if(Refusal.invalid_token?(reason), do: delay(sink), else: sink))
  end

  defp answer(judged, sink), do: answer(judged, @nobody, sink)

  # The request is still in the buffer: what comes meanwhile is not counted as ahead of its answer.
  defp delay(sink), do: %{Sink.delay_answer(%{sink | body: {:empty, false}}) | body: nil}

  # The next request was probably sent with the same token.
  defp answer_known(judged, auth, sink) do
    Dirty.work_for(auth.principal, Sink.peer(sink))
    answer(judged, %{principal: auth.principal, auth: auth}, sink)
  end

  # The token was dropped from the cache while the request was read.
  defp answer_anew({:head, _accepted, _context, _used, _framing, _continue?, _flow} = head, _ends, sink),
    do: answer(head, sink)

  defp answer_anew(judged, ends, sink), do: serve(elem(judged, tuple_size(judged) - 1), ends, sink)

  # Serves a complete request. Only its head is checked again.
  defp serve(flow, {head_bytes, used}, sink) do
    {head, sink} = Socket.take(flow(sink, flow), head_bytes)
    Pipeline.serve(sink.mount, %{sink | head: head, body: {{:length, used - head_bytes}, false}})
  end

  defp answer({:reply, response, used, flow}, identity, sink) do
    {_request, sink} = Socket.take(sink, used)
    write = &Socket.write(&1, response)
    Sink.counted(flow(sink, flow), identity.principal, response, write, &Pipeline.overloaded(sink.mount, &1))
  end

  defp answer({:refuse, response, used, framing, flow}, _identity, sink) do
    Usage.count(sink.account, :refused)
    {_head, sink} = Socket.take(sink, used)
    Socket.write(%{flow(sink, flow) | body: body(framing, false)}, response)
  end

  defp answer({:request, fields, events?, used, flow}, identity, sink) do
    {_request, sink} = Socket.take(sink, used)
    sink = flow(sink, flow)
    StatelessCall.serve(sink.mount, HTTP.request(fields), origin(sink, events?, identity), sink)
  end

  defp answer({:session_request, session, fields, events?, {_head_bytes, used} = ends, flow}, identity, sink) do
    {_request, taken} = Socket.take(flow(sink, flow), used)
    origin = origin(sink, events?, identity)
    with :other <- Pipeline.call(sink.mount, HTTP.request(fields), session, origin, taken), do: serve(flow, ends, sink)
  end

  defp answer({:open, opened, used, flow}, identity, sink) do
    {_request, sink} = Socket.take(sink, used)
    Pipeline.open(sink.mount, Outcome.of(opened), identity.principal, flow(sink, flow))
  end

  defp answer({:unfit, {refusal, cors_headers}, head?, used, framing, flow}, _identity, sink) do
    Usage.count(sink.account, :refused)
    {head, sink} = Socket.take(sink, used)
    sink = %{flow(sink, flow) | head: head, head?: head?, body: body(framing, false)}
    Pipeline.unfit(sink.mount, sink, refusal, cors_headers)
  end

  # Serves requests with hooks, sessions or chunked bodies.
  defp answer({:head, accepted, context, used, framing, continue?, flow}, identity, sink) do
    {head, sink} = Socket.take(sink, used)
    sink = %{flow(sink, flow) | head: head, body: body(framing, continue?)}

    if identity.auth,
      do: Pipeline.identified(sink.mount, sink, identity, accepted, context),
      else: Pipeline.accepted(sink.mount, sink, accepted, context)
  end

  defp answer({:route, index, head?, used, framing, continue?, flow}, _identity, sink) do
    {head, sink} = Socket.take(sink, used)

    Route.call(Enum.at(sink.mount.routes, index), %{
      flow(sink, flow)
      | head: head,
        head?: head?,
        body: body(framing, continue?)
    })
  end

  defp origin(%{mount: mount} = sink, events?, identity),
    do: Pipeline.origin(mount, mount.catalog, identity, Mount.base(mount, Sink.peer(sink), identity), events?)

  defp flow(%{ends_at: until} = sink, :keep_alive) when until != nil, do: %{sink | flow: :close, cors_headers: []}
  defp flow(%{flow: flow, cors_headers: []} = sink, flow), do: sink
  defp flow(sink, flow), do: %{sink | flow: flow, cors_headers: []}

  defp body(:empty, _continue?), do: nil
  defp body(framing, continue?), do: {framing, continue?}

  defp go_on(sink, mount_id), do: sink |> Socket.release() |> Socket.turn() |> next(mount_id)

  defp next(%{gone?: true} = sink, _mount_id), do: leave(sink)
  defp next(%{flow: flow} = sink, _mount_id) when flow != :keep_alive, do: leave(sink)
  defp next(%{body: body} = sink, _mount_id) when body != nil, do: leave(sink)
  defp next(%{buffer: ""} = sink, mount_id), do: idle(forget(sink), mount_id)
  defp next(sink, mount_id), do: arrived(forget(sink), mount_id)

  # Drops the data of the request.
  defp forget(sink), do: %{sink | head: nil, head?: false, mount: nil, moved_at: 0}

  defp idle(sink, mount_id) do
    case Polling.await(sink, @rest_ms) do
      {:ok, sink} -> arrived(sink, mount_id)
      {:closed, sink} -> leave(sink)
      {:timeout, sink} -> rest(sink, mount_id)
    end
  end

  defp arrived(sink, mount_id), do: read(%{sink | mount: mount!(mount_id)}, mount_id, 0, nil)

  # A resting connection has an empty heap, and its code can be replaced.
  defp rest(sink, mount_id) do
    due = Sink.now() - @rest_ms + mount!(mount_id).sockets.connection_timeout
    timer = Process.send_after(self(), :mcp_http_rested, due, abs: true)
    :erlang.hibernate(__MODULE__, :wake, [sink, mount_id, due, timer])
  end

  @doc false
  def wake(sink, mount_id, due, timer) do
    case Socket.receive_more(sink, due) do
      {:ok, sink} ->
        Process.cancel_timer(timer, async: true, info: false)
        arrived(sink, mount_id)

      {_closed_or_late, sink} ->
        leave(sink)
    end
  end

  defp leave(sink) do
    Socket.close(Socket.release(sink))
    Keeper.leave()
  end
end
