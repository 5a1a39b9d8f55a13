defmodule McpServer.DualResponse.Client do
  @moduledoc """
  The host's side of a dual response: finds it in a tool's result and fetches all of its rows.

      client = Client.new(base_url: "https://api.example.com/resources", headers: %{"authorization" => "Bearer …"})

      case Client.parse(client, tool_result) do
        nil -> show(tool_result)
        parsed -> with {:ok, rows} <- Client.Parsed.fetch_all(parsed), do: show_table(parsed.columns, rows)
      end

  It needs no server and no dependency. What it returns is a `McpServer.DualResponse.Client.Parsed`, whose functions
  fetch rows, read the metadata, pin and delete.

  ## Where it connects to

  The URL of the rows stands in the tool's result, which is the text of a server that may not be yours. So it is
  judged before every request, and again at every redirect:

  | the URL's origin | what happens |
  |---|---|
  | that of `base_url:`, or one of `allowed_origins:` | it is fetched, with your `headers:` |
  | any other on the internet, with https | it is fetched without any of them |
  | any other at a private, loopback or link-local address | refused |

  A name is looked up once, and the connection goes to the address that was judged, so that it cannot become another
  one in between. Plain http goes to loopback only, whatever the origin, unless `allow_insecure: true` says otherwise.
  With `base_url:` the URL in the result is not used: the last segment of the resource's URI is appended to `base_url:`.

  For a server on your own machine, name it: `base_url: "http://localhost:3001/resources"`.

  ## Options

  | option | default | |
  |---|---|---|
  | `:base_url` | `nil` | where the resources are, instead of what tool results say |
  | `:headers` | `%{}` | a map or list of headers, or a function from the request to one, called for every request; they replace the client's own |
  | `:allowed_origins` | `[]` | more origins that get the headers: `"https://api.example.com"` |
  | `:allow_insecure` | `false` | lets plain http leave the machine |
  | `:timeout` | `30_000` | how long a request may take in all, redirects included, in milliseconds |
  | `:max_redirects` | `3` | redirects that one request follows |
  | `:max_body_bytes` | 16 MiB | the longest answer, and the longest line of one that is streamed |
  | `:max_download_bytes` | 256 MiB | how much `fetch_all` or one stream downloads in all |
  | `:max_rows` | `1_000_000` | how many rows `fetch_all` and `fetch_stream` fetch at most |
  | `:batch_size` | `500` | how many rows they ask for at a time |
  | `:fetch` | OTP's sockets and TLS | a function that sends a request: see below |
  | `:tls` | `[]` | for the default `:fetch`: `:cacerts`, `:cacertfile`, `:versions`, and `:cert`, `:certfile`, `:certs_keys`, `:key`, `:keyfile`, `:password` of a client's certificate |

  The default `:fetch` opens a connection for each request, and sends nothing before the server's certificate is
  verified. It reads at most 64 KiB of headers, and goes through no proxy. No encoding such as gzip is asked for, and
  none is accepted.

  ## Another HTTP client

  `:fetch` is a function from a `t:request/0` to `{:ok, response}`, a `t:response/0`, or `{:error, reason}`. It must
  not follow redirects or unpack bodies, and it keeps to `timeout` and `max_body_bytes` itself. With Req:

      fetch = fn request ->
        [method: request.method, url: request.url, headers: request.headers, body: request.body]
        |> Keyword.merge(receive_timeout: request.timeout, redirect: false, raw: true, retry: false)
        |> Keyword.merge(if(request.stream, do: [into: :self], else: []))
        |> Req.request()
      end

  With Finch, which then reads a stream as a whole:

      fetch = fn request ->
        Finch.build(request.method, request.url, request.headers, request.body)
        |> Finch.request(MyApp.Finch, receive_timeout: request.timeout)
      end

  Such a function resolves names itself. An address that is written in the URL was checked before; the addresses of a
  name were not. `addresses` in the request says which ones are allowed.
  """

  alias McpServer.DualResponse.Client.{Headers, Parsed, Target, ToolResult}
  alias McpServer.Fetch.TLS

  # Headers and keys are secrets; functions may hold some.
  @derive {Inspect, only: [:base_url, :allowed_origins, :allow_insecure, :timeout, :max_redirects]}
  defstruct base_url: nil,
            headers: [],
            allowed_origins: [],
            allow_insecure: false,
            timeout: 30_000,
            max_redirects: 3,
            max_body_bytes: 16 * 1024 * 1024,
            max_download_bytes: 256 * 1024 * 1024,
            max_rows: 1_000_000,
            batch_size: 500,
            fetch: nil,
            tls: [],
            trusted: []

  @typedoc "Build it with `new/1`."
  @type t :: %__MODULE__{
          base_url: String.t() | nil,
          headers: headers() | (request() -> headers()),
          allowed_origins: [String.t()],
          allow_insecure: boolean(),
          timeout: pos_integer(),
          max_redirects: non_neg_integer(),
          max_body_bytes: pos_integer(),
          max_download_bytes: pos_integer(),
          max_rows: pos_integer(),
          batch_size: pos_integer(),
          fetch: fetch() | nil,
          tls: keyword(),
          trusted: [{scheme :: String.t(), host :: String.t(), :inet.port_number()}]
        }

  @type headers :: %{String.t() => String.t()} | [{String.t(), String.t()}]

  @typedoc """
  A request to be sent.

  `timeout` is in milliseconds. With `stream` the body of the response may be an enumerable of binaries instead of
  one. `addresses` says which ones may be connected to: `:any`, those of the internet (`:public`), or `:loopback`.
  """
  @type request :: %{
          method: :get | :post | :put | :delete,
          url: String.t(),
          headers: [{String.t(), String.t()}],
          body: binary() | nil,
          timeout: pos_integer(),
          max_body_bytes: pos_integer(),
          stream: boolean(),
          addresses: :any | :public | :loopback
        }

  @typedoc "What came back. `headers` may also map a name to a list of values, as Req has it."
  @type response :: %{
          required(:status) => 100..599,
          required(:headers) => headers() | %{String.t() => [String.t()]},
          required(:body) => binary() | Enumerable.t() | nil,
          optional(atom()) => term()
        }

  @typedoc "`:timeout` as a reason, also inside an exception's `reason`, becomes the error `:timeout`."
  @type fetch :: (request() -> {:ok, response()} | {:error, term()})

  @type option :: {atom(), term()}

  @limits [:timeout, :max_body_bytes, :max_download_bytes, :max_rows, :batch_size]

  @doc """
  A client; it is a value, and starts no process. The options stand above.

  Raises `ArgumentError` for options that are unknown or wrong.

      iex> McpServer.DualResponse.Client.new(base_url: "https://api.example.com/resources/").base_url
      "https://api.example.com/resources"
  """
  @spec new([option()] | map()) :: t()
  def new(options \\ []) do
    given = Keyword.validate!(Enum.to_list(options), Map.keys(%__MODULE__{}) -- [:__struct__, :trusted])
    client = struct!(__MODULE__, for({name, value} <- given, do: {name, option!(name, value)}))
    Enum.each(client.allowed_origins, &origin!/1)
    %{client | trusted: Enum.map(List.wrap(client.base_url) ++ client.allowed_origins, &named!(client, &1))}
  end

  defp option!(name, value) when name in [:base_url, :fetch] and value == nil, do: nil

  defp option!(:base_url, url) do
    case Target.parse(url) do
      {:ok, %{query: nil, fragment: nil}, _origin} -> String.trim_trailing(url, "/")
      _no_base -> raise ArgumentError, "expected :base_url to be an http URL without a query, got: #{inspect(url)}"
    end
  end

  defp option!(:headers, headers) when is_function(headers, 1), do: headers
  defp option!(:headers, headers), do: Headers.normalize!(headers)
  defp option!(:fetch, fetch) when is_function(fetch, 1), do: fetch
  defp option!(:allowed_origins, origins) when is_list(origins), do: origins
  defp option!(:allow_insecure, flag) when is_boolean(flag), do: flag
  defp option!(:max_redirects, count) when is_integer(count) and count >= 0, do: count
  defp option!(name, value) when name in @limits and is_integer(value) and value > 0, do: value

  defp option!(:tls, options) when is_list(options) do
    (Keyword.keyword?(options) && Keyword.keys(options) -- TLS.allowed() == []) ||
      raise ArgumentError, "the options in :tls are #{Enum.map_join(TLS.allowed(), ", ", &inspect/1)}"

    options
  end

  defp option!(name, value), do: raise(ArgumentError, "#{inspect(name)} cannot be #{inspect(value)}")

  defp origin!(origin) do
    case Target.parse(origin) do
      {:ok, %{path: path, query: nil, fragment: nil}, _origin} when path in [nil, "", "/"] -> :ok
      _no_origin -> raise ArgumentError, "expected an origin like \"https://api.example.com\", got: #{inspect(origin)}"
    end
  end

  # An origin that may be fetched from. One that never could be is a mistake to be told of now.
  defp named!(client, url) do
    {:ok, _uri, origin} = Target.parse(url)

    case Target.judge(%{trusted: [origin], allow_insecure: client.allow_insecure}, url) do
      {:ok, _target} -> origin
      {:error, error} -> raise ArgumentError, "#{inspect(url)}: #{Exception.message(error)}"
    end
  end

  @doc """
  The dual response in a tool's result, `nil` if there is none.

  The result is a decoded JSON object as an MCP client returns it, or what a handler of this library returns, a
  `McpServer.DualResponse.Response` or a `McpServer.Tool.CallResult`. An error, or anything else, is `nil`.

      iex> client = McpServer.DualResponse.Client.new()
      iex> result = %{
      ...>   "content" => [],
      ...>   "structuredContent" => %{
      ...>     "results" => [%{"id" => 1, "name" => "MIT", "state" => "MA"}],
      ...>     "resource" => %{"uri" => "resource://abc123", "url" => "https://api.example.com/resources/abc123"},
      ...>     "metadata" => %{"total_count" => 847, "columns" => [%{"name" => "id", "type" => "number"}]}
      ...>   }
      ...> }
      iex> parsed = McpServer.DualResponse.Client.parse(client, result)
      iex> {parsed.total_count, parsed.resource_url}
      {847, "https://api.example.com/resources/abc123"}
      iex> McpServer.DualResponse.Client.parse(client, %{"content" => []})
      nil
  """
  @spec parse(t(), term()) :: Parsed.t() | nil
  def parse(%__MODULE__{} = client, tool_result), do: parse_structured(client, ToolResult.structured(tool_result))

  @doc "As `parse/2`, for the `structuredContent` of a result."
  @spec parse_structured(t(), term()) :: Parsed.t() | nil
  def parse_structured(%__MODULE__{} = client, structured_content), do: ToolResult.read(client, structured_content)
end
