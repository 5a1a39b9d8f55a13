defmodule McpServer.Protocol.HTTP do
  @moduledoc false
  # The façade over the core's rules of Streamable HTTP in `McpServer.Native`. It turns heads and bodies into outcomes,
  # encodes answers about sessions, streams and limits, and frames events. It knows no process and no socket.

  alias McpServer.{Catalog, JSON, Native, Protocol, Request}
  alias McpServer.Protocol.Outcome

  @typedoc "Checked options of an endpoint."
  @opaque policy :: reference()

  @typedoc "An accepted head that waits for its body."
  @opaque accepted_head :: reference()

  @type headers :: [{String.t(), String.t()}]

  @typedoc """
  A request's head: names in any case, values as sent. `:target` is the path with its query. `:authority` comes from an
  absolute target or from HTTP/2.
  """
  @type head :: %{
          required(:method) => String.t(),
          required(:target) => String.t(),
          required(:headers) => headers(),
          optional(:authority) => String.t() | nil,
          optional(atom()) => term()
        }

  @typedoc "A stream's number within its session, and an event's index on the stream."
  @type event_id :: {stream :: non_neg_integer(), index :: non_neg_integer()}

  @typedoc """
  The content of a head.

    * `:session_id` – only in the session era; `""` stands for all invalid ids
    * `:last_event_id` – of a GET; `:invalid` is an id of no event of this library
    * `:content_length` – `nil` if it must be counted
    * `:stateless` – the message is of the stateless era, whatever its body contains
    * `:events`, `:json` – what the client accepts
    * `:cors_headers` – headers of every answer to a page of an allowed origin; `[]` for others
  """
  @type context :: %{
          verb: :post | :get | :delete,
          session_id: String.t() | nil,
          last_event_id: event_id() | :invalid | nil,
          content_length: non_neg_integer() | nil,
          stateless: boolean(),
          events: boolean(),
          json: boolean(),
          cors_headers: headers()
        }

  @typedoc """
  The outcome of a body. A `{:reply, status, body}` is JSON. `:ignore`, `:notification` and `:response` are answered
  with an empty 202, `:open` with 200 and the session's id, `:token_required` with 401. The items of a batch are
  outcomes too, answered with one array and 200.
  """
  @type outcome ::
          {:reply, status :: 200..599, Protocol.message()}
          | :ignore
          | :token_required
          | {:open, Protocol.message(), Protocol.opening()}
          | {:request, McpServer.Request.t()}
          | {:notification, Protocol.notification()}
          | {:response, McpServer.Request.id(), {:ok, map()} | {:error, map()}}
          | {:batch, [outcome()]}

  @typedoc """
  The URL of the metadata, the error of the token as a code and as a text for developers, and the sufficient scopes. If
  tokens may be bound to keys, also the algorithms of proofs, and whether proofs are required.
  """
  @type challenge :: %{
          optional(:resource_metadata) => String.t() | nil,
          optional(:error) => String.t() | nil,
          optional(:description) => String.t() | nil,
          optional(:scope) => [String.t()],
          optional(:algs) => [String.t()],
          optional(:bound_only) => boolean()
        }

  @type answer :: {status :: 200..599, headers(), body :: binary()}

  @typedoc "The access of clients without a token: only discovery, or also public entries."
  @type anonymous :: :discovery | :all | nil

  # Longer bodies go to a dirty scheduler, because they would block a normal one for too long.
  @inline_bytes Native.Dirty.inline_bytes()

  @doc """
  Checks the options of an endpoint. Missing options have the core's defaults.

    * `:path` – the path of the endpoint (`"/mcp"`); `nil` if the request was already routed
    * `:allowed_hosts` – beside loopback: `"name"` for any port, or `"name:port"`
    * `:allowed_origins` – beside loopback and the addressed host itself: `"scheme://name[:port]"`
    * `:max_body_bytes` – 4 MiB
    * `:sessions` – whether the session era is served (`true`)
    * `:resource_metadata` – the protected resource metadata document (RFC 9728) as JSON text
    * `:metadata_at_root` – whether it is also served without the path of its resource (`true`)

  The error text names the faulty option.
  """
  @spec policy(map()) :: {:ok, policy()} | {:error, String.t()}
  def policy(options), do: Native.http_policy(options)

  @doc """
  Checks a head before its body is read. An `:answer` is complete. An `:unfit` head gets the answer with these CORS
  headers, once its client is identified.
  """
  @spec check_head(policy(), head()) ::
          {:ok, accepted_head(), context()}
          | {:answer, 200..599, headers(), binary()}
          | {:unfit, answer(), cors_headers :: headers()}
  def check_head(policy, %{method: method, target: target, headers: headers} = head),
    do: Native.http_check_head(policy, method, target, Map.get(head, :authority), headers)

  @doc "Counts the answer to an `:unfit` head."
  @spec count_refusal(status :: 200..599) :: :ok
  def count_refusal(status), do: Native.http_count_refusal(status)

  @doc """
  Reads the body of a head. `revision` is the session's, `nil` without a session. `anonymous` is the access of a client
  without a token, `nil` if it has a token or the server requires none.
  """
  @spec admit(Catalog.t(), accepted_head(), String.t() | nil, binary(), Protocol.limits(), anonymous()) :: outcome()
  def admit(catalog, accepted, revision, body, limits \\ nil, anonymous \\ nil)

  def admit(%Catalog{ref: ref}, accepted, revision, body, limits, anonymous) when byte_size(body) <= @inline_bytes do
    with :over_budget <- Native.http_admit(ref, limits, accepted, {revision, anonymous}, body) do
      Native.Dirty.call(fn -> Native.http_admit_dirty(ref, limits, accepted, {revision, anonymous}, body) end)
    end
    |> Outcome.of()
  end

  def admit(%Catalog{ref: ref}, accepted, revision, body, limits, anonymous) do
    outcome = Native.Dirty.call(fn -> Native.http_admit_dirty(ref, limits, accepted, {revision, anonymous}, body) end)
    Outcome.of(outcome)
  end

  @doc "The URL of an endpoint's protected resource metadata, `nil` if it has none."
  @spec metadata_url(policy()) :: String.t() | nil
  def metadata_url(policy), do: Native.http_metadata_url(policy)

  @doc "Whether the protected resource metadata is served at a path."
  @spec metadata_path?(policy(), String.t()) :: boolean()
  def metadata_path?(policy, path), do: Native.http_metadata_path(policy, path)

  @doc """
  An answer that the core does not decide alone: its status, headers and body.

  | kind | status | details |
  |---|---|---|
  | `:resume_gone`, `:resume_unknown` | 400 | |
  | `:invalid_authorization` | 400 | a challenge |
  | `:unauthorized` | 401 | a challenge |
  | `:forbidden` | 403 | a challenge |
  | `:session_not_found` | 404 | |
  | `:request_timeout` | 408 | |
  | `:stream_taken` | 409 | |
  | `:malformed` | 400 | |
  | `:payload_too_large` | 413 | the most bytes a body may have |
  | `:too_many_requests` | 429 | seconds to wait |
  | `:head_too_large` | 431 | |
  | `:internal_error` | 500 | |
  | `:too_many_sessions`, `:overloaded`, `:session_interrupted`, `:authorization_unavailable` | 503 | seconds to wait |
  | `:shutting_down` | 503 | |
  """
  @spec answer(atom(), term()) :: answer()
  def answer(kind, details \\ nil), do: Native.http_answer(kind, details)

  @typedoc "The ids of the requests that a response answers: of one, of a batch, or `nil` without a request."
  @type asked :: Request.id() | [Request.id(), ...] | nil

  @doc "The ids of the requests in a message."
  @spec asked(outcome()) :: asked()
  def asked({:request, request}), do: request.id
  def asked({:batch, outcomes}), do: with([] <- for({:request, request} <- outcomes, do: request.id), do: nil)
  def asked(_no_request), do: nil

  @doc "The answer to these requests, which were read before they could not be served."
  @spec answer_to(asked(), answer()) :: answer()
  def answer_to(nil, answer), do: answer

  def answer_to(ids, {status, headers, ~s({"jsonrpc":"2.0",) <> error}) when is_list(ids) do
    answers = for id <- ids, do: answer_with(id, error)
    {status, headers, IO.iodata_to_binary([?[, Enum.intersperse(answers, ?,), ?]])}
  end

  def answer_to(id, {status, headers, ~s({"jsonrpc":"2.0",) <> error}),
    do: {status, headers, IO.iodata_to_binary(answer_with(id, error))}

  defp answer_with(id, error), do: [~s({"jsonrpc":"2.0","id":), JSON.encode!(id), ?,, error]

  @doc "The value of `WWW-Authenticate`."
  @spec challenge(challenge()) :: String.t()
  def challenge(challenge), do: Native.http_challenge(challenge)

  @doc "The headers of an answer that is a stream of events."
  @spec event_stream_headers() :: headers()
  def event_stream_headers, do: Native.http_stream_headers()

  @doc "A message, which is one line, as an event."
  @spec event(event_id() | nil, Protocol.message()) :: iodata()
  def event(id, message) do
    {head, tail} = Native.http_event(id)
    [head, message, tail]
  end

  @doc "The event without data that gives a client an id to resume from, and how long to wait before."
  @spec priming_event(event_id(), non_neg_integer() | nil) :: binary()
  def priming_event(id, retry_ms \\ nil), do: Native.http_priming(id, retry_ms)

  @doc "The comment that keeps a quiet stream open."
  @spec keep_alive() :: binary()
  def keep_alive, do: Native.http_keep_alive()

  @typedoc "The native service that reads the requests of sockets."
  @opaque service :: reference()

  @typedoc "How a body is delimited."
  @type framing :: :empty | {:length, non_neg_integer()} | :chunked

  @typedoc "The state of a connection after its response. `:until_close` is HTTP/1.0."
  @type flow :: :keep_alive | :close | :until_close

  @typedoc """
  The result of reading a connection's bytes.

    * `:more` – the head is incomplete; `scanned` bytes were searched for its end
    * `:body` – a message with the lengths of its head and body, and whether its client waits for "100 Continue"
    * `:reply` – a complete response to a request of so many bytes
    * `:refuse` – a complete response to a request whose body has not arrived
    * `:request`, `:open` – a message for a handler, or a message that opens a session
    * `:session_request` – a request of a session, admitted with the revision in its head, with the lengths of its head
      and of the whole request. The session may not exist, or may have agreed on another revision
    * `:head` – a request that a hook or a session must see
    * `:unfit` – a refused head, the answer and its CORS headers for an identified client, and whether it is a HEAD
    * `:known` – such a request whose token is cached, with the token's digest and the lengths of head and request
    * `:denied` – a `:reply` or a `:refuse`, with the reason of the refused access for metrics
    * `:route` – a request below the path of a route, with the route's index, and whether it is a HEAD
  """
  @type next ::
          {:more, scanned :: non_neg_integer()}
          | {:body, head_bytes :: pos_integer(), length :: non_neg_integer(), continue? :: boolean()}
          | {:reply, iodata(), used :: non_neg_integer(), flow()}
          | {:refuse, iodata(), used :: non_neg_integer(), framing(), flow()}
          | {:request, fields :: tuple(), events? :: boolean(), used :: pos_integer(), flow()}
          | {:open, tuple(), used :: pos_integer(), flow()}
          | {:session_request, {session_id :: String.t(), revision :: String.t()}, fields :: tuple(),
             events? :: boolean(), {head_bytes :: pos_integer(), used :: pos_integer()}, flow()}
          | {:head, accepted_head(), context(), used :: pos_integer(), framing(), continue? :: boolean(), flow()}
          | {:unfit, {answer(), cors_headers :: headers()}, head? :: boolean(), used :: pos_integer(), framing(),
             flow()}
          | {:known, digest :: binary(), {head_bytes :: pos_integer(), used :: pos_integer()}, next()}
          | {:denied, reason :: atom(), next()}
          | {:route, index :: non_neg_integer(), head? :: boolean(), used :: pos_integer(), framing(),
             continue? :: boolean(), flow()}

  @doc """
  The native service that reads the requests of a socket. With `hooks?` a hook sees the head before the message is
  admitted. With a guard only messages with a cached token are admitted.

  Requests below the paths of `routes` are not checked here.
  """
  @spec service(
          policy(),
          Catalog.t(),
          Protocol.limits(),
          {hooks? :: boolean(), Protocol.Auth.guard() | nil},
          routes :: [String.t()],
          map()
        ) :: service()
  def service(policy, %Catalog{ref: ref}, limits, hooks_and_guard, routes, %{max_head_bytes: bytes, max_headers: fields}),
      do: Native.http_service(policy, ref, limits, hooks_and_guard, routes, {bytes, fields})

  @doc "Reads the bytes of a connection. `scanned` bytes were already searched for the head's end."
  @spec next(service(), binary(), non_neg_integer()) :: next()
  def next(service, buffer, scanned) do
    with :over_budget <- Native.http_next(service, buffer, scanned),
         do: Native.Dirty.call(fn -> Native.http_next_dirty(service, buffer, scanned) end)
  end

  @doc "The request with the fields of `next/3`."
  @spec request(tuple()) :: McpServer.Request.t()
  def request(fields) do
    {:request, request} = Outcome.of({:request, fields})
    request
  end

  @doc "Parses the bytes of a head."
  @spec head_fields(binary()) :: head()
  def head_fields(head), do: Native.http_head_fields(head)

  @doc "The head of a response. Its body has a length, is chunked, or ends with the connection."
  @spec response_head(200..599, headers(), non_neg_integer() | :chunked | :until_close, close? :: boolean()) :: binary()
  def response_head(status, headers, length, close?), do: Native.http_response_head(status, headers, length, close?)

  @doc "The interim response \"100 Continue\"."
  @spec continue() :: binary()
  def continue, do: Native.http_continue()

  @doc "A decoder for one chunked body of at most `max_bytes`."
  @spec chunked(pos_integer()) :: reference()
  def chunked(max_bytes), do: Native.http_chunked(max_bytes)

  @doc "Decodes more bytes of a chunked body. `used` is the number of bytes up to the body's end."
  @spec decode_chunks(reference(), binary()) ::
          :more | {:done, binary(), used :: non_neg_integer()} | {:error, :malformed | :too_large}
  def decode_chunks(decoder, bytes), do: Native.http_decode_chunks(decoder, bytes)
end
