defmodule McpServer.Connection.Transport do
  @moduledoc false
  # The transport under a connection. It runs in the connection's process: it interprets that process' messages, and the
  # connection writes through it.
  #
  # A transport has streams. stdio has only one, `:session`. Over HTTP each request is a stream, and `:session` is the
  # session's stream outside of requests.

  alias McpServer.Connection.InFlight
  alias McpServer.{Conn, Protocol, Request}

  @type stream :: :session | pos_integer()

  @typedoc "The origin of a message. `:base` is the initial conn of its handler."
  @type origin :: %{
          :catalog => McpServer.Catalog.t(),
          :base => Conn.t(),
          :bytes => non_neg_integer(),
          optional(:events?) => boolean()
        }

  @typedoc """
  The meaning of a message to the process:

  * `:lines` – messages of the peer, to be admitted
  * `:too_long` – a message over the limit was skipped
  * `:admitted` – a message that was already admitted
  * `:gone` – the client of this stream has disconnected and will not reconnect
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
  A write to a stream: a notification, a request or the answer that ends the stream. `:accepted` ends it for a message
  that has no answer, `:dropped` for a cancelled request. `:pause` closes the stream for now: the client reconnects
  after that many milliseconds.
  """
  @type entry :: {stream(), kind(), iodata()}
  @type kind ::
          :notification | :request | {:answer, standing()} | :accepted | :dropped | {:pause, pos_integer()}

  @typedoc "The status of an answer, for transports that have one."
  @type standing ::
          :ok
          | {:status, pos_integer()}
          | {:retry_after, seconds :: pos_integer()}
          | {:insufficient_scope, [String.t()]}
          | :forbidden

  @doc "Opens the transport. From now on messages may arrive, as far as there is credit."
  @callback open(options :: term()) :: {:ok, transport :: struct()} | {:error, term()}

  @doc "Interprets a message to the process. `:unknown` if it does not concern the transport."
  @callback event(transport :: struct(), message :: term()) :: {[event()], struct()} | :unknown

  @doc """
  Requests the next lines. Returns lines that arrive within `wait_us` microseconds, which block the scheduler. `[]`
  means that they will arrive as a message.
  """
  @callback credit(transport :: struct(), wait_us :: non_neg_integer()) :: [event()]

  @doc "Writes to streams, in order. May block while the one peer of a transport does not read."
  @callback write(transport :: struct(), [entry()]) :: {:ok, struct()} | {:error, :closed}

  @doc "Whether a stream has many unsent bytes. Its writers should wait for `:writable`."
  @callback congested?(transport :: struct(), stream()) :: boolean()

  @doc "Whether a request can reach the client on the stream, now or after it reconnects."
  @callback reachable?(transport :: struct(), stream()) :: boolean()

  @doc "The key of a request among all in flight: its id, and its stream if streams have different peers."
  @callback key(transport :: struct(), stream(), Request.id()) :: term()

  @doc "Makes a stream for a request that `holder` has started without the connection."
  @callback adopt(transport :: struct(), holder :: pid(), InFlight.entry()) :: {stream(), struct()}
  @optional_callbacks adopt: 3

  @doc "Whether the connection may rest: nothing is open, and no message is likely soon."
  @callback idle?(transport :: struct()) :: boolean()

  @doc "Closes the transport after the last write."
  @callback closed(transport :: struct(), reason :: :eof | :closed | :shutdown) :: :ok

  @doc "The transport's name in telemetry."
  @callback name() :: atom()

  @doc "The texts of entries, for transports without streams."
  @spec messages([entry()]) :: [iodata()]
  def messages(entries), do: for({_stream, _kind, message} <- entries, message != [], do: message)
end
