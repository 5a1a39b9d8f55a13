defmodule McpServer.DualResponse.Client.RoundTrip do
  @moduledoc false
  # One request and its response, with redirects, within one deadline. Each hop is checked like the first: the user's
  # headers are sent only to permitted origins, wherever the redirect leads.

  alias McpServer.DualResponse.Client
  alias McpServer.DualResponse.Client.{Failure, Headers, HTTP, Target}
  alias McpServer.DualResponse.Error

  @typedoc "The request. `:stream` leaves the body to be read lazily."
  @type ask :: %{
          required(:method) => :get | :post | :put | :delete,
          required(:body) => binary() | nil,
          required(:accept) => String.t(),
          required(:stream) => boolean(),
          required(:timeout) => pos_integer()
        }

  @credentials [:cert, :certfile, :certs_keys, :key, :keyfile, :password]
  @defaults [{"accept-encoding", "identity"}, {"user-agent", "mcp_server"}]

  @doc "Sends the request to a URL."
  @spec run(Client.t(), String.t(), ask()) :: {:ok, Client.response()} | {:error, Error.t()}
  def run(client, url, ask) do
    deadline = System.monotonic_time(:millisecond) + ask.timeout
    hop(client, url, ask, deadline, client.max_redirects)
  end

  defp hop(client, url, ask, deadline, redirects) do
    with {:ok, target} <- Target.judge(client, url),
         {:ok, response} <- send_to(client, target, ask, deadline) do
      case redirected(response, ask) do
        nil ->
          accepted(response)

        _location when redirects == 0 ->
          close(response)
          {:error, Error.new(:fetch_error, "More than #{client.max_redirects} redirects", status: response.status)}

        location ->
          close(response)
          with {:ok, url} <- Target.redirect(target, location), do: hop(client, url, ask, deadline, redirects - 1)
      end
    end
  end

  # 303 changes other methods to GET, which would be a different request here.
  defp redirected(%{status: status, headers: headers}, ask) do
    if status in [301, 302, 307, 308] or (status == 303 and ask.method == :get), do: Headers.get(headers, "location")
  end

  defp send_to(client, target, ask, deadline) do
    case deadline - System.monotonic_time(:millisecond) do
      left when left > 0 -> client |> request(target, ask, left) |> fetch(client)
      _passed -> {:error, Failure.error(:timeout)}
    end
  end

  defp request(client, target, ask, left) do
    request = %{
      method: ask.method,
      url: target.url,
      headers: [],
      body: ask.body,
      timeout: left,
      max_body_bytes: client.max_body_bytes,
      stream: ask.stream,
      addresses: target.addresses
    }

    own = if(ask.body, do: [{"content-type", "application/json"}], else: []) ++ [{"accept", ask.accept} | @defaults]
    %{request | headers: Headers.override(own, if(target.trusted?, do: headers(client, request), else: []))}
  end

  defp headers(%{headers: headers}, request) when is_function(headers, 1), do: Headers.normalize!(headers.(request))
  defp headers(%{headers: headers}, _request), do: headers

  defp fetch(request, client) do
    case send_by(client, request) do
      {:ok, %{status: status, headers: headers, body: body}} when status in 100..599 ->
        with {:ok, headers} <- Headers.received(headers),
             {:ok, body} <- body(body, request) do
          {:ok, %{status: status, headers: headers, body: body}}
        else
          :error -> {:error, Error.new(:fetch_error, "The fetch function returned no response")}
          {:error, reason} -> {:error, Failure.error(reason)}
        end

      {:error, reason} ->
        {:error, Failure.error(reason)}

      _no_response ->
        {:error, Error.new(:fetch_error, "The fetch function returned no response")}
    end
  end

  # A client certificate is a credential, so it is sent only to the named origins.
  defp send_by(%{fetch: nil, tls: tls}, %{addresses: :public} = request),
    do: HTTP.fetch(request, Keyword.drop(tls, @credentials))

  defp send_by(%{fetch: nil, tls: tls}, request), do: HTTP.fetch(request, tls)
  defp send_by(%{fetch: fetch}, request), do: fetch.(request)

  defp body(body, %{stream: true}) when is_binary(body), do: {:ok, [body]}
  defp body(body, %{stream: true}), do: {:ok, body}
  defp body(nil, _request), do: {:ok, ""}
  defp body(body, request) when is_binary(body) and byte_size(body) <= request.max_body_bytes, do: {:ok, body}
  defp body(body, _request) when is_binary(body), do: {:error, :body_too_large}
  defp body(_body, _request), do: :error

  # No encoding was requested. A small compressed body may be huge when it is decompressed.
  defp accepted(response) do
    if Headers.get(response.headers, "content-encoding") in [nil, "", "identity"] do
      {:ok, response}
    else
      close(response)
      {:error, Error.new(:fetch_error, "The server sends an encoding that was not asked for", status: response.status)}
    end
  end

  @doc "Closes a body that will not be read."
  @spec close(Client.response()) :: :ok
  def close(%{body: body}) when is_binary(body), do: :ok

  def close(%{body: body}) do
    _halted = Enumerable.reduce(body, {:halt, nil}, fn _bytes, nil -> {:halt, nil} end)
    :ok
  end
end
