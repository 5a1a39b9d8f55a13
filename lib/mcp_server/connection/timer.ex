defmodule McpServer.Connection.Timer do
  @moduledoc false
  # One timer for all due times of a connection, set to the earliest. A timer per call would cost two timer operations,
  # although deadlines are rarely reached.

  @typedoc "The earliest due time, in milliseconds of monotonic time, and its timer."
  @type t :: {due :: integer(), reference()} | nil

  @doc "Ensures that the calling process receives `message` at `due` or before."
  @spec set(t(), integer(), message :: atom()) :: t()
  def set({earlier, _timer} = set, due, _message) when earlier <= due, do: set

  def set(later, due, message) do
    # Cancelled asynchronously, because the timer may belong to another scheduler. A superfluous message is harmless.
    with {_due, timer} <- later, do: Process.cancel_timer(timer, async: true, info: false)
    now = System.monotonic_time(:millisecond)
    {due, Process.send_after(self(), message, max(due - now, 0))}
  end
end
