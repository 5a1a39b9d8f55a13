defmodule McpServer.Call.Trace do
  @moduledoc false
  # Connects a call with its client and its HTTP request, in logs and traces: by the Logger metadata of its process, and by
  # the span of the request. Phoenix's request id and the span are in the process that holds the request, and reach the
  # call's process in its conn.

  alias McpServer.{Conn, Request}

  @compile {:no_warn_undefined, [:otel_ctx, :otel_tracer]}

  @key :mcp_trace
  @context :mcp_trace_context
  @max_id_bytes 200
  # How many bytes of the hash of a session's id are logged.
  @session_bytes 6
  # How long a process may take to give its Logger metadata: milliseconds.
  @patience_ms 100

  @doc "Stores the log id and the span of the calling process in the conn."
  @spec capture(Conn.t()) :: Conn.t()
  def capture(conn) do
    case {log_id(:logger.get_process_metadata()), current_span()} do
      {nil, :undefined} -> conn
      {request_id, span} -> Conn.put_private(conn, @key, {request_id, span})
    end
  end

  defp log_id(%{request_id: id}) when is_binary(id), do: id
  defp log_id(_metadata), do: nil

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

  @doc "The Logger metadata with which a call begins: its log id, its principal and its session, as far as it has them."
  @spec metadata(Conn.t()) :: map()
  def metadata(%Conn{request_id: id, principal: principal, session_id: session_id} = conn),
    do: metadata(http_id(conn), id, principal, session_id)

  @spec metadata(http_id :: String.t() | nil, Request.id() | nil, principal :: term(), session_id :: String.t() | nil) ::
          map()
  def metadata(http_id, id, principal, session_id) do
    %{}
    |> put(:request_id, request_id(http_id, id))
    |> put(:mcp_principal, name(principal))
    |> put(:mcp_session, session_id && session(session_id))
  end

  defp put(metadata, _key, nil), do: metadata
  defp put(metadata, key, value), do: Map.put(metadata, key, value)

  # A struct of a user may have secrets, and a text the start of a line.
  defp name(%{id: id}), do: name(id)
  defp name(text) when is_binary(text) and byte_size(text) <= @max_id_bytes, do: if(legible?(text), do: text)
  defp name(number) when is_integer(number), do: number
  defp name(atom) when is_atom(atom), do: atom
  defp name(_other), do: nil

  # Most names are plain. Others have no control or formatting characters and no line ends.
  defp legible?(text),
    do: text != "" and (plain?(text) or (String.valid?(text) and text =~ ~r/\A[^\p{C}\p{Zl}\p{Zp}]*\z/u))

  # Whoever knows the id of a session may be able to use it.
  defp session(id) do
    :crypto.hash(:sha256, id) |> binary_part(0, @session_bytes) |> Base.encode16(case: :lower)
  end

  @doc "Adds Logger metadata to the calling process, which has just started."
  @spec log_with(map()) :: :ok
  def log_with(metadata) when metadata == %{}, do: :ok
  def log_with(metadata), do: :logger.set_process_metadata(metadata)

  @doc "The Logger metadata of the calling process."
  @spec logged() :: map()
  def logged do
    with :undefined <- :logger.get_process_metadata(), do: %{}
  end

  @doc """
  The Logger metadata of another process, which is about to be ended. `nil` if it does not give it in time.

  A process in between reads it, because only the whole dictionary can be read before Erlang/OTP 26.2, and a process in
  native code gives it late.
  """
  @spec logged(pid()) :: map() | nil
  def logged(pid) do
    {reader, monitor} = spawn_monitor(fn -> exit({:logged, read(pid)}) end)

    receive do
      {:DOWN, ^monitor, :process, _reader, {:logged, metadata}} -> metadata
    after
      @patience_ms ->
        Process.demonitor(monitor, [:flush])
        Process.exit(reader, :kill)
        nil
    end
  end

  defp read(pid) do
    with {:dictionary, dictionary} <- Process.info(pid, :dictionary),
         {_key, metadata} <- List.keyfind(dictionary, :"$logger_metadata$", 0),
         do: metadata
  end
end
