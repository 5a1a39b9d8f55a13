defmodule McpServer.FromAddress do
  # A plug like one behind a proxy: the header `x-from` has the address of the client.
  @moduledoc false

  alias McpServer.{HttpPlug, HttpServers}

  # Loaded at run time, because the installed packages decide which server runs the plug.
  @compile {:no_warn_undefined, McpServer.Test.PlugServer}

  @doc "Starts a server of a router. It ends with the calling process."
  @spec start(keyword()) :: HttpServers.t()
  def start(options) do
    port = McpServer.Test.PlugServer.start_plug({__MODULE__, HttpServers.patient(options)})
    %HttpServers{kind: :plug, port: port}
  end

  @doc false
  defdelegate init(options), to: HttpPlug

  @doc false
  def call(%{req_headers: headers} = conn, options) do
    {_name, text} = List.keyfind(headers, "x-from", 0)
    conn |> put(text) |> HttpPlug.call(options)
  end

  @doc "The conn of a client at the address."
  @spec put(map(), String.t()) :: map()
  def put(conn, text) do
    {:ok, address} = text |> String.to_charlist() |> :inet.parse_address()
    %{conn | remote_ip: address}
  end
end
