defmodule McpServer.Dispatch.Answer do
  @moduledoc false
  # Encodes the answer to a call, including failures. A failed tool is a result that the model reads, unless the client
  # expects a task. Every other failure is a JSON-RPC error.

  alias McpServer.{Catalog, Dispatch, JsonRpc, Protocol, Request}
  alias McpServer.Call.Events
  alias McpServer.Dispatch.{Failure, Handler, InvalidResult, NearestClause, Outcome, Permission}
  alias McpServer.InputRequired
  alias McpServer.Tool.{CallResult, Content}

  @type t :: {Dispatch.outcome(), Protocol.message()}

  @doc "The answer for a handler's result. `returned` is the handler's original result."
  @spec encode(Catalog.t(), Request.t(), Outcome.t(), returned :: term()) :: t()
  def encode(catalog, request, outcome, returned \\ nil)

  def encode(catalog, request, {:ok, term}, returned) do
    case Protocol.result(catalog, request, term) do
      {:ok, reply} ->
        {outcome(term), reply}

      {:error, {:missing_capability, reply}} ->
        {{:refused, {:status, 400}}, reply}

      {:error, reason} ->
        failure(catalog, request, InvalidResult.refused(catalog, request, {term, returned || term}, reason))
    end
  end

  def encode(_catalog, request, {:error, :not_found}, _returned) do
    {:error, Protocol.error(request.id, request.revision, :resource_not_found, nil, %{"uri" => request.name})}
  end

  def encode(_catalog, request, {:error, %JsonRpc.Error{} = error}, _returned) do
    {_code, status} = Protocol.handler_error(request.revision, error.code)
    reply = Protocol.error(request.id, request.revision, error.code, error.message, data(request, error))
    finished({status, reply})
  end

  def encode(catalog, request, {:error, text}, _returned), do: refusal(catalog, request, text)

  def encode(catalog, request, {:busy, text, seconds}, _returned) do
    {_outcome, reply} = refusal(catalog, request, text)
    {{:refused, {:retry_after, seconds}}, reply}
  end

  # A missing resource is named, as after `{:error, :not_found}`.
  defp data(%{kind: kind, name: uri}, %{code: code, data: nil}) when kind in [:resource, :resource_template],
    do: if(code == Protocol.error_code(:resource_not_found), do: %{"uri" => uri})

  defp data(_request, error), do: error.data

  defp outcome(%InputRequired{}), do: :input_required
  defp outcome(%CallResult{is_error: true}), do: :tool_error
  defp outcome(_term), do: :ok

  @doc "A refusal, with a text for the peer."
  @spec refusal(Catalog.t(), Request.t(), String.t()) :: t()
  def refusal(catalog, %Request{kind: :tool} = request, text) do
    if Request.expects_task?(request), do: refused(request, text), else: failed(catalog, request, text)
  end

  def refusal(_catalog, request, text), do: refused(request, text)

  @doc """
  A refusal before anybody knows whether the entry exists, as a JSON-RPC error. The form of a result would depend on the
  entry: a client may have asked for a task.
  """
  @spec refused(Request.t(), String.t()) :: t()
  def refused(request, text), do: {:error, Protocol.error(request.id, request.revision, :internal_error, text)}

  defp failed(catalog, request, text) do
    {:ok, reply} = Protocol.result(catalog, request, %CallResult{content: [Content.text(text)], is_error: true})
    {:tool_error, reply}
  end

  @doc "The answer to a call that the principal may not make."
  @spec forbidden(Catalog.t(), Request.t(), Permission.refusal()) :: t()
  def forbidden(catalog, %Request{kind: :tool} = request, text) when is_binary(text),
    do: refusal(catalog, request, text)

  def forbidden(_catalog, request, text) when is_binary(text), do: forbidden_error(request, :forbidden, text, nil)
  def forbidden(_catalog, request, :forbidden), do: forbidden_error(request, :forbidden, "Forbidden", nil)

  def forbidden(_catalog, request, {:insufficient_scope, scopes} = refusal),
    do: forbidden_error(request, refusal, "Forbidden", %{"requiredScopes" => scopes})

  defp forbidden_error(request, standing, text, data),
    do: {{:refused, standing}, Protocol.error(request.id, request.revision, :invalid_request, text, data)}

  @doc "An encoded error, with its status."
  @spec finished({status :: pos_integer(), Protocol.message()}) :: t()
  def finished({200, reply}), do: {:error, reply}
  def finished({status, reply}), do: {{:refused, {:status, status}}, reply}

  @doc "The answer to a request state that is forged or belongs to another request."
  @spec invalid_state(Request.t()) :: t()
  def invalid_state(request),
    do: {:error, Protocol.error(request.id, request.revision, :invalid_params, "Invalid request state")}

  @doc "The answer to a request whose answer to a question of the handler does not fit."
  @spec misfit(Request.t(), String.t()) :: t()
  def misfit(request, text) do
    because = {:because, "inputResponses: " <> text}
    finished({400, Protocol.error(request.id, request.revision, :invalid_params, because)})
  end

  @doc "Logs a failure. The answer contains only its id."
  @spec failure(Catalog.t(), Request.t(), Failure.t()) :: t()
  def failure(catalog, request, failure),
    do: logged(catalog, request, failure, failure_reply(catalog, request, failure))

  @doc "The same for a failure before anybody knows whether the entry exists; see `refused/2`."
  @spec failed_before(Catalog.t(), Request.t(), Failure.t()) :: t()
  def failed_before(catalog, request, failure),
    do: logged(catalog, request, failure, failure_error(catalog, request, failure))

  defp logged(catalog, request, failure, reply) do
    Failure.log(failure, "#{request.method} #{inspect(Handler.name(catalog, request))}")
    if Events.noting?(), do: Events.note(%{crash_reason: Failure.crash_reason(failure)})
    {{:exception, failure.kind, failure.id}, reply}
  end

  @doc "The answer to a call that failed, without the log line."
  @spec failure_reply(Catalog.t(), Request.t(), Failure.t()) :: Protocol.message()
  def failure_reply(catalog, %Request{kind: :tool} = request, failure) do
    {_outcome, reply} = refusal(catalog, request, failure_text(catalog, failure))
    reply
  end

  def failure_reply(catalog, request, failure), do: failure_error(catalog, request, failure)

  defp failure_error(catalog, request, failure) do
    data = %{"errorId" => failure.id}

    # Clients show their users the message, and not the data.
    case detail(catalog, failure) do
      nil ->
        Protocol.error(request.id, request.revision, :internal_error, nil, data)

      detail ->
        text = {:because, detail}
        Protocol.error(request.id, request.revision, :internal_error, text, Map.put(data, "detail", detail))
    end
  end

  @doc "The text of a failed tool for the model."
  @spec failure_text(Catalog.t(), Failure.t()) :: String.t()
  def failure_text(catalog, failure) do
    text = "Tool execution failed (error id #{failure.id})"
    if detail = detail(catalog, failure), do: "#{text}: #{detail}", else: text
  end

  # An exception's text can contain secrets, so it is sent only in development.
  defp detail(%{server: server}, failure),
    do: Failure.advice(failure) || if(debug_errors?(server.debug_errors), do: explained(failure))

  defp explained(failure) do
    nearest = if failure.kind == :error, do: NearestClause.of(failure.reason, failure.stacktrace)
    Enum.join([Failure.banner(failure) | List.wrap(nearest)], ". ")
  end

  # Mix is not asked here, because a release can contain Mix. The default was set when the router was compiled.
  defp debug_errors?({:unless_configured, default}), do: Application.get_env(:mcp_server, :debug_errors, default)
  defp debug_errors?(own), do: own
end
