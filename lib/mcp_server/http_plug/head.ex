defmodule McpServer.HttpPlug.Head do
  @moduledoc false
  # The head of a request, in the form that the core checks.

  @type t :: %{
          method: String.t(),
          target: String.t(),
          authority: String.t() | nil,
          headers: [{String.t(), String.t()}],
          peer: {:inet.ip_address(), :inet.port_number()} | nil
        }

  @doc "The head that the client sent, without the changes of earlier plugs."
  @spec of(map()) :: t()
  def of(conn) do
    %{
      method: method(conn),
      target: target(conn),
      authority: authority(conn),
      headers: conn.req_headers,
      peer: nil
    }
  end

  # `Plug.Head` and `Plug.MethodOverride` rewrite the method, but a HEAD must not open a stream like a GET.
  # The servers' adapters keep the original method.
  defp method(%{adapter: {_adapter, %{method: method}}}) when is_binary(method), do: method
  defp method(%{method: method}), do: method

  defp target(%{request_path: path, query_string: ""}), do: path
  defp target(%{request_path: path, query_string: query}), do: path <> "?" <> query

  @doc "The remaining target, without the path segments that earlier plugs have routed."
  @spec left(map()) :: String.t()
  def left(%{query_string: ""} = conn), do: path(conn)
  def left(%{query_string: query} = conn), do: path(conn) <> "?" <> query

  @doc "The path of the remaining target."
  @spec path(map()) :: String.t()
  def path(%{path_info: segments}), do: "/" <> Enum.join(segments, "/")

  # The `:authority` of HTTP/2 and an absolute target of HTTP/1 are only in `conn.host`.
  # If a plug has rewritten the host, `conn.host` and the header are both checked.
  defp authority(%{host: host, port: port, req_headers: headers}) do
    named = for {"host", value} <- headers, do: String.downcase(value, :ascii)

    cond do
      host in [nil, ""] -> nil
      Enum.any?(named, &(&1 == host or String.starts_with?(&1, host <> ":"))) -> nil
      ipv6?(host) -> "[#{host}]:#{port}"
      true -> "#{host}:#{port}"
    end
  end

  defp ipv6?(host), do: String.contains?(host, ":") and not String.starts_with?(host, "[")
end
