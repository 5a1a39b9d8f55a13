defmodule McpServer.Connection.Timer do
  @moduledoc false
  # One timer for everything a connection waits for, set to what is due first: a timer per call would cost every
  # call two timer operations for a deadline that is hardly ever reached.

  @typedoc "When something is due, in milliseconds of monotonic time, and the timer that says so."
  @type t :: {due :: integer(), reference() | nil} | nil

  @typedoc "Whether the connection is told by a message, or its caller waits until then itself."
  @type whose :: :own | :caller

  @doc "Makes sure that `due` will be noticed, by `message` to the calling process."
  @spec set(t(), integer(), message :: atom(), whose()) :: t()
  def set({earlier, _timer} = set, due, _message, _whose) when earlier <= due, do: set
  def set(_later, due, _message, :caller), do: {due, nil}

  def set(later, due, message, :own) do
    with {_due, timer} <- later, do: Process.cancel_timer(timer, async: true, info: false)
    {due, Process.send_after(self(), message, max(due - now(), 0))}
  end

  @doc "Milliseconds until it is due."
  @spec left(t()) :: timeout()
  def left(nil), do: :infinity
  def left({due, _timer}), do: max(due - now(), 0)

  defp now, do: System.monotonic_time(:millisecond)
end
