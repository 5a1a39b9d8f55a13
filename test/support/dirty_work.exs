defmodule McpServer.DirtyWork do
  # Processes that need a dirty CPU scheduler at the same time, in a VM with a limited number of permits. Each returns
  # its start number when it is done.
  @moduledoc false

  alias McpServer.{FaultRouter, HttpPeer, HttpRequests, HttpServer, HttpVm, JSON, Native}
  alias McpServer.FaultRouter.Schemas
  alias McpServer.Native.Dirty
  alias McpServer.Schema.Validator

  # Too long to be parsed on a normal scheduler.
  @long "[\"#{String.duplicate("x", 100_000)}\"]"

  @doc """
  The order in which processes are served that wait for these clients: principals, or `nil`. The processes with the
  numbers in `killed` are killed while they wait.
  """
  def in_turns(clients, killed \\ []) do
    holder = hold()
    waiting = wait_in_line(clients)
    {killed, left} = Enum.split_with(waiting, fn {number, _pid} -> number in killed end)
    for {_number, pid} <- killed, do: kill(pid)
    :erlang.resume_process(holder)
    served(left)
  end

  @doc "The order of `count` processes of one client."
  def in_order(count), do: in_turns(nobody(count))

  @doc "The order if every other process is killed while it waits."
  def killed_waiting(count), do: in_turns(nobody(count), Enum.to_list(1..count//2))

  defp nobody(count), do: List.duplicate(nil, count)

  @doc "The order if the next process is killed instead of served."
  def killed_called(count) do
    holder = hold()
    waiting = wait_in_line(nobody(count))
    kill(holder)
    served(waiting)
  end

  @doc "The order if the working process is killed."
  def killed_working(count) do
    {worker, _monitor} = work()
    waiting = wait_in_line(nobody(count))

    # The work may end before all wait, if other programs keep the processors.
    if Enum.all?(waiting, fn {_number, pid} -> waiting?(pid) end) do
      kill(worker)
      served(waiting)
    else
      killed_working(count)
    end
  end

  @doc """
  How many calls of a client with so many connections a server answers while it answers one of another client: the
  smallest number of five.
  """
  def answered_before(connections) do
    # The output is the result alone.
    Logger.configure(level: :warning)
    {:ok, _applications} = Application.ensure_all_started(:mcp_server)
    options = [router: FaultRouter, port: 0, identify: &HttpVm.identify/1, http: [stream_after: 60_000]]
    {:ok, server} = HttpServer.start_link(options)
    port = HttpServer.port(server)
    answered = :counters.new(1, [:atomics])
    lattice = HttpRequests.modern_call("lattice", %{"value" => "hostile"}) |> HttpRequests.as("eve")
    for _connection <- 1..connections, do: spawn_link(fn -> ask_on(HttpPeer.connect(port), lattice, answered) end)
    until(fn -> :counters.get(answered, 1) >= connections end)

    ada = HttpPeer.connect(port)
    long = HttpRequests.modern_call("echo", %{"value" => @long}) |> HttpRequests.as("ada")

    Enum.min(
      for _n <- 1..5 do
        before = :counters.get(answered, 1)
        %{status: 200} = HttpPeer.request(ada, long)
        :counters.get(answered, 1) - before
      end
    )
  end

  defp ask_on(peer, request, answered) do
    %{status: 200} = HttpPeer.request(peer, request)
    :counters.add(answered, 1, 1)
    ask_on(peer, request, answered)
  end

  @doc "The remains after `count` processes have come and gone several times, some of them killed."
  def left_behind(count) do
    rounds = for _round <- 1..4, do: {come_and_go(count), :erlang.system_info(:atom_count)}
    {messages, counts} = Enum.unzip(rounds)

    %{
      messages: Enum.sum(messages),
      # The VM loads code when it is first needed, which may be in any round. What calls leave behind is in each.
      atoms: counts |> Enum.zip(tl(counts)) |> Enum.map(fn {before, now} -> now - before end) |> Enum.min(),
      waiting: if(Native.json_decode_dirty(@long, {1_000_000, 10, 10, 10, false}, false) == :busy, do: 1, else: 0)
    }
  end

  defp come_and_go(count) do
    workers = for number <- 1..count, do: {number, spawn_monitor(fn -> exit({:messages, several()}) end)}
    for {number, {pid, _monitor}} <- workers, rem(number, 3) == 0, do: Process.exit(pid, :kill)

    Enum.sum(
      for {_number, {pid, monitor}} <- workers do
        receive do
          {:DOWN, ^monitor, :process, ^pid, {:messages, count}} -> count
          {:DOWN, ^monitor, :process, ^pid, :killed} -> 0
        end
      end
    )
  end

  defp several do
    for _n <- 1..20, do: {:ok, [_text]} = JSON.decode(@long)
    elem(Process.info(self(), :message_queue_len), 1)
  end

  # A process that was called but is suspended, so it keeps the only permit.
  defp hold do
    {worker, monitor} = work()
    holder = spawn(fn -> JSON.decode(@long) end)
    held? = until_waiting(holder) and :erlang.suspend_process(holder)
    receive do: ({:DOWN, ^monitor, :process, ^worker, _reason} -> if(held?, do: holder, else: hold()))
  end

  # A process that works on the dirty scheduler.
  defp work do
    {worker, monitor} = spawn_monitor(lattice())
    until(fn -> not Process.alive?(worker) or working?(worker) end)

    if working?(worker) do
      {worker, monitor}
    else
      Process.demonitor(monitor, [:flush])
      work()
    end
  end

  defp working?(pid),
    do: Process.info(pid, :current_function) == {:current_function, {Native, :schema_validate_dirty, 2}}

  # Each process starts to wait only when the one before it waits.
  defp wait_in_line(clients) do
    {parent, clock} = {self(), :atomics.new(1, [])}

    for {client, number} <- Enum.with_index(clients, 1) do
      pid =
        spawn(fn ->
          Dirty.work_for(client, nil)
          send(parent, {:served, self(), turn(clock)})
        end)

      until_waiting(pid)
      {number, pid}
    end
  end

  # The start of its last attempt. The next process is called when that attempt ends.
  defp turn(clock) do
    Dirty.call(fn ->
      Process.put(:turn, :atomics.add_get(clock, 1, 1))
      Native.json_decode_dirty(@long, {1_000_000, 10, 10, 10, false}, false)
    end)

    Process.get(:turn)
  end

  defp served(waiting) do
    turns = for {number, pid} <- waiting, do: receive(do: ({:served, ^pid, turn} -> {turn, number}))
    for {_turn, number} <- Enum.sort(turns), do: number
  end

  defp until_waiting(pid) do
    until(fn -> not Process.alive?(pid) or waiting?(pid) end)
    waiting?(pid)
  end

  defp waiting?(pid),
    do: Process.info(pid, [:status, :current_function]) == [status: :waiting, current_function: {Dirty, :call, 1}]

  defp kill(pid) do
    monitor = Process.monitor(pid)
    Process.exit(pid, :kill)
    receive do: ({:DOWN, ^monitor, :process, ^pid, _reason} -> :ok)
  end

  defp until(fun), do: fun.() || until(fun)

  # A check that takes so long that a few processes can begin to wait for it.
  defp lattice do
    {:ok, validator} = Validator.compile(Schemas.lattice(), max_steps: 20_000_000)
    fn -> Validator.validate(validator, %{"value" => "hostile"}) end
  end
end
