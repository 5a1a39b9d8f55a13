defmodule McpServer.Call do
  @moduledoc false
  # One call: its process, and how what runs in it reaches the connection.
  #
  # The process belongs to the connection that started it, or, of a session over HTTP, to the process that holds its
  # request, until the session adopts it (`McpServer.Http.SessionCall`): the connection monitors it, ends it at its
  # deadline or when the client cancels, and `McpServer.Call.Reaper` ends it should the connection be
  # killed. It is not linked to anything, so nothing a handler does to its own links reaches others.
  # It is started directly: a `Task.Supervisor` between was measured at three times the cost of a call.

  alias McpServer.Call.{Events, Reaper, Trace}
  alias McpServer.{Catalog, Conn, Dispatch, Protocol, Request, ServerOptions, Tasks}
  alias McpServer.Protocol.Revision
  alias McpServer.Connection.Session

  @enforce_keys [:connection, :revision]
  defstruct [:connection, :pid, :revision, :progress_token, :log_level]

  @typedoc """
  `:pid` names the call to its connection, whichever process speaks for it. `:log_level` is the request's own;
  the session era leaves it `nil` and the connection decides.
  """
  @type t :: %__MODULE__{
          connection: pid(),
          pid: pid() | nil,
          revision: String.t(),
          progress_token: Request.id() | nil,
          log_level: String.t() | nil
        }

  @typedoc "How a call ended, and its answer."
  @type result :: {:mcp_done, Dispatch.outcome(), Protocol.message()}

  # A small call fits into this without a garbage collection, which takes a quarter of its time.
  @heap_words 987
  # Tagged, so that a process that is not ours alone takes no other monitor's message for it.
  @monitor {:monitor, [tag: :mcp_down]}

  @doc """
  Starts the process of a call, monitored. `conn` is what the handler's starts from: what the request says comes to it
  there, because whatever is passed twice is copied twice. What the call has to say before its result goes to
  `connection`.

  The monitor's message is `{:mcp_down, monitor, :process, pid, reason}`. The call's `t:result/0` arrives in its reason,
  `{:shutdown, result}`, or, where something is linked to the process, as `{:mcp_ended, pid, result}` before it.
  """
  @spec start(Catalog.t(), Request.t(), Conn.t(), ServerOptions.bounds(), pid()) :: {pid(), reference()}
  def start(catalog, request, conn, options, connection \\ self()) do
    arguments = [{self(), connection}, catalog, request, conn, options.max_result_bytes, options.callers]
    heap = [max_heap_size: options.heap, min_heap_size: @heap_words]
    :erlang.spawn_opt(__MODULE__, :run, arguments, [@monitor | heap])
  end

  @doc false
  def run({holder, connection}, catalog, request, conn, max_result_bytes, callers) do
    # Lets what a test has allowed its process (a database sandbox, a mock) hold for the call.
    if callers != [], do: Process.put(:"$callers", callers)
    request = Request.with_client_terms(request)
    conn = conn(conn, request, connection)
    Trace.log_as(Trace.request_id(conn, request.id))

    {outcome, reply} =
      if Events.heard?(),
        do: Events.around(catalog, request, conn, fn -> Dispatch.run(catalog, request, conn, max_result_bytes) end),
        else: Dispatch.run(catalog, request, conn, max_result_bytes)

    leave([holder, connection], {:mcp_done, outcome, reply})
  end

  defp conn(conn, request, connection) do
    call = %__MODULE__{
      connection: connection,
      pid: self(),
      revision: request.revision,
      progress_token: request.progress_token,
      log_level: request.log_level
    }

    %{
      conn
      | client_info: request.client_info,
        client_capabilities: request.client_capabilities,
        protocol_version: request.revision,
        request_id: request.id,
        meta: request.meta,
        progress_token: request.progress_token,
        input_responses: request.input_responses || %{},
        call: call
    }
  end

  # So many calls may be in their grace at once: a client can cancel faster than handlers clean up.
  @max_graced 1_000

  @doc """
  Ends the process of a call: at once, or where `grace` is above 0, with a signal that it can trap, and by force after
  so many milliseconds.
  """
  @spec stop(pid(), grace :: non_neg_integer(), :cancelled | :timeout) :: true
  def stop(pid, 0, _why), do: Process.exit(pid, :kill)

  def stop(pid, grace, why) do
    if Reaper.kill_after(pid, grace, @max_graced),
      do: Process.exit(pid, {:shutdown, why}),
      else: Process.exit(pid, :kill)
  end

  # One signal does the work of two, but it would end whatever is linked.
  @spec leave([pid()], result()) :: term()
  defp leave(listeners, result) do
    case Process.info(self(), :links) do
      {:links, []} -> exit({:shutdown, result})
      _links -> for pid <- Enum.uniq(listeners), do: send(pid, {:mcp_ended, self(), result})
    end
  end

  @doc """
  Sends the client a notification that belongs to the call.

  Returns when the connection has taken it, which holds back a handler that is faster than its client.
  What the client did not ask for is left out: progress without a token or not above the last, log
  messages below its level, anything after the call's result.
  """
  @spec notify(Conn.t(), :progress | :message | :elicitation_complete, map()) ::
          :ok | {:error, McpServer.JSON.EncodeError.t() | :closed}
  def notify(%Conn{call: nil}, _kind, _fields), do: :ok

  # Nobody waits at a task; it keeps what its handler last said.
  def notify(%Conn{call: {:task, id}}, :progress, %{message: message}) when is_binary(message),
    do: Tasks.put_message(id, message)

  def notify(%Conn{call: {:task, _id}}, _kind, _fields), do: :ok

  def notify(%Conn{call: %__MODULE__{progress_token: nil}}, :progress, _fields), do: :ok

  def notify(%Conn{call: call}, :progress, %{progress: progress} = fields),
    do: send_notification(call, :progress, Map.put(fields, :progressToken, call.progress_token), {:progress, progress})

  def notify(%Conn{call: call}, :message, %{level: level} = fields) do
    level = to_string(level)

    if wants_log?(call, level),
      do: send_notification(call, :message, %{fields | level: level}, {:message, level}),
      else: :ok
  end

  def notify(%Conn{call: call}, kind, fields), do: send_notification(call, kind, fields, :always)

  # A stateless request that names no level wants no messages.
  defp wants_log?(%{log_level: nil, revision: revision}, _level), do: not Revision.stateless?(revision)
  defp wants_log?(%{log_level: threshold}, level), do: Session.logs?(threshold, level)

  defp send_notification(call, kind, fields, condition) do
    with {:ok, message} <- Protocol.notification(call.revision, kind, fields),
         do: request(call, &{:mcp_notify, &1, call.pid, condition, message})
  end

  @doc """
  Ends what the client reads of the call's stream for now; it comes back for the rest after `retry_ms`.

  Means something in the session era over HTTP only.
  """
  @spec pause(Conn.t(), pos_integer()) :: :ok | {:error, :closed}
  def pause(%Conn{call: nil}, _retry_ms), do: :ok
  def pause(%Conn{call: {:task, _id}}, _retry_ms), do: :ok
  def pause(%Conn{call: call}, retry_ms), do: request(call, &{:mcp_pause, &1, call.pid, retry_ms})

  @doc """
  Puts requests to the client (session era) and waits for its answers: results by key, errors by key.
  """
  @spec ask(t(), [{Request.id(), String.t(), Protocol.message()}]) ::
          {:ok, %{String.t() => map()}, %{String.t() => map()}}
          | {:error, :timeout | :closed | :too_many}
  def ask(call, requests) do
    tag = :erlang.monitor(:process, call.connection, alias: :demonitor)
    send(call.connection, {:mcp_ask, tag, call.pid, requests})
    answers = gather(tag, %{}, %{})
    Process.demonitor(tag, [:flush])
    answers
  end

  # They come one by one: a client chooses their size, and here they count towards the call's own heap.
  defp gather(tag, responses, errors) do
    receive do
      {^tag, {:answered, key, {:ok, response}}} -> gather(tag, Map.put(responses, key, response), errors)
      {^tag, {:answered, key, {:error, error}}} -> gather(tag, responses, Map.put(errors, key, error))
      {^tag, :complete} -> {:ok, responses, errors}
      {^tag, {:error, reason}} -> {:error, reason}
      {:DOWN, ^tag, :process, _pid, _reason} -> {:error, :closed}
    end
  end

  # The connection answers through the monitor's alias, so a dead one is noticed and a late answer lost.
  defp request(call, message) do
    tag = :erlang.monitor(:process, call.connection, alias: :reply_demonitor)
    send(call.connection, message.(tag))

    receive do
      {^tag, answer} -> answer
      {:DOWN, ^tag, :process, _pid, _reason} -> {:error, :closed}
    end
  end

  @doc """
  Answers what waits under `tag`: a `notify/3` once; an `ask/2` with `{:answered, key, answer}` for each answer of the
  client, and with `:complete` or `{:error, reason}` at its end.
  """
  @spec reply(reference(), term()) :: :ok
  def reply(tag, answer) do
    send(tag, {tag, answer})
    :ok
  end
end
