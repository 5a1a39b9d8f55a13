defmodule McpServer.Http.Overload do
  @moduledoc false
  # How long a client should wait that a mount has refused for lack of a place.
  #
  # If all refused clients came back after the same second, they would be refused together again. So each gets a random
  # number of seconds, and the largest one grows with the logarithm of the refusals of the last seconds.

  # Refusals are counted for this and the last window, each of so many seconds.
  @window 5
  # Seconds. Later an overload is seldom the same.
  @most 30

  @enforce_keys [:counts]
  defstruct [:counts]

  # The elements: the number of the window, its refusals, and those of the window before.
  @number 1
  @current 2
  @previous 3

  @type t :: %__MODULE__{counts: :atomics.atomics_ref()}

  @doc "A mount that has refused nobody."
  @spec new() :: t()
  def new, do: %__MODULE__{counts: :atomics.new(3, signed: true)}

  @doc """
  Counts a refusal, and returns the seconds for its `Retry-After`: 1 for the first one, and after n refusals at most
  1 + log2(n). `seconds` is the monotonic time.
  """
  @spec retry_after(t(), seconds :: integer()) :: 1..30
  def retry_after(%__MODULE__{counts: counts}, seconds \\ System.monotonic_time(:second)) do
    turn(counts, Integer.floor_div(seconds, @window))
    refused = :atomics.add_get(counts, @current, 1) + :atomics.get(counts, @previous)
    spread = floor(:math.log2(max(refused, 1)))
    min(1 + Enum.random(0..spread), @most)
  end

  # Only one process turns to a new window. Refusals that others count meanwhile may be lost, which does no harm.
  defp turn(counts, number) do
    last = :atomics.get(counts, @number)

    if number != last and :atomics.compare_exchange(counts, @number, last, number) == :ok do
      refused = :atomics.exchange(counts, @current, 0)
      :atomics.put(counts, @previous, if(number == last + 1, do: refused, else: 0))
    end
  end
end
