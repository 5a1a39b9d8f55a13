defmodule McpServer.Call.Trace do
  @moduledoc false
  # What connects a call with the request that it came in, in logs and in traces: Phoenix's request id, and the span of
  # the HTTP request. Both are of the process that holds the request, and go to the process of the call in its conn.

  alias McpServer.{Conn, Request}

  @compile {:no_warn_undefined, :otel_tracer}

  @key :mcp_trace
  @max_id_bytes 200

  @doc "Notes what the calling process logs and traces its request as."
  @spec capture(Conn.t()) :: Conn.t()
  def capture(conn) do
    case {logged(:logger.get_process_metadata()), current_span()} do
      {nil, :undefined} -> conn
      {request_id, span} -> Conn.put_private(conn, @key, {request_id, span})
    end
  end

  defp logged(%{request_id: id}) when is_binary(id), do: id
  defp logged(_metadata), do: nil

  # Of an application without OpenTelemetry the module is not there, and where it is not set up it is not loaded.
  defp current_span do
    if :erlang.function_exported(:otel_tracer, :current_span_ctx, 0),
      do: :otel_tracer.current_span_ctx(),
      else: :undefined
  end

  @doc "The span that was current where the request was held, as `:otel_tracer` has it; `:undefined` where there was none."
  @spec span(Conn.t()) :: tuple() | :undefined
  def span(%{private: %{@key => {_request_id, span}}}), do: span
  def span(_conn), do: :undefined

  @doc """
  The id under which the log knows a call: that of the HTTP request, else the JSON-RPC id.

  A client chooses its ids: one with characters that could start a line of their own is left out.
  """
  @spec request_id(Conn.t(), Request.id() | nil) :: String.t() | nil
  def request_id(%{private: %{@key => {id, _span}}}, _id) when id != nil, do: id
  def request_id(_conn, id) when is_integer(id), do: Integer.to_string(id)

  def request_id(_conn, id) when is_binary(id) and byte_size(id) <= @max_id_bytes,
    do: if(id != "" and plain?(id), do: id)

  def request_id(_conn, _id), do: nil

  defp plain?(<<char, rest::binary>>) when char in ?a..?z or char in ?A..?Z or char in ?0..?9 or char in ~c"_-.:/+=@",
    do: plain?(rest)

  defp plain?(rest), do: rest == ""

  @doc "Has the calling process, which has just begun, log under that id."
  @spec log_as(String.t() | nil) :: :ok
  def log_as(nil), do: :ok
  def log_as(request_id), do: :logger.set_process_metadata(%{request_id: request_id})
end
