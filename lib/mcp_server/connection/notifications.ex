defmodule McpServer.Connection.Notifications do
  @moduledoc false
  # Notifications of a call: progress and log messages, encoded by the sending process. The sender waits until its
  # message was taken, so a handler cannot outrun its client.

  alias McpServer.Call
  alias McpServer.Protocol.Revision
  alias McpServer.Connection.{Replies, Report, Session, State, Transport}

  @type condition :: :always | {:progress, number()} | {:message, level :: String.t()}

  @doc "Takes or discards a notification of the call `pid`, which waits under `tag`."
  @spec notify(State.t(), reference(), pid(), condition(), iodata()) :: State.t()
  def notify(state, tag, pid, condition, message) do
    case pass(state, Map.get(state.calls, pid), condition) do
      {:ok, call} ->
        stream = Replies.stream(state, call.target)
        state = Replies.put(%{state | calls: Map.put(state.calls, pid, call)}, stream, :notification, message)
        release(state, stream, tag)

      {:discard, what} ->
        Call.reply(tag, :ok)
        discard(state, what)
    end
  end

  # A handler that is faster than its client waits here.
  defp release(%{transport: {module, transport}} = state, stream, tag) do
    if module.congested?(transport, stream) do
      %{state | held: Map.update(state.held, stream, [tag], &[tag | &1])}
    else
      Call.reply(tag, :ok)
      state
    end
  end

  @doc """
  Sends a log message without a call, on the session's own stream, if the client wants this level and reads the stream.
  """
  @spec log(State.t(), level :: String.t(), iodata()) :: State.t()
  def log(%{session: %{initialized?: false}} = state, _level, _message), do: state

  def log(%{transport: {module, transport}} = state, level, message) do
    cond do
      not Session.logs?(state.session.log_level, level) -> discard(state, :filtered_log)
      module.congested?(transport, :session) -> discard(state, :unread_log)
      true -> Replies.put(state, :session, :notification, message)
    end
  end

  @doc "Lets handlers continue that waited for the stream."
  @spec writable(State.t(), Transport.stream()) :: State.t()
  def writable(state, stream) do
    {tags, held} = Map.pop(state.held, stream, [])
    Enum.each(tags, &Call.reply(&1, :ok))
    %{state | held: held}
  end

  @doc "Closes the call's stream for now. The client reconnects for the rest."
  @spec pause(State.t(), reference(), pid(), pos_integer()) :: State.t()
  def pause(state, tag, pid, retry_ms) do
    Call.reply(tag, :ok)

    case Map.fetch(state.calls, pid) do
      {:ok, call} -> Replies.put(state, Replies.stream(state, call.target), {:pause, retry_ms}, [])
      :error -> state
    end
  end

  defp pass(_state, nil, _gate), do: {:discard, :late_notification}

  defp pass(_state, call, {:progress, value}) do
    if call.progress == nil or value > call.progress,
      do: {:ok, %{call | progress: value}},
      else: {:discard, :stale_progress}
  end

  # In the stateless era the level came with the request, and the call has already checked it.
  defp pass(state, call, {:message, level}) do
    if Revision.stateless?(call.request.revision) or Session.logs?(state.session.log_level, level),
      do: {:ok, call},
      else: {:discard, :filtered_log}
  end

  defp pass(_state, call, :always), do: {:ok, call}

  defp discard(state, what) do
    Report.discarded(state, what)
    state
  end
end
