defmodule McpServer.Stdio.Reader do
  @moduledoc false
  # The native side of stdin: lines are read directly if they arrive soon, otherwise a thread waits for them. Only this
  # module and `Takeover` know the native code of stdio.

  alias McpServer.Native

  @opaque t :: reference()

  @doc """
  Moves stdin and stdout to new descriptors, once per VM. Afterwards descriptor 0 is at its end, and writes to
  descriptor 1 go to stderr. Returns a reader and the output's descriptor.
  """
  @spec open() :: {:ok, t(), non_neg_integer()} | {:error, atom()}
  def open, do: Native.stdio_open()

  @doc "Prepends bytes of the client that another process has already read. Allowed only before a reader is started."
  @spec prepend(t(), binary()) :: :ok | {:error, atom()}
  def prepend(_reader, ""), do: :ok
  def prepend(reader, bytes), do: Native.stdio_prepend(reader, bytes)

  @doc """
  Starts to read for the calling process. It receives one message `{:mcp_stdin, reader, event}` per credit.
  """
  @spec start(t(), pos_integer()) :: :ok | {:error, atom()}
  def start(reader, max_line_bytes), do: Native.stdio_read(reader, self(), max_line_bytes)

  @doc """
  Waits for an event for `wait_us` microseconds, at most a millisecond. Returns `:none` without one. It blocks the
  scheduler, and is not allowed while a credit is open.
  """
  @spec take(t(), non_neg_integer()) :: term()
  def take(reader, wait_us), do: Native.stdio_take(reader, wait_us)

  @doc "Allows one more message."
  @spec credit(t()) :: :ok
  def credit(reader), do: Native.stdio_credit(reader, 1)

  @doc "Writes as much of a short text as possible without waiting. Returns the bytes, or `:closed` without a client."
  @spec write_now(t(), binary()) :: non_neg_integer() | :closed
  def write_now(reader, text), do: Native.stdio_write_now(reader, text)

  @doc "Ends the reader."
  @spec close(t()) :: :ok
  def close(reader), do: Native.stdio_close(reader)
end
