defmodule McpServer.Stdio.Reader do
  @moduledoc false
  # The native side of stdin: lines that are taken as they come, and a thread that waits for them where they do not come
  # soon. Together with `Takeover` the only one here that knows there is native code.

  alias McpServer.Native

  @opaque t :: reference()

  @doc """
  Moves stdin and stdout to descriptors of our own, once per VM: afterwards descriptor 0 is at its end
  and whatever is written to descriptor 1 appears on stderr. Returns a reader and the output's descriptor.
  """
  @spec open() :: {:ok, t(), non_neg_integer()} | {:error, atom()}
  def open, do: Native.stdio_open()

  @doc "Bytes of the client that somebody else had read before; only before any reader was started."
  @spec prepend(t(), binary()) :: :ok | {:error, atom()}
  def prepend(_reader, ""), do: :ok
  def prepend(reader, bytes), do: Native.stdio_prepend(reader, bytes)

  @doc """
  Starts to read for the calling process, which gets `{:mcp_stdin, reader, event}`: one message per credit.
  """
  @spec start(t(), pos_integer()) :: :ok | {:error, atom()}
  def start(reader, max_line_bytes), do: Native.stdio_read(reader, self(), max_line_bytes)

  @doc """
  An event that comes within so many microseconds, at most a millisecond; `:none` where nothing does. It holds up the
  scheduler, and may not be asked for while a credit is out.
  """
  @spec take(t(), non_neg_integer()) :: term()
  def take(reader, wait_us), do: Native.stdio_take(reader, wait_us)

  @doc "Allows one more message."
  @spec credit(t()) :: :ok
  def credit(reader), do: Native.stdio_credit(reader, 1)

  @doc "Writes as much of a short text as the client has room for now: how many bytes, or that it is gone."
  @spec write_now(t(), binary()) :: non_neg_integer() | :closed
  def write_now(reader, text), do: Native.stdio_write_now(reader, text)

  @doc "Ends the reader."
  @spec close(t()) :: :ok
  def close(reader), do: Native.stdio_close(reader)
end
