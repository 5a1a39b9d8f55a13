defmodule McpServer.Doctor.Remote do
  @moduledoc false
  # Checks a server over HTTP: whether it answers, which requests it refuses, and whether its streams arrive at once.

  alias McpServer.Client.Http.Headers
  alias McpServer.Doctor.Finding
  alias McpServer.DualResponse.Client.Failure
  alias McpServer.Fetch.{Body, Head, Socket}
  alias McpServer.JSON

  @elsewhere "mcp-doctor.invalid"
  @revision "2026-07-28"
  @meta %{
    "io.modelcontextprotocol/protocolVersion" => @revision,
    "io.modelcontextprotocol/clientCapabilities" => %{},
    "io.modelcontextprotocol/clientInfo" => %{"name" => "mcp_server", "version" => "1.0.0"}
  }

  @typedoc "`timeout` is the maximum wait of each probe, in milliseconds."
  @type server :: %{url: String.t(), headers: [{String.t(), String.t()}], timeout: pos_integer()}

  @doc "The findings about a server."
  @spec findings(server()) :: [Finding.t()]
  def findings(server) do
    case probe(server, discover(), []) do
      {:ok, status, _head} when status in 200..299 -> [Finding.ok("#{server.url} answers") | others(server)]
      {:ok, status, _head} -> [refused(server, status)]
      {:error, reason} -> [unreachable(server, reason)]
    end
  end

  defp refused(server, status) when status in [401, 403],
    do:
      Finding.error(
        "#{server.url} answers #{status}",
        "Give the credentials with --header-env \"Authorization=VARIABLE\"."
      )

  defp refused(server, status) when status in [404, 405] do
    Finding.error(
      "#{server.url} answers #{status}",
      "Give the URL of the MCP endpoint itself, such as https://host/mcp."
    )
  end

  defp refused(server, 400) do
    Finding.warning(
      "#{server.url} answers 400 to server/discover: it does not speak #{@revision}",
      "Nothing is to be done for older clients; for newer ones the server has to be updated."
    )
  end

  defp refused(server, status),
    do: Finding.error("#{server.url} answers #{status}", "Look into the log of the server, and of the proxy before it.")

  defp unreachable(server, reason) do
    Finding.error(
      "#{server.url}: #{Exception.message(Failure.error(reason))}",
      "Start the server, and look whether the address and the port are its own."
    )
  end

  defp others(server), do: [host(server), origin(server), accept(server), stream(server)]

  defp host(server) do
    judge(
      probe(server, discover(), host: @elsewhere),
      "a Host that is not the server's",
      "Set `allowed_hosts:`, or have the proxy refuse hosts that it does not know: a page could rebind its name to this server."
    )
  end

  defp origin(server) do
    judge(
      probe(server, discover(), headers: [{"origin", "http://" <> @elsewhere}]),
      "an Origin of another site",
      "Set `allowed_origins:` to the origins of your own pages: any page in a browser could call the tools."
    )
  end

  defp judge({:ok, status, _head}, what, advice) when status in 200..299,
    do: Finding.warning("it answers #{what}", advice)

  defp judge({:ok, status, _head}, what, _advice), do: Finding.ok("it refuses #{what} (#{status})")
  # A cut connection is a refusal too.
  defp judge({:error, _reason}, what, _advice), do: Finding.ok("it refuses #{what}")

  defp accept(server) do
    case probe(server, discover(), headers: [{"accept", "application/json"}]) do
      {:ok, status, _head} when status < 500 ->
        Finding.ok("it answers a client that accepts no streams (#{status})")

      {:ok, status, _head} ->
        Finding.error("it answers #{status} to a client that accepts no streams", "Look into the log of the server.")

      {:error, reason} ->
        unreachable(server, reason)
    end
  end

  # A stream begins with a message at once. A proxy that buffers responses delays it.
  defp stream(server) do
    case probe(server, listen(), first: true) do
      {:ok, 200, _head} ->
        Finding.ok("what it streams arrives at once")

      {:ok, status, _head} ->
        Finding.ok("it has no stream of changes (#{status})")

      {:error, _timeout} ->
        Finding.warning(
          "it has begun no stream within #{server.timeout} ms: something on the way may collect responses",
          "Switch buffering off in the proxy, for nginx `proxy_buffering off;`, and raise its `proxy_read_timeout`."
        )
    end
  end

  defp discover, do: message("server/discover", %{})
  defp listen, do: message("subscriptions/listen", %{"notifications" => %{"toolsListChanged" => true}})

  defp message(method, params),
    do: %{"jsonrpc" => "2.0", "id" => 1, "method" => method, "params" => Map.put(params, "_meta", @meta)}

  # The status of the response. With `first:` it waits for the first bytes of the body.
  defp probe(server, message, options) do
    request = request(server, message, Keyword.get(options, :headers, []))
    uri = URI.parse(server.url)
    named = if host = options[:host], do: %{uri | host: host}, else: uri

    with {:ok, socket} <- Socket.connect(uri, request, []) do
      answer = exchange(socket, named, request, options[:first] == true)
      Socket.close(socket)
      answer
    end
  end

  defp exchange(socket, uri, request, first?) do
    with {:ok, socket} <- Socket.write(socket, Head.request(uri, request)),
         {:ok, head, socket} <- Head.read(socket),
         {:ok, body} <- Body.new(head, socket),
         :ok <- if(first?, do: first(Body.next(body)), else: :ok) do
      {:ok, head.status, head.headers}
    end
  end

  defp first({:error, reason}), do: {:error, reason}
  defp first(_bytes_or_end), do: :ok

  defp request(server, message, headers) do
    names = for {name, _value} <- headers ++ server.headers, do: name
    standard = Enum.reject(Headers.of_post(message), fn {name, _value} -> name in names end)

    %{
      method: :post,
      url: server.url,
      headers: standard ++ headers ++ server.headers,
      body: JSON.encode!(message),
      timeout: server.timeout,
      max_body_bytes: 1024 * 1024,
      stream: true,
      addresses: :any
    }
  end
end
