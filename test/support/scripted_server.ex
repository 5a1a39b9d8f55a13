defmodule McpServer.ScriptedServer do
  # An HTTP server that sends what a test says, byte for byte, one connection after the other. It can break the
  # protocol. The process that started it gets a message for each request: `{:requested, server, request}`.
  @moduledoc false

  alias McpServer.Auth.{Introspector, Issuer}
  alias McpServer.JSON

  @enforce_keys [:id, :url]
  defstruct [:id, :url]

  @type t :: %__MODULE__{id: reference(), url: String.t()}
  @type request :: %{method: String.t(), target: String.t(), headers: [{String.t(), String.t()}], body: binary()}
  @typedoc "A response's bytes, or a function that gets the connection."
  @type answer :: iodata() | (connection() -> any())
  @type connection :: %{module: :gen_tcp | :ssl, socket: term(), owner: pid(), id: reference()}

  # No client here should read as many bytes.
  @flood_bytes 100_000_000

  @doc "Starts a server that sends the script's return value for each request. It ends with the test."
  @spec start((request() -> answer()), keyword()) :: t()
  def start(script, options \\ []) do
    owner = self()
    id = make_ref()

    ExUnit.Callbacks.start_supervised!(
      Supervisor.child_spec({Task, fn -> listen(script, options, owner, id) end}, id: id, restart: :temporary)
    )

    receive do
      {:listening, ^id, port} ->
        scheme = if options[:tls], do: "https", else: "http"
        forget(%__MODULE__{id: id, url: "#{scheme}://#{options[:host] || "127.0.0.1"}:#{port}"})
    end
  end

  # An issuer of an earlier test may have had the same port.
  defp forget(server) do
    :ok = Issuer.forget_url(server.url)
    :ok = Introspector.forget_url(server.url)
    server
  end

  @doc "Starts a server that sends these responses in order, and then none."
  @spec start_with([answer()], keyword()) :: t()
  def start_with(answers, options \\ []) do
    {:ok, left} = Agent.start_link(fn -> answers end)
    start(fn _request -> Agent.get_and_update(left, fn [answer | left] -> {answer, left} end) end, options)
  end

  defp listen(script, options, owner, id) do
    {:ok, listener} = :gen_tcp.listen(0, [:binary, active: false, ip: {127, 0, 0, 1}, sndbuf: 64 * 1024, backlog: 64])

    {:ok, port} = :inet.port(listener)
    send(owner, {:listening, id, port})
    accept(listener, script, options[:tls], owner, id)
  end

  defp accept(listener, script, tls, owner, id) do
    {:ok, socket} = :gen_tcp.accept(listener)

    with {:ok, connection} <- secure(socket, tls, %{owner: owner, id: id}),
         {:ok, request} <- request(connection, "") do
      send(owner, {:requested, id, request})
      play(script.(request), connection)
      connection.module.close(connection.socket)
    end

    accept(listener, script, tls, owner, id)
  end

  defp secure(socket, nil, connection), do: {:ok, Map.merge(connection, %{module: :gen_tcp, socket: socket})}

  defp secure(socket, tls, connection) do
    with {:ok, socket} <- :ssl.handshake(socket, tls, 5_000),
         do: {:ok, Map.merge(connection, %{module: :ssl, socket: socket})}
  end

  defp play(answer, connection) when is_function(answer, 1), do: answer.(connection)
  defp play(bytes, connection), do: push(connection, bytes)

  @doc "Sends bytes on a connection."
  @spec push(connection(), iodata()) :: :ok | {:error, term()}
  def push(connection, bytes), do: connection.module.send(connection.socket, bytes)

  @doc "Sends the same bytes until the client closes, 100 MB at most. Then sends the owner `{:flooded, server, bytes}`."
  @spec flood(connection(), binary()) :: :ok
  def flood(connection, bytes), do: flood(connection, bytes, 0)

  defp flood(connection, bytes, sent) do
    if sent < @flood_bytes and push(connection, bytes) == :ok do
      flood(connection, bytes, sent + byte_size(bytes))
    else
      send(connection.owner, {:flooded, connection.id, sent})
      :ok
    end
  end

  @doc "Waits until the client closes."
  @spec wait(connection()) :: {:error, term()}
  def wait(connection), do: connection.module.recv(connection.socket, 0, 30_000)

  @doc "A complete response."
  @spec response(pos_integer(), [{String.t(), String.t()}], iodata()) :: iodata()
  def response(status, headers, body) do
    length = {"content-length", Integer.to_string(IO.iodata_length(body))}
    [head(status, [length | headers]), body]
  end

  @doc "A response with a JSON body."
  @spec json(pos_integer(), term()) :: iodata()
  def json(status \\ 200, term), do: response(status, [{"content-type", "application/json"}], JSON.encode!(term))

  @doc "The status line and headers with the empty line."
  @spec head(pos_integer(), [{String.t(), String.t()}]) :: iodata()
  def head(status, headers) do
    ["HTTP/1.1 #{status} Whatever\r\n", for({name, value} <- headers, do: [name, ": ", value, "\r\n"]), "\r\n"]
  end

  @doc "The server's next received request."
  @spec requested(t()) :: request()
  def requested(%{id: id}) do
    receive do
      {:requested, ^id, request} -> request
    after
      30_000 -> raise "no request came"
    end
  end

  @doc "All received requests that were not yet read."
  @spec all_requested(t()) :: [request()]
  def all_requested(%{id: id} = server) do
    receive do
      {:requested, ^id, request} -> [request | all_requested(server)]
    after
      0 -> []
    end
  end

  @doc "The number of bytes of a flood before the client closed."
  @spec flooded(t()) :: non_neg_integer()
  def flooded(%{id: id}) do
    receive do
      {:flooded, ^id, bytes} -> bytes
    after
      30_000 -> raise "the flood did not end"
    end
  end

  defp request(connection, read) do
    with [head, body] <- :binary.split(read, "\r\n\r\n"),
         [first | lines] = String.split(head, "\r\n"),
         headers = Enum.map(lines, &header/1),
         length = headers |> List.keyfind("content-length", 0, {"", "0"}) |> elem(1) |> String.to_integer(),
         true <- byte_size(body) >= length do
      [method, target, "HTTP/1.1"] = String.split(first, " ")
      {:ok, %{method: method, target: target, headers: headers, body: body}}
    else
      _unfinished ->
        with {:ok, bytes} <- connection.module.recv(connection.socket, 0, 30_000),
             do: request(connection, read <> bytes)
    end
  end

  defp header(line) do
    [name, value] = String.split(line, ": ", parts: 2)
    {String.downcase(name), value}
  end
end
