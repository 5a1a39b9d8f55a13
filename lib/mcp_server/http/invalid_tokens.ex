defmodule McpServer.Http.InvalidTokens do
  @moduledoc false
  # Delays the answers to invalid tokens while a mount gets too many of them.
  #
  # A flood of invalid tokens would take the processors from other clients. Most attackers send the next token of a
  # connection after the answer to the last one, so each connection sends about one token in a second. The delay does
  # not depend on the client, because an attacker may have many addresses.

  @second_us 1_000_000

  @enforce_keys [:full_at, :interval_us]
  defstruct [:full_at, :interval_us]

  @typedoc "A bucket of answers: the time when it is full again, and the time in which it gets one answer."
  @type t :: %__MODULE__{full_at: :atomics.atomics_ref(), interval_us: pos_integer()}

  @doc "The default of `:max_invalid_tokens`."
  @spec default() :: pos_integer()
  def default, do: 200

  @doc "A full bucket for so many answers in a second, at most 100,000."
  @spec new(pos_integer()) :: t()
  def new(per_second) do
    full_at = :atomics.new(1, signed: true)
    :atomics.put(full_at, 1, now())
    %__MODULE__{full_at: full_at, interval_us: div(@second_us, per_second)}
  end

  @doc "How many milliseconds the next answer must wait: 0 unless the bucket is empty, at most 1,000."
  @spec delay(t(), now_us :: integer()) :: 0..1_000
  def delay(%__MODULE__{full_at: full_at, interval_us: interval} = bucket, now \\ now()) do
    seen = :atomics.get(full_at, 1)
    next = min(max(seen, now) + interval, now + 2 * @second_us)

    case :atomics.compare_exchange(full_at, 1, seen, next) do
      :ok -> div(max(0, next - now - @second_us), 1_000)
      _another_value -> delay(bucket, now)
    end
  end

  defp now, do: System.monotonic_time(:microsecond)
end
