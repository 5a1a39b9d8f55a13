defmodule McpServer.Http.HeldCall do
  @moduledoc false
  # Reports, ends and refuses a call that the holder of its request has started, in both protocol eras.

  alias McpServer.Connection.Report
  alias McpServer.Dispatch
  alias McpServer.Call
  alias McpServer.Dispatch.{Answer, Failure, Handler, Permission}
  alias McpServer.Http.{Mount, SessionCall, Sink, StatelessCall}
  alias McpServer.{Catalog, Protocol, Request}

  @type t :: StatelessCall.t() | SessionCall.t()

  @doc "Reports that the call has started. Calls over HTTP never wait for a place."
  @spec started(t(), [McpServer.Schema.Validator.repair()]) :: :ok
  def started(call, repairs), do: Report.started(source(call), call, repairs, call.started_at)

  @doc """
  When a request that takes this long gets a stream. While the application decides whether there is an answer, nobody
  knows the status of the response.
  """
  @spec stream_at(Mount.t(), Catalog.t(), Request.t(), now :: integer()) :: integer() | :infinity
  def stream_at(mount, catalog, request, now),
    do: if(Permission.free?(catalog, request), do: now + mount.stream_after, else: :infinity)

  @doc "The handler of the call begins."
  @spec begun(t()) :: t()
  def begun(%{stream_at: :infinity, origin: %{events?: true}, mount: mount} = call),
    do: %{call | stream_at: Sink.now() + mount.stream_after}

  def begun(call), do: call

  @doc "Reports how the call has ended, and its answer if there is one."
  @spec ended(t(), Dispatch.outcome() | :cancelled, Protocol.message() | nil) :: :ok
  def ended(call, outcome, reply \\ nil), do: Report.ended(source(call), call, outcome, reply)

  @doc "Logs and reports a failure of the call, and returns the answer."
  @spec failed(t(), Failure.t()) :: Protocol.message()
  def failed(call, failure) do
    Report.log(source(call), call, failure)
    reply = Answer.failure_reply(call.origin.catalog, call.request, failure)
    ended(call, {:exception, failure.kind, failure.id}, reply)
    reply
  end

  @doc "The source of the call, for events."
  @spec source(t()) :: Report.source()
  def source(%{mount: mount, origin: origin} = call) do
    %{
      router: mount.router,
      catalog: origin.catalog,
      transport: :http,
      revision: nil,
      principal: origin.principal,
      session_id: Map.get(call, :session_id)
    }
  end

  @doc "Ends the call's process, by force after its grace period. A result that it still sends is dropped."
  @spec stop(t(), :cancelled | :timeout) :: t()
  def stop(call, why) do
    client = Sink.client(call.sink, call.origin.principal)
    call = %{call | logged: Report.logged(call, why)}
    Call.stop(call.pid, Handler.grace(call.origin.catalog, call.request), why, client)
    Process.demonitor(call.monitor, [:flush])
    call
  end

  @doc "The standing (transport status) of the answer to a call with this outcome."
  @spec standing(Dispatch.outcome()) :: McpServer.Connection.Transport.standing()
  def standing({:refused, standing}), do: standing
  def standing(_outcome), do: :ok

  @doc "Sends the complete response."
  @spec reply(Mount.t(), Sink.t(), McpServer.Connection.Transport.standing(), Protocol.message()) :: Sink.t()
  def reply(mount, sink, standing, message) do
    {status, headers} = Mount.standing(mount, standing)
    Sink.reply(sink, status, headers, message)
  end
end
