defmodule McpServer.NativeBuild.Http do
  @moduledoc "Requests with OTP's HTTP client, with limits for the response's bytes and time."

  alias McpServer.NativeBuild.{Proxy, Tls}

  # Mix finds these modules after their start below, not while it compiles this file.
  @compile {:no_warn_undefined, [:httpc, :inets]}

  @max_bytes 32 * 1024 * 1024
  # In milliseconds.
  @deadline 120_000
  @connect_timeout 15_000

  @type env :: %{String.t() => String.t()}

  @doc """
  Calls the function with a client, in a new process: late messages of a refused response end with it.
  `MCP_SERVER_NIF_TIMEOUT` is the time for all its requests, in milliseconds.
  """
  @spec with_client(env, (map -> result)) :: result | {:error, String.t()} when result: term
  def with_client(env, work) do
    with :ok <- start_applications(), do: Task.await(Task.async(fn -> run(env, work) end), :infinity)
  end

  # Since Elixir 1.15 Mix hides OTP's applications that a project does not list.
  defp start_applications do
    for application <- [:inets, :ssl, :public_key] do
      if function_exported?(Mix, :ensure_application!, 1), do: apply(Mix, :ensure_application!, [application])
      {:ok, _started} = Application.ensure_all_started(application)
    end

    :ok
  rescue
    _missing in [Mix.Error, MatchError] -> {:error, "this Erlang lacks its applications inets, ssl and public_key"}
  end

  # A separate client, so that the settings of other clients in this VM stay unchanged.
  defp run(env, work) do
    {:ok, profile} = :inets.start(:httpc, [profile: :"mcp_server_#{System.unique_integer([:positive])}"], :stand_alone)
    proxy = Proxy.for_https(env)
    if proxy, do: :ok = :httpc.set_options([https_proxy: {proxy.address, proxy.direct}], profile)
    timeout = timeout(env)
    result = work.(%{profile: profile, env: env, proxy: proxy, timeout: timeout, until: now() + timeout})
    Process.unlink(profile)
    :inets.stop(:stand_alone, profile)
    result
  end

  defp timeout(env) do
    case Integer.parse(env["MCP_SERVER_NIF_TIMEOUT"] || "") do
      {milliseconds, ""} when milliseconds > 0 -> milliseconds
      _default -> @deadline
    end
  end

  @doc "Fetches an address. An error is the end of a sentence that starts with the address."
  @spec get(map, String.t()) :: {:ok, binary} | {:redirect, String.t()} | {:error, String.t()}
  def get(client, url) do
    with {:ok, options} <- options(client, url) do
      # A new connection for each request: on a connection that the host closes, the next request is lost silently.
      headers = [{~c"user-agent", ~c"mcp_server"}, {~c"accept", ~c"*/*"}, {~c"connection", ~c"close"}]
      asynchronous = [sync: false, stream: :self, body_format: :binary]

      case :httpc.request(:get, {to_charlist(url), headers}, options, asynchronous, client.profile) do
        {:ok, id} -> answer(id, client, [], 0)
        {:error, reason} -> {:error, problem(reason)}
      end
    end
  end

  defp options(client, url) do
    options = [autoredirect: false, connect_timeout: min(remaining(client), @connect_timeout)] ++ credentials(client)

    with "https:" <> _rest <- url, {:ok, tls} <- Tls.options(client.env) do
      {:ok, [ssl: tls] ++ options}
    else
      {:error, problem} -> {:error, problem}
      # Without TLS options the client would load the system's certificates, which may be missing.
      _loopback -> {:ok, [ssl: []] ++ options}
    end
  end

  defp credentials(%{proxy: %{credentials: {_user, _password} = credentials}}), do: [proxy_auth: credentials]
  defp credentials(_client), do: []

  defp answer(id, client, parts, size) do
    receive do
      {:http, {^id, :stream_start, _headers}} -> answer(id, client, parts, size)
      {:http, {^id, :stream, part}} -> more(id, client, [parts, part], size + byte_size(part))
      {:http, {^id, :stream_end, _headers}} -> {:ok, IO.iodata_to_binary(parts)}
      {:http, {^id, {{_version, status, _reason}, headers, _body}}} -> status(status, headers)
      {:http, {^id, {:error, reason}}} -> {:error, problem(reason)}
    after
      remaining(client) ->
        :ok = :httpc.cancel_request(id, client.profile)
        {:error, "did not send the file within #{client.timeout} ms"}
    end
  end

  defp more(id, client, _parts, size) when size > @max_bytes do
    :ok = :httpc.cancel_request(id, client.profile)
    {:error, "sends more than #{@max_bytes} bytes"}
  end

  defp more(id, client, parts, size), do: answer(id, client, parts, size)

  # The body of a 200 response arrives in parts, unless it is empty.
  defp status(200, _headers), do: {:ok, ""}

  defp status(status, headers) when status in [301, 302, 303, 307, 308] do
    case List.keyfind(headers, ~c"location", 0) do
      {_name, location} -> {:redirect, to_string(location)}
      nil -> {:error, "redirects to no address"}
    end
  end

  defp status(status, _headers), do: {:error, "answers with status #{status}"}

  defp problem({:failed_connect, details}) do
    case List.last(details) do
      {_family, _options, reason} -> "cannot be reached (#{reason(reason)})"
      _other -> "cannot be reached"
    end
  end

  defp problem(reason) when reason in [:socket_closed_remotely, {:shutdown, :server_closed}],
    do: "ends the connection before the whole file came"

  defp problem(reason), do: "cannot be read (#{reason(reason)})"

  defp reason({:tls_alert, {alert, _text}}), do: "TLS: #{alert}"
  defp reason(reason) when is_atom(reason), do: reason
  defp reason(reason), do: inspect(reason, limit: 5, printable_limit: 100)

  defp remaining(client), do: max(client.until - now(), 0)
  defp now, do: System.monotonic_time(:millisecond)
end
