defmodule McpServer.Http.Usage do
  @moduledoc false
  # What clients of one mount have taken of it now, its totals since it began, and what delays and refusals are told.

  alias McpServer.Dispatch.ToolPlaces
  alias McpServer.Http.{InvalidTokens, Overload}
  alias McpServer.Quota

  @totals [:accepted, :accept_errors, :turned_away, :requests, :refused, :delayed, :cut]

  @enforce_keys [:quota, :totals, :invalid_tokens, :overload, :tool_bounds]
  defstruct [:quota, :totals, :invalid_tokens, :overload, :tool_bounds]

  @type total :: :accepted | :accept_errors | :turned_away | :requests | :refused | :delayed | :cut

  @typedoc "The quota of an account belongs to one process, that of a mount to none."
  @type t :: %__MODULE__{
          quota: Quota.t(),
          totals: :counters.counters_ref(),
          invalid_tokens: InvalidTokens.t(),
          overload: Overload.t(),
          tool_bounds: ToolPlaces.bounds()
        }

  @doc "The counters of a mount with these options, see `McpServer.Quota.Kinds`."
  @spec new(%{optional(atom()) => term()}) :: t()
  def new(options) do
    %__MODULE__{
      quota: Quota.new(:server, options),
      totals: :counters.new(length(@totals), [:write_concurrency]),
      invalid_tokens: InvalidTokens.new(Map.get_lazy(options, :max_invalid_tokens, &InvalidTokens.default/0)),
      overload: Overload.new(),
      tool_bounds: ToolPlaces.bounds(options)
    }
  end

  @doc "The counters with the account of the calling process."
  @spec own(t()) :: t()
  def own(usage), do: %{usage | quota: Quota.own(usage.quota)}

  @doc "Counts an event."
  @spec count(t(), total()) :: :ok
  def count(%__MODULE__{totals: totals}, total), do: :counters.add(totals, index(total), 1)

  @doc "How many milliseconds the answer to an invalid token must wait. Counts those that must."
  @spec delay(t()) :: non_neg_integer()
  def delay(%__MODULE__{invalid_tokens: bucket} = usage) do
    delay = InvalidTokens.delay(bucket)
    if delay > 0, do: count(usage, :delayed)
    delay
  end

  @doc "The seconds after which a client should come back that is refused now, for lack of a place."
  @spec retry_after(t()) :: pos_integer()
  def retry_after(%__MODULE__{overload: overload}), do: Overload.retry_after(overload)

  @doc "How often an event was counted."
  @spec total(t(), total()) :: non_neg_integer()
  def total(%__MODULE__{totals: totals}, total), do: :counters.get(totals, index(total))

  @doc "All counters, by name."
  @spec stats(t()) :: %{atom() => integer()}
  def stats(%__MODULE__{quota: quota, totals: totals}) do
    for name <- @totals, into: Quota.stats(quota), do: {name, :counters.get(totals, index(name))}
  end

  for {name, index} <- Enum.with_index(@totals, 1) do
    defp index(unquote(name)), do: unquote(index)
  end
end
