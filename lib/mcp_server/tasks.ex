defmodule McpServer.Tasks do
  @moduledoc """
  Calls that continue after the response to their request.

  A client need not wait for a tool that takes minutes. Declare the tool with `task_support:`, and write a normal
  handler:

      tool "render", "Renders a film", MyApp.Films, :render, task_support: :optional do
        input_field "scene", "Which scene", :string, required: true
      end

  A client with support for tasks gets the id of a task at once, asks for its status, and fetches the result when it is
  ready. Other clients wait for the result as usual; with `task_support: :required` they are refused.

  | revision | the client | how it asks |
  |---|---|---|
  | 2025-11-25 | sends `task` with the call | `tasks/get`, `tasks/result`, `tasks/list`, `tasks/cancel` |
  | 2026-07-28 | declares the extension `io.modelcontextprotocol/tasks`; every call of such a tool becomes a task | `tasks/get`, `tasks/update`, `tasks/cancel` |

  Clients of older revisions do not support tasks.

  ## In the handler

  There are three differences. The time limit of the handler's process is the task's `ttl`, not the tool's `timeout:`.
  The process has a low priority, so that tasks that compute do not delay calls. A handler can change it with
  `Process.flag(:priority, :normal)`.
  Progress is not sent: the message of the last `McpServer.Controller.progress/4` is the task's `statusMessage`. A
  handler that returns `McpServer.Controller.input_required/2` is called again when the client has sent its answers.

  With `task_start: :handler` the handler can ask the client a question first. The call becomes a task when the handler
  returns `McpServer.Controller.as_task/1`:

      def render(conn, %{"scene" => scene}) do
        case accepted(conn, "sure") do
          %{"ok" => true} -> as_task(fn conn -> Films.render(conn, scene) end)
          nil -> if declined?(conn, "sure"), do: {:error, "Declined"}, else: input_required(sure: elicit("Go on?", @form))
        end
      end

  If the call cannot become a task, the function runs at once, and the client waits for the result.

  ## Whose tasks

  The owner of a task is the principal that called the tool, at the HTTP mount of the call: a token for one endpoint shows
  no task of another. Mounts with the same `:mount_name` share their tasks. Without authentication the owner is the session;
  without both (2026-07-28) every client that knows the task's id, 128 random bits. For other clients the task does not
  exist. In a cluster the task runs on the node that received the call, and every node can access it.

  ## Bounds

      config :mcp_server, :tasks, max_tasks: 1_000, ttl: :timer.minutes(5)

  Times are milliseconds, sizes bytes.

  #{McpServer.Options.document(McpServer.Tasks.Server.table())}
  A task is removed when its time is over, whether it runs or has finished. Tasks do not survive a restart of the node.
  """

  alias McpServer.{Catalog, Conn, InputRequest, Limit, Request}
  alias McpServer.Http.Cluster.Node, as: Home
  alias McpServer.Quota.Client
  alias McpServer.Tasks.{Entry, Runner, Server}

  @typedoc "The owner of a task."
  @type owner :: term()

  # The timeout of calls to other nodes.
  @remote_ms 5_000

  # The maximum lifetime of a task, in milliseconds.
  @doc false
  @spec max_ttl() :: pos_integer()
  def max_ttl, do: Server.max_ttl()

  # The owner of the tasks that a request may use.
  @doc false
  @spec owner(Catalog.t(), Conn.t()) :: owner()
  def owner(catalog, %Conn{principal: nil, session_id: session_id}), do: {catalog.router, :session, session_id}
  def owner(catalog, %Conn{principal: principal, mount: mount}), do: {catalog.router, :principal, {mount, principal}}

  # Starts the task of a call.
  @doc false
  @spec create(Runner.call(), Conn.t()) :: {:ok, Entry.t()} | {:error, :too_many | :no_room}
  def create(%{request: request} = call, conn) do
    runner = Runner.start(%{call | request: Request.begun(request)}, conn)
    of_client = [conn.client_info, conn.client_capabilities, conn.meta, conn.input_responses, conn.state]
    bytes = Limit.held_bytes([request.arguments | of_client])
    about = %{name: request.name, run_time: request.run_time, argument_bytes: bytes, grace: call.entry.cancel_grace}
    owner = owner(call.catalog, conn)
    question = {:create, owner, Server.client(owner, conn), request.task, about, runner}
    # The call ends at its own deadline. A task that was created after that would be nobody's.
    created = GenServer.call(Server, question, :infinity)
    if match?({:error, _full}, created), do: Process.exit(runner, :kill)
    created
  end

  # A task without the data of its outcome.
  @doc false
  @spec get(owner(), String.t()) :: {:ok, Entry.t()} | :not_found
  def get(owner, id), do: read(id, :outline, [owner, id])

  # A task with the data of its outcome, which may be long. It counts for the client until the calling process ends.
  @doc false
  @spec fetch(owner(), String.t(), Client.t()) :: {:ok, Entry.t()} | :not_found | {:error, :busy}
  def fetch(owner, id, client) do
    with {:ok, %Entry{outcome: outcome, size: size} = entry} when outcome != nil <- get(owner, id),
         :ok <- Server.begin_read(client, size),
         {:ok, stored} <- outcome(owner, id, size) do
      {:ok, Entry.whole(%{entry | stored: stored})}
    end
  end

  # From another node piece by piece, so that no more than one is on its way when the client leaves.
  defp outcome(owner, id, size) do
    case stored(owner, id) do
      {:ok, %Entry{stored: stored}} -> {:ok, stored}
      :not_found -> with({:ok, pieces} <- pieces(owner, id, size, 0), do: {:ok, IO.iodata_to_binary(pieces)})
    end
  end

  defp pieces(_owner, _id, size, offset) when offset >= size, do: {:ok, []}

  defp pieces(owner, id, size, offset) do
    with {:ok, piece} <- read(id, :piece, [owner, id, offset]),
         {:ok, rest} <- pieces(owner, id, size, offset + byte_size(piece)),
         do: {:ok, [piece | rest]}
  end

  # The process of all tasks does not wait until another node has taken an outcome.
  defp read(id, function, arguments) do
    if :ets.member(Server, id),
      do: apply(__MODULE__, function, arguments),
      else: elsewhere(id, &:erpc.call(&1, __MODULE__, function, arguments, @remote_ms))
  end

  @doc false
  @spec outline(owner(), String.t()) :: {:ok, Entry.t()} | :not_found
  def outline(owner, id), do: with({:ok, entry} <- stored(owner, id), do: {:ok, Entry.outline(entry)})

  @doc false
  @spec piece(owner(), String.t(), non_neg_integer()) :: {:ok, binary()} | :not_found
  def piece(owner, id, offset),
    do: with({:ok, %Entry{stored: stored}} <- stored(owner, id), do: {:ok, Entry.piece(stored, offset)})

  defp stored(owner, id) do
    case :ets.lookup(Server, id) do
      [{^id, ^owner, entry}] -> {:ok, entry}
      _none_or_another_ones -> :not_found
    end
  end

  @doc false
  @spec list(owner()) :: [Entry.t()]
  def list(owner) do
    nodes = [node() | Home.others()]

    :erpc.multicall(nodes, __MODULE__, :local, [owner], @remote_ms)
    |> Enum.flat_map(fn
      {:ok, entries} -> entries
      _unreachable -> []
    end)
    |> Enum.sort_by(&{DateTime.to_unix(&1.created_at, :millisecond), &1.id}, :desc)
  end

  @doc false
  @spec local(owner()) :: [Entry.t()]
  def local(owner) do
    # Compared as a constant: a map in a pattern would also match larger maps.
    mine = [{{:_, :"$1", :"$2"}, [{:"=:=", :"$1", {:const, owner}}], [:"$2"]}]
    for entry <- :ets.select(Server, mine), do: Entry.outline(entry)
  end

  @doc false
  @spec cancel(owner(), String.t()) :: {:ok, Entry.t()} | {:finished, Entry.t()} | :not_found
  def cancel(owner, id), do: ask(id, {:cancel, owner, id}, @remote_ms)

  # Gives the client's responses to the task, by the keys of `t:Entry.t/0`.
  @doc false
  @spec answer(owner(), String.t(), %{String.t() => map()}, %{String.t() => map()}) ::
          {:ok, Entry.t()} | {:error, :no_room} | :not_found
  def answer(owner, id, responses, errors \\ %{}),
    do: ask(id, {:answer, owner, id, pack(responses), pack(errors)}, @remote_ms)

  # The node's process stores answers until the last one has arrived. They count for what they are as terms, which the
  # handler gets.
  defp pack(answers) do
    Map.new(answers, fn {key, answer} -> {key, {:erlang.term_to_binary(answer), Limit.held_bytes(answer)}} end)
  end

  defp unpack(answers), do: Map.new(answers, fn {key, {packed, _bytes}} -> {key, :erlang.binary_to_term(packed)} end)

  # Waits until the task has finished, or until it needs input from the client.
  @doc false
  @spec await(owner(), String.t(), Client.t()) :: {:ok, Entry.t()} | :not_found | {:error, :busy}
  def await(owner, id, client) do
    with {:ok, %Entry{outcome: outcome}} when outcome != nil <- ask(id, {:await, owner, id}, :infinity),
         do: fetch(owner, id, client)
  end

  # Waits for the client's responses to the input requests of the handler.
  @doc false
  @spec park(String.t(), %{String.t() => InputRequest.t()}) :: {:ok, %{String.t() => map()}, %{String.t() => map()}}
  def park(id, inputs) do
    {:ok, responses, errors} = GenServer.call(Server, {:park, id, inputs}, :infinity)
    {:ok, unpack(responses), unpack(errors)}
  end

  @doc false
  @spec put_message(String.t(), String.t()) :: :ok
  def put_message(id, message), do: GenServer.call(Server, {:message, id, Entry.clip(message)}, :infinity)

  @doc false
  @spec finish(String.t(), Entry.outcome()) :: :ok
  def finish(id, outcome), do: GenServer.call(Server, {:finish, id, Entry.pack(outcome)}, :infinity)

  defp ask(id, question, timeout) do
    if :ets.member(Server, id),
      do: GenServer.call(Server, question, timeout),
      else: elsewhere(id, &GenServer.call({Server, &1}, question, timeout))
  end

  defp elsewhere(id, ask) do
    case Home.of_session(id) do
      {:remote, node} -> ask.(node)
      :unknown -> :not_found
    end
  catch
    :exit, {:timeout, _call} = reason -> exit(reason)
    :error, {:erpc, :timeout} = reason -> exit(reason)
    # The other node is down, and its tasks are lost.
    :exit, _reason -> :not_found
    :error, {:erpc, _reason} -> :not_found
    :error, {:exception, _reason, _stacktrace} -> :not_found
  end
end
