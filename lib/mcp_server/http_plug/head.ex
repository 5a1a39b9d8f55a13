defmodule McpServer.HttpPlug.Head do
  @moduledoc false
  # The head of a request, as the core screens it.

  @type t :: %{
          method: String.t(),
          target: String.t(),
          authority: String.t() | nil,
          headers: [{String.t(), String.t()}],
          peer: {:inet.ip_address(), :inet.port_number()} | nil
        }

  @doc "What the client sent, whatever the plugs before made of it."
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

  # `Plug.Head` and `Plug.MethodOverride` rewrite the method; a HEAD must not open a stream as a GET would.
  # The servers' adapters keep what was sent.
  defp method(%{adapter: {_adapter, %{method: method}}}) when is_binary(method), do: method
  defp method(%{method: method}), do: method

  defp target(%{request_path: path, query_string: ""}), do: path
  defp target(%{request_path: path, query_string: query}), do: path <> "?" <> query

  @doc "The target behind what the plugs before have routed."
  @spec left(map()) :: String.t()
  def left(%{query_string: ""} = conn), do: path(conn)
  def left(%{query_string: query} = conn), do: path(conn) <> "?" <> query

  @doc "Its path."
  @spec path(map()) :: String.t()
  def path(%{path_info: segments}), do: "/" <> Enum.join(segments, "/")

  # HTTP/2 has `:authority`, and HTTP/1 may have an absolute target: both are in `conn.host`, and only there.
  # Where a plug has rewritten the host, both it and the header are checked.
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
