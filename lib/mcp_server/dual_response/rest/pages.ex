defmodule McpServer.DualResponse.Rest.Pages do
  @moduledoc false
  # A cache of encoded pages of stored rows. The rows of a resource never change, and encoding costs several times as
  # much as sending. A page is looked up only after its resource was found and permitted.
  #
  # The pages of each owner of resources are counted, so that one owner displaces no pages of others.

  alias McpServer.Quota

  @enforce_keys [:table, :max_bytes, :max_share]
  defstruct [:table, :max_bytes, :max_share]

  @typedoc "A table, the maximum size of its pages in bytes, and the percent of it for the pages of one owner."
  @type t :: %__MODULE__{table: :ets.tid(), max_bytes: pos_integer(), max_share: 1..100}

  # A page above this fraction of the table would displace many others, so it is not cached.
  @max_part 16

  # What the table takes for a page beside its text: the row, its key and a binary.
  @row_bytes 512

  @doc "A table for this many bytes. The calling process owns it."
  @spec new(pos_integer(), 1..100) :: t()
  def new(max_bytes, max_share) do
    table = :ets.new(__MODULE__, [:public, read_concurrency: true, write_concurrency: true])
    %__MODULE__{table: table, max_bytes: max_bytes, max_share: max_share}
  end

  @doc "A cached page with its number of rows."
  @spec fetch(t() | nil, term()) :: {:ok, binary(), non_neg_integer()} | :error
  def fetch(nil, _key), do: :error

  def fetch(%{table: table}, key) do
    case :ets.lookup(table, key) do
      [{_key, body, rows, _owner}] -> {:ok, body, rows}
      [] -> :error
    end
  end

  @doc """
  Caches a page of an owner's resource, unless it is large or has no rows.

  If the owner's share is used up, its other pages are deleted. If the table is full, all other pages are deleted.
  """
  @spec put(t() | nil, key :: term(), owner :: term(), binary(), non_neg_integer()) :: :ok
  def put(nil, _key, _owner, _body, _rows), do: :ok
  def put(_pages, _key, _owner, _body, 0), do: :ok

  def put(%{table: table, max_bytes: max_bytes} = pages, key, owner, body, rows) do
    size = byte_size(body) + @row_bytes

    if size <= div(max_bytes, @max_part) do
      make_room(pages, owner, size)
      :ets.insert(table, {key, body, rows, owner})
    end

    :ok
  end

  # Another request may empty the table at the same time. Then a count may be too high, until the next time.
  defp make_room(%{table: table, max_bytes: max_bytes, max_share: percent}, owner, size) do
    own = count(table, {:bytes, owner}, size)

    if own > Quota.share(max_bytes, percent) do
      :ets.match_delete(table, {:_, :_, :_, owner})
      :ets.insert(table, {{:bytes, owner}, size})
      count(table, :bytes, size - own)
    end

    if count(table, :bytes, size) > max_bytes do
      :ets.delete_all_objects(table)
      :ets.insert(table, [{:bytes, size}, {{:bytes, owner}, size}])
    end
  end

  defp count(table, key, change), do: :ets.update_counter(table, key, change, {key, 0})
end
