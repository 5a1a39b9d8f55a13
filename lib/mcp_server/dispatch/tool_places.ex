defmodule McpServer.Dispatch.ToolPlaces do
  @moduledoc false
  # The places of one tool among the calls that run at once.
  #
  # A tool that hangs takes only a part of the places of its server, client and session, so that calls of other tools
  # still run. With `max_concurrent:` a tool also has a limit for the node, of which one client has three quarters. A call
  # waits for no place: it is refused, and while it waits for the client's input it has none.
  #
  # Calls that compute share the schedulers, so each takes as many times longer as there are others: thousands of places do
  # not bound that. So while the schedulers are busy, few calls of a tool that computes run at once. What a tool computes
  # is measured in reductions, which a call that waits for a database or a network does not spend.
  #
  # A handler that calls its own tool does so in the place that it has. A call that is killed gives nothing back: the places
  # of ended processes are given back when a limit is reached, and every ten seconds.
  #
  # Every call counts here, so a place is counted with atomics: rows that all calls update took a quarter of a call's time.

  use GenServer
  use McpServer.Outline

  alias McpServer.{Conn, Quota}
  alias McpServer.Dispatch.Around
  alias McpServer.Quota.Client

  # The numbers of each place, and who has it.
  @table __MODULE__
  @holders Module.concat(__MODULE__, Holders)

  # How many calls have a place, the time of the next search for ended ones, and their mean of reductions.
  @count 1
  @next_search 2
  @mean 3

  # The count of a place whose row is deleted. No calls are so many.
  @closed -0x4000_0000_0000_0000

  # A flood of refused calls must not search for ended processes all the time: only in a twentieth of it.
  @pause 20
  # What one client may have of a tool's `max_concurrent:`, in percent.
  @client_percent 75
  # Reductions of a call of such a tool, some milliseconds: many times what the library itself spends.
  @much 40_000
  # The part of a new call in a tool's mean of reductions.
  @weight 4

  @sweep_ms 10_000

  # The longest delay that a refused call is told, in seconds. They are random, so that not all calls come back at once.
  @most_delay 3

  @typedoc """
  Whose calls are counted, how many of them may be of one tool, and of one that computes. `of` is a tuple if it comes and
  goes, as clients do.
  """
  @type share :: {of :: term(), most :: pos_integer(), computing :: pos_integer() | :infinity}

  @doc "Makes the tables. The calling process owns them."
  @spec create_tables() :: :ok
  def create_tables do
    :ets.new(@table, [:named_table, :public, read_concurrency: true, write_concurrency: true])
    :ets.new(@holders, [:named_table, :public, write_concurrency: true])
    :ok
  end

  @typedoc "The percent of other limits that one tool may have, and the calls of one that computes."
  @type bounds :: {percent :: 1..100, computing :: pos_integer() | :infinity}

  @doc "The bounds of a server with these options. Without an option there is no bound."
  @spec bounds(%{optional(atom()) => term()}) :: bounds()
  def bounds(options) do
    computing =
      with %{max_computing: most} <- options, do: most * System.schedulers_online(), else: (_none -> :infinity)

    {Map.get(options, :max_tool_share, 100), computing}
  end

  @doc "What one tool may have of the server's places and of the client's."
  @spec shares(Quota.t(), Client.t(), bounds()) :: [share()]
  def shares(%{counters: server} = quota, client, {percent, computing}) do
    {limit, share} = Quota.bound(quota, :calls)
    of_client = if client, do: [{{server, client}, part(share, percent), half(computing)}], else: []
    [{server, part(limit, percent), computing} | of_client]
  end

  # One client leaves calls that compute to others.
  defp half(:infinity), do: :infinity
  defp half(computing), do: div(computing + 1, 2)

  @doc "What one tool may have of a number of places."
  @spec share(of :: term(), most :: pos_integer() | :infinity, bounds()) :: share()
  def share(of, most, {percent, _computing}), do: {of, part(most, percent), :infinity}

  @doc """
  The percent of a number of places, rounded up: one tool may have all of a few places.

      iex> for most <- [1, 3, 4, 100], do: McpServer.Dispatch.ToolPlaces.part(most, 75)
      [1, 3, 3, 75]
  """
  @spec part(most :: pos_integer() | :infinity, percent :: 1..100) :: pos_integer() | :infinity
  def part(:infinity, _percent), do: :infinity
  def part(most, percent), do: div(most * percent + 99, 100)

  @doc "Calls the handler of a tool in its places, and others without places. Without a free place the handler is not called."
  @spec run(Around.call(), Conn.t()) :: term()
  def run(%{entry: entry, request: %{kind: :tool}} = call, conn) do
    held = held()

    case Enum.reject(places(call.catalog.router, entry, conn), fn {place, _, _} -> List.keymember?(held, place, 0) end) do
      [] ->
        Around.run(call, conn)

      places ->
        entered = Enum.map(places, &enter/1)
        taken = for %{place: place, numbers: numbers} <- entered, do: {place, numbers}
        # At once: what is counted without a holder is counted for long.
        :ets.insert(@holders, {self(), taken ++ held})

        try do
          if Enum.all?(entered, &free?(&1, entered)),
            do: measured(call, conn, entered),
            else: {:error, {:retry_after, Enum.random(1..@most_delay)}}
        after
          if held == [], do: :ets.delete(@holders, self()), else: :ets.insert(@holders, {self(), held})
          Enum.each(taken, &leave/1)
        end
    end
  end

  def run(call, conn), do: Around.run(call, conn)

  defp held, do: with([{_pid, held}] <- :ets.lookup(@holders, self()), do: held)

  defp places(router, %{name: name, max_concurrent: most}, conn) do
    own = if most, do: [{{router, name}, most, :infinity} | of_client(router, name, most, conn)], else: []
    shares = with(%{tool_shares: shares} <- conn.call, do: shares, else: (_task_or_none -> []))
    for {of, most, computing} <- shares, reduce: own, do: (places -> [{{of, name}, most, computing} | places])
  end

  # A few calls that hang, also as tasks, would otherwise refuse the tool to everybody else.
  defp of_client(router, name, most, conn) do
    case Client.new(conn.principal, conn.peer) do
      nil -> []
      client -> [{{{router, client}, name}, part(most, @client_percent), :infinity}]
    end
  end

  defp measured(call, conn, entered) do
    before = reductions()
    returned = Around.run(call, conn)

    if Enum.any?(entered, &many?/1) do
      spent = reductions() - before
      for %{numbers: numbers, computing: computing} <- entered, computing != :infinity, do: note(numbers, spent)
    end

    returned
  end

  # The count is that of its own entrance: refused calls that enter later do not count against it.
  defp free?(%{numbers: numbers, count: count, most: most, computing: computing}, entered) do
    (count <= most or room?(numbers, most)) and
      (count <= computing or not computes?(entered) or not busy?(numbers, computing))
  end

  # The place of a client that called nothing before knows nothing of the tool, but that of the server does.
  defp computes?(entered), do: Enum.any?(entered, &(:atomics.get(&1.numbers, @mean) >= @much))

  # Whoever finds a closed row deletes it: the process that closed it may have been killed.
  defp enter({place, most, computing} = limits) do
    numbers = numbers(place)

    case :atomics.add_get(numbers, @count, 1) do
      count when count > div(@closed, 2) ->
        %{place: place, numbers: numbers, count: count, most: most, computing: computing}

      _closed ->
        :ets.delete_object(@table, {place, numbers})
        enter(limits)
    end
  end

  defp numbers(place) do
    case :ets.lookup(@table, place) do
      [{_place, numbers}] ->
        numbers

      [] ->
        numbers = :atomics.new(3, signed: true)
        :atomics.put(numbers, @next_search, System.monotonic_time())
        if :ets.insert_new(@table, {place, numbers}), do: numbers, else: numbers(place)
    end
  end

  # Whether there is room once the places of ended processes were given back.
  defp room?(numbers, most) do
    began = System.monotonic_time()

    if began >= :atomics.get(numbers, @next_search) do
      give_back_ended()
      ended = System.monotonic_time()
      :atomics.put(numbers, @next_search, ended + @pause * (ended - began))
      :atomics.get(numbers, @count) <= most
    else
      false
    end
  end

  # Whether one more call of a tool that computes would make the others slower.
  defp busy?(numbers, computing),
    do: :erlang.statistics(:total_run_queue_lengths) >= div(computing, 2) and not room?(numbers, computing)

  # What a tool computes is of interest only where many calls run.
  defp many?(%{numbers: numbers, computing: computing}), do: 2 * :atomics.get(numbers, @count) > computing

  defp note(numbers, reductions) do
    mean = :atomics.get(numbers, @mean)
    :atomics.put(numbers, @mean, mean + div(reductions - mean, @weight))
  end

  defp reductions, do: self() |> Process.info(:reductions) |> elem(1)

  defp give_back_ended do
    for [pid] <- :ets.match(@holders, {:"$1", :_}),
        not Process.alive?(pid),
        {_pid, held} <- :ets.take(@holders, pid),
        do: Enum.each(held, &leave/1)

    :ok
  end

  # Without calls, a place of what comes and goes is deleted. Those of routers and servers stay.
  defp leave({{of, _name} = place, numbers}, calls \\ 1) do
    if :atomics.sub_get(numbers, @count, calls) == 0 and is_tuple(of) and
         :atomics.compare_exchange(numbers, @count, 0, @closed) == :ok,
       do: :ets.delete_object(@table, {place, numbers})

    :ok
  end

  @typedoc "The counts of places that nobody has."
  @type unheld :: %{(place :: term()) => integer()}

  @doc """
  Gives back the places of ended processes. A call may be killed after it was counted and before it is a holder: a count
  that nobody had in the round before, either, is corrected.
  """
  @spec sweep(before :: unheld()) :: unheld()
  def sweep(before) do
    give_back_ended()
    # Whoever is counted here is a holder a moment later.
    counted = for {place, numbers} <- :ets.tab2list(@table), do: {place, numbers, :atomics.get(numbers, @count)}
    held = for [held] <- :ets.match(@holders, {:_, :"$1"}), {place, _numbers} <- held, into: %{}, do: {place, true}

    for {place, numbers, count} <- counted,
        not is_map_key(held, place),
        count != 0 and count > div(@closed, 2),
        into: %{} do
      if before[place] == count, do: leave({place, numbers}, count)
      {place, count}
    end
  end

  @doc "Starts the process that gives back the places of ended processes."
  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_argument), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @impl true
  def init(nil) do
    {:ok, _timer} = :timer.send_interval(@sweep_ms, :sweep)
    {:ok, %{}}
  end

  @impl true
  def handle_info(:sweep, unheld), do: {:noreply, sweep(unheld)}
end
