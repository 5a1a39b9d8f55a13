defmodule McpServer.Connection.Notices do
  @moduledoc false
  # Notifications that belong to a call: progress and log messages, already encoded by the process that
  # sends them. It waits until its message was taken, so a handler cannot outrun its client.

  alias McpServer.{Call, Session}
  alias McpServer.Connection.{Replies, Report, State}

  @type gate :: :always | {:progress, number()} | {:message, level :: String.t()}

  @doc "Takes or discards a notification of the call `ref`."
  @spec notify(State.t(), reference(), reference(), gate(), iodata()) :: State.t()
  def notify(state, tag, ref, gate, message) do
    state =
      case pass(state, Map.get(state.calls, ref), gate) do
        {:ok, call} -> Replies.put(%{state | calls: Map.put(state.calls, ref, call)}, message)
        {:discard, what} -> discard(state, what)
      end

    Call.reply(tag, :ok)
    state
  end

  defp pass(_state, nil, _gate), do: {:discard, :late_notification}

  defp pass(_state, call, {:progress, value}) do
    if call.progress == nil or value > call.progress,
      do: {:ok, %{call | progress: value}},
      else: {:discard, :stale_progress}
  end

  # The stateless era's level came with the request, and the call has looked at it already.
  defp pass(state, call, {:message, level}) do
    if Session.stateless?(call.request.revision) or Session.logs?(state.session.log_level, level),
      do: {:ok, call},
      else: {:discard, :filtered_log}
  end

  defp pass(_state, call, :always), do: {:ok, call}

  defp discard(state, what) do
    Report.discarded(state, what)
    state
  end
end
