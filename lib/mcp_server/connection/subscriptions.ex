defmodule McpServer.Connection.Subscriptions do
  @moduledoc false
  # Notifications that belong to no call: what changed, for whoever asked to be told. In the session era
  # that is the session (`resources/subscribe`, and list changes once it is initialized), in the
  # stateless era each `subscriptions/listen` stream.

  alias McpServer.{Changes, Protocol, Request, Share, Subscription}
  alias McpServer.Connection.{Calls, Replies, Report, Session, State, Transport}
  alias McpServer.Dispatch.Subscribing

  @listen "subscriptions/listen"
  @budget :subscription_bytes

  @doc "Changes are heard from now on."
  @spec hear(State.t()) :: State.t()
  def hear(%{listening?: true} = state), do: state

  def hear(state) do
    Changes.listen(state.router)
    %{state | listening?: true}
  end

  @doc "`resources/subscribe`. Where the router says who may, a call finds out first."
  @spec subscribe(State.t(), Request.t(), Replies.target()) :: State.t()
  def subscribe(state, request, target) do
    if Subscribing.guarded?(state.catalog, request),
      do: Calls.admit(state, request, target),
      else: subscribed(state, request, target, request.name)
  end

  @doc "The client may hear of the resource."
  @spec subscribed(State.t(), Request.t(), Replies.target(), uri :: String.t()) :: State.t()
  def subscribed(state, request, target, uri) do
    # The same one again costs nothing.
    uris = if Session.subscribed?(state.session, uri), do: [], else: [uri]

    with {:ok, session} <- Session.subscribe(state.session, uri, state.options.max_subscriptions),
         :ok <- take(state, holder(state), Subscription.cost(uris)) do
      acknowledge(hear(%{state | session: session}), request, target)
    else
      _too_many -> refuse(state, request, target, "too many subscriptions")
    end
  end

  @doc "`resources/unsubscribe`. What the client may not know of it cannot name, unless it is subscribed to it."
  @spec unsubscribe(State.t(), Request.t(), Replies.target()) :: State.t()
  def unsubscribe(state, %{name: uri} = request, target) do
    if Subscribing.guarded?(state.catalog, request) and not Session.subscribed?(state.session, uri),
      do: Calls.admit(state, request, target),
      else: unsubscribed(state, request, target, uri)
  end

  @doc "The client hears no more of the resource."
  @spec unsubscribed(State.t(), Request.t(), Replies.target(), uri :: String.t()) :: State.t()
  def unsubscribed(state, request, target, uri) do
    if Session.subscribed?(state.session, uri), do: give(state, holder(state), Subscription.cost([uri]))
    acknowledge(%{state | session: Session.unsubscribe(state.session, uri)}, request, target)
  end

  @doc "`subscriptions/listen`. Where the router says who may hear of what, a call finds out first."
  @spec listen(State.t(), Request.t(), Replies.target()) :: State.t()
  def listen(state, request, target) do
    key = State.key(state, Replies.stream(state, target), request.id)

    cond do
      Subscribing.guarded?(state.catalog, request) -> Calls.admit(state, request, target)
      Session.in_flight?(state.session, key) -> Calls.refuse_duplicate(state, request, target)
      true -> open(state, key, request, target, request.arguments)
    end
  end

  @doc "Opens the stream of the request `key`: the acknowledgement is its first message."
  @spec open(State.t(), Session.key(), Request.t(), Replies.target(), filter :: map()) :: State.t()
  def open(state, key, %{id: id, revision: revision} = request, target, filter) do
    stream = Replies.stream(state, target)
    subscription = Subscription.from_filter(filter)
    listen = %{id: id, revision: revision, subscription: subscription, stream: stream, holder: holder(state)}

    with {:ok, session} <- Session.listen(state.session, key, listen, state.options.max_streams),
         :ok <- take(state, listen.holder, Subscription.cost(subscription)) do
      Report.peer(state, [:subscription, :start], %{count: 1})
      # What changed before is nothing to a stream that opens now.
      state = state |> write_changes() |> hear()
      notify(%{state | session: session}, stream, Subscription.acknowledgement(filter, revision, id))
    else
      {:error, :too_many} -> refuse(state, request, target, "too many streams")
      :full -> refuse(state, request, target, "too many subscriptions")
    end
  end

  # Bytes of URIs, of all connections of a server together. What a connection that is killed had is given back for it.
  defp take(_state, _holder, 0), do: :ok

  defp take(%{server: server, options: options}, holder, bytes),
    do: Share.take(server.id, @budget, holder, {options.max_subscription_bytes, server.max_share}, bytes)

  defp give(_state, _holder, 0), do: :ok
  defp give(state, holder, bytes), do: Share.give(state.server.id, @budget, holder, bytes)

  # A session is one client's; a shared connection is at the message of one.
  defp holder(state), do: state.server.holder || Share.holder(state.base.principal, nil)

  @doc "The client ends a stream: nothing is sent any more."
  @spec cancel(State.t(), term()) :: State.t()
  def cancel(state, key) do
    case state.session.listens do
      %{^key => listen} ->
        Report.peer(state, [:subscription, :stop], %{count: 1})
        :ok = give(state, listen.holder, Subscription.cost(listen.subscription))
        %{state | session: Session.unlisten(state.session, key)}

      _no_stream ->
        state
    end
  end

  @doc "Nobody listens at the stream any more."
  @spec gone(State.t(), Transport.stream()) :: State.t()
  def gone(state, stream) do
    keys = for {key, %{stream: ^stream}} <- state.session.listens, do: key
    Enum.reduce(keys, state, &cancel(&2, &1))
  end

  @doc "The server ends all streams: each is cancelled, and answered."
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

  @doc "Something changed. It is written with the next messages; the same change again adds nothing."
  @spec changed(State.t(), Changes.change()) :: State.t()
  def changed(state, change) do
    if interested?(state, change),
      do: %{state | changes: MapSet.put(state.changes, change)},
      else: state
  end

  @doc "Puts what changed into the outbox."
  @spec write_changes(State.t()) :: State.t()
  def write_changes(%{changes: changes} = state) do
    if MapSet.size(changes) == 0,
      do: state,
      else: Enum.reduce(Enum.sort(changes), %{state | changes: MapSet.new()}, &write_change/2)
  end

  defp write_change(change, %{session: session} = state) do
    state =
      if Subscription.wants?(session.subscription, change),
        do: notify(state, :session, Subscription.notification(change, session.revision, nil)),
        else: state

    for {_key, listen} <- Enum.sort(session.listens), Subscription.wants?(listen.subscription, change), reduce: state do
      state -> notify(state, listen.stream, Subscription.notification(change, listen.revision, listen.id))
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
