defmodule McpServer.DualResponse.Rest.Pages do
  @moduledoc false
  # A cache of encoded pages of stored rows. The rows of a resource never change, and encoding costs several times as
  # much as sending. A page is looked up only after its resource was found and permitted.

  @typedoc "A table, and the maximum size of its pages in bytes."
  @type t :: {:ets.table(), max_bytes :: pos_integer()}

  # A page above this fraction of the table would displace many others, so it is not cached.
  @max_share 16

  @doc "A table for this many bytes. The calling process owns it."
  @spec new(pos_integer()) :: t()
  def new(max_bytes) do
    table = :ets.new(__MODULE__, [:public, read_concurrency: true, write_concurrency: true])
    :ets.insert(table, {:bytes, 0})
    {table, max_bytes}
  end

  @doc "A cached page with its number of rows."
  @spec fetch(t() | nil, term()) :: {:ok, binary(), non_neg_integer()} | :error
  def fetch(nil, _key), do: :error

  def fetch({table, _max_bytes}, key) do
    case :ets.lookup(table, key) do
      [{_key, body, rows}] -> {:ok, body, rows}
      [] -> :error
    end
  end

  @doc "Caches a page. If there is no room for it, all other pages are deleted."
  @spec put(t() | nil, term(), binary(), non_neg_integer()) :: :ok
  def put({table, max_bytes}, key, body, rows) when byte_size(body) <= div(max_bytes, @max_share) do
    # Another request may have emptied the table just now.
    if :ets.update_counter(table, :bytes, byte_size(body), {:bytes, 0}) > max_bytes do
      :ets.delete_all_objects(table)
      :ets.insert(table, {:bytes, byte_size(body)})
    end

    :ets.insert(table, {key, body, rows})
    :ok
  end

  def put(_pages, _key, _body, _rows), do: :ok
end
