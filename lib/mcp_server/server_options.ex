defmodule McpServer.ServerOptions do
  @moduledoc false
  # The tables of the transports' options. They are the source of the checks and the documentation of `McpServer.Stdio`,
  # `McpServer.HttpServer` and `McpServer.HttpPlug`, and of `guides/limits.md`.

  alias McpServer.Http.InvalidTokens
  alias McpServer.{Limit, Options, Protocol}

  @kibi 1024
  @mebi 1024 * @kibi
  @gibi 1024 * @mebi

  @router [
    router: [:name, required: true, doc: "the router to serve"],
    assigns: [:map, default: %{}, doc: "the `assigns` of every `McpServer.Conn`"],
    timeout: [
      :milliseconds,
      default: 60_000,
      doc: "how long a call may run; a tool's `timeout:` takes precedence",
      beyond: "`isError`, or `-32603`; the call is killed"
    ]
  ]

  # The maximum depth is that of the encoder. Schemas and handlers recurse as deep as a message.
  @messages [
    max_depth: [
      {:count, 128},
      default: 128,
      doc: "nesting of arrays and objects in a message",
      beyond: "`-32700`, `too_deep`"
    ],
    max_values: [
      :count,
      default: 200_000,
      doc: "scalars, arrays and objects of a message",
      beyond: "`-32700`, `too_many_values`"
    ],
    max_digits: [
      {:count, 10_000},
      default: 1_024,
      doc: "digits of a number, of its fraction and its exponent together",
      beyond: "`-32700`, `too_many_digits`"
    ],
    max_id_bytes: [
      {:bytes, 64 * @kibi},
      default: 256,
      doc: "a string id of a request, and a progress token",
      beyond: "`-32600`; `-32602` for a token"
    ],
    max_method_bytes: [{:bytes, 64 * @kibi}, default: 256, doc: "a method", beyond: "`-32600`"],
    max_name_bytes: [{:bytes, 64 * @kibi}, default: 128, doc: "the name of a tool or prompt", beyond: "`-32602`"],
    max_uri_bytes: [{:bytes, 64 * @kibi}, default: 8 * @kibi, doc: "a URI", beyond: "`-32602`"],
    max_meta_bytes: [
      {:bytes, @mebi},
      default: 16 * @kibi,
      doc: "`_meta` of a request; `clientInfo` and `capabilities` of `initialize`, each",
      beyond: "`-32602`"
    ],
    max_batch: [{:count, 1_000}, default: 50, doc: "messages of a batch (2025-03-26)", beyond: "`-32600`"]
  ]

  @calls [
    input_timeout: [
      :milliseconds,
      default: 300_000,
      doc: "how long a client may take to answer a question",
      beyond: "the call fails; the handler is not called again"
    ],
    max_heap_bytes: [
      {:bytes, 32 * @gibi},
      default: 512 * @mebi,
      misnamed: [:max_heap_words],
      doc: "memory of a call",
      beyond: "the call is killed, and fails"
    ],
    max_result_bytes: [:bytes, default: 64 * @mebi, doc: "an answer", beyond: "the call fails"],
    max_calls: [
      :count,
      default: 64,
      doc: "concurrent calls of one session; stdio is one session; calls that wait for the client do not count",
      beyond: "over HTTP 429; over stdio the next waits"
    ],
    max_subscriptions: [
      :count,
      default: 1_000,
      doc: "subscribed resources of a session, and of a stream",
      beyond: "`-32600`; over HTTP 429"
    ],
    max_subscription_bytes: [
      :bytes,
      default: 64 * @mebi,
      doc: "URIs of all subscriptions of a server, plus 512 bytes for each; over HTTP one client may have `max_share`",
      beyond: "`-32600`; over HTTP 429"
    ]
  ]

  @too_many_questions "the call fails; the handler is not called again"

  @stdio_limits [
    max_message_bytes: [
      :bytes,
      default: 10 * @mebi,
      misnamed: [:max_line_bytes, :max_body_bytes],
      doc: "a message over stdio",
      beyond: "`-32700` once; the line is skipped as it comes"
    ],
    max_waiting: [:count, default: 1_000, doc: "requests read ahead over stdio", beyond: "the client waits"],
    max_waiting_bytes: [:bytes, default: 8 * @mebi, doc: "the same in bytes", beyond: "the client waits"],
    max_awaiting_input: [
      :count,
      default: 1_000,
      doc: "calls over stdio that wait for answers to questions",
      beyond: @too_many_questions
    ],
    max_streams: [
      :count,
      default: 64,
      misnamed: [:max_listeners],
      doc: "`subscriptions/listen` streams over stdio",
      beyond: "`-32600`"
    ]
  ]

  @http_limits [
    max_message_bytes: [
      :bytes,
      default: 4 * @mebi,
      misnamed: [:max_body_bytes, :max_line_bytes],
      doc: "a message over HTTP, counted while it is read",
      beyond: "413, and the connection is closed"
    ],
    max_awaiting_input: [
      :count,
      default: 64,
      doc: "calls of one session over HTTP that wait for answers to questions",
      beyond: @too_many_questions
    ]
  ]

  @http [
    max_calls: [
      :count,
      default: 1_000,
      misnamed: [:max_requests],
      doc:
        "concurrent calls of one server, for each scheduler; calls of sessions that wait for the client do not count",
      beyond: "503, in a session 429, and `Retry-After`"
    ],
    max_argument_bytes: [
      {:bytes, 64 * @gibi},
      default: 256 * @mebi,
      doc: "requests of more than 64 KiB whose calls run, or wait for the client, of one server",
      beyond: "503, in a session 429, and `Retry-After`"
    ],
    max_answer_bytes: [
      {:bytes, 64 * @gibi},
      default: 256 * @mebi,
      doc: "what is not yet sent of answers of more than 64 KiB, of one server; one client may have `max_share`",
      beyond: "its next request and its next long answers are 503, in a session 429, with `Retry-After`"
    ],
    max_streams: [
      :count,
      default: 20_000,
      misnamed: [:max_listeners],
      doc: "`subscriptions/listen` streams of one server, for each scheduler",
      beyond: "429 and `Retry-After`"
    ],
    max_sessions: [:count, default: 10_000, doc: "sessions of a node", beyond: "503 and `Retry-After`"],
    max_sessions_per_principal: [
      :count,
      default: 100,
      doc: "sessions of one principal",
      beyond: "503 and `Retry-After`"
    ],
    max_share: [
      :percent,
      default: 25,
      doc:
        "percent of sessions, of calls and their bytes, of streams, of bytes of subscriptions, and of the 64 MiB of events that a node stores, for one client",
      beyond: "503 or 429, and `Retry-After`; the client's oldest events are deleted"
    ],
    max_tool_share: [
      :percent,
      default: 75,
      doc: "percent of the calls of the server, of a client and of a session that may be of one tool, rounded up",
      beyond: "429 and `Retry-After`: the model reads that there are too many calls"
    ],
    max_computing: [
      :count,
      default: 4,
      doc:
        "concurrent calls of one tool that computes for some milliseconds, for each scheduler, while the schedulers are busy",
      beyond: "429 and `Retry-After`"
    ],
    max_address_share: [
      :percent,
      default: 25,
      doc: "percent of hooks, and with `McpServer.HttpServer` of connections and body bytes, for one address",
      beyond: "as for all addresses"
    ],
    max_hooks: [
      :count,
      default: 1_000,
      doc: "concurrent calls of `identify:` and `init:`",
      beyond: "503 and `Retry-After`"
    ],
    max_invalid_tokens: [
      {:count, 100_000},
      default: InvalidTokens.default(),
      doc: "invalid tokens in a second that are answered without delay",
      beyond: "the 401 waits for its turn, at most 1 second"
    ],
    idle_timeout: [
      :milliseconds,
      default: 1_800_000,
      doc: "how long a session may be unused",
      beyond: "the session ends: 404; with a secret its memory is freed, and the next request reopens it"
    ],
    session_lifetime: [:milliseconds, default: 86_400_000, doc: "how long a session may live", beyond: "it ends: 404"],
    max_events: [
      {:count, 100_000},
      default: 256,
      doc: "stored events of each stream of a session, for resumption",
      beyond: "the oldest are deleted; a resumption that needs them gets 400"
    ],
    max_event_bytes: [:bytes, default: @mebi, doc: "the same in bytes", beyond: "the same"],
    max_queued_bytes: [
      :bytes,
      default: @mebi,
      doc: "data that a session queues for a stream whose client does not read",
      beyond: "the stream is closed"
    ],
    stall_timeout: [
      :milliseconds,
      default: 30_000,
      doc: "how long a client may not read",
      beyond: "the connection is closed"
    ],
    stream_after: [
      :milliseconds,
      default: 1_000,
      doc: "how long a call may run before its response becomes a stream",
      beyond: "the response becomes a stream"
    ],
    keep_alive: [
      :milliseconds,
      default: 15_000,
      doc: "how long a stream may be silent; the comment also detects lost clients",
      beyond: "a comment is sent"
    ]
  ]

  @plug_http [
    disconnect_check: [
      :milliseconds,
      default: 1_000,
      doc: "how long a stream may be silent before the plug checks that its client is connected",
      beyond: "the connection is checked"
    ]
  ]

  @sockets [
    max_connections: [
      :count,
      default: 16_384,
      doc: "connections; fewer if the VM may open fewer file descriptors",
      beyond: "503, and the connection is closed; with TLS it is closed without an answer"
    ],
    max_head_bytes: [
      {:bytes, @mebi},
      default: 64 * @kibi,
      doc: "a request's line and headers",
      beyond: "431, or 414 for the line"
    ],
    max_headers: [{:count, 1_000}, default: 100, doc: "headers of a request", beyond: "431"],
    max_body_bytes_in_flight: [
      {:bytes, 64 * @gibi},
      default: 256 * @mebi,
      doc: "all bodies that are being read or checked, all unfinished heads, and what comes ahead of an answer",
      beyond: "503"
    ],
    head_timeout: [:milliseconds, default: 10_000, doc: "how long a head may take", beyond: "408"],
    body_timeout: [:milliseconds, default: 60_000, doc: "how long a body may take", beyond: "408"],
    body_min_rate: [
      :bytes,
      default: 1_024,
      doc: "slowest rate of a body after `body_grace`, in bytes per second",
      beyond: "408"
    ],
    body_grace: [:milliseconds, default: 5_000, doc: "how long a body may be slower", beyond: "408"],
    connection_timeout: [
      :milliseconds,
      default: 60_000,
      doc: "how long a connection may wait for its next request",
      beyond: "it is closed"
    ]
  ]

  @max_mount_name_bytes 256

  # The limits for reading a message.
  @message_names [:max_subscriptions | Keyword.keys(@messages)]

  @type bounds :: %{atom() => term()}

  @doc "The limits of a connection and its calls, from the checked options of a transport."
  @spec bounds(%{atom() => term()}) :: bounds()
  def bounds(%{limits: limits} = options) do
    # Made once instead of for each call.
    %{callers: [], overload: :wait, drains?: false, heap: Limit.heap(limits.max_heap_bytes, false)}
    |> Map.merge(Map.take(options, [:assigns, :callers, :timeout, :drain]))
    |> Map.merge(limits)
  end

  @doc "The limits of a message, in the form that the core takes."
  @spec message_limits(bounds()) :: Protocol.limits()
  def message_limits(%{max_message_bytes: bytes} = bounds),
    do: bounds |> Map.take(@message_names) |> Map.put(:max_bytes, bytes) |> Protocol.limits()

  @doc "The names of the `http:` options that a mount stores. Calls, streams and invalid tokens are counted elsewhere."
  @spec http_settings() :: [atom()]
  def http_settings,
    do:
      Keyword.keys(@http ++ @plug_http) --
        [:max_calls, :max_streams, :max_hooks, :max_invalid_tokens, :max_tool_share, :max_computing]

  @doc "The names of the socket limits of `McpServer.HttpServer`."
  @spec sockets() :: [atom()]
  def sockets, do: Keyword.keys(@sockets)

  @doc "The options of `McpServer.Stdio`."
  @spec stdio() :: Options.table()
  def stdio do
    @router ++
      [
        principal: [:any, doc: "`conn.principal` of all calls; stdio has no authentication"],
        drain: [
          :milliseconds,
          default: 5_000,
          misnamed: [:grace],
          doc: "how long calls go on after the end of stdin, and when the VM is stopped",
          beyond: "they are killed; when the VM is stopped they are answered with an error"
        ],
        on_eof: [
          {:or, [:stop, :ignore], {:function, 0}},
          default: :stop,
          doc: "`:stop` stops the VM, `:ignore` only the transport, a function is called"
        ],
        limits: [{:group, limits(:stdio)}, doc: "holds the limits of messages and calls:"]
      ]
  end

  @doc "The options of `McpServer.HttpServer`."
  @spec http_server() :: Options.table()
  def http_server do
    own = [
      path: [:string, default: "/mcp", doc: "the path of the endpoint"],
      port: [{"an integer from 0 to 65535", &(&1 in 0..65_535)}, default: 4040, doc: "`0` takes a free port: `port/1`"],
      ip: [
        {:or, [:loopback, :any], {"an address such as {192, 168, 0, 7} or \"192.168.0.7\"", &(address(&1) != :error)}},
        default: :loopback,
        doc:
          "the address to listen on: `:loopback`, `:any` (all interfaces, IPv4), or an address of IPv4 or IPv6 as a tuple or a string"
      ],
      name: [:any, doc: "a name to register"],
      callers: [
        {"a list of processes such as [self()]", &pids?/1},
        default: [],
        doc:
          "for tests: the `$callers` of calls, hooks and queries, so that a sandbox of Ecto or a mock of these processes applies"
      ],
      tls: [
        {"options of :ssl such as [certfile: \"cert.pem\", keyfile: \"key.pem\"]", &tls?/1},
        secret: true,
        doc: "options of `:ssl`, see above"
      ]
    ]

    own ++ mount(@http ++ @sockets)
  end

  @doc """
  The address of the option `ip:`.

      iex> McpServer.ServerOptions.address(:loopback)
      {127, 0, 0, 1}
      iex> McpServer.ServerOptions.address("::1")
      {0, 0, 0, 0, 0, 0, 0, 1}
      iex> McpServer.ServerOptions.address("localhost")
      :error
  """
  @spec address(term()) :: :inet.ip_address() | :error
  def address(:loopback), do: {127, 0, 0, 1}
  def address(:any), do: {0, 0, 0, 0}
  def address(ip) when is_tuple(ip), do: if(is_list(:inet.ntoa(ip)), do: ip, else: :error)

  def address(text) when is_binary(text) do
    case :inet.parse_strict_address(:erlang.binary_to_list(text)) do
      {:ok, ip} -> ip
      {:error, :einval} -> :error
    end
  end

  def address(_other), do: :error

  @doc "The options of `McpServer.HttpPlug`."
  @spec http_plug() :: Options.table()
  def http_plug do
    path = [
      {:or, [nil], :string},
      doc: "the only path to serve, as the client sends it; none if a router in front selects the path"
    ]

    [path: path] ++ mount(@http ++ @plug_http)
  end

  @doc "The options of `McpServer.HttpPlug.Drainer`."
  @spec drainer() :: Options.table()
  def drainer do
    [
      router: [:name, required: true, doc: "the router of the sessions and streams"],
      drain: [
        :milliseconds,
        default: 5_000,
        doc: "how long calls of sessions go on",
        beyond: "they are answered with an error"
      ]
    ]
  end

  defp pids?(value), do: is_list(value) and Enum.all?(value, &is_pid/1)

  defp mount(http) do
    @router ++
      [
        mount_name: [
          {"a string of 1 to #{@max_mount_name_bytes} bytes", &mount_name?/1},
          shown: "from `:path`",
          doc: "the name of the mount, unique for the router and the same on every node; see `McpServer.HttpServer`"
        ],
        identify: [
          {:or, [nil], {:hook, 1}},
          misnamed: [:authorize],
          doc: "returns the principal for the request's head, see above"
        ],
        auth: [
          {:or, [nil],
           {"a keyword list such as [resource: \"https://…\", issuer: \"https://…\"], or {module, function}", &auth?/1}},
          secret: true,
          doc: "verifies access tokens, in place of `identify:` and `resource_metadata:`: `McpServer.Auth`"
        ],
        init: [
          {:or, [nil], {:hook, 1}},
          doc: "builds the `McpServer.Conn` of handlers from the request's head; it cannot set `principal` or `auth`"
        ],
        allowed_hosts: [
          :strings,
          default: [],
          doc: "allowed hosts besides loopback: `\"mcp.example.com\"`, or with a port"
        ],
        allowed_origins: [
          :strings,
          default: [],
          doc:
            "allowed origins besides loopback and the host itself: `\"https://app.example.com\"`; pages of these may read answers (CORS)"
        ],
        routes: [
          :any,
          default: [],
          misnamed: [:resources],
          doc:
            "further modules to serve, each below its own path: `{\"/path\", module}` or `{\"/path\", {module, options}}`, such as `{\"/resources\", {McpServer.DualResponse.Rest, server: MyApp.Results}}`; under a plug the path is relative to the path of the plug"
        ],
        resource_metadata: [
          {:or, [nil],
           {"a map with at least resource: \"https://…\" and authorization_servers: [\"https://…\"]", &metadata?/1}},
          doc: "the document of RFC 9728"
        ],
        drain: [
          :milliseconds,
          default: 5_000,
          misnamed: [:grace],
          doc: "how long calls go on when the server stops; under a plug, calls of an ending session",
          beyond:
            "they are ended: without a session 503 and `-32603`; in a session `isError` for a tool, otherwise `-32603`"
        ],
        limits: [{:group, limits(:http)}, doc: "holds the limits of messages and calls:"],
        http: [{:group, http}, doc: "holds the settings of sessions, streams and connections:"]
      ]
  end

  defp limits(:stdio), do: @stdio_limits ++ @calls ++ @messages
  defp limits(:http), do: @http_limits ++ @calls ++ @messages

  defp tls?(options), do: options == nil or (Keyword.keyword?(options) and options != [])
  defp auth?({module, function}), do: is_atom(module) and is_atom(function)
  defp auth?(options), do: options == nil or Keyword.keyword?(options)

  defp metadata?(value), do: is_map(value) and is_binary(value[:resource] || value["resource"])

  defp mount_name?(name),
    do: is_binary(name) and byte_size(name) in 1..@max_mount_name_bytes and String.valid?(name)
end
