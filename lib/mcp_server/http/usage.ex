defmodule McpServer.Http.Usage do
  @moduledoc false
  # The resources of one mount that are in use now, and its totals since it began.
  #
  # Each resource is counted twice: for the mount, where the limit applies, and for the process that takes it. So the
  # resources of a killed process can be given back.

  alias McpServer.Http.{InvalidTokens, Overload}

  @in_use [:connections, :exchanges, :calls, :streams, :hooks, :body_bytes]
  @totals [:accepted, :accept_errors, :turned_away, :requests, :refused, :delayed, :cut]

  @enforce_keys [:in_use, :totals, :invalid_tokens, :overload]
  defstruct [:in_use, :totals, :invalid_tokens, :overload, :own]

  @type kind :: :connections | :exchanges | :calls | :streams | :hooks | :body_bytes
  @type total :: :accepted | :accept_errors | :turned_away | :requests | :refused | :delayed | :cut

  @typedoc "`:own` counts the resources of one process. It is `nil` for the mount."
  @type t :: %__MODULE__{
          in_use: :atomics.atomics_ref(),
          totals: :counters.counters_ref(),
          invalid_tokens: InvalidTokens.t(),
          overload: Overload.t(),
          own: :atomics.atomics_ref() | nil
        }

  @doc "The counters of a mount that answers so many invalid tokens in a second without delay."
  @spec new(pos_integer()) :: t()
  def new(max_invalid_tokens \\ InvalidTokens.default()) do
    %__MODULE__{
      in_use: :atomics.new(length(@in_use), signed: true),
      totals: :counters.new(length(@totals), [:write_concurrency]),
      invalid_tokens: InvalidTokens.new(max_invalid_tokens),
      overload: Overload.new()
    }
  end

  @doc "An account for one process, on the mount's counters."
  @spec account(t()) :: t()
  def account(usage), do: %{usage | own: :atomics.new(length(@in_use), signed: true)}

  @doc "Takes `amount` of a resource with this `limit`. A resource that is only counted has the limit `:infinity`."
  @spec take(t(), kind(), pos_integer(), limit :: pos_integer() | :infinity) :: :ok | :full
  def take(%__MODULE__{in_use: in_use, own: own}, kind, amount, limit) do
    index = index(kind)

    if :atomics.add_get(in_use, index, amount) > limit do
      :atomics.sub(in_use, index, amount)
      :full
    else
      :atomics.add(own, index, amount)
    end
  end

  @doc "Gives back `amount` of a resource."
  @spec give(t(), kind(), non_neg_integer()) :: :ok
  def give(%__MODULE__{in_use: in_use, own: own}, kind, amount) do
    index = index(kind)
    :atomics.sub(own, index, amount)
    :atomics.sub(in_use, index, amount)
  end

  @doc "The mount's counter of a resource, for places that no process owns."
  @spec counter(t(), kind()) :: {:atomics.atomics_ref(), pos_integer()}
  def counter(%__MODULE__{in_use: in_use}, kind), do: {in_use, index(kind)}

  @doc "How much of a resource the process has taken."
  @spec taken(t(), kind()) :: non_neg_integer()
  def taken(%__MODULE__{own: own}, kind), do: :atomics.get(own, index(kind))

  @doc "Gives back all resources of the account's process."
  @spec close(t()) :: :ok
  def close(%__MODULE__{in_use: in_use, own: own}) do
    for index <- 1..length(@in_use), do: :atomics.sub(in_use, index, :atomics.exchange(own, index, 0))
    :ok
  end

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
  def stats(%__MODULE__{in_use: in_use, totals: totals}) do
    in_use = for name <- @in_use, do: {name, :atomics.get(in_use, index(name))}
    totals = for name <- @totals, do: {name, :counters.get(totals, index(name))}
    Map.new(in_use ++ totals)
  end

  for names <- [@in_use, @totals], {name, index} <- Enum.with_index(names, 1) do
    defp index(unquote(name)), do: unquote(index)
  end
end
