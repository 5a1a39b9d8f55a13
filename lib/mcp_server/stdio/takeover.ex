defmodule McpServer.Stdio.Takeover do
  @moduledoc false
  # Takes stdin and stdout over for the protocol, without losing bytes that the VM has already read from stdin.
  #
  # A VM without `-noinput` (every release, every mix command) reads stdin from its start. The client may send its first
  # messages before our code runs. The process `:user` holds them. Since OTP 29.1 a VM reads nothing before it is asked
  # to, so that there is nothing to hand over.

  alias McpServer.Stdio.Reader

  # How long `:user` may take to hand over its bytes, in milliseconds: a client can write a hundred megabytes before
  # our code runs.
  @patience 30_000

  @doc "Takes over once per VM. Returns a new reader and the output's descriptor."
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

  # Up to OTP 25 `:user` owns the port that reads descriptor 0, and queues the port's data.
  defp input_port(user) do
    {:links, links} = Process.info(user, :links)
    Enum.find(links, &(is_port(&1) and match?({:name, ~c"0/1"}, Port.info(&1, :name))))
  end

  defp queued(user, port) do
    # A request to the port is an ordered signal. After its answer all data of the port is in the mailbox of `:user`.
    # The port reads no more of the client, whose descriptor was moved.
    _synchronised = Port.info(port, :input)
    # The `:eof` makes `:user` return its data instead of waiting for more.
    send(user, {port, :eof})
    :io.setopts(user, [:binary, encoding: :latin1])
    user |> ask(:latin1) |> answer()
  end

  # From OTP 26 on a reader passes data to `:user` through `:user_drv`. `:user` gets the `:eof` when no data is under
  # way.
  defp drained(_user, nil), do: ""

  defp drained(user, driver) do
    :io.setopts(user, [:binary, encoding: :unicode])
    request = ask(user, :unicode)
    {:links, links} = Process.info(driver, :links)
    await_idle([driver, user | Enum.filter(links, &is_pid/1)], @patience)
    send(user, {driver, :eof})
    answer(request)
  end

  # Checked twice: the second check sees messages that a process sent after its first check.
  defp await_idle(processes, patience) do
    unless patience == 0 or (idle?(processes) and idle?(processes)) do
      Process.sleep(1)
      await_idle(processes, patience - 1)
    end
  end

  # A process that has a message to handle is runnable.
  defp idle?(processes), do: Enum.all?(processes, &(Process.info(&1, :status) in [{:status, :waiting}, nil]))

  # Uses the I/O protocol directly, because `:io.get_chars/3` has no timeout.
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
