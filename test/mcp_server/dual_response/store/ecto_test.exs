defmodule McpServer.DualResponse.Store.EctoTest do
  # The store over Debian's PostgreSQL. A small client of PostgreSQL's protocol is the repository. Not async: tests with
  # PostgreSQL share its name.
  use ExUnit.Case

  # Before the tests of StoreCase, so that they have the tags too.
  @moduletag McpServer.Installed.tags(:postgresql)
  @moduletag :capture_log

  use McpServer.DualResponse.StoreCase, store: {McpServer.DualResponse.Store.Ecto, repo: McpServer.PostgresRepo}

  import McpServer.HttpCase, only: [eventually: 1]

  alias McpServer.{DualResponse, Postgres, PostgresRepo}
  alias McpServer.DualResponse.{Error, Store}
  alias McpServer.DualResponse.Store.Ecto.{Migration, Term}

  @now ~U[2025-01-15 10:31:00Z]

  setup_all do
    start_supervised!({PostgresRepo, folder: Postgres.folder(), size: 16})
    for statement <- Migration.sql(), do: {:ok, _result} = PostgresRepo.query(statement)
    on_exit(&drop/0)
  end

  # The tests' pool has already ended.
  defp drop do
    {:ok, pool} = PostgresRepo.start_link(folder: Postgres.folder(), size: 1)
    for statement <- Migration.sql(direction: :down), do: {:ok, _result} = PostgresRepo.query(statement)
    GenServer.stop(pool)
  end

  defp save(store, ref, resource, rows \\ nil) do
    {:ok, id} = store.save(ref, resource, rows)
    {nil, id}
  end

  # All nodes that serve the same server open the same store.
  defp another_node(store, options) do
    {:ok, ref} = store.init(options)
    ref
  end

  defp ask(sql, parameters) do
    {:ok, %{rows: rows}} = PostgresRepo.query(sql, parameters)
    rows
  end

  describe "several writers and nodes" do
    @tag req: "S1-43"
    test "64 writers lose no access", %{store: store, ref: ref, options: options, now: now} do
      key = save(store, ref, StoreCase.resource())
      refs = [ref, another_node(store, options)]

      StoreCase.at_once(64, fn n ->
        for _ <- 1..25, do: :ok = store.touch(Enum.at(refs, rem(n, 2)), key, %{last_accessed_at: @now}, now)
      end)

      assert {:ok, %{access_count: 1_600}} = store.get(ref, key)
    end

    @tag req: "R5"
    test "with a resource its rows are gone", %{store: store, ref: ref, now: now} do
      key =
        save(store, ref, StoreCase.expiring(now + 5, persist: :rows, query: nil, total_count: 300), StoreCase.rows(300))

      StoreCase.at_once(3, fn
        1 -> store.update(ref, key, %{deadline: nil, expires_at: nil}, now)
        2 -> store.delete_expired(ref, now + 5, 10)
        3 -> store.delete(ref, key)
      end)

      assert ask("SELECT count(*) FROM mcp_dual_responses_rows WHERE resource_id = $1::text", [elem(key, 1)]) == [[0]]
    end

    test "what goes on for killed callers stays within the share of their owner" do
      server = :ecto_store_of_killed_callers
      store = {Store.Ecto, repo: PostgresRepo}
      options = [name: server, base_url: "http://127.0.0.1/resources", store: store, max_resources: 8]
      start_supervised!({DualResponse, options})
      rows = [name: "Rows", columns: [%{name: "n"}], rows: [%{"n" => 1}], subject: "eve"]
      start_supervised!({PostgresRepo, folder: Postgres.folder(), size: 1, name: :locking}, id: :locking)
      lock = &({:ok, _result} = PostgresRepo.query(&1, [], pool: :locking))
      lock.("BEGIN")
      lock.("LOCK TABLE mcp_dual_responses IN SHARE MODE")

      for n <- 1..6 do
        {pid, monitor} = spawn_monitor(fn -> DualResponse.create_response(server, rows) end)
        eventually(fn -> ask("SELECT count(*) FROM pg_locks WHERE NOT granted", []) == [[n]] end)
        Process.exit(pid, :kill)
        assert_receive {:DOWN, ^monitor, :process, ^pid, :killed}, 30_000
      end

      lock.("COMMIT")
      running = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid()"
      kept = "SELECT count(*) FROM mcp_dual_responses WHERE server = $1::text"
      # Several that make room at once may each delete the other's.
      eventually(fn -> ask(running, []) == [[0]] and hd(hd(ask(kept, [to_string(server)]))) <= 2 end)
    end

    test "cleaning up skips what another node has locked, and waits for nobody",
         %{store: store, ref: ref, now: now} do
      [locked, free] = for n <- 1..2, do: save(store, ref, StoreCase.expiring(now - n))
      other = PostgresRepo.Connection.open(Postgres.folder())
      {:ok, _result} = PostgresRepo.Connection.query(other, "BEGIN", [])
      lock = "SELECT id FROM mcp_dual_responses WHERE id = $1::text FOR UPDATE"
      assert {:ok, %{num_rows: 1}} = PostgresRepo.Connection.query(other, lock, [elem(locked, 1)])

      assert store.delete_expired(ref, now, 10) == {:ok, [free]}
      assert {:ok, _resource} = store.get(ref, locked)

      {:ok, _result} = PostgresRepo.Connection.query(other, "ROLLBACK", [])
      PostgresRepo.Connection.close(other)
      assert store.delete_expired(ref, now, 10) == {:ok, [locked]}
    end

    @tag req: "R8"
    test "connections that end under load lose nothing that was confirmed", %{store: store, ref: ref, now: now} do
      key = save(store, ref, StoreCase.resource())

      others =
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND state IS NOT NULL"

      answers =
        StoreCase.at_once(17, fn
          1 ->
            for _ <- 1..5, do: PostgresRepo.query(others)
            []

          _writer ->
            for(_ <- 1..20, do: store.touch(ref, key, %{last_accessed_at: @now}, now))
        end)

      answers = List.flatten(answers)
      confirmed = Enum.count(answers, &(&1 == :ok))
      assert Enum.count(answers, &match?({:error, _reason}, &1)) == 320 - confirmed
      reconnect()
      {:ok, %{access_count: count}} = store.get(ref, key)
      assert count in confirmed..320
    end
  end

  # A closed connection is detected, and opened again, when it is used: here all at the same time.
  defp reconnect do
    answers = StoreCase.at_once(16, fn _n -> PostgresRepo.query("SELECT pg_sleep(0.05)") end)
    unless Enum.all?(answers, &match?({:ok, _result}, &1)), do: reconnect()
  end

  describe "values" do
    test "are readable in SQL where JSON can tell them", %{store: store, ref: ref} do
      metadata = %{"params" => %{"state" => "NJ"}, "limit" => 7}
      rows = [%{id: 1, name: "MIT"}, %{id: 2, name: "RPI"}]
      resource = StoreCase.resource(metadata: metadata, tenant: "acme", persist: :rows, query: nil, total_count: 2)
      {_tenant, id} = save(store, ref, resource, rows)

      assert [["NJ", "7", "acme", "2025-01-15 10:30:00+00"]] =
               ask(
                 "SELECT metadata->'params'->>'state', metadata->>'limit', tenant#>>'{}', created_at::text " <>
                   "FROM mcp_dual_responses WHERE id = $1::text",
                 [id]
               )

      sql = "SELECT row->'$atoms'->>'name' FROM mcp_dual_responses_rows WHERE resource_id = $1::text ORDER BY position"
      assert ask(sql, [id]) == [["MIT"], ["RPI"]]
    end

    test "with functions or processes in them are refused, and nothing is stored", %{store: store, ref: ref} do
      fun = fn _options -> [] end

      for {fields, rows, reason} <- [
            {[query: %{execute: fun, count: {Kernel, :length, [[]]}}], nil, :function},
            {[query: %{execute: {Enum, :map, [fun]}, count: {Kernel, :length, [[]]}}], nil, :function},
            {[metadata: %{"pid" => self()}], nil, :process},
            {[persist: :rows, query: nil], [%{ref: make_ref()}], :process}
          ] do
        resource = StoreCase.resource(fields)
        assert {:error, %Term.Error{reason: ^reason}} = store.save(ref, resource, rows)
        assert store.get(ref, {nil, resource.id}) == :not_found
      end
    end

    test "of a database that was tampered with make no atom and run nothing", %{store: store, ref: ref} do
      external = fn term -> term |> :erlang.term_to_binary() |> Base.encode64() end
      unknown = "never_seen_#{System.unique_integer([:positive])}"
      # An unknown atom, in Erlang's external format.
      foreign = Base.encode64(<<131, 119, byte_size(unknown), unknown::binary>>)

      for {value, reason} <- [
            {%{"$atom" => unknown}, :unknown_atom},
            {%{"$atoms" => %{unknown => 1}}, :unknown_atom},
            {%{"$term" => foreign}, :unreadable},
            {%{"$term" => external.(fn -> :boom end)}, :unreadable},
            {%{"$term" => external.([self()])}, :unreadable},
            {%{"$term" => "no base64"}, :unreadable}
          ] do
        key = save(store, ref, StoreCase.resource())
        tamper(key, "metadata", value)
        assert {:error, %Term.Error{reason: ^reason}} = store.get(ref, key)
      end

      for {module, function, reason} <- [
            {"Elixir.#{unknown}", "run", :unknown_atom},
            {"Elixir.Enum", unknown, :unknown_atom},
            {"ok", "run", :unknown_module}
          ] do
        reference = %{"module" => module, "function" => function, "arguments" => []}
        key = save(store, ref, StoreCase.resource())
        tamper(key, "query", %{"execute" => reference, "count" => reference})
        assert {:error, %Term.Error{reason: ^reason}} = store.get(ref, key)
      end

      assert_raise ArgumentError, fn -> String.to_existing_atom(unknown) end
    end

    test "of a tenant that this node cannot read do not keep a resource from being deleted",
         %{store: store, ref: ref, now: now} do
      key = save(store, ref, StoreCase.expiring(now - 1))
      tamper(key, "tenant", %{"$atom" => "never_seen_#{System.unique_integer([:positive])}"})
      assert store.find_expired(ref, now, 10) == {:ok, [key]}
      assert store.delete_expired(ref, now, 10) == {:ok, [key]}
    end

    defp tamper({_tenant, id}, column, value) do
      sql = "UPDATE mcp_dual_responses SET #{column} = $2::text::jsonb WHERE id = $1::text"
      {:ok, %{num_rows: 1}} = PostgresRepo.query(sql, [id, McpServer.JSON.encode!(value)])
    end

    test "of rows are bounded, at the byte", %{store: store, options: options} do
      rows = [%{"text" => String.duplicate("x", 100)}]
      size = byte_size(McpServer.JSON.encode!(rows))

      for {max, answer} <- [{size, :ok}, {size - 1, {:error, {:rows_too_large, size, size - 1}}}] do
        {:ok, ref} = store.init([max_rows_bytes: max] ++ options)
        resource = StoreCase.resource(persist: :rows, query: nil)
        given = store.save(ref, resource, rows)
        assert if(answer == :ok, do: given == {:ok, resource.id}, else: given == answer)
      end
    end

    @tag req: "R6"
    test "of ids are any bytes", %{store: store, ref: ref, now: now} do
      for id <- ["", "\0", "../x", "%2e%2e", <<0xFF, 0xFE>>, String.duplicate("k", 10_240), "' OR 1=1 --"] do
        key = {nil, id}
        assert store.get(ref, key) == :not_found
        assert store.rows(ref, key, 0, :all) == :not_found
        assert store.touch(ref, key, %{last_accessed_at: @now}, now) == :not_found
        assert store.update(ref, key, %{deadline: nil}, now) == :not_found
        assert store.delete(ref, key) == :not_found
      end
    end
  end

  test "servers with other names see nothing of each other in one table", %{store: store, ref: ref, now: now} do
    {:ok, other} = store.init(repo: PostgresRepo, server: :other_server_of_this_table)
    key = save(store, ref, StoreCase.expiring(now - 1), StoreCase.rows(1))
    assert store.get(other, key) == :not_found
    assert store.rows(other, key, 0, :all) == :not_found
    assert store.delete(other, key) == :not_found
    assert {:ok, []} = store.find_expired(other, now, 10)
    assert {:ok, []} = store.delete_expired(other, now, 10)
    assert {:ok, []} = store.least_used(other, 10)
    assert store.size(other) == {:ok, %{resources: 0, bytes: 0}}
    assert {:ok, _resource} = store.get(ref, key)
  end

  test "the partial index serves to clean up" do
    assert plan("server = 'x' AND deadline <= 7 ORDER BY deadline LIMIT 10") =~ "mcp_dual_responses_deadline_index"
  end

  test "an index serves to count the resources of one holder" do
    holder = "jsonb_hash(tenant) = jsonb_hash('null') AND jsonb_hash(subject) = jsonb_hash('7')"
    assert plan("server = 'x' AND #{holder}") =~ "mcp_dual_responses_holder_index"
  end

  # PostgreSQL would scan such a small table completely.
  defp plan(condition) do
    connection = PostgresRepo.Connection.open(Postgres.folder())
    {:ok, _result} = PostgresRepo.Connection.query(connection, "SET enable_seqscan = off", [])
    sql = "EXPLAIN SELECT id FROM mcp_dual_responses WHERE #{condition}"
    {:ok, %{rows: plan}} = PostgresRepo.Connection.query(connection, sql, [])
    PostgresRepo.Connection.close(connection)
    Enum.map_join(plan, "\n", fn [line] -> line end)
  end

  test "a holder with a long name is counted, too", %{store: store, ref: ref} do
    holder = {"acme", String.duplicate("long ", 2_000)}
    resource = StoreCase.resource(tenant: elem(holder, 0), subject: elem(holder, 1), bytes: 7)
    {:ok, id} = store.save(ref, resource, nil)
    assert store.size_of(ref, holder) == {:ok, %{resources: 1, bytes: 7}}
    assert store.delete(ref, {"acme", id}) == :ok
  end

  describe "options" do
    test "are checked" do
      for {options, message} <- [
            {[], ":repo"},
            {[repo: "MyApp.Repo"], ":repo"},
            {[repo: PostgresRepo, table: "x; DROP TABLE y"], ":table"},
            {[repo: PostgresRepo, table: "Upper"], ":table"},
            {[repo: PostgresRepo, table: String.duplicate("a", 41)], ":table"},
            {[repo: PostgresRepo, table: "a\n"], ":table"},
            {[repo: PostgresRepo, prefix: "a\"b"], ":prefix"},
            {[repo: PostgresRepo, prefix: String.duplicate("a", 64)], ":prefix"},
            {[repo: PostgresRepo, timeout: 0], ":timeout"},
            {[repo: PostgresRepo, max_rows_bytes: -1], ":max_rows_bytes"},
            {[repo: PostgresRepo, url: "x"], "url"}
          ] do
        error = assert_raise ArgumentError, fn -> Store.Ecto.init([server: :options] ++ options) end
        assert error.message =~ message
      end

      longest = [table: String.duplicate("a", 40), prefix: String.duplicate("b", 63)]
      assert {:ok, _ref} = Store.Ecto.init([server: :options, repo: PostgresRepo] ++ longest)
    end
  end

  describe "a server with this store" do
    @columns [%{"name" => "n", "type" => "number"}]

    def page(first, %{offset: offset, limit: limit}),
      do: Enum.slice(for(n <- first..(first + 46), do: %{"n" => n}), offset, limit)

    def count(_first, _options), do: 47

    defp start(options \\ []) do
      name = :"ecto_store_#{System.unique_integer([:positive])}"
      store = {Store.Ecto, [repo: PostgresRepo] ++ options}
      options = [name: name, base_url: "http://127.0.0.1/resources", store: store]
      start_supervised!(Supervisor.child_spec({DualResponse, options}, id: name))
      name
    end

    defp create(server, options \\ []) do
      query = [execute: {__MODULE__, :page, [1]}, count: {__MODULE__, :count, [1]}]
      DualResponse.create_response(server, Keyword.merge([name: "Numbers", columns: @columns] ++ query, options))
    end

    @tag req: "S1-40"
    test "a query reference is run again for each page, after a restart too" do
      server = start()
      assert {:ok, %{total_count: 47, resource_id: id}} = create(server)
      assert {:ok, %{data: [%{"n" => 41} | _rest], has_next: false}} = DualResponse.fetch(server, id, %{offset: 40})
      pid = Process.whereis(server)
      monitor = Process.monitor(pid)
      Process.exit(pid, :kill)
      assert_receive {:DOWN, ^monitor, :process, ^pid, :killed}
      assert {:ok, %{total_count: 47}} = DualResponse.fetch(server, id, %{offset: 0})
      assert %{access_count: 2} = DualResponse.get_resource(server, id)
    end

    @tag req: "S1-40"
    test "rows are kept, and sorted in memory" do
      server = start()
      assert {:ok, %{resource_id: id}} = create(server, persist: :rows)
      query = %{offset: 0, limit: 2, sort: %{field: "n", order: :desc}}
      assert {:ok, %{data: [%{"n" => 47}, %{"n" => 46}]}} = DualResponse.fetch(server, id, query)
    end

    @tag req: "S1-44"
    test "a function is refused before it is run" do
      test = self()

      query = [
        execute: fn _options ->
          send(test, :ran)
          []
        end,
        count: fn -> 0 end
      ]

      assert {:error, %Error{code: :storage_error, message: message}} = create(start(), query)
      assert message =~ "{module, function, arguments}"
    end

    @tag req: "S1-44"
    test "a table that is missing is a storage error that says nothing about the database" do
      server = start(table: "not_migrated")
      assert {:error, %Error{code: :storage_error, message: message}} = create(server)
      assert {:error, %Error{code: :storage_error}} = DualResponse.lookup(server, "x")
      assert DualResponse.get_resource(server, "x") == nil
      refute DualResponse.pin_resource(server, "x")
      refute message =~ ~r/not_migrated|relation|SQL/
    end

    @tag req: ["S1-22", "S1-23", "S1-41"]
    test "two nodes share what is kept" do
      name = :"ecto_store_#{System.unique_integer([:positive])}"
      {:ok, ref} = Store.Ecto.init(repo: PostgresRepo, server: name)
      store = {Store.Ecto, repo: PostgresRepo}
      start_supervised!({DualResponse, name: name, base_url: "http://127.0.0.1/resources", store: store})
      {:ok, %{resource_id: id}} = create(name)
      assert DualResponse.pin_resource(name, id)
      # The server of another node would read this value.
      assert {:ok, %{expires_at: nil, deadline: nil}} = Store.Ecto.get(ref, {nil, id})
      assert Store.Ecto.delete(ref, {nil, id}) == :ok
      refute DualResponse.delete_resource(name, id)
    end
  end
end
