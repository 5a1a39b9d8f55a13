defmodule McpServer.DualResponse.SessionStoreTest.Start do
  # Sets up each store before its tests.
  import ExUnit.Callbacks

  alias McpServer.DualResponse.Store
  alias McpServer.DualResponse.Store.Ecto.Migration
  alias McpServer.{Postgres, PostgresRepo}

  def start(ETS), do: :ok

  def start(Mnesia) do
    start_supervised!(Store.Mnesia)
    on_exit(fn -> McpServer.TestLog.capture_log(fn -> Application.stop(:mnesia) end) end)
  end

  def start(Ecto) do
    start_supervised!({PostgresRepo, folder: Postgres.folder(), size: 4})
    for statement <- Migration.sql(table: "mcp_session_values"), do: {:ok, _result} = PostgresRepo.query(statement)
    on_exit(&drop/0)
  end

  # The tests' pool has already ended.
  defp drop do
    {:ok, pool} = PostgresRepo.start_link(folder: Postgres.folder(), size: 1)
    statements = Migration.sql(table: "mcp_session_values", direction: :down)
    for statement <- statements, do: {:ok, _result} = PostgresRepo.query(statement)
    GenServer.stop(pool)
  end
end

for {name, store} <- [
      {ETS, McpServer.DualResponse.Store.ETS},
      {Mnesia, McpServer.DualResponse.Store.Mnesia},
      {Ecto, {McpServer.DualResponse.Store.Ecto, repo: McpServer.PostgresRepo, table: "mcp_session_values"}}
    ] do
  defmodule Module.concat([McpServer.DualResponse.SessionStoreTest, name]) do
    # Values of sessions in the stores of dual responses. Other tests that use Mnesia or PostgreSQL here are not async.
    use ExUnit.Case, async: true

    alias McpServer.{DualResponse, DualResponses}
    alias McpServer.DualResponse.SessionStore
    alias McpServer.DualResponse.SessionStoreTest.Start

    @store store
    @moduletag :capture_log

    case name do
      Ecto -> @moduletag McpServer.Installed.tags(:postgresql)
      Mnesia -> @moduletag McpServer.Installed.tags(:mnesia)
      ETS -> :ok
    end

    setup_all do
      Start.start(unquote(name))
    end

    setup do
      {clock, forward} = DualResponses.clock()
      forward.(1_000)
      server = DualResponses.server(store: @store, clock: clock, max_resources: 4)
      {:ok, options: [server: server], forward: forward, server: server}
    end

    defp key, do: Base.url_encode64(:crypto.strong_rand_bytes(32), padding: false)

    test "a value is kept, replaced and forgotten", %{options: options} do
      key = key()
      value = <<0, 255, "any bytes">>
      assert SessionStore.get(options, key) == :none
      assert SessionStore.put(options, key, "first", 1_000, "ada") == :ok
      assert SessionStore.put(options, key, value, 1_000, "ada") == :ok
      assert SessionStore.get(options, key) == {:ok, value}
      assert SessionStore.delete(options, key) == :ok
      assert SessionStore.delete(options, key) == :ok
      assert SessionStore.get(options, key) == :none
    end

    test "it expires, and can be put again", %{options: options, forward: forward} do
      key = key()
      assert SessionStore.put(options, key, "first", 1_000, nil) == :ok
      forward.(999)
      assert SessionStore.get(options, key) == {:ok, "first"}
      forward.(1)
      assert SessionStore.get(options, key) == :none
      assert SessionStore.put(options, key, "second", 1_000, nil) == :ok
      assert SessionStore.get(options, key) == {:ok, "second"}
      # Each `put` renews the expiry.
      forward.(600)
      assert SessionStore.put(options, key, "third", 1_000, nil) == :ok
      forward.(600)
      assert SessionStore.get(options, key) == {:ok, "third"}
    end

    test "results, values and ended sessions never take each other's space", context do
      %{options: options, server: server} = context
      results = for n <- 1..4, do: created(server, "client #{n}")
      value = key()
      :ok = SessionStore.put(options, value, "kept", 1_000, "ada")

      # One client, above every limit of the results.
      ended = for n <- 1..20, do: McpServer.SessionStore.ended_key(<<n::128>>)
      for key <- ended, do: :ok = SessionStore.put(options, key, "", 1_000, "eve")
      for n <- 1..20, do: :ok = SessionStore.put(options, key(), "value #{n}", 1_000, "eve")

      for {id, subject} <- results, do: assert({:ok, _resource} = DualResponse.lookup(server, id, %{subject: subject}))
      assert SessionStore.get(options, value) == {:ok, "kept"}
      for key <- ended, do: assert(SessionStore.get(options, key) == {:ok, ""})
      _more = for n <- 5..9, do: created(server, "client #{n}")
      assert SessionStore.get(options, value) == {:ok, "kept"}
      for key <- ended, do: assert(SessionStore.get(options, key) == {:ok, ""})
    end

    test "an owner above its share loses its own values, the oldest first", %{options: options} do
      value = :binary.copy("x", 16 * 1024)
      kept? = fn key -> match?({:ok, _value}, SessionStore.get(options, key)) end
      adas = key()
      :ok = SessionStore.put(options, adas, value, 60_000, "ada")
      # A quarter of 64 MiB, with 512 bytes for each record.
      eves = for _ <- 1..992, do: key()
      for key <- eves, do: :ok = SessionStore.put(options, key, value, 60_000, "eve")
      assert kept?.(hd(eves))
      :ok = SessionStore.put(options, key(), value, 60_000, "eve")
      assert {kept?.(hd(eves)), kept?.(adas)} == {false, true}
    end

    defp created(server, subject) do
      options = [name: "x", rows: [%{"n" => 1}], columns: [%{name: "n", type: "number"}], subject: subject]
      {:ok, response} = DualResponse.create_response(server, options)
      {response.resource_id, subject}
    end

    test "no client can read them", %{options: options, server: server} do
      key = key()
      :ok = SessionStore.put(options, key, "private", 1_000, "ada")

      for subject <- [nil, "ada", key],
          do: assert({:error, %{}} = DualResponse.fetch(server, key, %{}, %{subject: subject}))
    end

    test "a server that does not run is an error" do
      assert {:error, %DualResponse.Error{}} = SessionStore.get([server: :nowhere], key())
      assert {:error, %DualResponse.Error{}} = SessionStore.put([server: :nowhere], key(), "x", 1, nil)
    end
  end
end
