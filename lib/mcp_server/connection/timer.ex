defmodule McpServer.Connection.Timer do
  @moduledoc false
  # One timer for everything a connection waits for, set to what is due first: a timer per call would cost every
  # call two timer operations for a deadline that is hardly ever reached.

  @typedoc "When something is due, in milliseconds of monotonic time, and the timer that says so."
  @type t :: {due :: integer(), reference()} | nil

  @doc "Makes sure that `due` will be noticed, by `message` to the calling process."
  @spec set(t(), integer(), message :: atom()) :: t()
  def set({earlier, _timer} = set, due, _message) when earlier <= due, do: set

  def set(later, due, message) do
    # The process need not wait until a timer of another scheduler is gone: one message too many does no harm.
    with {_due, timer} <- later, do: Process.cancel_timer(timer, async: true, info: false)
    now = System.monotonic_time(:millisecond)
    {due, Process.send_after(self(), message, max(due - now, 0))}
  end
end
