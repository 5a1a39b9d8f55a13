defmodule McpServer.Connection.Waiting do
  @moduledoc false
  # Admitted requests that wait for a place, in order, with their number and their total size.

  alias McpServer.Connection.{Replies, Session}
  alias McpServer.ServerOptions
  alias McpServer.{Conn, Request}

  defstruct queue: :queue.new(), count: 0, bytes: 0

  @typedoc """
  `:bytes` is the length of a request's line. `:since` is its arrival (native time), `nil` if no events are sent about it.
  """
  @type entry :: %{
          key: Session.key(),
          request: Request.t(),
          base: Conn.t(),
          target: Replies.target(),
          bytes: non_neg_integer(),
          since: integer() | nil
        }

  @type t :: %__MODULE__{
          queue: :queue.queue(entry()),
          count: non_neg_integer(),
          bytes: non_neg_integer()
        }

  @doc "Whether another request may be read ahead."
  @spec room?(t(), ServerOptions.bounds()) :: boolean()
  def room?(waiting, options),
    do: waiting.count < options.max_waiting and waiting.bytes < options.max_waiting_bytes

  @doc "Adds a request behind the others."
  @spec put(t(), entry()) :: t()
  def put(waiting, entry) do
    %__MODULE__{
      queue: :queue.in(entry, waiting.queue),
      count: waiting.count + 1,
      bytes: waiting.bytes + entry.bytes
    }
  end

  @doc "Takes the first request. There must be one."
  @spec take(t()) :: {entry(), t()}
  def take(waiting) do
    {{:value, entry}, queue} = :queue.out(waiting.queue)
    {entry, without(%{waiting | queue: queue}, entry)}
  end

  @doc "Takes the request with the key. It must be waiting."
  @spec take(t(), Session.key()) :: {entry(), t()}
  def take(waiting, key) do
    {[entry], others} = waiting.queue |> :queue.to_list() |> Enum.split_with(&(&1.key == key))
    {entry, without(%{waiting | queue: :queue.from_list(others)}, entry)}
  end

  @doc "The requests, in order."
  @spec to_list(t()) :: [entry()]
  def to_list(waiting), do: :queue.to_list(waiting.queue)

  defp without(waiting, entry),
    do: %{waiting | count: waiting.count - 1, bytes: waiting.bytes - entry.bytes}
end
