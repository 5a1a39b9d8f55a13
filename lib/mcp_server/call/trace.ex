defmodule McpServer.Call.Trace do
  @moduledoc false
  # Connects a call with its HTTP request, in logs and traces: by Phoenix's request id, and by the span of the request.
  # Both are in the process that holds the request, and reach the call's process in its conn.

  alias McpServer.{Conn, Request}

  @compile {:no_warn_undefined, [:otel_ctx, :otel_tracer]}

  @key :mcp_trace
  @context :mcp_trace_context
  @max_id_bytes 200

  @doc "Stores the log id and the span of the calling process in the conn."
  @spec capture(Conn.t()) :: Conn.t()
  def capture(conn) do
    case {logged(:logger.get_process_metadata()), current_span()} do
      {nil, :undefined} -> conn
      {request_id, span} -> Conn.put_private(conn, @key, {request_id, span})
    end
  end

  defp logged(%{request_id: id}) when is_binary(id), do: id
  defp logged(_metadata), do: nil

  # Without OpenTelemetry the module does not exist. If OpenTelemetry is not set up, the module is not loaded.
  defp current_span do
    if :erlang.function_exported(:otel_tracer, :current_span_ctx, 0),
      do: :otel_tracer.current_span_ctx(),
      else: :undefined
  end

  @doc "The span of the process that held the request, in the form of `:otel_tracer`, or `:undefined`."
  @spec span(Conn.t()) :: tuple() | :undefined
  def span(%{private: %{@key => {_request_id, span}}}), do: span
  def span(_conn), do: :undefined

  @doc "Stores the trace context of the calling process in the conn of the task that it starts."
  @spec carry(Conn.t()) :: Conn.t()
  def carry(conn) do
    if :erlang.function_exported(:otel_ctx, :get_current, 0),
      do: Conn.put_private(conn, @context, :otel_ctx.get_current()),
      else: conn
  end

  @doc "Continues the trace of the call in the calling process, which runs its task."
  @spec continue(Conn.t()) :: term()
  def continue(%{private: %{@context => context}}), do: :otel_ctx.attach(context)
  def continue(_conn), do: :ok

  @doc "The log id of the HTTP request, `nil` without one."
  @spec http_id(Conn.t()) :: String.t() | nil
  def http_id(%{private: %{@key => {id, _span}}}), do: id
  def http_id(_conn), do: nil

  @doc """
  The log id of a call: the id of the HTTP request, given itself or in the conn, or else the JSON-RPC id.

  Clients choose these ids, so an id with characters that could start a new log line is omitted.
  """
  @spec request_id(Conn.t() | String.t() | nil, Request.id() | nil) :: String.t() | nil
  def request_id(%Conn{} = conn, id), do: request_id(http_id(conn), id)
  def request_id(http_id, _id) when http_id != nil, do: http_id
  def request_id(nil, id) when is_integer(id), do: Integer.to_string(id)

  def request_id(nil, id) when is_binary(id) and byte_size(id) <= @max_id_bytes,
    do: if(id != "" and plain?(id), do: id)

  def request_id(nil, _id), do: nil

  defp plain?(<<char, rest::binary>>) when char in ?a..?z or char in ?A..?Z or char in ?0..?9 or char in ~c"_-.:/+=@",
    do: plain?(rest)

  defp plain?(rest), do: rest == ""

  @doc "Sets the log id of the calling process, which has just started."
  @spec log_as(String.t() | nil) :: :ok
  def log_as(nil), do: :ok
  def log_as(request_id), do: :logger.set_process_metadata(%{request_id: request_id})
end
