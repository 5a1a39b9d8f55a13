defmodule McpServer.Stdio.Takeover do
  @moduledoc false
  # Makes stdin and stdout the protocol's, without losing what the VM had read of stdin by then.
  #
  # A VM that was started without `-noinput` (every release, every mix command) reads stdin from its
  # first moment, and the client may have written its first messages before any of our code runs. The
  # process `:user` holds them.

  alias McpServer.Stdio.Reader

  # How long `:user` may take to hand over what it has, in milliseconds: a client can write a hundred
  # megabytes before the first line of our code.
  @patience 30_000

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
        nil -> drained(user, Process.whereis(:user_drv))
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
    user |> ask(:latin1) |> answer()
  end

  # From OTP 26 on `:user` gets what a reader gives to `:user_drv`. It is told of the end once nothing is
  # under way to it any more.
  defp drained(_user, nil), do: ""

  defp drained(user, driver) do
    :io.setopts(user, [:binary, encoding: :unicode])
    request = ask(user, :unicode)
    {:links, links} = Process.info(driver, :links)
    await_idle([driver, user | Enum.filter(links, &is_pid/1)], @patience)
    send(user, {driver, :eof})
    answer(request)
  end

  # Twice in a row: what one of them sent after it had been looked at is seen the second time.
  defp await_idle(processes, patience) do
    unless patience == 0 or (idle?(processes) and idle?(processes)) do
      Process.sleep(1)
      await_idle(processes, patience - 1)
    end
  end

  # A process that has a message to handle is runnable.
  defp idle?(processes), do: Enum.all?(processes, &(Process.info(&1, :status) in [{:status, :waiting}, nil]))

  # The I/O protocol by hand: `:io.get_chars/3` waits for ever.
  defp ask(user, encoding) do
    reference = make_ref()
    send(user, {:io_request, self(), reference, {:get_chars, encoding, ~c"", 0x7FFFFFFF}})
    reference
  end

  defp answer(request) do
    receive do
      {:io_reply, ^request, bytes} when is_binary(bytes) -> bytes
      {:io_reply, ^request, _nothing} -> ""
    after
      @patience -> ""
    end
  end
end
