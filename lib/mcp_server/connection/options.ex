defmodule McpServer.Connection.Options do
  @moduledoc false
  # The bounds of a connection, in one place. Each can be set, none can be infinite.

  @defaults %{
    max_calls: 64,
    max_waiting: 1_000,
    max_waiting_bytes: 8 * 1024 * 1024,
    max_awaiting_input: 1_000,
    max_streams: 64,
    max_subscriptions: 1_000,
    timeout: 60_000,
    input_timeout: 300_000,
    grace: 5_000,
    max_heap_words: 64 * 1024 * 1024,
    max_result_bytes: 64 * 1024 * 1024,
    callers: [],
    assigns: %{},
    overload: :wait
  }

  @bounds @defaults |> Map.drop([:callers, :assigns, :overload]) |> Map.keys()

  @type t :: %{atom() => term()}

  @doc "The names of the bounds."
  @spec names() :: [atom()]
  def names, do: @bounds

  @doc "The options that this module knows, with their defaults; the rest is returned beside them."
  @spec split(keyword()) :: {t(), keyword()}
  def split(options) do
    {given, rest} = Keyword.split(options, Map.keys(@defaults))
    Enum.each(given, &check!/1)
    {Map.merge(@defaults, Map.new(given)), rest}
  end

  defp check!({name, value}) when name in @bounds do
    (is_integer(value) and value > 0) ||
      raise ArgumentError, "expected #{inspect(name)} to be a positive integer, got: #{inspect(value)}"
  end

  defp check!(_other), do: :ok
end
