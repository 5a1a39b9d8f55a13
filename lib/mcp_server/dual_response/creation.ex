defmodule McpServer.DualResponse.Creation do
  @moduledoc false
  # Creates a resource: counts the rows, takes the sample or all rows, and saves the result. If a step fails, nothing is
  # saved.

  alias McpServer.DualResponse.{
    Access,
    Errand,
    Error,
    Events,
    Location,
    Options,
    Query,
    Resource,
    Response,
    Room,
    Storage
  }

  @names ~w(columns conn count execute expiration metadata name persist rows sample_size sort_mode subject tenant tie_break)a

  @doc "Creates a dual response. Raises `ArgumentError` for invalid options."
  @spec create(Options.t(), keyword) :: {:ok, Response.t()} | {:error, Error.t()}
  def create(server, options) do
    given = server |> read!(options) |> identify(server)

    with :ok <- storable(server, query(given)),
         {:ok, total, sample, rows} <- gather(server, given),
         {resource, rows} = resource(server, given, total, sample, rows),
         :ok <- Room.check(server, resource),
         :ok <- Room.keep(server, resource, owner(resource), fn -> Storage.save(server, resource, rows) end) do
      measurements = %{rows: total, bytes: resource.bytes}
      Events.emit(server, :created, measurements, %{persist: resource.persist})
      {:ok, Response.new(server, resource)}
    end
  end

  defp owner(resource), do: resource |> Resource.holder() |> Errand.owner()

  # The caller's options override the server's defaults.
  defp read!(server, options) do
    Keyword.keyword?(options) || raise ArgumentError, "expected a keyword list, got: #{inspect(options)}"
    Enum.each(options, fn {name, value} -> check!(name, value) end)
    given = Map.new(options)
    for name <- [:name, :columns], not is_map_key(given, name), do: raise(ArgumentError, "#{name}: has to be given")
    check_source!(given)

    %{
      expiration: server.default_expiration,
      sample_size: server.default_sample_size,
      persist: if(is_map_key(given, :rows), do: :rows, else: server.persist),
      tie_break: server.tie_break,
      metadata: %{},
      tenant: nil,
      subject: nil
    }
    |> Map.merge(given)
    |> check_mode!()
    |> Map.update!(:sample_size, &min(&1, server.max_limit))
  end

  defp check_source!(%{rows: _rows} = given) do
    for name <- [:execute, :count],
        is_map_key(given, name),
        do: raise(ArgumentError, "rows: takes the place of #{name}:")

    given[:persist] == :query && raise ArgumentError, "rows: are kept, so persist: cannot be :query"
  end

  defp check_source!(given) do
    for name <- [:execute, :count], not is_map_key(given, name), do: raise(ArgumentError, "#{name}: has to be given")
  end

  # `sort_mode: :memory` needs stored rows, and `:execute` needs a query.
  defp check_mode!(given) do
    default = if given.persist == :rows, do: :memory, else: :execute
    mode = Map.get(given, :sort_mode, default)

    cond do
      mode == :memory and given.persist == :query ->
        raise ArgumentError, "sort_mode: :memory sorts kept rows: it needs persist: :rows"

      mode == :execute and is_map_key(given, :rows) ->
        raise ArgumentError, "sort_mode: :execute runs a query again, and rows: has none"

      true ->
        Map.put(given, :sort_mode, mode)
    end
  end

  defp check!(name, _value) when name not in @names,
    do: raise(ArgumentError, "there is no option #{inspect(name)}. The options are: #{Enum.join(@names, ", ")}")

  defp check!(:name, value), do: is_binary(value) || wrong!(:name, "a string", value)

  defp check!(:columns, value),
    do: (is_list(value) and Enum.all?(value, &column?/1)) || wrong!(:columns, "a list of maps with a name", value)

  defp check!(name, value) when name in [:execute, :count],
    do: reference?(value, name) || wrong!(name, "a function or {module, function, arguments}", value)

  defp check!(:rows, value),
    do: (is_list(value) and Enum.all?(value, &is_map/1)) || wrong!(:rows, "a list of maps", "something else")

  defp check!(:expiration, value),
    do: Options.duration?(value) || wrong!(:expiration, "a positive integer (milliseconds) or :infinity", value)

  defp check!(:sample_size, value),
    do: (is_integer(value) and value >= 0) || wrong!(:sample_size, "a non-negative integer", value)

  defp check!(:metadata, value), do: is_map(value) || wrong!(:metadata, "a map", value)
  defp check!(:persist, value), do: value in [:query, :rows] || wrong!(:persist, ":query or :rows", value)
  defp check!(:sort_mode, value), do: value in [:execute, :memory] || wrong!(:sort_mode, ":execute or :memory", value)

  defp check!(:tie_break, value),
    do: is_nil(value) or is_binary(value) || wrong!(:tie_break, "the name of a column", value)

  defp check!(name, _value) when name in [:conn, :tenant, :subject], do: true

  defp column?(%{name: name}), do: (is_atom(name) and name != nil) or text?(name)
  defp column?(%{"name" => name}), do: text?(name)
  defp column?(_other), do: false

  defp text?(name), do: is_binary(name) and String.valid?(name)

  defp reference?({module, function, arguments}, _name),
    do: is_atom(module) and is_atom(function) and is_list(arguments)

  defp reference?(value, :execute), do: is_function(value, 1)
  defp reference?(value, :count), do: is_function(value, 0) or is_function(value, 1)

  defp wrong!(name, expected, value),
    do: raise(ArgumentError, "expected #{inspect(name)} to be #{expected}, got: #{inspect(value, limit: 5)}")

  defp identify(%{conn: conn} = given, server) do
    identity = Options.identity(server, conn)
    Map.merge(given, %{tenant: given.tenant || identity[:tenant], subject: given.subject || identity[:subject]})
  end

  defp identify(given, _server), do: given

  # The number of rows, the first rows, and all rows if they are stored.
  defp gather(_server, %{rows: rows} = given) do
    {:ok, length(rows), Enum.take(rows, given.sample_size), rows}
  end

  defp gather(server, %{persist: :query} = given) do
    with {:ok, total} <- Query.count(server, given.count, context(given)),
         {:ok, sample} <- page(server, given, 0, given.sample_size) do
      {:ok, total, sample, nil}
    end
  end

  defp gather(server, given) do
    with {:ok, total} when total <= server.max_rows <- Query.count(server, given.count, context(given)),
         {:ok, rows} <- snapshot(server, given, total, 0, []) do
      {:ok, length(rows), Enum.take(rows, given.sample_size), rows}
    else
      {:ok, _total} -> too_many()
      {:error, error} -> {:error, error}
    end
  end

  defp too_many, do: {:error, Error.new(:storage_error, "The result has too many rows to be kept")}

  # Reads page by page, like a client.
  defp snapshot(server, given, total, offset, pages) when offset < total do
    limit = min(server.stream_batch, total - offset)

    case page(server, given, offset, limit) do
      {:ok, []} -> snapshot(server, given, offset, offset, pages)
      {:ok, rows} -> snapshot(server, given, total, offset + length(rows), [rows | pages])
      {:error, error} -> {:error, error}
    end
  end

  defp snapshot(_server, _given, _total, _offset, pages), do: {:ok, pages |> Enum.reverse() |> Enum.concat()}

  defp page(_server, _given, _offset, 0), do: {:ok, []}

  defp page(server, given, offset, limit) do
    options = %{offset: offset, limit: limit, sort: nil, tie_break: given.tie_break, context: context(given)}
    Query.execute(server, given.execute, options, server.query_timeout)
  end

  defp context(given), do: %{tenant: given.tenant, subject: given.subject}

  # Checked first, so that no query runs in vain.
  defp storable(%{store: store}, query) do
    if store.persists_closures?() or not closures?(query) do
      :ok
    else
      message = "The store keeps no functions: the query has to be {module, function, arguments}"
      {:error, Error.new(:storage_error, message)}
    end
  end

  defp closures?(nil), do: false
  defp closures?(%{execute: execute, count: count}), do: is_function(execute) or is_function(count)

  defp resource(server, given, total, sample, rows) do
    now = DateTime.utc_now()

    resource = %Resource{
      id: Location.random_id(),
      name: given.name,
      query: query(given),
      persist: given.persist,
      sort_mode: given.sort_mode,
      tie_break: given.tie_break,
      columns: given.columns,
      total_count: total,
      sample_data: sample,
      created_at: DateTime.truncate(now, :second),
      expires_at: Access.expires_at(now, given.expiration),
      deadline: Access.deadline(server, given.expiration),
      metadata: given.metadata,
      tenant: given.tenant,
      subject: given.subject
    }

    {copy(resource, :erlang.external_size({query(given), rows})), rows}
  end

  defp query(%{sort_mode: :memory}), do: nil
  defp query(%{execute: execute, count: count}), do: %{execute: execute, count: count}

  # A row is often part of a larger term, and would keep that term in memory. The external format copies the row and
  # gives its size. Functions are not copied, because their data is shared on purpose. The store copies stored rows.
  defp copy(%{query: query} = resource, more) do
    bytes = :erlang.term_to_binary(%{resource | query: nil})
    %{:erlang.binary_to_term(bytes) | query: query, bytes: byte_size(bytes) + more}
  end
end
