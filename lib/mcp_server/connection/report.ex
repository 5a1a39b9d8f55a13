defmodule McpServer.Connection.Report do
  @moduledoc false
  # Sends the `McpServer.Telemetry` events of a connection and its calls. Builds no event without a listener.

  alias McpServer.{Catalog, Dispatch, Protocol, Request}
  alias McpServer.Call.{Ending, Trace}
  alias McpServer.Connection.{State, Unended}
  alias McpServer.Dispatch.{Failure, Handler}
  alias McpServer.Protocol.Revision
  alias McpServer.Telemetry

  @typedoc "The place where a peer is served: a connection's state, or the part of it that events report."
  @type place ::
          State.t()
          | %{
              :router => module(),
              :catalog => Catalog.t(),
              :transport => atom(),
              :revision => String.t() | nil,
              optional(atom()) => term()
            }

  @typedoc "The place where a call is served, and who has called."
  @type source ::
          State.t()
          | %{
              router: module(),
              catalog: Catalog.t(),
              transport: atom(),
              revision: String.t() | nil,
              principal: term(),
              session_id: String.t() | nil
            }

  @typedoc """
  The reported data of a call. `:started_at` is `nil` if no events are sent about it, `:logged` is the Logger metadata of
  its process if known.
  """
  @type call :: %{
          :request => Request.t(),
          :started_at => integer() | nil,
          :pid => pid(),
          :logged => map() | nil,
          optional(atom()) => term()
        }

  @doc "The present time for the events of a call (native time), `nil` if no events are sent about it."
  @spec event_time() :: integer() | nil
  def event_time, do: if(Telemetry.enabled?(), do: System.monotonic_time())

  @doc "Reports the start of a call that was admitted at `since` (native time), with the repairs of its arguments."
  @spec started(source(), call(), [McpServer.Schema.Validator.repair()], integer() | nil) :: :ok
  def started(_state, %{started_at: nil}, _repairs, _since), do: :ok

  def started(state, call, repairs, since) do
    unended? = Telemetry.attached?([:operation, :stop]) or Telemetry.attached?([:request, :cancelled])
    start? = Telemetry.attached?([:request, :start])
    about = if unended? or start?, do: about(state, call)
    if unended?, do: Unended.put(call.pid, {about, call.started_at})

    if start? do
      measurements = %{
        system_time: System.system_time(),
        monotonic_time: call.started_at,
        queue_time: call.started_at - since,
        processes: processes()
      }

      Telemetry.execute([:request, :start], measurements, about)
    end

    repaired(repairs, state, call)
  end

  defp repaired([], _state, _call), do: :ok

  defp repaired(kinds, state, call) do
    if Telemetry.attached?([:arguments, :repaired]) do
      about = Map.put(about(state, call), :kinds, Enum.uniq(kinds))
      Telemetry.execute([:arguments, :repaired], %{count: length(kinds)}, about)
    else
      :ok
    end
  end

  @doc "Reports the end of a call, with its answer if it has one."
  @spec ended(source(), call(), Dispatch.outcome() | :cancelled, Protocol.message() | nil) :: :ok
  def ended(state, call, outcome, reply \\ nil)
  def ended(_state, %{started_at: nil}, _outcome, _reply), do: :ok

  def ended(state, call, outcome, reply) do
    {event, more} = ending(call, outcome)

    if Telemetry.attached?([:request, event]) or Telemetry.attached?([:operation, :stop]) do
      Unended.delete(call.pid)
      code = Ending.error_code(outcome, reply)
      tell(about(state, call), call.started_at, {event, more}, code, Ending.error_type(outcome, code))
    else
      :ok
    end
  end

  defp tell(about, started_at, {event, more}, code, type) do
    now = System.monotonic_time()
    about = Map.put(about, :error_code, code)
    measurements = %{duration: now - started_at, monotonic_time: now, processes: processes()}
    Telemetry.execute([:request, event], measurements, Map.merge(about, more))
    Telemetry.execute([:operation, :stop], %{duration: now - started_at}, Map.put(about, :error_type, type))
  end

  @doc "Notes that the calling process has adopted the call, and will report its end instead of `from`."
  @spec adopted(call :: pid(), from :: pid()) :: :ok
  def adopted(call, from), do: Unended.adopt(call, from)

  @doc "Reports the end of a call whose reporting process has ended. The call has ended or is about to."
  @spec abandoned(reporter :: pid(), call :: pid()) :: :ok
  def abandoned(reporter, call) do
    with {about, started_at} <- Unended.take(reporter, call) do
      # In a separate process, because a handler of the event may be slow, and the call's own events come first.
      spawn(fn ->
        monitor = Process.monitor(call)
        receive do: ({:DOWN, ^monitor, :process, _pid, _reason} -> :ok)
        tell(about, started_at, ending(nil, :cancelled), nil, Ending.error_type(:cancelled, nil))
      end)
    end

    :ok
  end

  defp processes, do: :erlang.system_info(:process_count)

  defp ending(_call, :cancelled), do: {:cancelled, %{}}

  defp ending(call, {:exception, kind, id}),
    do: {:exception, %{request_kind: call.request.kind, kind: kind, error_id: id}}

  defp ending(_call, outcome), do: {:stop, %{outcome: Ending.outcome(outcome)}}

  defp transport(%{transport: {module, _transport}}), do: module.name()
  defp transport(%{transport: name}), do: name

  defp revision(%{revision: revision}), do: revision
  defp revision(%{session: session}), do: session.revision

  defp about(state, call) do
    metadata = metadata(state, call)

    %{
      router: state.router,
      transport: transport(state),
      revision: call.request.revision,
      method: call.request.method,
      kind: call.request.kind,
      name: Handler.name(state.catalog, call.request),
      id: call.request.id,
      request_id: metadata[:request_id],
      principal: state.principal,
      session_id: session_id(state, call),
      logger_metadata: metadata,
      pid: call.pid
    }
  end

  # Without the metadata of the process: what it had at its start.
  defp metadata(_state, %{logged: %{} = metadata}), do: metadata

  defp metadata(state, call),
    do: Trace.metadata(http_id(call), call.request.id, state.principal, session_id(state, call))

  # Over HTTP the holder of the call has the initial conn of its handler.
  defp http_id(%{http_id: http_id}), do: http_id
  defp http_id(%{origin: %{base: base}}), do: Trace.http_id(base)

  defp session_id(%{session: session}, call),
    do: if(Revision.stateless?(call.request.revision), do: nil, else: session.id)

  defp session_id(%{session_id: id}, _call), do: id

  @doc "The Logger metadata of a call's process, which is about to be ended, if it will be reported."
  @spec logged(call(), :cancelled | :timeout) :: map() | nil
  def logged(%{started_at: nil}, :cancelled), do: nil
  def logged(call, _why), do: Trace.logged(call.pid)

  @doc "Reports that the peer has opened a session."
  @spec session_started(State.t()) :: :ok
  def session_started(state), do: peer(state, [:session, :start], %{system_time: System.system_time()})

  @doc "Reports an event about the peer."
  @spec peer(place(), [atom()], map(), map()) :: :ok
  def peer(state, event, measurements, metadata \\ %{}) do
    about = %{router: state.router, transport: transport(state), revision: revision(state)}
    Telemetry.execute(event, measurements, Map.merge(about, metadata))
  end

  @doc "Reports that a message of the peer or of a handler was dropped."
  @spec discarded(place(), atom()) :: :ok
  def discarded(state, what), do: peer(state, [:discarded], %{count: 1}, %{what: what})

  @doc "Writes the log line of a call whose process could not write it."
  @spec log(source(), call(), Failure.t()) :: :ok
  def log(state, call, failure) do
    name = "#{call.request.method} #{inspect(Handler.name(state.catalog, call.request))}"
    metadata = metadata(state, call)

    # In a separate process, because a slow log must not block the connection.
    _pid =
      spawn(fn ->
        Trace.log_with(metadata)
        Failure.log(failure, name)
      end)

    :ok
  end
end
