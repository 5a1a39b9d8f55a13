defmodule McpServer.Connection.Streams do
  @moduledoc false
  # Notifications that belong to no call: what changed, for whoever asked to be told. In the session era
  # that is the session (`resources/subscribe`, and list changes once it is initialized), in the
  # stateless era each `subscriptions/listen` stream.

  alias McpServer.{Changes, Protocol, Request, Session}
  alias McpServer.Connection.{Calls, Channel, Replies, Report, State}

  @invalid_request -32600

  @doc "Changes are heard from now on."
  @spec hear(State.t()) :: State.t()
  def hear(%{listening?: true} = state), do: state

  def hear(state) do
    Changes.listen(state.router)
    %{state | listening?: true}
  end

  @doc "`resources/subscribe`"
  @spec subscribe(State.t(), Request.t(), Replies.target()) :: State.t()
  def subscribe(state, request, target) do
    case Session.subscribe(state.session, request.name, state.options.max_subscriptions) do
      {:ok, session} -> acknowledge(hear(%{state | session: session}), request, target)
      {:error, :too_many} -> refuse(state, request, target, "too many subscriptions")
    end
  end

  @doc "`resources/unsubscribe`"
  @spec unsubscribe(State.t(), Request.t(), Replies.target()) :: State.t()
  def unsubscribe(state, request, target) do
    session = Session.unsubscribe(state.session, request.name)
    acknowledge(%{state | session: session}, request, target)
  end

  @doc "`subscriptions/listen`: the acknowledgement is the stream's first message."
  @spec listen(State.t(), Request.t(), Replies.target()) :: State.t()
  def listen(state, request, target) do
    uris = Map.get(request.arguments, "resourceSubscriptions", [])
    lane = Replies.lane(state, target)
    key = State.key(state, lane, request.id)

    cond do
      Session.in_flight?(state.session, key) -> Calls.refuse_duplicate(state, request, target)
      length(uris) > state.options.max_subscriptions -> refuse(state, request, target, "too many subscriptions")
      true -> open(state, key, {request, lane}, target)
    end
  end

  defp open(state, key, {request, _lane} = stream, target) do
    case Session.listen(state.session, key, stream, state.options.max_streams) do
      {:ok, session} -> acknowledge_stream(state, session, stream)
      {:error, :too_many} -> refuse(state, request, target, "too many streams")
    end
  end

  defp acknowledge_stream(state, session, {request, lane}) do
    Report.peer(state, [:subscription, :start], %{count: 1})
    # What changed before is nothing to a stream that opens now.
    state = state |> write_changes() |> hear()
    fields = %{notifications: request.arguments}
    notify(%{state | session: session}, lane, request.revision, :subscriptions_acknowledged, fields, request.id)
  end

  @doc "The client ends a stream: nothing is sent any more."
  @spec cancel(State.t(), term()) :: State.t()
  def cancel(state, key) do
    if is_map_key(state.session.streams, key) do
      Report.peer(state, [:subscription, :stop], %{count: 1})
      %{state | session: Session.unlisten(state.session, key)}
    else
      state
    end
  end

  @doc "Nobody listens at the lane any more."
  @spec gone(State.t(), Channel.lane()) :: State.t()
  def gone(state, lane) do
    keys = for {key, {_request, ^lane}} <- state.session.streams, do: key
    Enum.reduce(keys, state, &cancel(&2, &1))
  end

  @doc "The server ends all streams: each is cancelled, and answered."
  @spec close_all(State.t()) :: State.t()
  def close_all(state) do
    for {key, {request, lane}} <- Enum.sort(state.session.streams), reduce: state do
      state ->
        fields = %{requestId: request.id, reason: "The server ends the stream"}

        state
        |> notify(lane, request.revision, :cancelled, fields, request.id)
        |> acknowledge(request, lane)
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
    {kind, fields} = notification(change)

    state =
      if session_wants?(state, change),
        do: notify(state, :channel, session.revision, kind, fields, nil),
        else: state

    for {_key, {request, lane}} <- Enum.sort(session.streams), stream_wants?(request, change), reduce: state do
      state -> notify(state, lane, request.revision, kind, fields, request.id)
    end
  end

  defp interested?(state, change) do
    session_wants?(state, change) or
      Enum.any?(state.session.streams, fn {_key, {request, _lane}} -> stream_wants?(request, change) end)
  end

  defp session_wants?(state, {:resource, uri}), do: MapSet.member?(state.session.subscriptions, uri)
  defp session_wants?(state, _list), do: state.session.initialized?

  defp stream_wants?(%{arguments: filter}, {:resource, uri}), do: uri in Map.get(filter, "resourceSubscriptions", [])
  defp stream_wants?(%{arguments: filter}, :tools), do: filter["toolsListChanged"] == true
  defp stream_wants?(%{arguments: filter}, :prompts), do: filter["promptsListChanged"] == true
  defp stream_wants?(%{arguments: filter}, :resources), do: filter["resourcesListChanged"] == true

  defp notification(:tools), do: {:tools_list_changed, %{}}
  defp notification(:prompts), do: {:prompts_list_changed, %{}}
  defp notification(:resources), do: {:resources_list_changed, %{}}
  defp notification({:resource, uri}), do: {:resource_updated, %{uri: uri}}

  defp notify(state, lane, revision, kind, fields, stream) do
    {:ok, message} = Protocol.notification(revision, kind, fields, stream)
    Replies.put(state, lane, :notification, message)
  end

  defp acknowledge(state, request, target) do
    {:ok, reply} = Protocol.result(state.catalog, request, :empty)
    Replies.reply(state, target, reply)
  end

  defp refuse(state, request, target, reason) do
    text = "Invalid request: #{reason}"
    error = Protocol.error(request.id, request.revision, @invalid_request, text)
    Replies.reply(state, target, error, {:status, 429})
  end
end
