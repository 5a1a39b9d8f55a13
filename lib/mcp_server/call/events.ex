defmodule McpServer.Call.Events do
  @moduledoc false
  # The events `[:mcp_server, :call, …]`, sent in the call's process, so that a handler's traces come between them.
  # Builds no event without a listener.

  alias McpServer.{Catalog, Conn, Dispatch, Protocol, Request, Telemetry}
  alias McpServer.Call.{Ending, Trace}
  alias McpServer.Dispatch.{Around, Handler}

  @events [:start, :stop, :exception]
  # The process dictionary's key for facts that the final event reports.
  @notes :mcp_call_notes

  @doc "Whether any listener is attached. Checked first, because it is cheaper than the function for `around/4`."
  @spec heard?() :: boolean()
  def heard?, do: Telemetry.enabled?() and Enum.any?(@events, &Telemetry.attached?([:call, &1]))

  @doc "Runs a call, with an event before and after it."
  @spec around(Catalog.t(), Request.t(), Conn.t(), (() -> {Dispatch.outcome(), Protocol.message()})) ::
          {Dispatch.outcome(), Protocol.message()}
  def around(catalog, request, conn, run) do
    about = about(catalog, request, conn)
    started = System.monotonic_time()
    Process.put(@notes, %{})
    Telemetry.execute([:call, :start], %{system_time: System.system_time(), monotonic_time: started}, about)
    {outcome, reply} = run.()
    ended = System.monotonic_time()
    code = Ending.error_code(outcome, reply)
    {notes, measured} = Map.split(Process.delete(@notes) || %{}, [:spilled, :crash_reason])
    bytes = %{result_bytes: IO.iodata_length(reply), content_bytes: Map.get(measured, :content_bytes, 0)}
    measurements = Map.merge(%{duration: ended - started, monotonic_time: ended}, bytes)
    more = Map.merge(%{error_code: code, error_type: Ending.error_type(outcome, code), spilled: false}, notes)
    {event, what} = ending(outcome, about)
    about = %{about | logger_metadata: Trace.logged()} |> Map.merge(more) |> Map.merge(what)
    Telemetry.execute([:call, event], measurements, about)
    {outcome, reply}
  end

  defp ending({:exception, kind, id}, about), do: {:exception, %{kind: kind, request_kind: about.kind, error_id: id}}
  defp ending(outcome, _about), do: {:stop, %{outcome: Ending.outcome(outcome)}}

  defp about(catalog, request, conn) do
    name = Handler.name(catalog, request)
    metadata = Trace.logged()

    %{
      router: catalog.router,
      transport: conn.transport,
      revision: request.revision,
      method: request.method,
      kind: request.kind,
      name: name,
      id: request.id,
      request_id: metadata[:request_id],
      principal: conn.principal,
      session_id: conn.session_id,
      logger_metadata: metadata,
      pid: self(),
      client: client(conn.client_info),
      trace_context: Conn.trace_context(conn),
      repairs: request.repairs,
      conn: %{conn | called: Around.called(request, name)}
    }
  end

  defp client(%{} = info), do: Map.take(info, ["name", "version"])
  defp client(_none), do: %{}

  @doc "Whether notes will be reported."
  @spec noting?() :: boolean()
  def noting?, do: Process.get(@notes) != nil

  @doc "Notes facts for the final event."
  @spec note(map()) :: :ok
  def note(facts) do
    Process.put(@notes, Map.merge(Process.get(@notes), facts))
    :ok
  end
end
