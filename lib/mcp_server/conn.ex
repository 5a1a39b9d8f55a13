defmodule McpServer.Conn do
  @moduledoc """
  The context of a call, and the first parameter of every handler. It is never sent and cannot be encoded as JSON.

  | field | meaning |
  |---|---|
  | `session_id` | the session's id; `nil` without a session (revision 2026-07-28) |
  | `private` | values of libraries: `put_private/3` |
  | `assigns` | values of your application, such as the user: `assign/3` |
  | `client_info` | the client's `%{"name" => …, "version" => …}`, or `nil` |
  | `client_capabilities` | the client's capabilities; see `McpServer.Controller.supports?/2` |
  | `protocol_version` | the protocol revision, `"2025-11-25"` |
  | `principal` | the principal that the transport authenticated, or `nil` |
  | `auth` | scopes and claims of this request's token: `McpServer.Auth`, or `nil` |
  | `request_id` | the JSON-RPC id of the request |
  | `meta` | the request's `_meta`, without members of the protocol; at most `max_meta_bytes` of text |
  | `progress_token` | set when the client wants progress: `McpServer.Controller.progress/4` |
  | `log_level` | the level from which the client wants log messages: `McpServer.Controller.log/4` |
  | `input_responses` | the client's answers to the handler's questions: `McpServer.Controller.input/2` |
  | `input_errors` | the client's JSON-RPC errors to questions (revisions with sessions), by the same keys |
  | `state` | the handler's state between its question and its next call: `McpServer.Controller.state/1` |
  | `router` | the router that was called |
  | `transport` | `:stdio`, `:http`, or `:test` in `McpServer.Test` |
  | `peer` | the address of the peer over HTTP, `{127, 0, 0, 1}`; behind a proxy the proxy's; else `nil` |
  | `called` | in a plug, the called tool, prompt or resource: `t:McpServer.Plug.called/0`; else `nil` |
  | `mount` | the name of the HTTP mount: `:mount_name` of `McpServer.HttpServer`; else `nil` |

  Strings from the client stay strings: keys of `client_info`, `client_capabilities` and
  `input_responses` are never atoms.

  For tests a `%McpServer.Conn{session_id: "test"}` is enough.

  `inspect/1` shows the router, the revision, whether there are a session and a principal, and the names under
  `assigns`. It shows no values, because inspected terms end in logs.
  """

  defstruct session_id: nil,
            private: %{},
            assigns: %{},
            client_info: nil,
            client_capabilities: %{},
            protocol_version: nil,
            principal: nil,
            auth: nil,
            request_id: nil,
            meta: %{},
            progress_token: nil,
            log_level: nil,
            input_responses: %{},
            input_errors: %{},
            state: nil,
            router: nil,
            mount: nil,
            transport: nil,
            called: nil,
            peer: nil,
            call: nil

  @typedoc "`call` is private: the library sends progress and log messages with it."
  @type t :: %__MODULE__{
          session_id: String.t() | nil,
          private: map,
          assigns: map,
          client_info: map | nil,
          client_capabilities: map | nil,
          protocol_version: String.t() | nil,
          principal: term,
          auth: McpServer.Auth.t() | nil,
          request_id: String.t() | integer | nil,
          meta: %{String.t() => term},
          progress_token: String.t() | integer | nil,
          log_level: String.t() | nil,
          input_responses: map | nil,
          input_errors: map,
          state: term,
          router: module | nil,
          mount: String.t() | nil,
          transport: atom,
          peer: :inet.ip_address() | nil,
          called: McpServer.Plug.called() | nil,
          call: term
        }

  @doc """
  The session's id.

      iex> McpServer.Conn.get_session_id(%McpServer.Conn{session_id: "abc"})
      "abc"
  """
  @spec get_session_id(t) :: String.t() | nil
  def get_session_id(%__MODULE__{session_id: session_id}), do: session_id

  @doc """
  Puts a value into `private`.

      iex> conn = McpServer.Conn.put_private(%McpServer.Conn{}, :user, "ada")
      iex> McpServer.Conn.get_private(conn, :user)
      "ada"
  """
  @spec put_private(t, term, term) :: t
  def put_private(%__MODULE__{} = conn, key, value), do: %{conn | private: Map.put(conn.private, key, value)}

  @doc """
  A value of `private`, or `default`.

      iex> McpServer.Conn.get_private(%McpServer.Conn{}, :user, "nobody")
      "nobody"
  """
  @spec get_private(t, term, term) :: term
  def get_private(%__MODULE__{} = conn, key, default \\ nil), do: Map.get(conn.private, key, default)

  @trace_keys ["traceparent", "tracestate", "baggage"]

  @doc """
  The trace context that the client has sent in `_meta`, as headers for an OpenTelemetry propagator or a request to
  another service. The headers are `traceparent`, `tracestate` (W3C Trace Context) and `baggage`, if they are strings.

      iex> conn = %McpServer.Conn{meta: %{"traceparent" => "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}
      iex> McpServer.Conn.trace_context(conn)
      [{"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}]

      :otel_propagator_text_map.extract(McpServer.Conn.trace_context(conn))
  """
  @spec trace_context(t) :: [{String.t(), String.t()}]
  def trace_context(%__MODULE__{meta: meta}),
    do: for(key <- @trace_keys, value = meta[key], is_binary(value), do: {key, value})

  @doc """
  Puts a value into `assigns`.

      iex> McpServer.Conn.assign(%McpServer.Conn{}, :tenant, 7).assigns
      %{tenant: 7}
  """
  @spec assign(t, atom, term) :: t
  def assign(%__MODULE__{} = conn, key, value) when is_atom(key) do
    %{conn | assigns: Map.put(conn.assigns, key, value)}
  end

  @doc """
  Puts several values into `assigns`.

      iex> McpServer.Conn.assign(%McpServer.Conn{}, tenant: 7, locale: "en").assigns
      %{tenant: 7, locale: "en"}
  """
  @spec assign(t, keyword | %{atom => term}) :: t
  def assign(%__MODULE__{} = conn, values),
    do: Enum.reduce(values, conn, fn {key, value}, acc -> assign(acc, key, value) end)
end

defimpl Inspect, for: McpServer.Conn do
  # Shows no values of clients or of the application.
  def inspect(conn, options) do
    shown = [
      router: conn.router,
      protocol_version: conn.protocol_version,
      session?: conn.session_id != nil,
      principal?: conn.principal != nil,
      assigns: names(conn.assigns)
    ]

    fields = for {name, value} <- shown, do: "#{name}: #{Kernel.inspect(value, limit: options.limit)}"
    "#McpServer.Conn<#{Enum.join(fields, ", ")}>"
  end

  defp names(%{} = assigns), do: assigns |> Map.keys() |> Enum.filter(&is_atom/1) |> Enum.sort()
  defp names(_other), do: []
end
