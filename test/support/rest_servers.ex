defmodule McpServer.RestServers do
  # The two ways to serve stored results over HTTP, with the same functions for both.
  @moduledoc false

  alias McpServer.{HttpPeer, HttpServers}
  alias McpServer.Test.PlugServer

  # Loaded at run time. See `HttpServers`.
  @compile {:no_warn_undefined, PlugServer}

  defmodule Forward do
    # Replaces `forward "/resources", …` of a router.
    @moduledoc false
    @compile {:no_warn_undefined, Plug.Conn}

    def init(options), do: McpServer.DualResponse.Plug.init(options)

    def call(%{path_info: ["resources" | rest]} = conn, options) do
      McpServer.DualResponse.Plug.call(%{from(conn) | path_info: rest, script_name: ["resources"]}, options)
    end

    def call(conn, _options), do: Plug.Conn.send_resp(conn, 404, "")

    # Like behind a proxy, the header `x-from` has the address of the client.
    defp from(conn) do
      with {_name, text} <- List.keyfind(conn.req_headers, "x-from", 0, conn), do: McpServer.FromAddress.put(conn, text)
    end
  end

  @doc "A test of both servers: `rest \"name\", %{kind: kind} do … end`."
  defmacro rest(name, context, do: block), do: McpServer.HttpCase.twice(name, &[kind: &1], context, block)

  @doc "Serves the results of a running server at `/resources`, until the test ends."
  @spec start(HttpServers.kind(), atom(), keyword()) :: HttpServers.t()
  def start(kind, results, options \\ [])

  def start(:listener, results, options) do
    {listener, rest} = Keyword.split(options, [:resource_metadata, :stall_timeout, :drain, :callers])

    HttpServers.start(
      :listener,
      [routes: [{"/resources", {McpServer.DualResponse.Rest, [server: results] ++ rest}}]] ++ listener
    )
  end

  def start(:plug, results, options) do
    {_listener, rest} = Keyword.split(options, [:stall_timeout, :drain])
    %HttpServers{kind: :plug, port: PlugServer.start_plug({Forward, [server: results] ++ rest})}
  end

  @doc "Sends one request on a new connection, and returns its complete response."
  def ask(server, method, target, options \\ []) do
    peer = HttpPeer.connect(server.port)
    response = HttpPeer.request(peer, request(method, target, options))
    HttpPeer.close(peer)
    response
  end

  @doc "A request for a stored result. A body that is not a text is encoded as JSON."
  def request(method, target, options \\ []) do
    body =
      case options[:body] do
        text when is_binary(text) or is_nil(text) -> text
        term -> McpServer.JSON.encode!(term)
      end

    %{method: method, target: target, headers: options[:headers] || [], body: body}
  end

  @doc "The decoded lines of a stream."
  def lines(text), do: for(line <- String.split(text, "\n", trim: true), do: McpServer.JSON.decode!(line))
end
