defmodule McpServer.Connection.State do
  @moduledoc false
  # What a connection knows. The modules beside this one are functions from state to state; the
  # process around them is `McpServer.Connection`.

  alias McpServer.{Catalog, Conn, ServerOptions, Share}
  alias McpServer.Connection.{Calls, InFlight, Outbox, Replies, Session, Timer, Transport, Waiting}

  @enforce_keys [:router, :catalog, :transport, :session, :options, :opened_at]
  defstruct [
    :router,
    :catalog,
    :transport,
    :session,
    :options,
    :opened_at,
    :limits,
    :server,
    :in_flight,
    :observer,
    :closing,
    :principal,
    base: %Conn{},
    held: %{},
    calls: %{},
    waiting: %Waiting{},
    line_bytes: 0,
    awaiting_input: 0,
    deadline_timer: nil,
    batches: %{},
    outbox: %Outbox{},
    changes: MapSet.new(),
    listening?: false,
    backlog: [],
    owes_credit?: true
  ]

  @typedoc "Whose limits a connection shares, what percentage of one a client may have, and whose all its requests are."
  @type server :: %{id: Share.server(), max_share: 1..100, holder: Share.holder()}

  @typedoc """
  * `:transport` – the module and its struct
  * `:limits` – of messages that are admitted here
  * `:server` – whose limits the connection shares with others
  * `:in_flight` – where not only the connection runs its calls: those of all
  * `:closing` – why no more lines will come, once that is so
  * `:principal` – whose connection it is, where the transport knows
  * `:calls` – the running ones by process; `:waiting` – admitted requests without a place yet
  * `:line_bytes`, `:base` – how long the message at hand is, and what its handler's conn starts from
  * `:held` – handlers that wait for a stream to take more
  * `:awaiting_input` – how many of the running ones wait for the client
  * `:batches` – JSON-RPC batches whose answers are not complete
  * `:changes` – change notifications not yet written
  * `:backlog` – lines not yet admitted; `:owes_credit?` – whether the transport is to be asked for more after them
  """
  @type t :: %__MODULE__{
          router: module(),
          catalog: Catalog.t(),
          transport: {module(), struct()},
          session: Session.t(),
          options: ServerOptions.bounds(),
          opened_at: integer(),
          limits: McpServer.Protocol.limits(),
          server: server(),
          in_flight: InFlight.t() | nil,
          observer: (term() -> term()) | nil,
          closing: nil | :eof | :closed,
          base: Conn.t(),
          principal: term(),
          held: %{Transport.stream() => [reference()]},
          calls: %{pid() => Calls.call()},
          waiting: Waiting.t(),
          line_bytes: non_neg_integer(),
          awaiting_input: non_neg_integer(),
          deadline_timer: Timer.t(),
          batches: %{reference() => Replies.batch()},
          outbox: Outbox.t(),
          changes: MapSet.t(McpServer.Changes.change()),
          listening?: boolean(),
          backlog: [binary()],
          owes_credit?: boolean()
        }

  @doc "What tells the request with this id at `stream` from all others in flight."
  @spec key(t(), Transport.stream(), McpServer.Request.id()) :: term()
  def key(%__MODULE__{transport: {module, transport}}, stream, id), do: module.key(transport, stream, id)

  @doc "Milliseconds that only go forward."
  @spec now() :: integer()
  def now, do: System.monotonic_time(:millisecond)
end
