defmodule McpServer.Http.ListenStream do
  @moduledoc false
  # Serves a `subscriptions/listen` request in the process that holds its socket: a stream of changes, until the peer
  # disconnects or the server ends.

  alias McpServer.{Catalog, Changes, Protocol, Quota, Recipient, Request, Subscription}
  alias McpServer.Connection.Report
  alias McpServer.Http.{Mount, Sink, StatelessCall}
  alias McpServer.Protocol.HTTP
  alias McpServer.Quota.Client

  @enforce_keys [:mount, :sink, :id, :revision, :subscription, :catalog]
  defstruct [:mount, :sink, :id, :revision, :subscription, :catalog, :principal, :quiet_at, :ends_at]

  @typedoc "`:quiet_at` is the time of the next keep-alive, `:ends_at` the expiry of the request's token."
  @type t :: %__MODULE__{
          mount: Mount.t(),
          sink: Sink.t(),
          id: Request.id(),
          revision: String.t(),
          subscription: Subscription.t(),
          catalog: Catalog.t(),
          principal: term(),
          quiet_at: integer() | nil,
          ends_at: integer() | :infinity
        }

  @method "subscriptions/listen"

  @doc "Serves the request. Returns when the stream is over."
  @spec serve(Mount.t(), Request.t(), StatelessCall.origin(), Sink.t()) :: Sink.t()
  def serve(mount, request, origin, sink) do
    client = Client.new(origin.principal, Sink.peer(sink))
    subscription = Subscription.from_filter(request.arguments)
    bytes = Subscription.cost(subscription)
    quota = sink.account.quota

    with {:streams, :ok} <- {:streams, Quota.take(quota, :streams, client, 1)},
         {:bytes, :ok} <- {:bytes, Quota.take(quota, :subscription_bytes, client, bytes)} do
      sink = open(mount, request, subscription, origin, sink)
      :ok = Quota.give(quota, :subscription_bytes, client, bytes)
      :ok = Quota.give(quota, :streams, client, 1)
      sink
    else
      {:streams, :full} ->
        refuse(mount, request, "too many streams", sink)

      {:bytes, :full} ->
        :ok = Quota.give(quota, :streams, client, 1)
        refuse(mount, request, "too many subscriptions", sink)
    end
  end

  defp refuse(mount, request, reason, sink) do
    error = Protocol.error(request.id, request.revision, :invalid_request, {:because, reason})
    {status, headers} = Mount.standing(mount, {:status, 429})
    Sink.reply(sink, status, headers, error)
  end

  # The acknowledgement is the stream's first message. Earlier changes do not concern a new stream.
  defp open(mount, %{id: id, revision: revision, arguments: filter}, subscription, origin, sink) do
    :ok = Changes.listen(mount.router, Subscription.wanted(subscription, MapSet.new([:all])))
    narrow = Recipient.all(origin.principal, nil) -- [:router]
    :ok = Changes.want(mount.router, for(recipient <- narrow, do: {:to, recipient}))
    sink = Sink.release(sink)

    stream = %__MODULE__{
      mount: mount,
      sink: sink,
      id: id,
      revision: revision,
      subscription: subscription,
      catalog: origin.catalog,
      principal: origin.principal,
      ends_at: Map.get(origin, :listen_until, :infinity)
    }

    Report.peer(source(stream), [:subscription, :start], %{count: 1})
    first = HTTP.event(nil, Subscription.acknowledgement(filter, revision, id))
    opened = Sink.stream(sink, 200, HTTP.event_stream_headers(), [HTTP.keep_alive(), first])
    # The stream may be idle for days. The collection frees the request and shrinks the heap to half.
    :erlang.garbage_collect()
    sink = go_on(stream, opened)
    Changes.unlisten()
    Report.peer(source(stream), [:subscription, :stop], %{count: 1})
    sink
  end

  defp source(%{mount: mount, catalog: catalog}),
    do: %{router: mount.router, catalog: catalog, transport: :http, revision: nil}

  defp go_on(stream, {:ok, sink}) do
    # A server announces its end once, perhaps before the stream was open.
    if Sink.ends_at(sink),
      do: finish(stream, sink),
      else: await(%{stream | sink: sink, quiet_at: Sink.now() + stream.mount.keep_alive})
  end

  defp go_on(_stream, {:closed, sink}), do: sink

  defp await(stream) do
    case Sink.next(stream.sink, min(stream.quiet_at, stream.ends_at)) do
      {:timeout, sink} ->
        due(stream, sink)

      {{:mcp_change, change}, sink} ->
        changed(%{stream | sink: sink}, changes(MapSet.new([change]), stream))

      {{:mcp_change, change, recipient}, sink} ->
        changed(%{stream | sink: sink}, changes(own(change, recipient, stream), stream))

      {{:mcp_disconnect, recipient}, sink} ->
        if Recipient.concerns?(recipient, stream.principal, nil),
          do: finish(stream, sink),
          else: go_on(stream, {:ok, sink})

      {:closed, sink} ->
        sink

      {{:drain, _until}, sink} ->
        finish(stream, sink)

      {message, sink} ->
        pass(stream, message, sink)
    end
  end

  defp due(stream, sink) do
    if Sink.now() >= stream.ends_at,
      do: finish(stream, sink),
      else: go_on(stream, Sink.keep_alive(sink, HTTP.keep_alive()))
  end

  # A slow client gets repeated changes as one.
  defp changes(changes, stream) do
    receive do
      {:mcp_change, change} -> changes(MapSet.put(changes, change), stream)
      {:mcp_change, change, recipient} -> changes(MapSet.union(changes, own(change, recipient, stream)), stream)
    after
      0 -> changes
    end
  end

  # A stream belongs to no session.
  defp own(change, recipient, stream),
    do: MapSet.new(if(Recipient.concerns?(recipient, stream.principal, nil), do: [change], else: []))

  defp changed(stream, changes) do
    if MapSet.member?(changes, :all), do: Changes.caught_up()

    case for(change <- Subscription.wanted(stream.subscription, changes), do: event(stream, change)) do
      [] -> await(stream)
      events -> go_on(stream, Sink.chunk(stream.sink, events))
    end
  end

  defp event(%{subscription: subscription} = stream, change),
    do: HTTP.event(nil, Subscription.notification(subscription, change, stream.revision, stream.id))

  defp pass(stream, message, sink) do
    Sink.discard(message)
    await(%{stream | sink: sink})
  end

  # When the server ends, the stream is cancelled and its request answered.
  defp finish(stream, sink) do
    request = %Request{id: stream.id, revision: stream.revision, method: @method, kind: :listen}
    {:ok, reply} = Protocol.result(stream.catalog, request, :empty)
    last = [Subscription.cancellation(stream.revision, stream.id), reply]
    {_written, sink} = Sink.chunk(sink, for(message <- last, do: HTTP.event(nil, message)))
    Sink.finish(sink)
  end
end
