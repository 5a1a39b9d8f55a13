defmodule McpServer.Console.Terminal do
  @moduledoc false
  # The terminal of a command. Its stdout has only results. All other output, of handlers and of the compiler, goes to
  # stderr. Questions use the controlling terminal, so that they work even if stdin and stdout are pipes.

  alias McpServer.Stdio.{Takeover, Writer}

  @enforce_keys [:writer]
  defstruct [:writer]

  @type t :: %__MODULE__{writer: Writer.t()}

  @device "/dev/tty"
  @flush_every 5

  @doc "Takes stdout over."
  @spec take_over!() :: t()
  def take_over! do
    case Takeover.ensure() do
      {:ok, reader, output} -> %__MODULE__{writer: Writer.open(reader, output)}
      {:error, reason} -> raise "stdout cannot be taken over: #{inspect(reason)}"
    end
  end

  @doc "Writes a result. Returns when it is written, or when its reader has gone."
  @spec put(t(), iodata()) :: :ok
  def put(terminal, text) do
    case Writer.write(terminal.writer, text) do
      {:ok, writer} -> flush(writer.port)
      {:error, :closed} -> :ok
    end
  end

  defp flush(port) do
    case Port.info(port, :queue_size) do
      {:queue_size, bytes} when bytes > 0 ->
        Process.sleep(@flush_every)
        flush(port)

      _written ->
        :ok
    end
  end

  @doc "Prints a line that is not part of the result."
  @spec say(iodata()) :: :ok
  def say(line), do: IO.puts(:stderr, line)

  @doc "The function that asks at the terminal. `nil` if there is none."
  @spec gets() :: McpServer.Console.Questions.gets() | nil
  def gets do
    case :file.open(@device, [:read, :write, :raw, :binary]) do
      {:ok, device} -> &ask(device, &1)
      {:error, _no_terminal} -> nil
    end
  end

  defp ask(device, prompt) do
    :ok = :file.write(device, prompt)
    read_line(device, "")
  end

  # Byte by byte, because a larger read waits until all its bytes are there.
  defp read_line(device, line) do
    case :file.read(device, 1) do
      {:ok, "\n"} -> String.trim(line)
      {:ok, byte} -> read_line(device, line <> byte)
      _end -> nil
    end
  end
end
