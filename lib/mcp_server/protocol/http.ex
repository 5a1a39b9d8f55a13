defmodule McpServer.Protocol.HTTP do
  @moduledoc false
  # The door to the core's rules of Streamable HTTP: heads and bodies in, outcomes out; answers that only
  # the owner of sessions, streams and bounds can give; how events are framed.
  # One of the façades over `McpServer.Native`. Knows no process and no socket.

  alias McpServer.{Catalog, Native, Protocol}
  alias McpServer.Protocol.Outcome

  @typedoc "Checked options of an endpoint."
  @opaque policy :: reference()

  @typedoc "A head that was let through and waits for its body."
  @opaque accepted_head :: reference()

  @type headers :: [{String.t(), String.t()}]

  @typedoc """
  A request's head: names in any case, values as sent. `:target` is the path with its query;
  `:authority` that of an absolute target, or HTTP/2's.
  """
  @type head :: %{
          required(:method) => String.t(),
          required(:target) => String.t(),
          required(:headers) => headers(),
          optional(:authority) => String.t() | nil,
          optional(atom()) => term()
        }

  @typedoc "A stream's number within its session, and an event's place on it."
  @type event_id :: {stream :: non_neg_integer(), index :: non_neg_integer()}

  @typedoc """
  What a head says.

    * `:session_id` – of the session era only; `""` stands for everything that no session can be called
    * `:last_event_id` – of a GET; `:invalid` names no event of this library's
    * `:content_length` – `nil` where it has to be counted
    * `:stateless` – the message is of the stateless era whatever its body says
    * `:events`, `:json` – what the client takes
    * `:cors_headers` – of every answer to a page of an origin that the policy names; `[]` for others
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
  What a body becomes. A `{:reply, status, body}` is JSON; `:ignore`, `:notification` and `:response` are
  answered with 202 and nothing; `:open` with 200 and the session's id; `:token_required` with 401. The items of a batch are the same,
  and go out as one array under 200.
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
  Where the metadata lies, what is wrong with the token that came, in a word and in words for a developer, and the scopes
  that would be enough; the algorithms of proofs where tokens may be bound to keys, and whether they must be.
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

  @typedoc "What is open to clients without a token: what there is, or also what is declared to be public."
  @type anonymous :: :discovery | :all | nil

  # Bodies above this go to a dirty scheduler: reading them takes longer than a normal one may be held.
  @inline_bytes Native.Dirty.inline_bytes()

  @doc """
  Checks the options of an endpoint; what is left out is as the core has it.

    * `:path` – where it is served (`"/mcp"`); `nil` where something else has already routed
    * `:allowed_hosts` – beside loopback: `"name"` for any port, or `"name:port"`
    * `:allowed_origins` – beside loopback and the addressed host itself: `"scheme://name[:port]"`
    * `:max_body_bytes` – 4 MiB
    * `:sessions` – whether the session era is served (`true`)
    * `:resource_metadata` – the protected resource metadata document (RFC 9728) as JSON text
    * `:metadata_at_root` – whether it is also served without the path of its resource (`true`)

  The error text names the option at fault.
  """
  @spec policy(map()) :: {:ok, policy()} | {:error, String.t()}
  def policy(options), do: Native.http_policy(options)

  @doc "Judges a head before its body is read; an `:answer` is finished."
  @spec check_head(policy(), head()) :: {:ok, accepted_head(), context()} | {:answer, 200..599, headers(), binary()}
  def check_head(policy, %{method: method, target: target, headers: headers} = head),
    do: Native.http_check_head(policy, method, target, Map.get(head, :authority), headers)

  @doc """
  Reads the body behind a head. `revision` is the session's, `nil` where there is none. `anonymous` says what the client
  may ask for without a token, `nil` where it has one, or none is asked for.
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

  @doc "Where a client finds the protected resource metadata of an endpoint; `nil` where there is none."
  @spec metadata_url(policy()) :: String.t() | nil
  def metadata_url(policy), do: Native.http_metadata_url(policy)

  @doc "Whether the protected resource metadata is served at a path."
  @spec metadata_path?(policy(), String.t()) :: boolean()
  def metadata_path?(policy, path), do: Native.http_metadata_path(policy, path)

  @doc """
  An answer that the core cannot find by itself: its status, headers and body.

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

  @doc "The event without data that gives a client an id to come back with, and says how long to wait first."
  @spec priming_event(event_id(), non_neg_integer() | nil) :: binary()
  def priming_event(id, retry_ms \\ nil), do: Native.http_priming(id, retry_ms)

  @doc "The comment that keeps a quiet stream open."
  @spec keep_alive() :: binary()
  def keep_alive, do: Native.http_keep_alive()

  @typedoc "What is served on a socket, and by which rules."
  @opaque service :: reference()

  @typedoc "How a body is delimited."
  @type framing :: :empty | {:length, non_neg_integer()} | :chunked

  @typedoc "What becomes of a connection behind its response; `:until_close` is HTTP/1.0."
  @type flow :: :keep_alive | :close | :until_close

  @typedoc """
  What the bytes on a connection are.

    * `:more` – the head is not complete; so far its end has been looked for
    * `:body` – a message whose head has so many bytes and whose body so many, and whether its client waits to be asked
    * `:reply` – a finished response to the first so many bytes
    * `:refuse` – a finished response to a request whose body has not come yet
    * `:request`, `:open` – a message for a handler, or one that opens a session
    * `:session_request` – a request of a session, admitted by the revision that its head names: the session may not
      be there, and may have agreed on another. Its head has so many bytes, all of it so many
    * `:head` – a request that a hook or a session has to see
    * `:known` – one of these whose token is known, by its digest; how many bytes its head has, and all of it
    * `:denied` – a `:reply` or a `:refuse`, and why no token lets the request in, for metrics
    * `:route` – a request below the path of a route, by its place among them, and whether it is a HEAD
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
          | {:known, digest :: binary(), {head_bytes :: pos_integer(), used :: pos_integer()}, next()}
          | {:denied, reason :: atom(), next()}
          | {:route, index :: non_neg_integer(), head? :: boolean(), used :: pos_integer(), framing(),
             continue? :: boolean(), flow()}

  @doc """
  What reads the requests of a socket. With `hooks?` no message is admitted before somebody has seen its head, and with a
  guard none whose token is not known.

  What lies below one of the paths of `routes` is not judged here.
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

  @doc "Judges what has arrived on a connection, of which `scanned` bytes have been looked at."
  @spec next(service(), binary(), non_neg_integer()) :: next()
  def next(service, buffer, scanned) do
    with :over_budget <- Native.http_next(service, buffer, scanned),
         do: Native.Dirty.call(fn -> Native.http_next_dirty(service, buffer, scanned) end)
  end

  @doc "The request of the fields that `next/3` gives."
  @spec request(tuple()) :: McpServer.Request.t()
  def request(fields) do
    {:request, request} = Outcome.of({:request, fields})
    request
  end

  @doc "The head whose bytes these are."
  @spec head_fields(binary()) :: head()
  def head_fields(head), do: Native.http_head_fields(head)

  @doc "The head of a response with a body of so many bytes, in chunks, or until the connection is closed."
  @spec response_head(200..599, headers(), non_neg_integer() | :chunked | :until_close, close? :: boolean()) :: binary()
  def response_head(status, headers, length, close?), do: Native.http_response_head(status, headers, length, close?)

  @doc "What asks a client for the body that it holds back."
  @spec continue() :: binary()
  def continue, do: Native.http_continue()

  @doc "A decoder for one body in chunks, of at most so many bytes."
  @spec chunked(pos_integer()) :: reference()
  def chunked(max_bytes), do: Native.http_chunked(max_bytes)

  @doc "Decodes more bytes of a body in chunks. A body that is done has used so many of them."
  @spec decode_chunks(reference(), binary()) ::
          :more | {:done, binary(), used :: non_neg_integer()} | {:error, :malformed | :too_large}
  def decode_chunks(decoder, bytes), do: Native.http_decode_chunks(decoder, bytes)
end
