defmodule McpServer.Connection.State do
  @moduledoc false
  # The state of a connection. The neighbouring modules are functions from state to state, run by the process
  # `McpServer.Connection`.

  alias McpServer.{Catalog, Conn, Quota, ServerOptions}
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
    unwritten: 0,
    outbox: %Outbox{},
    changes: MapSet.new(),
    listening?: false,
    backlog: [],
    owes_credit?: true
  ]

  @typedoc """
  The quota of the server whose limits the connection shares, and the client that sends all its requests.
  """
  @type server :: %{quota: Quota.t(), client: Quota.Client.t()}

  @typedoc """
  * `:transport` – the module and its struct
  * `:limits` – limits of messages that the connection admits
  * `:server` – the server whose limits the connection shares with others
  * `:in_flight` – the calls of all processes, if other processes also run calls of the connection
  * `:closing` – the reason why no more lines will come, `nil` before
  * `:principal` – the principal of the connection, if the transport knows it
  * `:calls` – the running calls by process; `:waiting` – admitted requests without a place
  * `:line_bytes`, `:base` – the length of the current message, and the initial conn of its handler
  * `:held` – handlers that wait until a stream takes more
  * `:awaiting_input` – the number of running calls that wait for the client
  * `:batches` – JSON-RPC batches with incomplete answers
  * `:unwritten` – the bytes of long answers in the outbox
  * `:changes` – change notifications not yet written
  * `:backlog` – lines not yet admitted; `:owes_credit?` – whether to request more lines from the transport after them
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
          unwritten: non_neg_integer(),
          outbox: Outbox.t(),
          changes: MapSet.t(McpServer.Changes.change()),
          listening?: boolean(),
          backlog: [binary()],
          owes_credit?: boolean()
        }

  @doc "The key that identifies the request with this id at `stream` among all in flight."
  @spec key(t(), Transport.stream(), McpServer.Request.id()) :: term()
  def key(%__MODULE__{transport: {module, transport}}, stream, id), do: module.key(transport, stream, id)

  @doc "The monotonic time in milliseconds."
  @spec now() :: integer()
  def now, do: System.monotonic_time(:millisecond)
end
