# A stand-in for Ecto, if it is not installed: the functions that a migration calls.
unless Code.ensure_loaded?(Ecto.Migration) do
  defmodule Ecto.Migration do
    @moduledoc false
    def execute(statement), do: send(self(), {:executed, statement})
  end
end

defmodule McpServer.DualResponse.Store.EctoMigrationTest do
  # Not async: tests with PostgreSQL share the name of their repository.
  use ExUnit.Case, async: false

  alias McpServer.{Postgres, PostgresRepo}
  alias McpServer.DualResponse.{Store, StoreCase}
  alias McpServer.DualResponse.Store.Ecto.Migration

  doctest Migration

  describe "sql/1" do
    @describetag req: "S1-40"
    @describetag McpServer.Installed.tags(:postgresql)

    setup do
      start_supervised!({PostgresRepo, folder: Postgres.folder(), size: 2})
      :ok
    end

    defp run(options), do: for(statement <- Migration.sql(options), do: {:ok, _result} = PostgresRepo.query(statement))

    defp tables(like) do
      sql = "SELECT table_name::text FROM information_schema.tables WHERE table_name LIKE $1::text ORDER BY 1"
      {:ok, %{rows: rows}} = PostgresRepo.query(sql, [like])
      List.flatten(rows)
    end

    test "goes up, down and up again, and leaves nothing behind" do
      options = [table: "up_and_down"]

      for _ <- 1..2 do
        run([direction: :up] ++ options)
        assert tables("up_and_down%") == ["up_and_down", "up_and_down_rows"]
        {:ok, ref} = Store.Ecto.init([repo: PostgresRepo, server: :migrated] ++ options)
        resource = StoreCase.resource()
        assert {:ok, _id} = Store.Ecto.save(ref, resource, StoreCase.rows(3))
        assert Store.Ecto.get(ref, {nil, resource.id}) == {:ok, resource}
        run([direction: :down] ++ options)
        assert tables("up_and_down%") == []
      end

      assert {:ok, %{rows: []}} = PostgresRepo.query("SELECT 1 FROM pg_indexes WHERE indexname LIKE 'up_and_down%'")
    end

    test "makes the tables in another schema, with the longest name" do
      options = [table: String.duplicate("t", 40), prefix: "elsewhere"]
      {:ok, _result} = PostgresRepo.query("CREATE SCHEMA elsewhere")
      run(options)
      {:ok, ref} = Store.Ecto.init([repo: PostgresRepo, server: :migrated] ++ options)
      resource = StoreCase.resource()
      assert {:ok, _id} = Store.Ecto.save(ref, resource, StoreCase.rows(3))
      assert Store.Ecto.rows(ref, {nil, resource.id}, 0, :all) == {:ok, StoreCase.rows(3)}

      sql = "SELECT indexname::text FROM pg_indexes WHERE schemaname = 'elsewhere' ORDER BY 1"
      {:ok, %{rows: rows}} = PostgresRepo.query(sql)
      assert ["#{options[:table]}_deadline_index"] in rows
      {:ok, _result} = PostgresRepo.query("DROP SCHEMA elsewhere CASCADE")
    end
  end

  test "refuses other versions, directions and names" do
    for options <- [[version: 0], [version: 2], [direction: :sideways], [table: "a b"], [prefix: "a;"], [step: 1]] do
      assert_raise ArgumentError, fn -> Migration.sql(options) end
    end
  end

  if function_exported?(Ecto.Migration, :__info__, 1) and not function_exported?(Ecto.Migration, :create, 1) do
    test "up and down hand the statements to Ecto, in their order" do
      assert Migration.up(version: 1, table: "mine") == :ok
      for statement <- Migration.sql(table: "mine"), do: assert_received({:executed, ^statement})
      assert Migration.down(version: 1, table: "mine") == :ok
      for statement <- Migration.sql(table: "mine", direction: :down), do: assert_received({:executed, ^statement})
    end
  end
end
