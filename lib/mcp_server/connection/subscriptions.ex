defmodule McpServer.Connection.Subscriptions do
  @moduledoc false
  # Change notifications for subscribers. In the session era the subscriber is the session (`resources/subscribe`, and
  # list changes once it is initialized). In the stateless era it is each `subscriptions/listen` stream.

  alias McpServer.{Changes, Protocol, Quota, Recipient, Request, Subscription}
  alias McpServer.Connection.{Calls, Replies, Report, Session, State, Transport}
  alias McpServer.Dispatch.Subscribing
  alias McpServer.Quota.Client

  @listen "subscriptions/listen"

  @doc "Starts to listen for changes."
  @spec hear(State.t()) :: State.t()
  def hear(%{listening?: true} = state), do: state

  def hear(state) do
    :ok = Changes.listen(state.router)
    narrow = Recipient.all(state.principal, state.session.id) -- [:router]
    :ok = Changes.want(state.router, for(recipient <- narrow, do: {:to, recipient}))
    %{state | listening?: true}
  end

  # Nobody else's resources wake this process.
  defp want(state, subscription) do
    :ok = Changes.want(state.router, Subscription.resources(subscription))
    state
  end

  # Several streams may want the same resource.
  defp unwant(state, subscription) do
    for change <- Subscription.resources(subscription),
        not interested?(state, change),
        do: Changes.unwant(state.router, change)

    state
  end

  @doc "`resources/subscribe`. If the router guards resources, a call checks access first."
  @spec subscribe(State.t(), Request.t(), Replies.target()) :: State.t()
  def subscribe(state, request, target) do
    if Subscribing.guarded?(state.catalog, request),
      do: Calls.admit(state, request, target),
      else: subscribed(state, request, target, request.name)
  end

  @doc "Subscribes the client, which may read the resource."
  @spec subscribed(State.t(), Request.t(), Replies.target(), uri :: String.t()) :: State.t()
  def subscribed(state, request, target, uri) do
    # A repeated subscription costs nothing.
    added = if Session.subscribed?(state.session, uri), do: %Subscription{}, else: Subscription.to(uri)

    with {:ok, session} <- Session.subscribe(state.session, uri, state.options.max_subscriptions),
         :ok <- take(state, client(state), Subscription.cost(added)) do
      %{state | session: session} |> hear() |> want(added) |> acknowledge(request, target)
    else
      _too_many -> refuse(state, request, target, "too many subscriptions")
    end
  end

  @doc "`resources/unsubscribe`. A client cannot name a hidden resource, unless it is subscribed to it."
  @spec unsubscribe(State.t(), Request.t(), Replies.target()) :: State.t()
  def unsubscribe(state, %{name: uri} = request, target) do
    if Subscribing.guarded?(state.catalog, request) and not Session.subscribed?(state.session, uri),
      do: Calls.admit(state, request, target),
      else: unsubscribed(state, request, target, uri)
  end

  @doc "Unsubscribes the client from the resource."
  @spec unsubscribed(State.t(), Request.t(), Replies.target(), uri :: String.t()) :: State.t()
  def unsubscribed(state, request, target, uri) do
    removed = Subscription.only(state.session.subscription, uri)
    :ok = give(state, client(state), Subscription.cost(removed))
    %{state | session: Session.unsubscribe(state.session, uri)} |> unwant(removed) |> acknowledge(request, target)
  end

  @doc "`subscriptions/listen`. If the router guards resources, a call checks access first."
  @spec listen(State.t(), Request.t(), Replies.target()) :: State.t()
  def listen(state, request, target) do
    key = State.key(state, Replies.stream(state, target), request.id)

    cond do
      Subscribing.guarded?(state.catalog, request) -> Calls.admit(state, request, target)
      Session.in_flight?(state.session, key) -> Calls.refuse_duplicate(state, request, target)
      true -> open(state, key, request, target, request.arguments)
    end
  end

  @doc "Opens the stream of the request `key`. The acknowledgement is its first message."
  @spec open(State.t(), Session.key(), Request.t(), Replies.target(), filter :: map()) :: State.t()
  def open(state, key, %{id: id, revision: revision} = request, target, filter) do
    stream = Replies.stream(state, target)
    subscription = Subscription.from_filter(filter)
    listen = %{id: id, revision: revision, subscription: subscription, stream: stream, client: client(state)}

    with {:ok, session} <- Session.listen(state.session, key, listen, state.options.max_streams),
         :ok <- take(state, listen.client, Subscription.cost(subscription)) do
      Report.peer(state, [:subscription, :start], %{count: 1})
      # Earlier changes do not concern a new stream.
      state = state |> write_changes() |> hear() |> want(subscription)
      notify(%{state | session: session}, stream, Subscription.acknowledgement(filter, revision, id))
    else
      {:error, :too_many} -> refuse(state, request, target, "too many streams")
      :full -> refuse(state, request, target, "too many subscriptions")
    end
  end

  # The limit on URI bytes covers all connections of a server. The bytes of a killed connection are given back.
  defp take(_state, _client, 0), do: :ok

  defp take(%{server: server}, client, bytes),
    do: Quota.take(Quota.own(server.quota), :subscription_bytes, client, bytes)

  defp give(_state, _client, 0), do: :ok

  defp give(%{server: server}, client, bytes),
    do: Quota.give(Quota.own(server.quota), :subscription_bytes, client, bytes)

  # A session has one client. On a shared connection the current message decides.
  defp client(state), do: state.server.client || Client.new(state.base.principal, nil)

  @doc "Ends a stream that the client has cancelled. Nothing more is sent on it."
  @spec cancel(State.t(), term()) :: State.t()
  def cancel(state, key) do
    case state.session.listens do
      %{^key => listen} ->
        Report.peer(state, [:subscription, :stop], %{count: 1})
        :ok = give(state, listen.client, Subscription.cost(listen.subscription))
        unwant(%{state | session: Session.unlisten(state.session, key)}, listen.subscription)

      _no_stream ->
        state
    end
  end

  @doc "Ends a stream whose client has gone."
  @spec gone(State.t(), Transport.stream()) :: State.t()
  def gone(state, stream) do
    keys = for {key, %{stream: ^stream}} <- state.session.listens, do: key
    Enum.reduce(keys, state, &cancel(&2, &1))
  end

  @doc "Ends all streams for the server: each is cancelled and answered."
  @spec close_all(State.t()) :: State.t()
  def close_all(state) do
    for {key, %{id: id, revision: revision, stream: stream}} <- Enum.sort(state.session.listens), reduce: state do
      state ->
        state
        |> notify(stream, Subscription.cancellation(revision, id))
        |> acknowledge(%Request{id: id, revision: revision, method: @listen, kind: :listen}, stream)
        |> cancel(key)
    end
  end

  @doc "Notes a change. It is written with the next messages, and repeated changes are merged."
  @spec changed(State.t(), Changes.notice()) :: State.t()
  def changed(%{session: session} = state, :all) do
    Changes.caught_up()
    subscriptions = [session.subscription | for({_key, listen} <- session.listens, do: listen.subscription)]
    missed = Enum.flat_map(subscriptions, &Subscription.wanted(&1, MapSet.new([:all])))
    %{state | changes: MapSet.union(state.changes, MapSet.new(missed))}
  end

  def changed(state, change) do
    if interested?(state, change),
      do: %{state | changes: MapSet.put(state.changes, change)},
      else: state
  end

  @doc """
  Puts the noted changes into the outbox. While the client does not read the session's own stream they wait, and repeated
  ones are merged.
  """
  @spec write_changes(State.t()) :: State.t()
  def write_changes(%{changes: changes, transport: {module, transport}} = state) do
    if MapSet.size(changes) == 0 or module.congested?(transport, :session),
      do: state,
      else: Enum.reduce(Enum.sort(changes), %{state | changes: MapSet.new()}, &write_change/2)
  end

  defp write_change(change, %{session: session} = state) do
    state =
      if Subscription.wants?(session.subscription, change),
        do: notify(state, :session, Subscription.notification(session.subscription, change, session.revision, nil)),
        else: state

    for {_key, listen} <- Enum.sort(session.listens), Subscription.wants?(listen.subscription, change), reduce: state do
      state ->
        message = Subscription.notification(listen.subscription, change, listen.revision, listen.id)
        notify(state, listen.stream, message)
    end
  end

  defp interested?(%{session: session}, change) do
    Subscription.wants?(session.subscription, change) or
      Enum.any?(session.listens, fn {_key, listen} -> Subscription.wants?(listen.subscription, change) end)
  end

  defp notify(state, stream, message), do: Replies.put(state, stream, :notification, message)

  defp acknowledge(state, request, target) do
    {:ok, reply} = Protocol.result(state.catalog, request, :empty)
    Replies.reply(state, target, reply)
  end

  defp refuse(state, request, target, reason) do
    error = Protocol.error(request.id, request.revision, :invalid_request, {:because, reason})
    Replies.reply(state, target, error, {:status, 429})
  end
end
