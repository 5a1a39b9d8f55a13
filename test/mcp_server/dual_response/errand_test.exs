defmodule McpServer.DualResponse.ErrandTest do
  # What a store does for a client that has left: it is finished, stays within the share of the owner, and counts for the
  # client until then.
  use ExUnit.Case, async: true

  import McpServer.DualResponses, except: [rows: 1]
  import McpServer.HttpCase, only: [eventually: 1]
  import McpServer.HttpRequests, only: [as: 2, modern_call: 2]

  alias McpServer.{DualResponse, HttpPeer, HttpServers, RestServers}
  alias McpServer.DualResponse.{Errand, Error, SessionStore, Store}
  alias McpServer.DualResponse.Store.ETS

  @moduletag :capture_log
  @patience 30_000
  # The places of the node are also taken by other tests.
  @eve "eve of errands"
  @bob "bob of errands"
  # Of the changes in stores, for one client.
  @share 64

  defmodule Database do
    @moduledoc false
    # `Store.ETS` behind a process for each change, as a database: it goes on when its caller has been killed. A change
    # of the `hold:` callback waits until the test lets it go. `give_up: true`: the caller does not wait for it.
    @behaviour Store

    @impl true
    def init(options) do
      {own, options} = Keyword.split(options, [:test, :hold, :give_up])
      with {:ok, ref} <- ETS.init(options), do: {:ok, {ref, Map.new(own)}}
    end

    defp change({ref, options}, callback, arguments) do
      work = fn ->
        if options[:hold] == callback do
          send(options.test, {:held, self()})
          receive do: (:go -> :ok)
        end

        exit({:done, apply(ETS, callback, [ref | arguments])})
      end

      {_pid, monitor} = spawn_monitor(work)

      if options[:hold] == callback and options[:give_up] do
        Errand.leave_behind(monitor)
        {:error, :timeout}
      else
        receive do: ({:DOWN, ^monitor, :process, _pid, {:done, result}} -> result)
      end
    end

    @impl true
    def clock, do: ETS.clock()
    @impl true
    def persists_closures?, do: true
    @impl true
    def close({ref, _options}), do: ETS.close(ref)

    for {name, arity} <- [save: 3, update: 4, touch: 4, delete: 2] do
      [ref | arguments] = Macro.generate_arguments(arity, __MODULE__)
      @impl true
      def unquote(name)(unquote(ref), unquote_splicing(arguments)),
        do: change(unquote(ref), unquote(name), unquote(arguments))
    end

    for {name, arity} <- [
          get: 2,
          rows: 4,
          find_expired: 3,
          least_used: 2,
          size: 1,
          holders: 1,
          size_of: 2,
          least_used_of: 3
        ] do
      [ref | arguments] = Macro.generate_arguments(arity, __MODULE__)
      @impl true
      def unquote(name)(unquote(ref), unquote_splicing(arguments)),
        do: apply(ETS, unquote(name), [elem(unquote(ref), 0) | unquote(arguments)])
    end
  end

  defmodule Memory do
    @moduledoc false
    # `Store.ETS`, whose caller is held after it has saved.
    @behaviour Store

    for {name, arity} <- Store.behaviour_info(:callbacks),
        {name, arity} in ETS.__info__(:functions),
        name not in [:init, :save] do
      [ref | arguments] = Macro.generate_arguments(max(arity, 1), __MODULE__)

      if arity == 0 do
        @impl true
        def unquote(name)(), do: apply(ETS, unquote(name), [])
      else
        @impl true
        def unquote(name)(unquote(ref), unquote_splicing(arguments)),
          do: apply(ETS, unquote(name), [Map.delete(unquote(ref), :test) | unquote(arguments)])
      end
    end

    @impl true
    def init(options) do
      {test, options} = Keyword.pop!(options, :test)
      with {:ok, ref} <- ETS.init(options), do: {:ok, Map.put(ref, :test, test)}
    end

    @impl true
    def save(ref, resource, rows) do
      saved = ETS.save(Map.delete(ref, :test), resource, rows)
      send(ref.test, {:saved, self()})
      receive do: (:go -> saved)
    end
  end

  defmodule Handlers do
    @moduledoc false
    use McpServer.Controller

    def report(conn, %{"test" => test, "results" => results}) do
      send(test |> String.to_charlist() |> :erlang.list_to_pid(), {:calling, self()})
      options = [name: "Rows", columns: [%{name: "n"}], rows: [%{"n" => 1}], subject: conn.principal]
      {:ok, response} = McpServer.DualResponse.create_response(String.to_existing_atom(results), options)
      {:ok, response.resource_id}
    end
  end

  defmodule Router do
    @moduledoc false
    use McpServer.Router, name: "errands"

    tool "report", "Stores a result", Handlers, :report do
      input_field "test", "The test", :string, required: true
      input_field "results", "The server", :string, required: true
    end
  end

  defp database(options \\ [], store) do
    server([store: {Database, [test: self()] ++ store}] ++ options)
  end

  defp serve(results) do
    rest = [server: results, identify: &__MODULE__.subject/1, max_share: 90]
    route = {"/resources", {McpServer.DualResponse.Rest, rest}}
    HttpServers.start(:listener, router: Router, identify: &__MODULE__.principal/1, routes: [route])
  end

  def principal(request) do
    {_name, "Bearer " <> name} = List.keyfind(request.req_headers, "authorization", 0)
    {:ok, name}
  end

  def subject(request), do: with({:ok, name} <- principal(request), do: %{subject: name})

  # Those that make room at once may delete one more than they have to.
  defp within_share(count), do: eventually(fn -> count.() <= 2 end)

  # Sends the request, and leaves when `until` has returned.
  defp leave(http, request, until) do
    peer = HttpPeer.connect(http.port)
    :ok = HttpPeer.send_request(peer, request)
    held = until.()
    :ok = :inet.setopts(peer.socket, linger: {true, 0})
    HttpPeer.close(peer)
    held
  end

  defp held do
    assert_receive {:held, pid}, @patience
    pid
  end

  defp killed(pid) do
    monitor = Process.monitor(pid)
    assert_receive {:DOWN, ^monitor, :process, ^pid, _reason}, @patience
  end

  defp let_go(pids) do
    for pid <- pids do
      send(pid, :go)
      killed(pid)
    end
  end

  defp resources(results) do
    {:ok, %{store: store, ref: ref}} = DualResponse.settings(results)
    {:ok, size} = store.size(ref)
    size.resources
  end

  describe "results that are saved after their client has left" do
    test "are no more than the share of their owner" do
      results = database([max_resources: 8], hold: :save)
      http = serve(results)
      test = self() |> :erlang.pid_to_list() |> to_string()
      request = modern_call("report", %{"test" => test, "results" => to_string(results)}) |> as(@eve)

      saves =
        for _ <- 1..6 do
          save = leave(http, request, &held/0)
          assert_receive {:calling, call}, @patience
          killed(call)
          save
        end

      assert resources(results) == 0
      let_go(saves)
      within_share(fn -> resources(results) end)
    end

    test "are no more than their share in a store in memory, whose save was complete" do
      results = server(max_resources: 8, store: {Memory, test: self()})

      for _ <- 1..6 do
        pid = spawn(fn -> create!(results, 1, subject: @eve) end)
        assert_receive {:saved, ^pid}, @patience
        Process.exit(pid, :kill)
        killed(pid)
      end

      within_share(fn -> resources(results) end)
    end

    test "are no more than their share if the store has given them up" do
      results = database([max_resources: 8], hold: :save, give_up: true)

      saves =
        for _ <- 1..6 do
          assert {:error, %Error{code: :storage_error}} =
                   DualResponse.create_response(results, numbers(1, subject: @eve))

          held()
        end

      let_go(saves)
      within_share(fn -> resources(results) end)
    end

    test "have at most a share of the places: the next one waits, and others have theirs" do
      results = database(hold: :save)
      create = fn subject -> spawn(fn -> create!(results, 1, subject: subject) end) end

      saves =
        for _ <- 1..@share do
          pid = create.(@eve)
          save = held()
          Process.exit(pid, :kill)
          save
        end

      next = create.(@eve)
      create.(@bob)
      bobs = held()
      Process.exit(next, :kill)
      let_go([bobs])
      eventually(fn -> resources(results) == 1 end)
      let_go(saves)
      eventually(fn -> resources(results) == @share + 1 end)
    end
  end

  test "accesses that are counted after their client has left are a share, and the next ones are not counted" do
    results = database(hold: :touch)
    id = create!(results, 3, subject: @eve).resource_id
    bobs = create!(results, 3, subject: @bob).resource_id
    http = serve(results)
    fetch = fn who, id -> "POST" |> RestServers.request("/resources/#{id}", body: %{}) |> as(who) end
    accesses = for _ <- 1..@share, do: leave(http, fetch.(@eve, id), &held/0)

    assert answer(http, fetch.(@eve, id)) == :not_counted
    other = leave(http, fetch.(@bob, bobs), &held/0)
    let_go([other | accesses])
    eventually(fn -> DualResponse.get_resource(results, id, %{subject: @eve}).access_count == @share end)
    # Its places are given back.
    eventually(fn -> answer(http, fetch.(@eve, id)) == :counted end)
  end

  # Sends a request, and lets its access go if it is counted.
  defp answer(http, request) do
    peer = HttpPeer.connect(http.port)
    :ok = HttpPeer.send_request(peer, request)
    %Task{ref: answered} = Task.async(fn -> :gen_tcp.recv(peer.socket, 0, @patience) end)

    receive do
      {:held, access} ->
        let_go([access])
        assert_receive {^answered, {:ok, "HTTP/1.1 200" <> _rest}}, @patience
        :counted

      {^answered, {:ok, "HTTP/1.1 200" <> _rest}} ->
        :not_counted
    end
  end

  test "values of sessions that are saved after their client has left are no more than the share of their owner" do
    results = database(hold: :save)
    value = String.duplicate("v", 6 * 1024 * 1024)

    saves =
      for n <- 1..4 do
        pid = spawn(fn -> SessionStore.put([server: results], "value #{n}", value, 3_600_000, @eve) end)
        save = held()
        Process.exit(pid, :kill)
        killed(pid)
        save
      end

    let_go(saves)
    kept = fn -> Enum.count(1..4, &match?({:ok, _value}, SessionStore.get([server: results], "value #{&1}"))) end
    within_share(kept)
  end

  defmodule Repo do
    @moduledoc false
    def in_transaction?, do: Process.get(__MODULE__, false)
  end

  test "a result that is stored in a transaction of the caller is part of it" do
    {:ok, ref} = Store.Ecto.init(repo: Repo, server: __MODULE__)
    refute Store.Ecto.ends_with_caller?(ref)
    Process.put(Repo, true)
    assert Store.Ecto.ends_with_caller?(ref)
  end
end
