defmodule McpServer.DualResponse.Store.Ecto do
  @moduledoc """
  A store in PostgreSQL, with the application's `Ecto.Repo`.

      children = [
        MyApp.Repo,
        {McpServer.DualResponse,
         name: MyApp.Results,
         base_url: "https://api.example.com/resources",
         store: {McpServer.DualResponse.Store.Ecto, repo: MyApp.Repo}}
      ]

  Resources survive restarts of all nodes, and all nodes with the same database serve them. A migration creates the
  tables, see `McpServer.DualResponse.Store.Ecto.Migration`. The store only calls `c:Ecto.Repo.query/3`, with bound
  parameters. `ecto_sql` and `postgrex` are dependencies of the application, not of this library.

  | option | default | |
  |---|---|---|
  | `:repo` | required | the repository, started before the server |
  | `:table` | `"mcp_dual_responses"` | lower-case letters, digits and `_`, at most 40 |
  | `:prefix` | none | PostgreSQL's schema, lower-case letters, digits and `_`, at most 63 |
  | `:timeout` | 15,000 | milliseconds a statement may take |
  | `:max_rows_bytes` | 64 MiB | largest JSON text of the rows of one resource with `persist: :rows` |
  | `:log` | `false` | as in `c:Ecto.Repo.query/3`: the log level for statements and their parameters, which hold users' data |

  Servers with different names see different resources in the same table.

  ## Allowed values

  Queries are `{module, function, arguments}`. Functions, processes, ports and references are invalid after a restart,
  so a resource that contains one is refused.

  Columns, samples, rows and metadata are `jsonb`, readable in SQL. Values without a JSON form are marked and restored
  on reading: `{"$atoms": {…}}` is a map whose keys are atoms, `{"$atom": "…"}` an atom, `{"$term": "…"}` any other term
  in Erlang's external format, such as a tuple, a `Date`, or a string with a zero byte. Reading creates no atoms. The
  query's module is loaded first, with its atoms; other atoms must already exist on the node.

  A query names a function that the node calls. Write access to the table allows a call of any function, so give it only
  to people who may deploy code.

  ## Several nodes

  Every change is one statement, so nodes need no connection except the database. A node compares `expires_at` with its
  own clock, so the clocks of the nodes must agree. One node deletes each expired resource; the others skip locked rows
  without waiting.

  ## Processes

  A client may leave while the database works for it, so a change runs in a process of its own: it is finished, and
  counts for the client until then. The sandbox of Ecto finds that process by its `$callers`. In a transaction of yours
  (`c:Ecto.Repo.transaction/2`) a result is stored by your process, as part of the transaction.
  """

  @behaviour McpServer.DualResponse.Store

  alias McpServer.DualResponse.Store.Ecto.{Row, Table, Term}

  @enforce_keys [:repo, :server, :table, :rows, :max_rows_bytes, :query]
  defstruct @enforce_keys

  @typedoc "The repository, the names of the two tables in SQL, and the limits."
  @opaque ref :: %__MODULE__{
            repo: module,
            server: String.t(),
            table: String.t(),
            rows: String.t(),
            max_rows_bytes: pos_integer,
            query: keyword
          }

  @defaults [
    :repo,
    :server,
    :prefix,
    table: Table.default(),
    timeout: 15_000,
    max_rows_bytes: 64 * 1024 * 1024,
    log: false
  ]

  # The hashes are in an index, which has no space for long values.
  @of_holder """
  jsonb_hash(tenant) = jsonb_hash($2::text::jsonb) AND jsonb_hash(subject) = jsonb_hash($3::text::jsonb)
  AND tenant = $2::text::jsonb AND subject = $3::text::jsonb
  """

  @size "count(*), coalesce(sum(bytes), 0)::bigint"
  @live "(deadline IS NULL OR deadline > $3::bigint)"

  @impl true
  @doc "Checks the options. Raises `ArgumentError` for unknown or invalid options."
  @spec init(keyword) :: {:ok, ref}
  def init(options) do
    options = Keyword.validate!(options, @defaults)
    {table, rows} = Table.names!(options)

    {:ok,
     %__MODULE__{
       repo: repo!(options[:repo]),
       server: Atom.to_string(options[:server]),
       table: table,
       rows: rows,
       max_rows_bytes: positive!(options, :max_rows_bytes),
       query: [timeout: positive!(options, :timeout), log: options[:log]]
     }}
  end

  defp repo!(repo) when is_atom(repo) and repo not in [nil, true, false], do: repo
  defp repo!(other), do: raise(ArgumentError, "expected :repo to be an Ecto repository, got: #{inspect(other)}")

  defp positive!(options, name) do
    value = options[name]

    (is_integer(value) and value > 0 && value) ||
      raise ArgumentError, "expected #{inspect(name)} to be a positive integer, got: #{inspect(value)}"
  end

  @impl true
  @doc "Deadlines use the wall clock, which nodes share."
  @spec clock() :: :wall
  def clock, do: :wall

  @impl true
  @doc "Functions cannot be stored."
  @spec persists_closures?() :: false
  def persists_closures?, do: false

  @impl true
  @doc """
  In a transaction of the calling process a change is part of the transaction. Otherwise the database may go on with a
  statement when the process that sent it has ended.
  """
  @spec ends_with_caller?(ref) :: boolean
  def ends_with_caller?(%{repo: repo}), do: function_exported?(repo, :in_transaction?, 0) and repo.in_transaction?()

  # One statement, so that a resource is never visible without its rows.
  @impl true
  def save(ref, resource, rows) do
    values = Row.dump!(resource)
    rows = Term.dump!(rows || [])

    with :ok <- bounded(rows, ref.max_rows_bytes),
         {:ok, _result} <- run(ref, insert(ref, length(values)), [resource.id, ref.server, rows | values]) do
      {:ok, resource.id}
    end
  rescue
    error in Term.Error -> {:error, error}
  end

  defp bounded(text, max) do
    if byte_size(text) <= max, do: :ok, else: {:error, {:rows_too_large, byte_size(text), max}}
  end

  defp insert(ref, count) do
    """
    WITH resource AS (
      INSERT INTO #{ref.table} (id, server, #{Row.names()})
      VALUES ($1::text, $2::text, #{Row.placeholders(4, count)})
      RETURNING id
    )
    INSERT INTO #{ref.rows} (resource_id, position, row)
    SELECT resource.id, element.position - 1, element.row
    FROM resource, jsonb_array_elements($3::text::jsonb) WITH ORDINALITY AS element (row, position)
    """
  end

  @impl true
  def get(ref, key) do
    sql = "SELECT #{Row.selection()} FROM #{ref.table} WHERE id = $1::text AND server = $2::text"

    case find(ref, key, sql, []) do
      {:ok, %{rows: [values]}} -> {:ok, key |> elem(1) |> Row.load!(values)}
      {:ok, %{rows: []}} -> :not_found
      {:error, reason} -> {:error, reason}
    end
  rescue
    error in Term.Error -> {:error, error}
  end

  # A resource without rows at the offset gives one row of NULL. A missing resource gives no row.
  @impl true
  def rows(ref, key, offset, limit) do
    sql = """
    SELECT page.row::text FROM #{ref.table} AS resource
    LEFT JOIN LATERAL (
      SELECT kept.position, kept.row FROM #{ref.rows} AS kept
      WHERE kept.resource_id = resource.id AND kept.position >= $3::bigint
      ORDER BY kept.position LIMIT $4::bigint
    ) AS page ON true
    WHERE resource.id = $1::text AND resource.server = $2::text
    ORDER BY page.position
    """

    case find(ref, key, sql, [offset, if(limit != :all, do: limit)]) do
      {:ok, %{rows: []}} -> :not_found
      {:ok, %{rows: [[nil]]}} -> {:ok, []}
      {:ok, %{rows: rows}} -> {:ok, for([text] <- rows, do: Term.load!(text))}
      {:error, reason} -> {:error, reason}
    end
  rescue
    error in Term.Error -> {:error, error}
  end

  @impl true
  def update(ref, key, changes, now) do
    {names, values} = Row.dump_changes!(changes)
    sets = for {name, n} <- Enum.with_index(names, 4), do: "#{name} = #{Row.placeholder(name, n)}"
    change(ref, key, sets, [now | values], " AND status <> 'deleted'")
  rescue
    error in Term.Error -> {:error, error}
  end

  @impl true
  def touch(ref, key, changes, now) do
    {names, values} = changes |> Map.take([:last_accessed_at, :expires_at, :deadline]) |> Row.dump_changes!()
    sets = for {name, n} <- Enum.with_index(names, 4), do: "#{name} = #{touched(name, Row.placeholder(name, n))}"
    change(ref, key, ["access_count = access_count + 1, used_at = clock_timestamp()" | sets], [now | values])
  end

  defp touched("last_accessed_at", value), do: value
  defp touched(name, value), do: "CASE WHEN deadline IS NULL THEN #{name} ELSE #{value} END"

  defp change(ref, key, sets, parameters, only \\ "") do
    sql =
      "UPDATE #{ref.table} SET #{Enum.join(sets, ", ")} WHERE id = $1::text AND server = $2::text AND #{@live}#{only}"

    ref |> find(key, sql, parameters) |> changed()
  end

  @impl true
  def delete(ref, key) do
    sql = "DELETE FROM #{ref.table} WHERE id = $1::text AND server = $2::text"
    ref |> find(key, sql, []) |> changed()
  end

  defp changed({:ok, %{num_rows: 1}}), do: :ok
  defp changed({:ok, %{num_rows: 0}}), do: :not_found
  defp changed({:error, reason}), do: {:error, reason}

  @impl true
  def find_expired(ref, now, limit) do
    sql = """
    SELECT tenant::text, id FROM #{ref.table} WHERE server = $1::text AND deadline <= $2::bigint
    ORDER BY deadline LIMIT $3::bigint
    """

    ref |> run(sql, [ref.server, now, limit]) |> keys()
  end

  # Materialized, because otherwise a plan could run the inner query again for each row and delete more than `limit`.
  @impl true
  def delete_expired(ref, now, limit) do
    sql = """
    WITH expired AS MATERIALIZED (
      SELECT id FROM #{ref.table} WHERE server = $1::text AND deadline <= $2::bigint
      ORDER BY deadline LIMIT $3::bigint FOR UPDATE SKIP LOCKED
    )
    DELETE FROM #{ref.table} AS resource USING expired WHERE resource.id = expired.id
    RETURNING resource.tenant::text, resource.id
    """

    ref |> run(sql, [ref.server, now, limit]) |> keys()
  end

  @impl true
  def least_used(ref, limit) do
    sql = """
    SELECT tenant::text, id FROM #{ref.table} WHERE server = $1::text AND deadline IS NOT NULL
    ORDER BY used_at, id LIMIT $2::bigint
    """

    ref |> run(sql, [ref.server, limit]) |> keys()
  end

  @impl true
  def holders(ref) do
    sql = """
    SELECT tenant::text, subject::text, count(*), sum(bytes)::bigint FROM #{ref.table} WHERE server = $1::text
    GROUP BY tenant, subject
    """

    with {:ok, %{rows: rows}} <- run(ref, sql, [ref.server]) do
      {:ok,
       for [tenant, subject, resources, bytes] <- rows do
         {{Term.load!(tenant), Term.load!(subject)}, %{resources: resources, bytes: bytes}}
       end}
    end
  rescue
    error in Term.Error -> {:error, error}
  end

  @impl true
  def least_used_of(ref, {tenant, subject}, limit) do
    sql = """
    SELECT tenant::text, id FROM #{ref.table} WHERE server = $1::text AND deadline IS NOT NULL
    AND #{@of_holder}
    ORDER BY used_at, id LIMIT $4::bigint
    """

    ref |> run(sql, [ref.server, Term.dump!(tenant), Term.dump!(subject), limit]) |> keys()
  end

  defp keys({:ok, %{rows: rows}}), do: {:ok, for([tenant, id] <- rows, do: {tenant(tenant), id})}
  defp keys({:error, reason}), do: {:error, reason}

  # The id alone finds the resource. A tenant that this node cannot decode must not prevent the deletion.
  defp tenant(text) do
    Term.load!(text)
  rescue
    Term.Error -> nil
  end

  @impl true
  def size(ref) do
    sql = "SELECT #{@size} FROM #{ref.table} WHERE server = $1::text"
    ref |> run(sql, [ref.server]) |> sized()
  end

  @impl true
  def size_of(ref, {tenant, subject}) do
    sql = "SELECT #{@size} FROM #{ref.table} WHERE server = $1::text AND #{@of_holder}"
    ref |> run(sql, [ref.server, Term.dump!(tenant), Term.dump!(subject)]) |> sized()
  end

  defp sized({:ok, %{rows: [[resources, bytes]]}}), do: {:ok, %{resources: resources, bytes: bytes}}
  defp sized({:error, reason}), do: {:error, reason}

  @impl true
  @doc "Does nothing, because the repository belongs to the application. The stored resources stay."
  @spec close(ref) :: :ok
  def close(_ref), do: :ok

  # A client may send any bytes as an id. PostgreSQL refuses some, and no resource has such an id.
  defp find(ref, {_tenant, id}, sql, parameters) do
    if Term.text?(id), do: run(ref, sql, [id, ref.server | parameters]), else: {:ok, %{rows: [], num_rows: 0}}
  end

  defp run(ref, sql, parameters), do: ref.repo.query(sql, parameters, ref.query)
end
