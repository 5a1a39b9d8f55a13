defmodule McpServer.RateLimit do
  alias McpServer.Options

  @table [
    limit: [:count, required: true, doc: "calls in each `per`"],
    per: [:milliseconds, default: 60_000, doc: "the time in which a bucket is refilled"],
    burst: [{:or, [nil], :count}, shown: "`limit`", doc: "calls in a full bucket, which may come at once"],
    by: [
      {:or, [:principal, :session, :peer], {:hook, 1}},
      default: :principal,
      doc: "what has its own bucket, see below"
    ],
    status: [{:in, [429, 200]}, default: 429, doc: "the status of a refusal over HTTP, see below"]
  ]

  {limit, share} = McpServer.Quota.Kinds.bound(:rate_limit_buckets, %{})
  @max_buckets McpServer.Limit.digits(limit)
  @share_of_buckets McpServer.Limit.digits(share)
  @max_answers 10

  @moduledoc """
  A `McpServer.Plug` that limits the number of calls per time for each client.

      plug McpServer.RateLimit, limit: 100, per: 60_000

      tool "render", "Renders a film", MyApp.Films, :render do
        plug McpServer.RateLimit, limit: 2, per: 60_000, by: {MyApp.Tenants, :of}
      end

  Each `plug` statement has separate buckets. A statement of a router counts all calls of a client, a statement of a
  tool the calls of the tool. A bucket holds `burst` calls and is refilled evenly, with `limit` calls in `per`
  milliseconds. A call with an empty bucket is refused and does not count.

  #{Options.document(@table)}

  | `by:` | a bucket for each |
  |---|---|
  | `:principal` | principal; without a principal, each peer |
  | `:session` | session; without sessions (2026-07-28) like `:principal`. A client can open many sessions |
  | `:peer` | address, or IPv6 network of 64 bits. All loopback and stdio clients share one bucket |
  | a function | value that the function of the `McpServer.Conn` returns; a call for which it returns `nil` is not limited |

  Behind a proxy all clients without a principal share the proxy's address.

  ## What the client gets

  The client gets the text "Too many calls. Try again in 12 seconds.". For a tool it is a result with `isError`, else a
  JSON-RPC error. Over HTTP the response has the status 429 and the header `Retry-After`, unless it is part of a stream
  that has begun, or of a batch. A handler gives this answer with `{:error, {:retry_after, seconds}}`, for example if a
  service that it calls is busy.

  Many clients, such as the official ones for Python and TypeScript, treat the status 429 as a failure of the request, so
  the model does not read the text. With `status: 200` it does, and the response has no `Retry-After`.

  ## Bounds

  Buckets are in the memory of the node, so a client of three nodes has three. There are at most #{@max_buckets} of them,
  and #{@share_of_buckets} of one client, with `by: :session` or a function. Full buckets are removed to make room. In
  place of more buckets a client has one for each statement. If all are in use, new clients of a statement share one.

  ## Questions to the user

  A call counts once, even if its handler asks the user, with `McpServer.Controller.confirm/4` or
  `McpServer.Controller.input_required/2`: up to #{@max_answers} answers of a call are free. With revision 2026-07-28 an answer is a
  request with the state of the question, and only the first one is free. An answer counts like a new call if it is sent
  again, if it comes after `request_state_ttl:`, or if another node has asked. Every question has a state, so several
  nodes need the same `secret:`. The function of a task does not count again.
  """

  @behaviour McpServer.Plug

  alias McpServer.{Conn, NamedFunction}
  alias McpServer.Dispatch.Outcome
  alias McpServer.Quota
  alias McpServer.Quota.Client
  alias McpServer.RateLimit.{Answers, Bucket}

  @impl true
  def init(options) do
    checked = Options.check!("McpServer.RateLimit", @table, options)
    NamedFunction.check!(:by, checked.by, 1)
    interval = max(1, div(checked.per * 1_000, checked.limit))
    %{interval: interval, burst: checked.burst || checked.limit, by: checked.by, status: checked.status}
  end

  @impl true
  def call(%Conn{called: %{kind: :task}} = conn, next, _options) do
    {_mark, conn} = Answers.open(conn)
    next.(conn)
  end

  def call(conn, next, options) do
    {mark, conn} = Answers.open(conn)

    with nil <- Answers.use(mark),
         {:wait, wait_us} <- count(conn, options) do
      refuse(div(wait_us + 999_999, 1_000_000), options)
    else
      left -> conn |> next.() |> Answers.mark(Client.new(conn.principal, conn.peer), left)
    end
  end

  defp refuse(seconds, %{status: 429}), do: {:error, {:retry_after, seconds}}
  defp refuse(seconds, %{status: 200}), do: {:error, Outcome.too_many(seconds)}

  defp count(conn, %{by: by} = options) do
    with client when client != :unlimited <- client(by, conn),
         {:wait, wait_us} <- take({conn.called.plug, client}, Client.new(conn.principal, conn.peer), options) do
      {:wait, wait_us}
    else
      :unlimited -> 0
      :ok -> @max_answers
    end
  end

  defp take(key, client, options),
    do: Bucket.take(__MODULE__, key, client, options, System.monotonic_time(:microsecond), Quota.of_node())

  defp client(:principal, conn), do: Client.new(conn.principal, conn.peer)
  defp client(:peer, conn), do: Client.of_peer(conn.peer)
  defp client(:session, %Conn{session_id: nil} = conn), do: client(:principal, conn)
  defp client(:session, conn), do: {:session, conn.session_id}

  defp client(function, conn) do
    case called(function, conn) do
      nil -> :unlimited
      value -> {:value, Client.new(value, nil)}
    end
  end

  defp called({module, function}, conn), do: apply(module, function, [conn])
  defp called(function, conn), do: function.(conn)

  # Makes the tables of the buckets and the answers; the calling process owns them.
  @doc false
  @spec create_table() :: :ok
  def create_table do
    :ets.new(__MODULE__, [:named_table, :public, read_concurrency: true, write_concurrency: true])
    Answers.create_table()
  end
end
