defmodule McpServer.Connection.Options do
  @moduledoc false
  # The bounds of a connection and of its messages, in one place. Each can be set, none can be infinite.

  alias McpServer.{Limit, Protocol}

  # Name, default, and what is counted or the most that it can be.
  @calls [
    {:max_calls, 64, :count},
    {:max_waiting, 1_000, :count},
    {:max_waiting_bytes, 8 * 1024 * 1024, :bytes},
    {:max_awaiting_input, 1_000, :count},
    {:max_streams, 64, :count},
    {:max_subscriptions, 1_000, :count},
    {:max_subscription_bytes, 64 * 1024 * 1024, :bytes},
    {:timeout, 60_000, :milliseconds},
    {:input_timeout, 300_000, :milliseconds},
    {:grace, 5_000, :milliseconds},
    {:max_heap_words, 64 * 1024 * 1024, :words},
    {:max_result_bytes, 64 * 1024 * 1024, :bytes}
  ]

  # As deep as the encoder writes; a schema and a handler recurse with it.
  @messages [
    {:max_depth, 128, 128},
    {:max_values, 200_000, :count},
    {:max_digits, 1_024, 10_000},
    {:max_id_bytes, 256, 65_536},
    {:max_method_bytes, 256, 65_536},
    {:max_name_bytes, 128, 65_536},
    {:max_uri_bytes, 8 * 1024, 65_536},
    {:max_meta_bytes, 16 * 1024, 1024 * 1024},
    {:max_batch, 50, 1_000}
  ]

  @bounds @calls ++ @messages
  @units Map.new(@bounds, fn {name, _default, unit} -> {name, unit} end)
  @message_names [:max_subscriptions | Enum.map(@messages, &elem(&1, 0))]
  @own %{callers: [], assigns: %{}, overload: :wait, max_message_bytes: 10 * 1024 * 1024}
  @defaults Map.merge(Map.new(@bounds, fn {name, default, _unit} -> {name, default} end), @own)

  @type t :: %{atom() => term()}

  @doc "The names of the bounds."
  @spec names() :: [atom()]
  def names, do: Map.keys(@units)

  @doc "The options that this module knows, with their defaults; the rest is returned beside them."
  @spec split(keyword()) :: {t(), keyword()}
  def split(options) do
    {given, rest} = Keyword.split(options, Map.keys(@defaults))
    for {name, value} <- given, unit = @units[name], do: Limit.check!(name, value, unit)
    {Map.merge(@defaults, Map.new(given)), rest}
  end

  @doc "What a message may hold by these options, as the core takes it with each message."
  @spec message_limits(t() | keyword()) :: Protocol.limits()
  def message_limits(options) do
    options = Map.new(options)
    limits = Map.take(options, @message_names)
    # Bodies are counted while they are read.
    limits = with %{max_message_bytes: bytes} <- options, do: Map.put(limits, :max_bytes, bytes), else: (_ -> limits)
    Protocol.limits(limits)
  end
end
