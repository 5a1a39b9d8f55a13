defmodule McpServer.Census do
  # What a VM holds: the rows of its tables, its processes and their unread messages by what they run, the words of the
  # states of its servers, its ports, and its persistent terms. The functions run in the VM.
  @moduledoc false

  @typedoc "The amounts by what is counted, such as `{:table, McpServer.Http.Sessions}`."
  @type t :: %{{:table | :process | :unread | :state | :port | :term, atom() | String.t()} => non_neg_integer()}

  @doc "Counts everything."
  @spec take() :: t()
  def take do
    # A process of an anonymous function is known by the first frame of its stack, which may be longer than eight frames.
    depth = :erlang.system_flag(:backtrace_depth, 100)
    taken = count()
    :erlang.system_flag(:backtrace_depth, depth)
    taken
  end

  defp count do
    collect(:table, for(table <- :ets.all(), do: {:ets.info(table, :name), :ets.info(table, :size)}))
    |> Map.merge(collect(:process, for(pid <- Process.list(), label = label(pid), do: {label, 1})))
    |> Map.merge(collect(:unread, for(pid <- Process.list(), label = label(pid), do: {label, unread(pid)})))
    |> Map.merge(collect(:state, for({name, pid} <- servers(), do: {name, words(pid)})))
    |> Map.merge(collect(:port, for(port <- Port.list(), do: {port_name(port), 1})))
    |> Map.put({:term, :persistent}, :persistent_term.info().count)
  end

  defp unread(pid), do: with({:message_queue_len, count} <- Process.info(pid, :message_queue_len), do: count)
  defp port_name(port), do: with({:name, name} <- Port.info(port, :name), do: to_string(name))

  # A table or process may end meanwhile.
  defp collect(what, amounts) do
    for {name, amount} when is_integer(amount) and name != nil <- amounts, reduce: %{} do
      sum -> Map.update(sum, {what, name}, amount, &(&1 + amount))
    end
  end

  # The module whose function the process runs.
  defp label(pid) do
    with [dictionary: dictionary, initial_call: initial, current_stacktrace: stack] <-
           Process.info(pid, [:dictionary, :initial_call, :current_stacktrace]) do
      elem(dictionary[:"$initial_call"] || first(initial, stack), 0)
    end
  end

  # The first frame of a process of an anonymous function.
  defp first({:erlang, :apply, 2}, [_frame | _frames] = stack),
    do: stack |> Enum.reject(&(elem(&1, 0) in [:proc_lib, :erlang])) |> List.last(hd(stack))

  defp first(initial, _stack), do: initial

  # The library's servers without the sessions, which are counted as processes.
  defp servers do
    for pid <- Process.list(),
        {:dictionary, dictionary} <- [Process.info(pid, :dictionary)],
        {module, :init, 1} <- [dictionary[:"$initial_call"]],
        module != McpServer.Connection,
        String.starts_with?(inspect(module), "McpServer."),
        do: {module, pid}
  end

  # A server may end meanwhile.
  defp words(pid) do
    pid |> :sys.get_state() |> :erts_debug.flat_size()
  catch
    :exit, _ended -> nil
  end

  @doc "Makes as many rows, processes and unread messages that no kind counts, and a state with as many items."
  @spec grow(pos_integer()) :: :ok
  def grow(count) do
    caller = self()

    # The table must survive the call that makes it.
    spawn(fn ->
      table = :ets.new(__MODULE__, [])
      for n <- 1..count, do: :ets.insert(table, {n})
      for _ <- 1..count, do: spawn(fn -> receive do: (:never -> :ok) end) |> send(:unread)
      {:ok, _hoard} = GenServer.start(__MODULE__.Hoard, for(n <- 1..count, do: {n, self(), make_ref()}))
      send(caller, :grown)
      Process.sleep(:infinity)
    end)

    receive do: (:grown -> :ok)
  end

  # An item of a state has a few words, and a state may change by some for other reasons.
  @item_words 8

  @doc "What has grown by at least so many items."
  @spec grown(before :: t(), now :: t(), least :: pos_integer()) :: [{{atom(), atom()}, pos_integer()}]
  def grown(before, now, least) do
    for {what, amount} <- Enum.sort(now),
        more = amount - Map.get(before, what, 0),
        more >= least * if(match?({:state, _name}, what), do: @item_words, else: 1),
        do: {what, more}
  end
end

defmodule McpServer.Census.Hoard do
  # A server with a queue in its state.
  @moduledoc false
  use GenServer

  @impl true
  def init(queue), do: {:ok, queue}
end

defmodule McpServer.Census.Router do
  # Tools that let a client hold something for as long as it wants.
  @moduledoc false
  use McpServer.Router, name: "census"

  alias McpServer.Census.Handlers
  alias McpServer.RateLimit

  tool "wait", "Never answers", Handlers, :wait, task_support: :optional
  tool "tell", "Sends progress, and never answers", Handlers, :tell
  tool "ask", "Asks for a name", Handlers, :ask
  tool "remember", "Keeps a value in the session", Handlers, :remember
  tool "find", "Finds many rows", Handlers, :find

  tool "confirm", "Asks for consent", Handlers, :confirm do
    plug RateLimit, limit: 100, per: 3_600_000
  end

  resource "row", "census://rows/{id}" do
    description "A row"
    read Handlers, :read
  end
end

defmodule McpServer.Census.Handlers do
  @moduledoc false
  use McpServer.Controller

  alias McpServer.{Conn, DualResponse}

  @form %{"type" => "object", "properties" => %{"name" => %{"type" => "string"}}}
  # More bytes than sockets take that nobody reads.
  @rows 1_000

  def wait(_conn, _arguments), do: Process.sleep(:infinity)

  def tell(conn, _arguments) do
    progress(conn, 1, 2, "begun")
    Process.sleep(:infinity)
  end

  def ask(_conn, _arguments), do: input_required([name: elicit("Your name?", @form)], state: :asked)
  def confirm(conn, _arguments), do: confirm(conn, "Sure?", fn -> {:ok, "done"} end)
  def remember(conn, _arguments), do: {:ok, inspect(McpServer.Session.put_session(conn, "kept", "value"))}
  def read(_conn, variables), do: content("a.txt", "census://rows/1", text: inspect(variables))

  def find(%Conn{} = conn, _arguments) do
    {:ok, response} =
      DualResponse.create_response(McpServer.Census.Results,
        name: "Rows",
        columns: [%{name: "n", type: "number"}, %{name: "text", type: "string"}],
        count: fn -> @rows end,
        execute: fn %{offset: offset, limit: limit} ->
          for n <- Enum.slice(0..(@rows - 1), offset, limit), do: %{"n" => n, "text" => String.duplicate("x", 8_000)}
        end,
        persist: :rows,
        subject: conn.principal
      )

    {:ok, response.resource_id}
  end
end

defmodule McpServer.Census.Servers do
  # The servers of the VM.
  @moduledoc false

  alias McpServer.Census.{Results, Router}
  alias McpServer.DualResponse.Rest

  @resource "http://localhost/mcp"

  @doc "The resource of the tokens."
  def resource, do: @resource

  @doc "Starts a server that names its clients itself, and one that takes tokens of the issuer. Returns their ports."
  @spec start(issuer :: String.t()) :: {open :: :inet.port_number(), auth :: :inet.port_number()}
  def start(issuer) do
    caller = self()

    # The servers must survive the call that starts them.
    spawn(fn ->
      send(caller, {__MODULE__, serve(issuer)})
      Process.sleep(:infinity)
    end)

    receive do: ({__MODULE__, ports} -> ports)
  end

  defp serve(issuer) do
    {:ok, _results} = McpServer.DualResponse.start_link(name: Results, base_url: "http://localhost/resources")
    common = [router: Router, port: 0, http: [stream_after: 50]]
    routes = [{"/resources", {Rest, server: Results}}]
    {:ok, open} = McpServer.HttpServer.start_link([identify: &__MODULE__.identify/1, routes: routes] ++ common)

    auth = [
      resource: @resource,
      issuer: issuer,
      issuers: &__MODULE__.tenant/1,
      dpop: :optional,
      introspection: [client_id: "mcp", client_secret: "secret"],
      timeout: 60_000,
      wait: 60_000
    ]

    {:ok, protected} = McpServer.HttpServer.start_link([auth: auth] ++ common)
    {McpServer.HttpServer.port(open), McpServer.HttpServer.port(protected)}
  end

  @doc "Knows every tenant at a port where none answers."
  def tenant("http://localhost:9/" <> _name), do: {:ok, []}
  def tenant(_other), do: :error

  @doc "The bearer of `waits` is never identified."
  def identify(request) do
    case List.keyfind(request.req_headers, "authorization", 0) do
      {_name, "Bearer waits"} -> Process.sleep(:infinity)
      {_name, "Bearer " <> name} -> {:ok, name}
      nil -> {:ok, nil}
    end
  end
end
