defmodule McpServer.Stdio.Takeover do
  @moduledoc false
  # Makes stdin and stdout the protocol's, without losing what the VM had read of stdin by then.
  #
  # A VM that was started without `-noinput` (every release, every mix command) reads stdin from its
  # first moment, and the client may have written its first messages before any of our code runs. The
  # process `:user` holds them.

  alias McpServer.Stdio.Reader

  # How long `:user` may take to hand over what it has, in milliseconds: all of it at once (a client can
  # write a hundred megabytes before the first line of our code), or one character.
  @patience 30_000
  @character_patience 50

  @doc "Takes over, if that has not been done, and returns a new reader and the output's descriptor."
  @spec ensure() :: {:ok, Reader.t(), non_neg_integer()} | {:error, atom()}
  def ensure do
    with {:ok, reader, output} <- Reader.open(),
         :ok <- restore(reader) do
      {:ok, reader, output}
    end
  end

  defp restore(reader) do
    if :persistent_term.get(__MODULE__, false) do
      :ok
    else
      :persistent_term.put(__MODULE__, true)
      Reader.prepend(reader, recover())
    end
  end

  defp recover do
    user = Process.whereis(:user)
    if user == nil or :init.get_argument(:noinput) != :error, do: "", else: recover(user)
  end

  defp recover(user) do
    options = :io.getopts(user)

    try do
      case input_port(user) do
        nil -> characters(user, [])
        port -> queued(user, port)
      end
    after
      :io.setopts(user, Keyword.take(options, [:binary, :encoding]))
    end
  end

  # Up to OTP 25 `:user` owns the port that reads descriptor 0 and queues what the port sends it.
  defp input_port(user) do
    {:links, links} = Process.info(user, :links)
    Enum.find(links, &(is_port(&1) and match?({:name, ~c"0/1"}, Port.info(&1, :name))))
  end

  defp queued(user, port) do
    # Asking the port is a signal like any other: once it has answered, all it had read is in the
    # mailbox of `:user`, and it reads no more of the client, whose descriptor was moved.
    _synchronised = Port.info(port, :input)
    # Told that this was the end, `:user` gives what it has instead of waiting for more.
    send(user, {port, :eof})
    :io.setopts(user, [:binary, encoding: :latin1])

    case read(user, :latin1, 0x7FFFFFFF, @patience) do
      bytes when is_binary(bytes) -> bytes
      _nothing -> ""
    end
  end

  # From OTP 26 on `:user` reads when asked. What it has comes at once; a request that has to wait is
  # answered with the end of input, which is what descriptor 0 is at now.
  defp characters(user, read) do
    :io.setopts(user, [:binary, encoding: :unicode])

    case read(user, :unicode, 1, @character_patience) do
      character when is_binary(character) -> characters(user, [read, character])
      _nothing -> IO.iodata_to_binary(read)
    end
  end

  # The I/O protocol by hand: `:io.get_chars/3` waits for ever.
  defp read(user, encoding, count, patience) do
    reference = make_ref()
    send(user, {:io_request, self(), reference, {:get_chars, encoding, ~c"", count}})

    receive do
      {:io_reply, ^reference, answer} -> answer
    after
      patience -> :nothing
    end
  end
end
