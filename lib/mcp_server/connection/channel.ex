defmodule McpServer.Connection.Channel do
  @moduledoc false
  # What is under a connection. A channel lives in the connection's process: what it receives are that
  # process' messages, and it is the connection that writes.
  #
  # A channel has lanes. stdio has one, `:channel`, for everything. Over HTTP each request is a lane of
  # its own, and `:channel` is the stream of a session that belongs to no request.

  alias McpServer.Connection.InFlight
  alias McpServer.{Conn, Protocol, Request}

  @type lane :: :channel | pos_integer()

  @typedoc "What the channel knows of a message beside its text; `:base` is what its handler's conn starts from."
  @type origin :: %{
          :catalog => McpServer.Catalog.t(),
          :base => Conn.t(),
          :bytes => non_neg_integer(),
          optional(:events?) => boolean()
        }

  @typedoc """
  What a message to the process means:

  * `:lines` – messages of the peer, to be admitted
  * `:too_long` – one that was skipped
  * `:admitted` – a message that was admitted before it came here
  * `:gone` – nobody waits at this lane any more, and nobody will come back to it
  * `:writable` – the lane takes more
  * `:eof`, `:closed` – no more messages will come; with `:closed` none can be sent either
  """
  @type event ::
          {:lines, [binary()]}
          | :too_long
          | {:admitted, lane(), Protocol.outcome(), origin()}
          | {:gone, lane()}
          | {:writable, lane()}
          | :eof
          | :closed

  @typedoc """
  What is written to a lane: notifications, requests, the answer that ends it, or that there is none:
  `:accepted` for a message that has no answer, `:dropped` for a request that was cancelled. `:pause` ends
  what the client reads of the lane for now; it comes back for the rest after that many milliseconds.
  """
  @type entry :: {lane(), kind(), iodata()}
  @type kind ::
          :notification | :request | {:answer, standing()} | :accepted | :dropped | {:pause, pos_integer()}

  @typedoc "How an answer stands outside of its text, for transports that can say so."
  @type standing :: :ok | {:status, pos_integer()} | {:insufficient_scope, [String.t()]} | :forbidden

  @doc "Opens the channel. Messages may arrive from now on, as many as there is credit for."
  @callback open(options :: term()) :: {:ok, channel :: struct()} | {:error, term()}

  @doc "What a message of the process means to the channel; `:unknown` when it is not the channel's."
  @callback event(channel :: struct(), message :: term()) :: {[event()], struct()} | :unknown

  @doc """
  Asks for the next event that brings lines: what comes within so many microseconds, which hold up the scheduler, or
  `[]` where it will come as a message.
  """
  @callback credit(channel :: struct(), wait_us :: non_neg_integer()) :: [event()]

  @doc "Writes to lanes, in order. May block while the one peer of a channel does not read."
  @callback write(channel :: struct(), [entry()]) :: {:ok, struct()} | {:error, :closed}

  @doc "Whether a lane has enough to send for now: whoever writes to it should wait for `:writable`."
  @callback congested?(channel :: struct(), lane()) :: boolean()

  @doc "Whether a request to the client can get through at the lane, now or when it comes back."
  @callback reachable?(channel :: struct(), lane()) :: boolean()

  @doc "What tells a request from all others in flight: its id, and the lane where lanes have different peers."
  @callback key(channel :: struct(), lane(), Request.id()) :: term()

  @doc "A lane for a request that `holder` has taken in without the connection."
  @callback adopt(channel :: struct(), holder :: pid(), InFlight.entry()) :: {lane(), struct()}
  @optional_callbacks adopt: 3

  @doc "Whether the connection may rest: nothing is open and nobody is likely to write soon."
  @callback idle?(channel :: struct()) :: boolean()

  @doc "The connection has ended: everything was written that could be."
  @callback closed(channel :: struct(), reason :: :eof | :closed | :shutdown) :: :ok

  @doc "What the channel is called in telemetry."
  @callback transport() :: atom()

  @doc "The texts of entries, for channels that know no lanes."
  @spec messages([entry()]) :: [iodata()]
  def messages(entries), do: for({_lane, _kind, message} <- entries, message != [], do: message)
end
