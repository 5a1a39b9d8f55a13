defmodule McpServer.Call do
  @moduledoc false
  # One call: its process, and its messages to the connection.
  #
  # The connection that starts the process owns it. In a session over HTTP the holder of the request owns it, until the
  # session adopts it (`McpServer.Http.SessionCall`). The owner monitors the process, and ends it at its deadline or
  # when the client cancels. `McpServer.Call.Reaper` ends it if the owner is killed. The process has no links, so a
  # handler's links cannot affect other processes. It is started directly: a `Task.Supervisor` made a call three times
  # as expensive.

  alias McpServer.Call.{Events, Reaper, Trace}
  alias McpServer.{Callers, Catalog, Conn, Dispatch, Protocol, Request, ServerOptions, Tasks}
  alias McpServer.Dispatch.{Permission, ToolPlaces}
  alias McpServer.Native.Dirty
  alias McpServer.Protocol.Revision
  alias McpServer.Connection.Session
  alias McpServer.Quota.Client

  @enforce_keys [:connection, :revision]
  defstruct [:connection, :pid, :awaiting, :revision, :progress_token, :log_level, tool_shares: []]

  @typedoc """
  `:pid` identifies the call at its connection, whichever process sends for it. `:awaiting` is the process that opens no
  stream until the handler begins, because the answer may be a refusal with a status. `:log_level` is the request's level.
  It is `nil` in the session era, where the connection decides. `:tool_shares` are the parts of other limits that one
  tool may take.
  """
  @type t :: %__MODULE__{
          connection: pid(),
          pid: pid() | nil,
          awaiting: pid() | nil,
          revision: String.t(),
          progress_token: Request.id() | nil,
          log_level: String.t() | nil,
          tool_shares: [ToolPlaces.share()]
        }

  @typedoc "The outcome of a call, its answer, and the Logger metadata of its process if events are sent about it."
  @type result :: {:mcp_done, Dispatch.outcome(), Protocol.message(), logged :: map() | nil}

  # A small call runs in this heap without a garbage collection, which would take a quarter of its time.
  @heap_words 987
  # Tagged, so that a process of a web server can distinguish it from the messages of other monitors.
  @monitor {:monitor, [tag: :mcp_down]}

  @doc """
  Starts the monitored process of a call. `conn` is the initial conn of the handler. The new process adds the request's
  data to it, so that this data is copied only once. Messages before the result go to `connection`. Events are sent if
  there was `telemetry?` at the start. `shares` are those of a tool.

  The monitor's message is `{:mcp_down, monitor, :process, pid, reason}`. The call's `t:result/0` arrives in its reason
  `{:shutdown, result}`. If the process has links, it arrives before as `{:mcp_ended, pid, result}`.
  """
  @spec start(
          Catalog.t(),
          Request.t(),
          Conn.t(),
          ServerOptions.bounds(),
          telemetry? :: boolean(),
          pid(),
          shares :: [ToolPlaces.share()]
        ) :: {pid(), reference()}
  def start(catalog, request, conn, options, telemetry?, connection \\ self(), shares \\ []) do
    bounds = {options.max_result_bytes, options.callers, shares}
    arguments = [{self(), connection}, catalog, request, conn, bounds, telemetry?]
    heap = [max_heap_size: options.heap, min_heap_size: @heap_words]
    :erlang.spawn_opt(__MODULE__, :run, arguments, [@monitor | heap])
  end

  @doc false
  def run({holder, connection}, catalog, request, conn, {max_result_bytes, callers, shares}, telemetry?) do
    conn |> Callers.of(callers) |> Callers.set()
    Dirty.work_for(conn.principal, conn.peer)
    request = Request.with_client_terms(request)
    conn = conn(conn, request, connection, shares)
    conn = if Permission.free?(catalog, request), do: conn, else: put_in(conn.call.awaiting, holder)
    Trace.log_with(Trace.metadata(conn))

    {outcome, reply} =
      if telemetry? and Events.heard?(),
        do: Events.around(catalog, request, conn, fn -> Dispatch.run(catalog, request, conn, max_result_bytes) end),
        else: Dispatch.run(catalog, request, conn, max_result_bytes)

    leave([holder, connection], {:mcp_done, outcome, reply, if(telemetry?, do: Trace.logged())})
  end

  defp conn(conn, request, connection, shares) do
    %{id: id, revision: revision, meta: meta, progress_token: token, log_level: log_level} = request
    %{client_info: info, client_capabilities: capabilities} = request

    call = %__MODULE__{
      connection: connection,
      pid: self(),
      revision: revision,
      progress_token: token,
      log_level: log_level,
      tool_shares: shares
    }

    %{
      conn
      | client_info: info,
        client_capabilities: capabilities,
        protocol_version: revision,
        request_id: id,
        meta: meta,
        progress_token: token,
        call: call
    }
  end

  @doc "Tells who waits for it that the handler of the call begins."
  @spec begun(Conn.t()) :: :ok
  def begun(%Conn{call: %{awaiting: holder, pid: pid}}) when holder != nil do
    send(holder, {:mcp_begun, pid})
    :ok
  end

  def begun(_conn), do: :ok

  @doc """
  Ends the process of a call of a client. With `grace` 0 it is killed at once. Otherwise it gets a signal that it can trap,
  and is killed after `grace` milliseconds. A client can cancel faster than handlers clean up: where too many do, it is
  killed at once, too.
  """
  @spec stop(pid(), grace :: non_neg_integer(), :cancelled | :timeout, Client.t()) :: true
  def stop(pid, 0, _why, _client), do: Process.exit(pid, :kill)

  def stop(pid, grace, why, client) do
    case Reaper.kill_after(pid, grace, client) do
      :ok -> Process.exit(pid, {:shutdown, why})
      :full -> Process.exit(pid, :kill)
    end
  end

  # The exit reason carries the result and saves a message. But it would end linked processes, so with links a message
  # is sent.
  @spec leave([pid()], result()) :: term()
  defp leave(listeners, result) do
    case Process.info(self(), :links) do
      {:links, []} -> exit({:shutdown, result})
      _links -> for pid <- Enum.uniq(listeners), do: send(pid, {:mcp_ended, self(), result})
    end
  end

  @doc """
  Sends the client a notification that belongs to the call.

  Returns when the connection has taken it, which slows down a handler that is faster than its client. Unwanted
  notifications are dropped: progress without a token or not above the last value, log messages below the client's
  level, and notifications after the call's result.
  """
  @spec notify(Conn.t(), :progress | :message | :elicitation_complete, map()) ::
          :ok | {:error, McpServer.JSON.EncodeError.t() | :closed}
  def notify(%Conn{call: nil}, _kind, _fields), do: :ok

  # A task has no waiting client, so it stores its handler's last message.
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

  # A stateless request without a level wants no log messages.
  defp wants_log?(%{log_level: nil, revision: revision}, _level), do: not Revision.stateless?(revision)
  defp wants_log?(%{log_level: threshold}, level), do: Session.logs?(threshold, level)

  defp send_notification(call, kind, fields, condition) do
    with {:ok, message} <- Protocol.notification(call.revision, kind, fields),
         do: request(call, &{:mcp_notify, &1, call.pid, condition, message})
  end

  @doc """
  Closes the call's stream for now. The client reconnects for the rest after `retry_ms`.

  It has an effect only in the session era over HTTP.
  """
  @spec pause(Conn.t(), pos_integer()) :: :ok | {:error, :closed}
  def pause(%Conn{call: nil}, _retry_ms), do: :ok
  def pause(%Conn{call: {:task, _id}}, _retry_ms), do: :ok
  def pause(%Conn{call: call}, retry_ms), do: request(call, &{:mcp_pause, &1, call.pid, retry_ms})

  @doc """
  Sends requests to the client (session era), and waits for its answers: results by key, errors by key.
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

  # Answers arrive one by one, because the client chooses their size. In this process they count towards the call's heap
  # limit.
  defp gather(tag, responses, errors) do
    receive do
      {^tag, {:answered, key, {:ok, response}}} -> gather(tag, Map.put(responses, key, response), errors)
      {^tag, {:answered, key, {:error, error}}} -> gather(tag, responses, Map.put(errors, key, error))
      {^tag, :complete} -> {:ok, responses, errors}
      {^tag, {:error, reason}} -> {:error, reason}
      {:DOWN, ^tag, :process, _pid, _reason} -> {:error, :closed}
    end
  end

  # The connection answers through the monitor's alias: the end of the connection is noticed, and late answers are
  # dropped.
  defp request(call, message) do
    tag = :erlang.monitor(:process, call.connection, alias: :reply_demonitor)
    send(call.connection, message.(tag))

    receive do
      {^tag, answer} -> answer
      {:DOWN, ^tag, :process, _pid, _reason} -> {:error, :closed}
    end
  end

  @doc """
  Answers the process that waits under `tag`. A `notify/3` gets one answer. An `ask/2` gets `{:answered, key, answer}`
  for each answer of the client, and `:complete` or `{:error, reason}` at the end.
  """
  @spec reply(reference(), term()) :: :ok
  def reply(tag, answer) do
    send(tag, {tag, answer})
    :ok
  end
end
