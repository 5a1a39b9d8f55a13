defmodule McpServer.Connection.Transport do
  @moduledoc false
  # What is under a connection. A transport lives in the connection's process: what it receives are that
  # process' messages, and it is the connection that writes.
  #
  # A transport has streams. stdio has one, `:session`, for everything. Over HTTP each request is a stream of
  # its own, and `:session` is the stream of a session that belongs to no request.

  alias McpServer.Connection.InFlight
  alias McpServer.{Conn, Protocol, Request}

  @type stream :: :session | pos_integer()

  @typedoc "What the transport knows of a message beside its text; `:base` is what its handler's conn starts from."
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
  * `:gone` – nobody waits at this stream any more, and nobody will come back to it
  * `:writable` – the stream takes more
  * `:eof`, `:closed` – no more messages will come; with `:closed` none can be sent either
  """
  @type event ::
          {:lines, [binary()]}
          | :too_long
          | {:admitted, stream(), Protocol.outcome(), origin()}
          | {:gone, stream()}
          | {:writable, stream()}
          | :eof
          | :closed

  @typedoc """
  What is written to a stream: notifications, requests, the answer that ends it, or that there is none:
  `:accepted` for a message that has no answer, `:dropped` for a request that was cancelled. `:pause` ends
  what the client reads of the stream for now; it comes back for the rest after that many milliseconds.
  """
  @type entry :: {stream(), kind(), iodata()}
  @type kind ::
          :notification | :request | {:answer, standing()} | :accepted | :dropped | {:pause, pos_integer()}

  @typedoc "How an answer stands outside of its text, for transports that can say so."
  @type standing ::
          :ok
          | {:status, pos_integer()}
          | {:retry_after, seconds :: pos_integer()}
          | {:insufficient_scope, [String.t()]}
          | :forbidden

  @doc "Opens the transport. Messages may arrive from now on, as many as there is credit for."
  @callback open(options :: term()) :: {:ok, transport :: struct()} | {:error, term()}

  @doc "What a message of the process means to the transport; `:unknown` when it is not the transport's."
  @callback event(transport :: struct(), message :: term()) :: {[event()], struct()} | :unknown

  @doc """
  Asks for the next event that brings lines: what comes within so many microseconds, which hold up the scheduler, or
  `[]` where it will come as a message.
  """
  @callback credit(transport :: struct(), wait_us :: non_neg_integer()) :: [event()]

  @doc "Writes to streams, in order. May block while the one peer of a transport does not read."
  @callback write(transport :: struct(), [entry()]) :: {:ok, struct()} | {:error, :closed}

  @doc "Whether a stream has enough to send for now: whoever writes to it should wait for `:writable`."
  @callback congested?(transport :: struct(), stream()) :: boolean()

  @doc "Whether a request to the client can get through at the stream, now or when it comes back."
  @callback reachable?(transport :: struct(), stream()) :: boolean()

  @doc "What tells a request from all others in flight: its id, and the stream where streams have different peers."
  @callback key(transport :: struct(), stream(), Request.id()) :: term()

  @doc "A stream for a request that `holder` has taken in without the connection."
  @callback adopt(transport :: struct(), holder :: pid(), InFlight.entry()) :: {stream(), struct()}
  @optional_callbacks adopt: 3

  @doc "Whether the connection may rest: nothing is open and nobody is likely to write soon."
  @callback idle?(transport :: struct()) :: boolean()

  @doc "The connection has ended: everything was written that could be."
  @callback closed(transport :: struct(), reason :: :eof | :closed | :shutdown) :: :ok

  @doc "What the transport is called in telemetry."
  @callback name() :: atom()

  @doc "The texts of entries, for transports that know no streams."
  @spec messages([entry()]) :: [iodata()]
  def messages(entries), do: for({_stream, _kind, message} <- entries, message != [], do: message)
end
