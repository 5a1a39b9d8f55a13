defmodule McpServer.Dispatch.ToolPlaces do
  @moduledoc false
  # The places of one tool among the calls that run at once.
  #
  # A tool that hangs takes only a part of the places of its server, client and session, so that calls of other tools
  # still run. With `max_concurrent:` a tool also has a limit for the node, whoever calls it. A call waits for no place: it
  # is refused, and while it waits for the client's input it has none.
  #
  # Calls that compute share the schedulers, so each takes as many times longer as there are others: thousands of places do
  # not bound that. So while the schedulers are busy, few calls of a tool that computes run at once. What a tool computes
  # is measured in reductions, which a call that waits for a database or a network does not spend.
  #
  # A handler that calls its own tool does so in the place that it has. A call that is killed gives nothing back: the places
  # of ended processes are given back when a limit is reached, and every ten seconds.

  use GenServer
  use McpServer.Outline

  alias McpServer.{Conn, Quota}
  alias McpServer.Dispatch.Around
  alias McpServer.Quota.Client

  @table __MODULE__
  @holders Module.concat(__MODULE__, Holders)

  # A flood of refused calls must not search for ended processes all the time: only in a twentieth of it.
  @pause 20
  # Reductions of a call of such a tool, some milliseconds: many times what the library itself spends.
  @much 40_000
  # The part of a new call in a tool's mean of reductions.
  @weight 4

  @sweep_ms 10_000

  # The longest delay that a refused call is told, in seconds. They are random, so that not all calls come back at once.
  @most_delay 3

  @typedoc "Whose calls are counted, how many of them may be of one tool, and of one that computes."
  @type share :: {of :: term(), most :: pos_integer(), computing :: pos_integer() | :infinity}

  @doc "Makes the tables. The calling process owns them."
  @spec create_tables() :: :ok
  def create_tables do
    :ets.new(@table, [:named_table, :public, write_concurrency: true])
    :ets.new(@holders, [:named_table, :public, :ordered_set, write_concurrency: true])
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
    case Enum.reject(places(call.catalog.router, entry, conn), &held?/1) do
      [] ->
        Around.run(call, conn)

      places ->
        if take(places, []),
          do: run_and_give(call, conn, places),
          else: {:error, {:retry_after, Enum.random(1..@most_delay)}}
    end
  end

  def run(call, conn), do: Around.run(call, conn)

  defp run_and_give(call, conn, places) do
    before = reductions()
    returned = Around.run(call, conn)
    for {place, _most, computing} <- places, computing != :infinity, do: note(place, reductions() - before, computing)
    returned
  after
    for {place, _most, _computing} <- places, do: give_back({place, self()})
  end

  defp places(router, %{name: name, max_concurrent: most}, conn) do
    own = if most, do: [{{router, name}, most, :infinity}], else: []
    shares = with(%{tool_shares: shares} <- conn.call, do: shares, else: (_task_or_none -> []))
    for {of, most, computing} <- shares, reduce: own, do: (places -> [{{of, name}, most, computing} | places])
  end

  defp held?({place, _most, _computing}), do: :ets.member(@holders, {place, self()})

  defp take([], _taken), do: true

  defp take([{place, most, computing} | places], taken) do
    count = add(place)
    # At once: what is counted without a holder would be counted for ever.
    :ets.insert(@holders, {{place, self()}})
    taken = [place | taken]

    if (count <= most or room?(place, most)) and (count <= computing or not busy?(place, computing)) do
      take(places, taken)
    else
      for place <- taken, do: give_back({place, self()})
      false
    end
  end

  # Whether there is room once the places of ended processes were given back.
  defp room?(place, most) do
    began = System.monotonic_time()

    if began >= :ets.lookup_element(@table, place, 3) do
      give_back_ended({place, :_})
      ended = System.monotonic_time()
      :ets.update_element(@table, place, {3, ended + @pause * (ended - began)})
      :ets.lookup_element(@table, place, 2) <= most
    else
      false
    end
  end

  # Whether one more call of a tool that computes would make the others slower.
  defp busy?(place, computing) do
    :ets.lookup_element(@table, place, 4) >= @much and
      :erlang.statistics(:total_run_queue_lengths) >= div(computing, 2) and not room?(place, computing)
  end

  # The mean is of interest only where many calls run.
  defp note(place, reductions, computing) do
    with [{_place, count, _next_search, mean}] when 2 * count > computing <- :ets.lookup(@table, place),
         do: :ets.update_element(@table, place, {4, mean + div(reductions - mean, @weight)})
  end

  defp reductions, do: self() |> Process.info(:reductions) |> elem(1)

  defp give_back_ended(holders) do
    for {{_place, pid} = holder} <- :ets.match_object(@holders, {holders}),
        not Process.alive?(pid),
        do: give_back(holder)

    :ok
  end

  defp give_back({place, _pid} = holder), do: if(:ets.take(@holders, holder) != [], do: subtract(place))

  # The row of a place: how many calls have it, the time of the next search for ended ones, and their mean of reductions.
  defp add(place), do: :ets.update_counter(@table, place, {2, 1}, {place, 0, System.monotonic_time(), 0})

  # Deletes a row of no calls, unless another process has changed it meanwhile.
  defp subtract(place) do
    if :ets.update_counter(@table, place, {2, -1}) == 0, do: :ets.match_delete(@table, {place, 0, :_, :_})
    :ok
  end

  @doc "Gives back the places of ended processes."
  @spec sweep() :: :ok
  def sweep, do: give_back_ended(:_)

  @doc "Starts the process that gives back the places of ended processes."
  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_argument), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @impl true
  def init(nil) do
    {:ok, _timer} = :timer.send_interval(@sweep_ms, :sweep)
    {:ok, nil}
  end

  @impl true
  def handle_info(:sweep, nil) do
    sweep()
    {:noreply, nil}
  end
end
