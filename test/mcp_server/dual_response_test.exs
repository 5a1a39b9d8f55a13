defmodule McpServer.DualResponseTest do
  use ExUnit.Case, async: true

  import McpServer.TestLog
  import McpServer.DualResponses

  alias McpServer.DualResponse
  alias McpServer.DualResponse.{Error, Page, Resource, Response}
  alias McpServer.DualResponses.FailingStore
  alias McpServer.Processes

  doctest McpServer.DualResponse
  doctest McpServer.DualResponse.Error
  doctest McpServer.DualResponse.Page

  defp resources(server) do
    {:ok, %{store: store, ref: ref}} = DualResponse.settings(server)
    {:ok, size} = store.size(ref)
    size.resources
  end

  describe "create_response" do
    @tag req: "S1-15"
    test "needs name, execute, count and columns" do
      name = server()

      for option <- [:name, :execute, :count, :columns] do
        assert_raise ArgumentError, "#{option}: has to be given", fn ->
          DualResponse.create_response(name, Keyword.delete(numbers(1), option))
        end
      end
    end

    @tag req: "S1-15"
    test "refuses what is no option, and values that are none" do
      name = server()

      for {option, value} <- [
            name: :atom,
            execute: fn -> [] end,
            execute: "SELECT",
            count: 847,
            columns: [%{type: "string"}],
            columns: [%{name: <<255>>}],
            columns: [%{name: nil}],
            columns: nil,
            sample_size: -1,
            expiration: 0,
            metadata: [a: 1],
            persist: :maybe,
            sort_mode: :fast,
            tie_break: :id
          ] do
        assert_raise ArgumentError, ~r/expected #{inspect(option)} to be/, fn ->
          DualResponse.create_response(name, Keyword.put(numbers(1), option, value))
        end
      end

      assert_raise ArgumentError, ~r/there is no option :colums/, fn ->
        DualResponse.create_response(name, numbers(1, colums: []))
      end
    end

    @tag req: ["S1-12", "S1-15"]
    test "the server's defaults, and what takes their place" do
      name = server()
      {:ok, default} = DualResponse.lookup(name, create!(name, 40).resource_id)
      assert DateTime.diff(default.expires_at, default.created_at) == 900
      assert length(default.sample_data) == 15
      assert default.metadata == %{}

      id = create!(name, 40, sample_size: 20, expiration: 1_800_000, metadata: %{q: 1}).resource_id
      {:ok, other} = DualResponse.lookup(name, id)
      assert DateTime.diff(other.expires_at, other.created_at) == 1_800
      assert length(other.sample_data) == 20
      assert other.metadata == %{q: 1}
    end

    @tag req: ["S1-13", "S1-16", "RES-24"]
    test "execute is called for the sample with offset 0, the sample's size and no sort" do
      test = self()

      execute = fn options ->
        send(test, options)
        []
      end

      create!(server(), 3, execute: execute)
      context = %{tenant: nil, subject: nil}
      assert_received %{offset: 0, limit: 15, sort: nil, tie_break: nil, context: ^context}
    end

    @tag req: "S1-16"
    test "execute and count may be references, called with the options last" do
      test = self()
      reference = {__MODULE__, :slice, [test, 847]}
      name = server()
      options = numbers(0, execute: reference, count: {__MODULE__, :total, [847]}, tenant: "acme")
      {:ok, response} = DualResponse.create_response(name, options)
      assert response.total_count == 847
      assert_received {:slice, %{offset: 0, limit: 15, context: %{tenant: "acme"}}}
    end

    def slice(test, _total, options) do
      send(test, {:slice, options})
      []
    end

    def total(total, %{context: %{tenant: "acme"}}), do: total

    @tag req: "Q5"
    test "count may take the context" do
      response = create!(server(), 0, count: fn %{context: %{subject: "ada"}} -> 7 end, subject: "ada")
      assert response.total_count == 7
    end

    @tag req: "S1-17"
    test "a count is a non-negative integer" do
      name = server()
      assert create!(name, 0).total_count == 0

      capture_log(fn ->
        for count <- [-1, 1.5, "847", nil, {:ok, 847}] do
          assert {:error, %Error{code: :count_execution_failed}} =
                   DualResponse.create_response(name, numbers(1, count: fn -> count end))
        end
      end)

      assert resources(name) == 1
    end

    @tag req: "S1-18"
    test "a handler that answers more rows is cut to the sample's size" do
      name = server()
      response = create!(name, 100, execute: fn _options -> rows(100) end)
      assert response.sample == rows(15)
      assert create!(name, 3).sample == rows(3)
      assert create!(name, 3, sample_size: 0).sample == []
    end

    @tag req: "S1-19"
    test "columns are kept as they are" do
      columns = [
        %{"name" => "id", "type" => "number", "unit" => nil},
        %{name: :label, type: "string", description: "x"}
      ]

      name = server()
      response = create!(name, 1, columns: columns)
      assert response.columns == columns
      assert {:ok, %{columns: ^columns}} = DualResponse.lookup(name, response.resource_id)
    end

    @tag req: "S1-20"
    test "metadata is kept as it is" do
      metadata = %{:since => ~D[2025-01-01], "params" => %{"state" => "NJ"}}
      name = server()
      id = create!(name, 1, metadata: metadata).resource_id
      assert DualResponse.get_resource(name, id).metadata == metadata
    end

    @tag req: "S1-42"
    test "the record" do
      name = server()
      id = create!(name, 20).resource_id

      assert %Resource{
               id: ^id,
               name: "Numbers",
               query: %{execute: execute, count: count},
               total_count: 20,
               access_count: 0,
               last_accessed_at: nil,
               created_at: %DateTime{time_zone: "Etc/UTC", microsecond: {0, 0}},
               status: :ready
             } = DualResponse.get_resource(name, id)

      assert is_function(execute, 1) and is_function(count, 0)
    end
  end

  describe "what fails" do
    @describetag req: "S1-80"
    test "in execute: QUERY_EXECUTION_FAILED, a sentence without the reason, and nothing kept" do
      name = server()

      for {fun, cause} <- [
            {fn _ -> raise "password=hunter2" end, "hunter2"},
            {fn _ -> throw(:hunter2) end, "hunter2"},
            {fn _ -> exit({:hunter2, self()}) end, "hunter2"},
            {fn _ -> Process.exit(self(), :kill) end, "killed"},
            {fn _ -> [:hunter2] end, "hunter2"},
            {fn _ -> [%{} | :hunter2] end, "hunter2"},
            {fn _ -> {:ok, [%{}]} end, "answered"}
          ] do
        log =
          capture_log(fn ->
            assert {:error, %Error{code: :query_execution_failed} = error} =
                     DualResponse.create_response(name, numbers(1, execute: fun))

            assert Error.code(error) == "QUERY_EXECUTION_FAILED"
            refute Exception.message(error) =~ "hunter2"
          end)

        assert log =~ cause
      end

      assert resources(name) == 0
    end

    test "in count: COUNT_EXECUTION_FAILED, and execute is not asked" do
      name = server()
      test = self()

      log =
        capture_log(fn ->
          assert {:error, %Error{code: :count_execution_failed, cause: {:failed, :error, %RuntimeError{}, _}} = error} =
                   DualResponse.create_response(
                     name,
                     numbers(1,
                       count: fn -> raise "hunter2" end,
                       execute: fn _ ->
                         send(test, :asked)
                         []
                       end
                     )
                   )

          assert {Error.code(error), Exception.message(error)} == {"COUNT_EXECUTION_FAILED", "The count failed"}
        end)

      assert log =~ "hunter2"
      refute_received :asked
      assert resources(name) == 0
    end

    test "a query that takes too long is ended" do
      name = server(query_timeout: 200)
      test = self()

      hang = fn _ ->
        send(test, {:query, self()})
        Process.sleep(:infinity)
      end

      capture_log(fn ->
        assert {:error, %Error{code: :query_execution_failed, cause: :timeout} = error} =
                 DualResponse.create_response(name, numbers(1, execute: hang))

        assert Exception.message(error) == "The query took too long"
      end)

      assert_received {:query, pid}
      refute Process.alive?(pid)
      # No late message arrives.
      refute_received _anything
    end

    test "a query does not outlive who waits for it" do
      name = server()
      test = self()

      hang = fn _ ->
        send(test, {:query, self()})
        Process.sleep(:infinity)
      end

      caller = spawn(fn -> DualResponse.create_response(name, numbers(1, execute: hang)) end)
      assert_receive {:query, pid}
      monitor = Processes.monitor(pid)
      Process.exit(caller, :kill)
      assert_receive {:DOWN, ^monitor, :process, ^pid, :killed}
    end

    @tag req: "T5"
    test "a query whose rows are too large for its process ends that process only" do
      name = server(max_heap_bytes: 800_000)

      capture_log(fn ->
        assert {:error, %Error{code: :query_execution_failed, cause: {:down, :killed}}} =
                 DualResponse.create_response(name, numbers(1, execute: fn _ -> for n <- 1..1_000_000, do: %{n: n} end))
      end)

      assert create!(name, 1).total_count == 1
    end

    test "a query sees who has called it, as a task does" do
      test = self()

      create!(server(), 1,
        execute: fn _ ->
          send(test, Process.get(:"$callers"))
          []
        end
      )

      assert_received [^test | _callers]
    end

    test "with query_timeout: :infinity everything runs in the calling process" do
      test = self()
      name = server(query_timeout: :infinity)

      create!(name, 1,
        execute: fn _ ->
          send(test, {:in, self()})
          []
        end
      )

      assert_received {:in, ^test}

      capture_log(fn ->
        assert {:error, %Error{code: :query_execution_failed}} =
                 DualResponse.create_response(name, numbers(1, execute: fn _ -> throw(:x) end))
      end)
    end
  end

  describe "a store that fails" do
    @describetag req: "S1-44"
    for {what, fun} <- [
          {"answers an error", quote(do: fn -> {:error, "hunter2"} end)},
          {"raises", quote(do: fn -> raise "hunter2" end)},
          {"exits", quote(do: fn -> exit(:hunter2) end)},
          {"answers something else", quote(do: fn -> :hunter2 end)}
        ] do
      test "and #{what}: STORAGE_ERROR, with the reason in the log only" do
        name = server(store: FailingStore)
        fun = unquote(fun)
        kept = create!(name, 3, reference(3)).resource_id
        options = numbers(3, reference(3))

        for {callback, call, answer} <- [
              {:save, fn -> DualResponse.create_response(name, options) end, :error},
              {:size, fn -> DualResponse.create_response(name, options) end, :error},
              {:get, fn -> DualResponse.lookup(name, kept) end, :error},
              {:get, fn -> DualResponse.fetch(name, kept) end, :error},
              {:get, fn -> DualResponse.get_resource(name, kept) end, nil},
              {:update, fn -> DualResponse.pin(name, kept) end, :error},
              {:update, fn -> DualResponse.pin_resource(name, kept) end, false},
              {:delete, fn -> DualResponse.delete(name, kept) end, :error},
              {:delete, fn -> DualResponse.delete_resource(name, kept) end, false}
            ] do
          FailingStore.fail(name, callback, fun)
          log = capture_log(fn -> assert_failed(call.(), answer) end)
          FailingStore.heal(name, callback)
          assert log =~ "hunter2"
          assert log =~ "FailingStore.#{callback}"
        end
      end
    end

    test "and cannot count an access: the rows are given, and the log says why" do
      name = server(store: FailingStore)
      kept = create!(name, 3, reference(3)).resource_id
      # Other tests have failing stores, too.
      why = "no touch #{System.unique_integer([:positive])}"
      FailingStore.fail(name, :touch, fn -> {:error, why} end)

      log =
        capture_log(fn ->
          assert {:ok, %{returned_count: 3}} = DualResponse.fetch(name, kept)
          assert {:ok, 3, pages} = DualResponse.stream(name, kept)
          assert pages |> Enum.concat() |> length() == 3
        end)

      FailingStore.heal(name, :touch)
      assert length(Regex.scan(~r/FailingStore\.touch failed.*#{why}/, log)) == 2
      assert DualResponse.get_resource(name, kept).access_count == 0
    end

    defp assert_failed({:error, %Error{} = error}, :error) do
      assert {Error.code(error), Exception.message(error)} == {"STORAGE_ERROR", "The store failed"}
    end

    defp assert_failed(answer, expected), do: assert(answer == expected)

    test "and cannot be opened: the server does not start" do
      Process.flag(:trap_exit, true)
      FailingStore.fail(NeverOpened, :init, fn -> {:error, :closed} end)
      options = [name: NeverOpened, base_url: "https://x.example/r", store: FailingStore]

      assert {:error, %Error{code: :storage_error, cause: :closed}} = DualResponse.start_link(options)
      FailingStore.fail(NeverOpened, :init, fn -> raise "no" end)
      assert {:error, %Error{code: :storage_error}} = DualResponse.start_link(options)
      FailingStore.heal(NeverOpened, :init)
    end

    test "and keeps no functions: a query that is one is refused before anything is saved" do
      name = server(store: FailingStore)
      test = self()

      asked = [
        execute: fn _ ->
          send(test, :asked)
          []
        end,
        count: fn ->
          send(test, :asked)
          0
        end
      ]

      assert {:error, %Error{code: :storage_error, message: message}} =
               DualResponse.create_response(name, numbers(1, asked))

      refute_received :asked

      assert message == "The store keeps no functions: the query has to be {module, function, arguments}"
      assert resources(name) == 0
      assert create!(name, 3, reference(3)).total_count == 3
      # A query that does not run again need not be stored.
      assert create!(name, 3, persist: :rows).total_count == 3
    end

    test "a server that does not run has no store" do
      for answer <- [
            DualResponse.create_response(NotRunning, numbers(1)),
            DualResponse.lookup(NotRunning, "x"),
            DualResponse.fetch(NotRunning, "x"),
            DualResponse.stream(NotRunning, "x")
          ] do
        assert {:error, %Error{code: :storage_error, message: "The store is not available"}} = answer
      end

      assert DualResponse.get_resource(NotRunning, "x") == nil
      refute DualResponse.pin_resource(NotRunning, "x")
      refute DualResponse.delete_resource(NotRunning, "x")
      assert DualResponse.shutdown(NotRunning) == :ok
    end
  end

  # A query that can be stored outside the node.
  defp reference(count), do: [execute: {__MODULE__, :page, [count]}, count: {__MODULE__, :size, [count]}]
  def page(count, %{offset: offset, limit: limit}), do: Enum.slice(rows(count), offset, limit)
  def size(count, _options), do: count

  describe "a resource" do
    @describetag req: ["S1-21", "S1-22", "S1-23"]
    test "is found by its id" do
      name = server()
      id = create!(name, 1).resource_id
      assert %Resource{id: ^id} = DualResponse.get_resource(name, id)
      assert DualResponse.get_resource(name, "unknown") == nil
      assert DualResponse.get_resource(name, nil) == nil
      assert {:error, %Error{code: :resource_not_found} = error} = DualResponse.lookup(name, "unknown")
      assert {Error.code(error), Exception.message(error)} == {"RESOURCE_NOT_FOUND", "Resource not found or expired"}
    end

    @tag req: ["R1", "R6"]
    test "is not found by an id that is none" do
      name = server()
      create!(name, 1)

      for id <- ["", "../", "%2e%2e", "\0", String.duplicate("a", 10_240), <<255>>, "size", :size, 7, {"a", 0}] do
        assert {:error, %Error{code: :resource_not_found}} = DualResponse.lookup(name, id)
      end
    end

    test "is pinned, and then has no expiration" do
      name = server()
      id = create!(name, 1).resource_id
      assert DualResponse.pin_resource(name, id)
      assert DualResponse.get_resource(name, id).expires_at == nil
      assert DualResponse.pin_resource(name, id)
      refute DualResponse.pin_resource(name, "unknown")
    end

    test "is deleted once" do
      name = server()
      id = create!(name, 1).resource_id
      assert DualResponse.delete_resource(name, id)
      refute DualResponse.delete_resource(name, id)
      assert DualResponse.get_resource(name, id) == nil
      refute DualResponse.pin_resource(name, id)
    end

    test "is remembered as deleted where there are tombstones, by those whose it was" do
      {clock, pass} = clock()
      name = server(tombstones: 1_000, clock: clock)
      id = create!(name, 300, tenant: "acme", metadata: %{secret: 1}, persist: :rows).resource_id
      assert DualResponse.delete_resource(name, id, %{tenant: "acme"})
      assert {:error, %Error{code: :resource_gone} = error} = DualResponse.lookup(name, id, %{tenant: "acme"})
      assert Error.code(error) == "RESOURCE_NOT_FOUND"
      assert {:error, %Error{code: :resource_not_found}} = DualResponse.lookup(name, id, %{tenant: "other"})
      assert {:error, %Error{code: :resource_gone}} = DualResponse.fetch(name, id, %{}, %{tenant: "acme"})
      refute DualResponse.delete_resource(name, id, %{tenant: "acme"})
      refute DualResponse.pin_resource(name, id, %{tenant: "acme"})
      pass.(1_000)
      assert {:error, %Error{code: :resource_expired}} = DualResponse.lookup(name, id, %{tenant: "acme"})
    end
  end

  describe "shutdown" do
    @describetag req: "S1-25"
    # The results, the values of sessions and the ended sessions.
    @parts 3

    test "closes each part of the store once, and stops the timer" do
      {:ok, pid} = start_closing(cleanup_interval: 1)
      monitor = Processes.monitor(pid)
      assert_receive {:store, :find_expired}

      answers =
        1..5 |> Enum.map(fn _ -> Task.async(fn -> DualResponse.shutdown(Closing) end) end) |> Task.await_many(30_000)

      assert answers == List.duplicate(:ok, 5)
      assert_received {:DOWN, ^monitor, :process, ^pid, :normal}
      assert closes(0) == @parts
      # Another server sweeps meanwhile, this one does not.
      sweeps_three_times(cleanup_interval: 1)
      refute_received {:store, _callback}
      assert DualResponse.get_resource(Closing, "x") == nil
    end

    test "closes the store when the supervisor ends it" do
      {:ok, pid} = start_closing([])
      Process.flag(:trap_exit, true)
      Process.exit(pid, :shutdown)
      assert_receive {:EXIT, ^pid, :shutdown}
      assert closes(0) == @parts
    end

    test "a process that was killed closes nothing, and the next has what it left" do
      name = server()
      id = create!(name, 1).resource_id
      pid = Process.whereis(name)
      monitor = Process.monitor(pid)
      Process.exit(pid, :kill)
      assert_receive {:DOWN, ^monitor, :process, ^pid, :killed}
      assert %Resource{} = DualResponse.get_resource(name, id)
      assert create!(name, 1).total_count == 1
    end

    # Beside the closed server, with a store that tells another process.
    defp sweeps_three_times(options) do
      Task.await(
        Task.async(fn ->
          {:ok, pid} = start_closing([name: Sweeping] ++ options)
          for _ <- 1..3, do: assert_receive({:store, :find_expired})
          GenServer.stop(pid)
        end)
      )
    end

    defp start_closing(options) do
      defaults = [name: Closing, base_url: "https://x.example/r", store: {FailingStore, test: self()}]
      DualResponse.start_link(Keyword.merge(defaults, options))
    end

    defp closes(count) do
      receive do
        {:store, :close} -> closes(count + 1)
        {:store, _other} -> closes(count)
      after
        0 -> count
      end
    end
  end

  @tag req: ["S1-01", "S1-02", "RES-22"]
  test "it is of use without a router, and knows neither transports nor dispatch" do
    {:ok, modules} = :application.get_key(:mcp_server, :modules)
    server_half = ~w(Access Creation Error Events Location Options Page Paging Query Resource Response Room Server
      Sorting Storage Store Store.ETS Store.ETS.Keeper Store.ETS.Order Trouble)

    above = ~w(Router Dispatch Call Connection Session Stdio Http HttpServer HttpPlug HttpRequest Catalog)

    for module <- [DualResponse | Enum.map(server_half, &Module.concat(DualResponse, &1))] do
      assert module in modules
      {:ok, {^module, [imports: imports]}} = module |> :code.which() |> :beam_lib.chunks([:imports])

      for {callee, _function, _arity} <- imports, room <- above do
        refute callee == Module.concat(McpServer, room) or
                 String.starts_with?(inspect(callee), "McpServer.#{room}."),
               "#{inspect(module)} calls #{inspect(callee)}"
      end
    end
  end

  @tag req: "S1-82"
  test "the types are exported" do
    for {module, types} <- [
          {DualResponse, [:given_identity, :identity, :query, :query_options, :server, :sort]},
          {Error, [:code, :t]},
          {Page, [:t]},
          {Resource, [:function_or_reference, :t]},
          {Response, [:t]},
          {DualResponse.Store, [:failure, :key, :now, :ref, :size]}
        ] do
      {:ok, found} = Code.Typespec.fetch_types(module)
      assert Enum.sort(for {:type, {name, _type, []}} <- found, do: name) == types
    end
  end
end
