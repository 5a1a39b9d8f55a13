defmodule McpServer.Client.Command do
  @moduledoc false
  # A link to a server over stdin and stdout of a shell command. Its stderr is inherited.
  #
  # A line of stdout that is not a message is the server's error. The first one is reported, and the link continues.
  #
  # Lines wait until the owner has taken the message before. A port reads all that the command writes, and cannot be told
  # to wait. So the link ends with an error when too many lines wait.

  use GenServer

  alias McpServer.Client.{Error, Lenient, Link}

  # The maximum bytes of a line in one piece. Longer lines arrive in several pieces.
  @piece_bytes 64 * 1024
  @max_line_bytes 64 * 1024 * 1024
  # Of the lines that wait for the owner, together. A short line takes as much memory as its place in the queue.
  @max_waiting_bytes 64 * 1024 * 1024
  @place_bytes 64
  # Milliseconds: how long a server may take to exit after the end of stdin, and the interval of the checks.
  @patience 5_000
  @look_every 20

  @doc """
  Starts the command. Options: `:command`, `:owner`, `:reference`, and for `Port.open/2` `:env` and `:cd`. The function
  `:noise` gets the first line of stdout that is not a message. By default the line is reported on stderr.
  """
  @spec start_link(keyword()) :: GenServer.on_start()
  def start_link(options), do: GenServer.start_link(__MODULE__, options)

  @impl true
  def init(options) do
    Process.flag(:trap_exit, true)
    {own, port_options} = Keyword.split(options, [:command, :owner, :reference, :noise])
    # With `exec` the server replaces the shell, so that signals reach it.
    arguments = [args: ["-c", "exec " <> own[:command]], line: @piece_bytes]
    given = [:binary, :exit_status, :hide, :use_stdio] ++ arguments ++ port_options
    port = Port.open({:spawn_executable, "/bin/sh"}, given)
    # A command that cannot be started may have ended already.
    os_pid = with {:os_pid, os_pid} <- Port.info(port, :os_pid), do: os_pid

    # `lines` wait for the owner, which has not taken the message `mark` yet. `waiting` are the ids without an answer.
    state = %{
      port: port,
      os_pid: os_pid,
      line: [],
      bytes: 0,
      lines: :queue.new(),
      lines_bytes: 0,
      mark: nil,
      told?: false,
      asked?: false,
      ended: nil,
      waiting: []
    }

    {:ok, own |> Map.new() |> Map.merge(state) |> Map.put_new(:noise, &say/1)}
  end

  @impl true
  def handle_info({:mcp_client_in, reference, {:lines, lines}}, %{reference: reference} = state) do
    lines |> Enum.reduce(%{state | asked?: true}, &write/2) |> settle()
  end

  def handle_info({:mcp_client_in, reference, :eof}, %{reference: reference} = state), do: {:stop, :normal, state}

  def handle_info({port, {:data, {:noeol, piece}}}, %{port: port} = state) do
    state = %{state | line: [state.line, piece], bytes: state.bytes + byte_size(piece)}
    if state.bytes > @max_line_bytes, do: {:stop, :normal, state}, else: {:noreply, state}
  end

  def handle_info({port, {:data, {:eol, piece}}}, %{port: port} = state) do
    line = IO.iodata_to_binary([state.line, piece])
    state |> Map.merge(%{line: [], bytes: 0}) |> keep(line) |> pass_on() |> settle()
  end

  def handle_info({mark, :taken}, %{mark: mark} = state), do: %{state | mark: nil} |> pass_on() |> settle()

  def handle_info({port, {:exit_status, status}}, %{port: port} = state) do
    error = Error.new(:closed, "the command ended with status #{status} before it answered")
    settle(%{state | os_pid: nil, ended: error})
  end

  # A failed write closes the port, and its exit status never comes.
  def handle_info({:EXIT, port, _reason}, %{port: port, ended: nil} = state) do
    error = Error.new(:closed, "the command ended or closed its stdin before it answered")
    settle(%{state | asked?: true, ended: error})
  end

  def handle_info({:EXIT, port, _reason}, %{port: port} = state), do: {:noreply, state}
  def handle_info({:EXIT, _owner, _reason}, state), do: {:stop, :normal, state}

  # What the command wrote before its end comes first. An early end is reported at the first request.
  defp settle(%{lines_bytes: bytes} = state) when bytes > @max_waiting_bytes do
    error = Error.new(:closed, "the command writes faster than its messages are read: too many of them wait")
    ended(%{state | ended: error})
  end

  defp settle(state) do
    if state.ended != nil and state.asked? and :queue.is_empty(state.lines), do: ended(state), else: {:noreply, state}
  end

  defp ended(state) do
    for id <- state.waiting, do: Link.failed(state.owner, state.reference, id, state.ended)
    {:stop, :normal, state}
  end

  defp write(line, state) do
    Port.command(state.port, [line, ?\n])
    note(state, line)
  rescue
    # The command has ended, and its exit message is on the way.
    ArgumentError -> note(state, line)
  end

  # Waiting requests are failed if the command ends.
  defp note(state, line) do
    case McpServer.JSON.decode(line) do
      {:ok, %{"id" => id, "method" => _method}} -> %{state | waiting: [id | state.waiting]}
      _no_request -> state
    end
  end

  defp keep(state, ""), do: state

  defp keep(state, line),
    do: %{state | lines: :queue.in(line, state.lines), lines_bytes: state.lines_bytes + held_bytes(line)}

  defp held_bytes(line), do: byte_size(line) + @place_bytes

  # Up to the next message.
  defp pass_on(%{mark: nil} = state) do
    case :queue.out(state.lines) do
      {{:value, line}, lines} ->
        pass_on(line(%{state | lines: lines, lines_bytes: state.lines_bytes - held_bytes(line)}, line))

      {:empty, _lines} ->
        state
    end
  end

  defp pass_on(state), do: state

  defp line(state, line) do
    case {Lenient.decode(line), state.waiting} do
      {{:ok, message}, _waiting} when is_map(message) or is_list(message) ->
        mark = make_ref()
        Link.offer(state.owner, state.reference, message, mark)
        answered(%{state | mark: mark}, message)

      # Only this can be the answer, and no other will come.
      {{:error, error}, [id]} when binary_part(line, 0, 1) == "{" ->
        Link.failed(state.owner, state.reference, id, Error.unreadable(error))
        %{state | waiting: []}

      _no_message ->
        tell(state, line)
    end
  end

  defp answered(state, %{"id" => id} = message) when not is_map_key(message, "method"),
    do: %{state | waiting: List.delete(state.waiting, id)}

  defp answered(state, _message), do: state

  defp tell(%{told?: true} = state, _line), do: state

  defp tell(state, line) do
    state.noise.(line)
    %{state | told?: true}
  end

  defp say(_line),
    do: IO.puts(:stderr, "the server writes lines to stdout that are no messages: only messages belong there")

  # The specification ends a server with the end of its stdin first, then with a signal.
  @impl true
  def terminate(_reason, state) do
    if Port.info(state.port) != nil, do: Port.close(state.port)
    if state.os_pid, do: await_end(state.os_pid, @patience)
    Link.closed(state.owner, state.reference, :closed)
  end

  defp await_end(os_pid, patience) do
    cond do
      not alive?(os_pid) ->
        :ok

      patience <= 0 ->
        _status = signal("-KILL", os_pid)
        :ok

      true ->
        if patience == div(@patience, 2), do: signal("-TERM", os_pid)
        Process.sleep(@look_every)
        await_end(os_pid, patience - @look_every)
    end
  end

  defp alive?(os_pid), do: signal("-0", os_pid) == 0

  defp signal(signal, os_pid) do
    {_said, status} = System.cmd("kill", [signal, Integer.to_string(os_pid)], stderr_to_stdout: true)
    status
  end
end
