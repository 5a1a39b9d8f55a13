defmodule McpServer.Test.Issuer do
  @moduledoc """
  An authorization server for tests. It publishes metadata and keys on a loopback port, and creates access tokens.

      issuer = start_supervised!(McpServer.Test.Issuer)
      url = McpServer.Test.Issuer.url(issuer)

      start_supervised!(
        {McpServer.HttpServer, router: MyApp.MCP, port: 0, auth: [resource: "http://localhost/mcp", issuer: url]}
      )

      token = McpServer.Test.Issuer.token(issuer, subject: "ada", audience: "http://localhost/mcp", scopes: ["files:read"])

  It has no login. Never start it in production.
  """

  use GenServer
  use McpServer.Outline

  alias McpServer.JSON
  alias McpServer.Test.{Key, Proof}

  @read_ms 5_000

  @typedoc "The process of an issuer."
  @type server :: GenServer.server()

  @doc "Starts an issuer, linked to the calling process."
  @spec start_link(keyword()) :: GenServer.on_start()
  def start_link(options \\ []), do: GenServer.start_link(__MODULE__, nil, Keyword.take(options, [:name]))

  @doc "The URL of the issuer, for `issuer:` of `auth:`."
  @spec url(server()) :: String.t()
  def url(server), do: GenServer.call(server, :url)

  @doc """
  An access token.

  | option | |
  |---|---|
  | `:subject`, `:audience`, `:scopes`, `:client_id` | claims; the defaults are `"ada"`, none, `[]`, `"client"` |
  | `:expires_in` | seconds, 300 |
  | `:claims` | further or replaced claims; `nil` removes a claim |
  | `:header` | further or replaced members of the header; `nil` removes a member |
  | `:alg` | `"RS256"`, `"PS256"`, `"ES256"` (the default) or `"EdDSA"` |
  | `:signature` | `:wrong` makes an invalid signature |
  | `:key` | a key of `McpServer.Test.Proof.key/1`: the token is bound to it (RFC 9449) |
  """
  @spec token(server(), keyword()) :: String.t()
  def token(server, options \\ []), do: GenServer.call(server, {:token, options}, 30_000)

  @doc """
  An opaque token. Only the issuer knows its grants, and returns them to the client `"mcp"` with the secret `"secret"`
  (`introspection: [client_id: "mcp", client_secret: "secret"]`). The options are `:subject`, `:audience`, `:scopes`,
  `:client_id`, `:expires_in`, `:claims` and `:key` of `token/2`.
  """
  @spec opaque_token(server(), keyword()) :: String.t()
  def opaque_token(server, options \\ []), do: GenServer.call(server, {:opaque_token, options})

  @doc "Revokes an opaque token."
  @spec revoke(server(), String.t()) :: :ok
  def revoke(server, token), do: GenServer.call(server, {:revoke, token})

  @doc "Replaces the keys of the issuer."
  @spec rotate(server()) :: :ok
  def rotate(server), do: GenServer.call(server, :rotate, 30_000)

  @doc "Makes the issuer answer all requests with 500, until `recover/1`."
  @spec fail(server()) :: :ok
  def fail(server), do: GenServer.call(server, {:mode, :fail})

  @doc "Makes the issuer answer no requests, until `recover/1`."
  @spec stall(server()) :: :ok
  def stall(server), do: GenServer.call(server, {:mode, :stall})

  @doc "Makes the issuer answer requests again."
  @spec recover(server()) :: :ok
  def recover(server), do: GenServer.call(server, {:mode, :serve})

  @doc "The number of requests for the keys."
  @spec fetches(server()) :: non_neg_integer()
  def fetches(server), do: GenServer.call(server, :fetches)

  @doc "The number of introspection requests."
  @spec introspections(server()) :: non_neg_integer()
  def introspections(server), do: GenServer.call(server, :introspections)

  @doc false
  @spec answer(server(), String.t() | {String.t(), [{term(), String.t()}], String.t()}) ::
          {status :: pos_integer(), body :: iodata()} | :stall
  def answer(server, asked), do: GenServer.call(server, {:answer, asked}, 30_000)

  @impl true
  def init(nil) do
    {:ok, listener} =
      :gen_tcp.listen(0, [:binary, ip: {127, 0, 0, 1}, active: false, packet: :http_bin, reuseaddr: true])

    {:ok, port} = :inet.port(listener)
    url = "http://localhost:#{port}"
    :ok = McpServer.Auth.Issuer.forget_url(url)
    :ok = McpServer.Auth.Introspector.forget_url(url)
    issuer = self()
    _acceptor = spawn_link(fn -> accept(listener, issuer) end)

    {:ok,
     new_keys(%{
       url: url,
       listener: listener,
       mode: :serve,
       fetches: 0,
       introspections: 0,
       generation: 0,
       keys: %{},
       opaque: %{}
     })}
  end

  # An RSA key takes long to create, so it is created when the first token needs it.
  defp new_keys(state), do: add(%{state | generation: state.generation + 1, keys: %{}}, "ES256")

  defp add(state, algorithm) do
    if is_map_key(state.keys, algorithm),
      do: state,
      else: put_in(state.keys[algorithm], Key.new(algorithm, %{"kid" => "#{algorithm}-#{state.generation}"}))
  end

  @impl true
  def handle_call(:url, _from, state), do: {:reply, state.url, state}
  def handle_call(:fetches, _from, state), do: {:reply, state.fetches, state}
  def handle_call(:introspections, _from, state), do: {:reply, state.introspections, state}

  def handle_call({:opaque_token, options}, _from, state) do
    token = Key.encode(:crypto.strong_rand_bytes(24))
    type = if options[:key], do: "DPoP", else: "Bearer"
    claims = Map.merge(claims(options, state.url), %{"active" => true, "token_type" => type})
    {:reply, token, put_in(state.opaque[token], Key.members(claims, options[:claims]))}
  end

  def handle_call({:revoke, token}, _from, state),
    do: {:reply, :ok, %{state | opaque: Map.delete(state.opaque, token)}}

  def handle_call(:rotate, _from, state), do: {:reply, :ok, new_keys(state)}
  def handle_call({:mode, mode}, _from, state), do: {:reply, :ok, %{state | mode: mode}}

  def handle_call({:token, options}, _from, state) do
    algorithm = Keyword.get(options, :alg, "ES256")
    state = add(state, algorithm)
    {:reply, sign(Map.fetch!(state.keys, algorithm), options, state.url), state}
  end

  def handle_call({:answer, _path}, _from, %{mode: :stall} = state), do: {:reply, :stall, state}
  def handle_call({:answer, _path}, _from, %{mode: :fail} = state), do: {:reply, {500, "{}"}, state}

  def handle_call({:answer, "/.well-known/oauth-authorization-server"}, _from, state) do
    document = %{
      "issuer" => state.url,
      "jwks_uri" => state.url <> "/keys",
      "introspection_endpoint" => state.url <> "/introspect",
      "response_types_supported" => ["code"]
    }

    {:reply, {200, JSON.encode!(document)}, state}
  end

  def handle_call({:answer, "/keys"}, _from, state) do
    keys = for {_algorithm, key} <- state.keys, do: key.jwk
    {:reply, {200, JSON.encode!(%{"keys" => keys})}, %{state | fetches: state.fetches + 1}}
  end

  def handle_call({:answer, {"/introspect", headers, form}}, _from, state) do
    form = URI.decode_query(form)
    known? = List.keyfind(headers, :Authorization, 0) == {:Authorization, "Basic " <> Base.encode64("mcp:secret")}
    known? = known? or match?(%{"client_id" => "mcp", "client_secret" => "secret"}, form)
    answer = if known?, do: {200, JSON.encode!(Map.get(state.opaque, form["token"], %{"active" => false}))}
    {:reply, answer || {401, "{}"}, %{state | introspections: state.introspections + 1}}
  end

  def handle_call({:answer, _asked}, _from, state), do: {:reply, {404, "{}"}, state}

  defp claims(options, url) do
    now = System.system_time(:second)
    bound = options[:key] && %{"jkt" => Proof.thumbprint(options[:key])}

    %{
      "cnf" => bound,
      "iss" => url,
      "sub" => Keyword.get(options, :subject, "ada"),
      "aud" => options[:audience],
      "client_id" => Keyword.get(options, :client_id, "client"),
      "scope" => options |> Keyword.get(:scopes, []) |> Enum.join(" "),
      "iat" => now,
      "exp" => now + Keyword.get(options, :expires_in, 300)
    }
  end

  defp sign(key, options, url) do
    header = %{"alg" => key.algorithm, "typ" => "at+jwt", "kid" => key.jwk["kid"]}
    Key.sign(key, header, claims(options, url), options)
  end

  defp accept(listener, issuer) do
    # The issuer closes the socket at its end.
    with {:ok, socket} <- :gen_tcp.accept(listener) do
      pid = spawn(fn -> receive(do: (:go -> serve(socket, issuer))) end)
      :ok = :gen_tcp.controlling_process(socket, pid)
      send(pid, :go)
      accept(listener, issuer)
    end
  end

  defp serve(socket, issuer) do
    with {:ok, {:http_request, method, {:abs_path, path}, _version}} <- :gen_tcp.recv(socket, 0, @read_ms) do
      headers = headers(socket, [])

      case answer(issuer, asked(method, path, headers, socket)) do
        :stall -> await_end(issuer)
        {status, body} -> reply(socket, status, body)
      end
    end

    :gen_tcp.close(socket)
  end

  defp await_end(issuer) do
    monitor = Process.monitor(issuer)
    receive do: ({:DOWN, ^monitor, :process, _pid, _reason} -> :ok)
  end

  defp asked(:GET, path, _headers, _socket), do: path

  defp asked(:POST, path, headers, socket) do
    {:"Content-Length", length} = List.keyfind(headers, :"Content-Length", 0)
    :ok = :inet.setopts(socket, packet: :raw)
    {:ok, form} = :gen_tcp.recv(socket, String.to_integer(length), @read_ms)
    {path, headers, form}
  end

  defp reply(socket, status, body) do
    length = IO.iodata_length(body)

    head =
      "HTTP/1.1 #{status} X\r\ncontent-type: application/json\r\ncontent-length: #{length}\r\nconnection: close\r\n\r\n"

    :gen_tcp.send(socket, [head, body])
  end

  defp headers(socket, headers) do
    case :gen_tcp.recv(socket, 0, @read_ms) do
      {:ok, {:http_header, _bit, name, _raw, value}} -> headers(socket, [{name, value} | headers])
      _end_or_error -> headers
    end
  end
end
