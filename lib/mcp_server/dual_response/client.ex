defmodule McpServer.DualResponse.Client do
  @moduledoc """
  The client of dual responses: finds a dual response in a tool's result and fetches all rows.

      client = Client.new(base_url: "https://api.example.com/resources", headers: %{"authorization" => "Bearer …"})

      case Client.parse(client, tool_result) do
        nil -> show(tool_result)
        parsed -> with {:ok, rows} <- Client.Parsed.fetch_all(parsed), do: show_table(parsed.columns, rows)
      end

  It needs no server and no dependency. It returns a `McpServer.DualResponse.Client.Parsed`, whose functions fetch rows,
  read the metadata, pin and delete.

  ## Where it connects to

  The URL of the rows comes from the tool's result, and the server may not be trusted. So the URL is checked before
  every request and every redirect:

  | the URL's origin | result |
  |---|---|
  | that of `base_url:`, or one of `allowed_origins:` | fetched with your `headers:` |
  | any other on the internet, with https | fetched without your `headers:` |
  | any other at a private, loopback or link-local address | refused |

  A host name is resolved once, and the connection uses the checked address, so that the address cannot change in
  between. Plain http is allowed to loopback only, for all origins, unless `allow_insecure: true` is set. With
  `base_url:` the URL in the result is not used: the last segment of the resource's URI is appended to `base_url:`.

  For a server on your machine, set `base_url: "http://localhost:3001/resources"`.

  ## Options

  | option | default | |
  |---|---|---|
  | `:base_url` | `nil` | the URL of the resources, instead of the URL in tool results |
  | `:headers` | `%{}` | a map or list of headers, or a function from the request to one, called for every request; they replace the client's headers |
  | `:allowed_origins` | `[]` | further origins that get the headers: `"https://api.example.com"` |
  | `:allow_insecure` | `false` | allows plain http to other machines |
  | `:timeout` | `30_000` | longest time of a request, redirects included, in milliseconds |
  | `:max_redirects` | `3` | largest number of redirects of a request |
  | `:max_body_bytes` | 16 MiB | largest answer, and longest line of a streamed answer |
  | `:max_download_bytes` | 256 MiB | largest download of `fetch_all` or one stream |
  | `:max_rows` | `1_000_000` | largest number of rows of `fetch_all` and `fetch_stream` |
  | `:batch_size` | `500` | number of rows per request of `fetch_all` and `fetch_stream` |
  | `:fetch` | OTP's sockets and TLS | a function that sends a request: see below |
  | `:tls` | `[]` | for the default `:fetch`: `:cacerts`, `:cacertfile`, `:versions`, and `:cert`, `:certfile`, `:certs_keys`, `:key`, `:keyfile`, `:password` of a client's certificate |

  The default `:fetch` opens a connection for each request, and verifies the server's certificate before it sends data.
  It reads at most 64 KiB of headers, and does not use a proxy. It neither requests nor accepts encodings such as gzip.

  ## Another HTTP client

  `:fetch` is a function from a `t:request/0` to `{:ok, response}`, a `t:response/0`, or `{:error, reason}`. It must not
  follow redirects or decompress bodies, and must respect `timeout` and `max_body_bytes`. With Req:

      fetch = fn request ->
        [method: request.method, url: request.url, headers: request.headers, body: request.body]
        |> Keyword.merge(receive_timeout: request.timeout, redirect: false, raw: true, retry: false)
        |> Keyword.merge(if(request.stream, do: [into: :self], else: []))
        |> Req.request()
      end

  With Finch, which reads a complete response also for streams:

      fetch = fn request ->
        Finch.build(request.method, request.url, request.headers, request.body)
        |> Finch.request(MyApp.Finch, receive_timeout: request.timeout)
      end

  Such a function resolves host names. An IP address in the URL is already checked; the addresses of a host name are
  not. `addresses` in the request has the allowed addresses.
  """

  alias McpServer.DualResponse.Client.{Headers, Parsed, Target, ToolResult}
  alias McpServer.Fetch.TLS

  # Headers and keys are secrets, and functions may contain some.
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

  @typedoc "A client, built with `new/1`."
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
  A request to send.

  `timeout` is in milliseconds. With `stream` the body of the response may be an enumerable of binaries. `addresses` are
  the allowed addresses: `:any`, addresses of the internet (`:public`), or `:loopback`.
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

  @typedoc "The response. `headers` may also map a name to a list of values, as in Req."
  @type response :: %{
          required(:status) => 100..599,
          required(:headers) => headers() | %{String.t() => [String.t()]},
          required(:body) => binary() | Enumerable.t() | nil,
          optional(atom()) => term()
        }

  @typedoc "The reason `:timeout`, also inside an exception's `reason`, becomes the error `:timeout`."
  @type fetch :: (request() -> {:ok, response()} | {:error, term()})

  @type option :: {atom(), term()}

  @limits [:timeout, :max_body_bytes, :max_download_bytes, :max_rows, :batch_size]

  @doc """
  Builds a client. It is a value and starts no process. The options are listed above.

  Raises `ArgumentError` for unknown or invalid options.

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

  # The origin of a URL. Raises at once if no request could ever be sent to it.
  defp named!(client, url) do
    {:ok, _uri, origin} = Target.parse(url)

    case Target.judge(%{trusted: [origin], allow_insecure: client.allow_insecure}, url) do
      {:ok, _target} -> origin
      {:error, error} -> raise ArgumentError, "#{inspect(url)}: #{Exception.message(error)}"
    end
  end

  @doc """
  The dual response in a tool's result, `nil` if there is none.

  The result is the decoded JSON object of an MCP client, or the value of a handler of this library, a
  `McpServer.DualResponse.Response` or a `McpServer.Tool.CallResult`. Returns `nil` for an error and for any other
  value.

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

  @doc "Like `parse/2`, for the `structuredContent` of a result."
  @spec parse_structured(t(), term()) :: Parsed.t() | nil
  def parse_structured(%__MODULE__{} = client, structured_content), do: ToolResult.read(client, structured_content)
end
