defmodule McpServer.HttpRequest do
  @moduledoc """
  The head of a request, for the `identify:` and `init:` hooks of `McpServer.HttpServer`. The fields have the names of
  `Plug.Conn`, which the same hooks of `McpServer.HttpPlug` get.

      def identify(request) do
        with ["Bearer " <> token] <- McpServer.HttpRequest.get_req_header(request, "authorization"),
             {:ok, user} <- MyApp.Tokens.verify(token) do
          {:ok, user.id}
        else
          _ -> {:error, :unauthorized}
        end
      end

  | field | meaning |
  |---|---|
  | `method` | `"POST"`, `"GET"` or `"DELETE"` |
  | `request_path`, `query_string` | of the request's target |
  | `req_headers` | `{name, value}`, names in lower case |
  | `remote_ip` | the peer's address; behind a proxy the proxy's |

  `inspect/1` shows the method, the path and the peer. It hides headers and query, because they may hold tokens, and an
  exception of a hook would log them.
  """

  # Tokens stand in headers and in queries.
  @derive {Inspect, only: [:method, :request_path, :remote_ip]}

  @enforce_keys [:method, :request_path]
  defstruct [:method, :request_path, :remote_ip, query_string: "", req_headers: []]

  @type t :: %__MODULE__{
          method: String.t(),
          request_path: String.t(),
          query_string: String.t(),
          req_headers: [{String.t(), String.t()}],
          remote_ip: :inet.ip_address() | nil
        }

  @doc """
  The values of a header, whose name is in lower case.

      iex> request = %McpServer.HttpRequest{method: "GET", request_path: "/mcp", req_headers: [{"accept", "*/*"}]}
      iex> McpServer.HttpRequest.get_req_header(request, "accept")
      ["*/*"]
  """
  @spec get_req_header(t(), String.t()) :: [String.t()]
  def get_req_header(%__MODULE__{req_headers: headers}, name), do: for({^name, value} <- headers, do: value)

  @doc false
  @spec new(map()) :: t()
  def new(head) do
    {path, query} = split(head.target)
    ip = with {ip, _port} <- head[:peer], do: ip

    %__MODULE__{
      method: head.method,
      request_path: path,
      query_string: query,
      req_headers: for({name, value} <- head.headers, do: {String.downcase(name), value}),
      remote_ip: ip
    }
  end

  defp split(target) do
    case String.split(target, "?", parts: 2) do
      [path, query] -> {path, query}
      [path] -> {path, ""}
    end
  end
end
