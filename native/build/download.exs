defmodule McpServer.NativeBuild.Download do
  @moduledoc """
  Fetches a released file over TLS, or without TLS from loopback. Redirects may lead only to the same host or to the
  host's storage for releases.
  """

  alias McpServer.NativeBuild.Http

  @redirects 5
  @loopback ["127.0.0.1", "localhost", "::1"]
  @storage %{"github.com" => ".githubusercontent.com"}

  @doc "Returns the file's bytes, or an error sentence without its full stop."
  @spec get(String.t(), Http.env()) :: {:ok, binary} | {:error, String.t()}
  def get(url, env) do
    with :ok <- safe(url), do: Http.with_client(env, &follow(&1, url, @redirects))
  end

  @doc "An address without user and password, for people."
  @spec shown(String.t()) :: String.t()
  def shown(url), do: to_string(%URI{URI.parse(url) | userinfo: nil, authority: nil})

  defp safe(url) do
    case URI.parse(url) do
      %URI{scheme: "https", host: host} when host not in [nil, ""] -> :ok
      %URI{scheme: "http", host: host} when host in @loopback -> :ok
      _other -> {:error, "#{shown(url)} is neither an https:// address nor an http:// one of this machine"}
    end
  end

  defp follow(client, url, redirects) do
    case Http.get(client, url) do
      {:ok, bytes} ->
        {:ok, bytes}

      {:error, problem} ->
        {:error, "#{shown(url)} #{problem}"}

      {:redirect, _location} when redirects == 0 ->
        {:error, "#{shown(url)} redirects more than #{@redirects} times"}

      {:redirect, location} ->
        redirected(client, url, URI.merge(url, location), redirects)
    end
  end

  defp redirected(client, url, to, redirects) do
    if allowed?(URI.parse(url), to) do
      follow(client, to_string(to), redirects - 1)
    else
      {:error, "#{shown(url)} redirects to #{to.scheme}://#{to.host}, which does not keep its releases"}
    end
  end

  # Never from https:// to http://. The port of the same host may differ.
  defp allowed?(from, to), do: to.scheme == from.scheme and near?(from.host, to.host || "", @storage[from.host])

  defp near?(host, host, _storage), do: true
  defp near?(_from, _to, nil), do: false
  defp near?(_from, to, storage), do: String.ends_with?(to, storage)
end
