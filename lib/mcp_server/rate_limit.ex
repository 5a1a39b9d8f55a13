defmodule McpServer.RateLimit do
  alias McpServer.Options

  @table [
    limit: [:count, required: true, doc: "calls in each `per`"],
    per: [:milliseconds, default: 60_000, doc: "the time in which the bucket fills up again"],
    burst: [{:or, [nil], :count}, shown: "`limit`", doc: "how many calls the bucket holds: so many come at once"],
    by: [
      {:or, [:principal, :session, :peer], {:hook, 1}},
      default: :principal,
      doc: "who has a bucket of his own, see below"
    ]
  ]

  @max_keys 100_000

  @moduledoc """
  A `McpServer.Plug` that lets through so many calls in a time, for each client.

      plug McpServer.RateLimit, limit: 100, per: 60_000

      tool "render", "Renders a film", MyApp.Films, :render do
        plug McpServer.RateLimit, limit: 2, per: 60_000, by: {MyApp.Tenants, :of}
      end

  Each statement has buckets of its own. That of a router counts all calls of a client, that of a tool those of the tool.
  A bucket holds `burst` calls and fills up evenly, `limit` calls in `per` milliseconds. A call that finds none
  is refused and counts nothing.

  #{Options.document(@table)}

  | `by:` | a bucket for each |
  |---|---|
  | `:principal` | principal; where there is none, the peer |
  | `:session` | session; without one (2026-07-28) as `:principal`. A client can open many sessions |
  | `:peer` | address, an IPv6 network of 64 bits as one. All of loopback and of stdio have one bucket |
  | a function | value that the function of the `McpServer.Conn` returns; a call for which it returns `nil` is not limited |

  Behind a proxy all clients without a principal have the proxy's address.

  ## What the client gets

  The text "Too many calls. Try again in 12 seconds.", in the result of a tool with `isError`, which the model
  reads, else in a JSON-RPC error. Over HTTP it comes with the status 429 and the header `Retry-After`, unless the
  answer is part of a stream that has begun, or of a batch. A handler can answer the same with
  `{:error, {:retry_after, seconds}}`, when what it calls is busy.

  ## Bounds

  Buckets are kept in the memory of the node, so a client of three nodes has three. There are at most
  #{McpServer.Limit.digits(@max_keys)} of them. Full buckets go when there is no room. If all are in use, new clients of a statement
  share one bucket.

  A call counts each time its handler is called: one that asks the user counts again when the answer is there. The
  function of a task does not count again.
  """

  @behaviour McpServer.Plug

  alias McpServer.{Conn, NamedFunction, Share}
  alias McpServer.RateLimit.Bucket

  @impl true
  def init(options) do
    checked = Options.check!("McpServer.RateLimit", @table, options)
    NamedFunction.check!(:by, checked.by, 1)
    interval = max(1, div(checked.per * 1_000, checked.limit))
    %{interval: interval, burst: checked.burst || checked.limit, by: checked.by}
  end

  @impl true
  def call(%Conn{called: %{kind: :task}} = conn, next, _options), do: next.(conn)

  def call(conn, next, %{by: by} = options) do
    with holder when holder != :unlimited <- holder(by, conn),
         {:wait, wait_us} <- take({conn.called.plug, holder}, options) do
      {:error, {:retry_after, div(wait_us + 999_999, 1_000_000)}}
    else
      _granted -> next.(conn)
    end
  end

  defp take(key, options), do: Bucket.take(__MODULE__, key, options, System.monotonic_time(:microsecond), @max_keys)

  defp holder(:principal, conn), do: Share.holder(conn.principal, conn.peer)
  defp holder(:peer, conn), do: Share.holder(nil, conn.peer)
  defp holder(:session, %Conn{session_id: nil} = conn), do: holder(:principal, conn)
  defp holder(:session, conn), do: {:session, conn.session_id}

  defp holder(function, conn) do
    case called(function, conn) do
      nil -> :unlimited
      value -> {:value, Share.holder(value, nil)}
    end
  end

  defp called({module, function}, conn), do: apply(module, function, [conn])
  defp called(function, conn), do: function.(conn)

  # Makes the table of the buckets; the calling process owns it.
  @doc false
  @spec create_table() :: :ok
  def create_table do
    :ets.new(__MODULE__, [:named_table, :public, read_concurrency: true, write_concurrency: true])
    :ok
  end
end
