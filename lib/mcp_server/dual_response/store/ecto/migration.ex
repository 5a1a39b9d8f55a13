defmodule McpServer.DualResponse.Store.Ecto.Migration do
  @moduledoc """
  The tables of `McpServer.DualResponse.Store.Ecto`.

  `mix mcp.gen.dual_response_migration` writes the migration. You can also write it yourself:

      defmodule MyApp.Repo.Migrations.CreateMcpDualResponses do
        use Ecto.Migration

        def up, do: McpServer.DualResponse.Store.Ecto.Migration.up(version: 1)
        def down, do: McpServer.DualResponse.Store.Ecto.Migration.down(version: 1)
      end

  A version is one step. If a later release of this library changes the tables, it adds a version, and its step needs a
  new migration. Released steps never change. `sql/1` returns the statements for other migration tools.

  | option | default | |
  |---|---|---|
  | `:version` | #{1} | the step; 1 is the only one so far |
  | `:table` | `"mcp_dual_responses"` | as in the store |
  | `:prefix` | none | as in the store; the schema must exist |

  Other options and invalid values raise `ArgumentError`.
  """

  alias McpServer.DualResponse.Store.Ecto.Table

  # Ecto is a dependency of the application, not of this library.
  @compile {:no_warn_undefined, Ecto.Migration}

  @type option :: {:version, 1} | {:table, String.t()} | {:prefix, String.t() | nil}

  @doc "Creates the tables of the version. Call it from `c:Ecto.Migration.up/0`."
  @spec up([option]) :: :ok
  def up(options \\ []), do: execute([direction: :up] ++ options)

  @doc "Removes the tables of the version with their data. Call it from `c:Ecto.Migration.down/0`."
  @spec down([option]) :: :ok
  def down(options \\ []), do: execute([direction: :down] ++ options)

  defp execute(options), do: options |> sql() |> Enum.each(&Ecto.Migration.execute/1)

  @doc """
  The SQL statements of a version. Run them in this order and in one transaction.

  A further option is `:direction`: `:up` (the default) or `:down`.

      iex> McpServer.DualResponse.Store.Ecto.Migration.sql(direction: :down, prefix: "mcp")
      [~s(DROP TABLE "mcp"."mcp_dual_responses_rows"), ~s(DROP TABLE "mcp"."mcp_dual_responses")]
  """
  @spec sql([option | {:direction, :up | :down}]) :: [String.t()]
  def sql(options \\ []) do
    options = Keyword.validate!(options, [:table, :prefix, direction: :up, version: 1])
    options = if options[:table], do: options, else: Keyword.delete(options, :table)
    step(options[:version], options[:direction], Table.names!(options), Table.table!(options))
  end

  # Expiry uses `deadline`, in milliseconds. `expires_at` and the other times are for people.
  defp step(1, :up, {table, rows}, name) do
    [
      """
      CREATE TABLE #{table} (
        id text PRIMARY KEY,
        server text NOT NULL,
        name text NOT NULL,
        persist text NOT NULL,
        status text NOT NULL,
        sort_mode text NOT NULL,
        tie_break text,
        query jsonb,
        columns jsonb NOT NULL,
        total_count bigint NOT NULL,
        sample_data jsonb NOT NULL,
        created_at timestamptz NOT NULL,
        expires_at timestamptz,
        deadline bigint,
        access_count bigint NOT NULL,
        last_accessed_at timestamptz,
        metadata jsonb NOT NULL,
        tenant jsonb NOT NULL,
        subject jsonb NOT NULL,
        bytes bigint NOT NULL,
        used_at timestamptz NOT NULL DEFAULT clock_timestamp()
      )
      """,
      """
      CREATE TABLE #{rows} (
        resource_id text NOT NULL REFERENCES #{table} (id) ON DELETE CASCADE,
        position bigint NOT NULL,
        row jsonb NOT NULL,
        PRIMARY KEY (resource_id, position)
      )
      """,
      # The deadline index leaves out pinned resources, so that searches for expired ones never read them.
      ~s[CREATE INDEX "#{name}_deadline_index" ON #{table} (server, deadline) WHERE deadline IS NOT NULL],
      ~s[CREATE INDEX "#{name}_server_index" ON #{table} (server) INCLUDE (bytes)],
      ~s[CREATE INDEX "#{name}_holder_index" ON #{table} (server, jsonb_hash(tenant), jsonb_hash(subject))]
    ]
  end

  defp step(1, :down, {table, rows}, _name), do: ["DROP TABLE #{rows}", "DROP TABLE #{table}"]

  defp step(version, direction, _tables, _name) do
    raise ArgumentError,
          "expected version: 1 and direction: :up or :down, got: version: #{inspect(version)}, " <>
            "direction: #{inspect(direction)}"
  end
end
