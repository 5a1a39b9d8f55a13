defmodule McpServer.DualResponse.Paging do
  @moduledoc false
  # Reads the rows of a resource in pages, from the store or from its query.

  alias McpServer.DualResponse
  alias McpServer.DualResponse.{Access, Error, Events, Options, Page, Query, Resource, SortedRows, Sorting, Storage}

  @default_limit 100

  @doc "One page. Counts the access."
  @spec fetch(Options.t(), String.t() | Resource.t(), DualResponse.query(), Access.identity()) ::
          {:ok, Page.t()} | {:error, Error.t()}
  def fetch(server, resource, query, identity) do
    started = System.monotonic_time()

    with {:ok, resource} <- resource(server, resource, identity),
         {:ok, query} <- read(server, resource, query, @default_limit),
         {:ok, rows} <- rows(server, resource, query, Access.context(resource, identity)),
         :ok <- touch(server, resource) do
      measurements = %{rows: length(rows), duration: System.monotonic_time() - started}
      Events.emit(server, :fetched, measurements, %{persist: resource.persist})
      {:ok, Page.new(rows, query.offset, resource.total_count)}
    end
  end

  @doc "Counts an access for a page of this many rows that is in the cache."
  @spec count_access(Options.t(), Resource.t(), non_neg_integer) :: :ok | {:error, Error.t()}
  def count_access(server, resource, rows) do
    with :ok <- touch(server, resource),
         do: Events.emit(server, :fetched, %{rows: rows, duration: 0}, %{persist: resource.persist})
  end

  defp resource(_server, %Resource{} = resource, _identity), do: {:ok, resource}
  defp resource(server, id, identity), do: Access.lookup(server, id, identity)

  # The requested selection, with checked types and bounds.
  defp read(server, resource, query, default_limit) do
    offset = Map.get(query, :offset) || 0
    limit = Map.get(query, :limit) || default_limit

    cond do
      not (is_integer(offset) and offset >= 0) ->
        {:error, Error.new(:invalid_request, "offset is a non-negative integer")}

      not (is_integer(limit) and limit >= 1) ->
        {:error, Error.new(:invalid_request, "limit is a positive integer")}

      true ->
        with {:ok, sort} <- sort(Map.get(query, :sort), resource.columns) do
          timeout = Map.get(query, :timeout, server.query_timeout)
          {:ok, %{offset: offset, limit: min(limit, server.max_limit), sort: sort, timeout: timeout}}
        end
    end
  end

  defp sort(nil, _columns), do: {:ok, nil}
  defp sort([], _columns), do: {:ok, nil}

  defp sort(sort, columns) do
    keys = if is_list(sort), do: sort, else: [sort]

    with true <- Enum.all?(keys, &key?/1),
         true <- Sorting.sortable?(Enum.map(keys, & &1.field), columns) do
      {:ok, sort}
    else
      false -> invalid_sort()
    end
  end

  defp key?(%{field: field, order: order}), do: is_binary(field) and String.valid?(field) and order in [:asc, :desc]
  defp key?(_other), do: false

  defp invalid_sort, do: {:error, Error.new(:invalid_sort, "sort names no sortable column")}

  defp rows(server, %{persist: :rows} = resource, %{sort: nil} = query, _context),
    do:
      server |> Storage.rows(Resource.key(resource), query.offset, query.limit) |> Access.stored(resource, query.offset)

  defp rows(server, %{persist: :rows, sort_mode: :memory} = resource, query, _context),
    do: SortedRows.page(server, resource, List.wrap(query.sort), query.offset, query.limit)

  defp rows(server, resource, query, context) do
    options = %{
      offset: query.offset,
      limit: query.limit,
      sort: query.sort,
      tie_break: resource.tie_break,
      context: context
    }

    Query.execute(server, resource.query.execute, options, query.timeout)
  end

  defp touch(server, resource) do
    now = DateTime.utc_now()
    changes = Map.merge(%{last_accessed_at: DateTime.truncate(now, :second)}, extension(server, resource, now))

    case Access.found(Storage.touch(server, Resource.key(resource), changes)) do
      # The rows can still be sent. `Storage` has logged the error.
      {:error, %Error{code: :storage_error}} -> :ok
      counted -> counted
    end
  end

  # An access never shortens the lifetime of a resource.
  defp extension(%{extend_on_access: false}, _resource, _now), do: %{}
  defp extension(_server, %{deadline: nil}, _now), do: %{}

  defp extension(%{extend_on_access: time} = server, resource, now) do
    deadline = Access.deadline(server, time)
    if deadline > resource.deadline, do: %{deadline: deadline, expires_at: Access.expires_at(now, time)}, else: %{}
  end

  @doc """
  All rows from an offset on, as a lazy stream. Counts one access. The query's `:sorted` is called when stored rows that
  were sorted are read no more: after the last read, and at the end of the enumeration.
  """
  @spec stream(Options.t(), String.t() | Resource.t(), map, Access.identity()) ::
          {:ok, non_neg_integer, Enumerable.t()} | {:error, Error.t()}
  def stream(server, resource, query, identity) do
    batch = Map.get(query, :batch) || server.stream_batch

    with {:ok, resource} <- resource(server, resource, identity),
         sorted = Map.get(query, :sorted, fn -> :ok end),
         {:ok, query} <- read(server, resource, Map.put(query, :limit, batch), batch),
         query = Map.put(query, :sorted, sorted),
         :ok <- touch(server, resource) do
      {:ok, resource.total_count, pages(server, resource, query, Access.context(resource, identity))}
    end
  end

  # Stored rows are sorted once, and not for each page. But each batch of them may be scattered over all stored batches.
  defp pages(server, %{persist: :rows, sort_mode: :memory} = resource, %{sort: sort, sorted: sorted} = query, _context)
       when sort != nil do
    Stream.resource(
      fn -> server |> SortedRows.indexes(resource, List.wrap(sort)) |> bang!() |> Enum.drop(query.offset) end,
      fn
        [] ->
          {:halt, []}

        indexes ->
          {now, later} = Enum.split(indexes, SortedRows.batch())
          rows = server |> SortedRows.rows(resource, now) |> bang!()
          if later == [], do: sorted.()
          {Enum.chunk_every(rows, query.limit), later}
      end,
      fn _later -> sorted.() end
    )
  end

  defp pages(server, resource, query, context) do
    Stream.unfold(query.offset, fn
      offset when offset >= resource.total_count -> nil
      offset -> server |> rows(resource, %{query | offset: offset}, context) |> bang!() |> next(offset)
    end)
  end

  # The query may have fewer rows than at the count.
  defp next([], _offset), do: nil
  defp next(rows, offset), do: {rows, offset + length(rows)}

  defp bang!({:ok, rows}), do: rows
  defp bang!({:error, error}), do: raise(error)
end
