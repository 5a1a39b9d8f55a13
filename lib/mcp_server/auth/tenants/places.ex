defmodule McpServer.Auth.Tenants.Places do
  @moduledoc false
  # Which tenants have a row in the table of `McpServer.Auth.Tenants`. Only this process changes the rows, so the bounds
  # are exact. It never calls a user's function.
  #
  # Anybody can name a tenant in a token. So a tenant is proven only when a token of it has been verified, and tenants
  # that are only named have places of their own: they never displace a proven one. An address has a share of these
  # places. Several may name the same tenant: it goes when the last of them loses it, so that no client can take away the
  # keys that another one waits for.
  #
  # The rows tell everything. A process that is started anew reads its state from them.

  use GenServer
  use McpServer.Outline

  alias McpServer.Auth.{Issuer, Plan, Processes}
  alias McpServer.Protocol.Auth
  alias McpServer.Quota.{Client, Kinds}

  @table McpServer.Auth.Tenants
  @most_proven 100
  # The clients that can hold the same tenant: as many as have a share. Further ones rely on these.
  @most_clients 8

  @type key :: {plan :: reference(), issuer :: String.t()}
  @type known :: {Auth.policy(), Plan.keys()}

  @typedoc """
  All times are in microseconds. `used` is when a token of the tenant was last verified, `wait` how long a fetch of its
  keys may take. Each client of a named one has the time when it named the tenant.
  """
  @type place ::
          {:proven, used :: integer()}
          | {:named, since :: integer(), wait :: non_neg_integer(), %{Client.t() => integer()}}

  @typedoc "Until when the function's answer is valid, in seconds."
  @type row :: {key(), known(), until :: integer(), place()}

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @doc "Whether the place is already kept for the client."
  @spec held?(place(), Client.t()) :: boolean()
  def held?({:proven, _used}, _client), do: true
  def held?({:named, _, _, clients}, client), do: is_map_key(clients, client) or map_size(clients) >= @most_clients

  @doc """
  Stores what the function has answered, for a client that named the tenant or for a verified token. A valid answer that
  another request has stored meanwhile stays, and is returned.
  """
  @spec put(key(), known(), until :: integer(), {:named, Client.t()} | :proven) ::
          {:ok, known()} | Processes.unavailable()
  def put(key, known, until, as), do: call({:put, {key, known, until}, as})

  @doc "Keeps the place for a client, or marks it as proven. `:gone` if there is no row any more."
  @spec keep(key(), {:named, Client.t()} | :proven) :: :ok | :gone | Processes.unavailable()
  def keep(key, as), do: call({:keep, key, as})

  @doc "Drops a tenant."
  @spec drop(key()) :: :ok | Processes.unavailable()
  def drop(key), do: call({:drop, key})

  @doc "Drops all tenants of a plan."
  @spec clear(plan :: reference()) :: :ok | Processes.unavailable()
  def clear(plan), do: call({:clear, plan})

  defp call(message) do
    GenServer.call(__MODULE__, message, :infinity)
  catch
    :exit, _gone -> Processes.unavailable()
  end

  # The places of each plan, by issuer, without policies and keys.
  @impl true
  def init(nil) do
    rows = :ets.select(@table, [{{:"$1", :_, :_, :"$2"}, [], [{{:"$1", :"$2"}}]}])
    {:ok, Enum.reduce(rows, %{}, fn {key, place}, plans -> set(plans, key, place) end)}
  end

  @impl true
  def handle_call({:put, {key, _known, _until} = answer, as}, _from, plans) do
    case :ets.lookup(@table, key) do
      [row] -> {:reply, {:ok, renew(row, answer)}, kept(plans, key, as)}
      [] -> enter(plans, answer, as)
    end
  end

  def handle_call({:keep, key, as}, _from, plans) do
    if :ets.member(@table, key), do: {:reply, :ok, kept(plans, key, as)}, else: {:reply, :gone, plans}
  end

  def handle_call({:drop, key}, _from, plans), do: {:reply, :ok, dropped(plans, key)}

  def handle_call({:clear, plan}, _from, plans) do
    {:reply, :ok, plans |> places(plan) |> Map.keys() |> Enum.reduce(plans, &dropped(&2, {plan, &1}))}
  end

  # Requests of the same tenant ask the function at the same time. The first answer stays, with what its keys verify.
  defp renew({key, {_policy, before} = known, valid_until, _place}, {_key, {_, keys} = new, until}) do
    if System.monotonic_time(:second) < valid_until do
      known
    else
      true = :ets.update_element(@table, key, [{2, new}, {3, until}])
      if keys != before, do: withdraw(before)
      new
    end
  end

  defp enter(plans, {key, known, until}, :proven) do
    plans = prove(plans, key)
    :ets.insert(@table, {key, known, until, place(plans, key)})
    {:reply, {:ok, known}, plans}
  end

  defp enter(plans, {{plan, _issuer} = key, known, until}, {:named, client}) do
    now = now()
    plans = share(plans, plan, client)

    case room(plans, plan, now) do
      {:ok, plans} ->
        place = {:named, now, wait(known), %{client => now}}
        :ets.insert(@table, {key, known, until, place})
        {:reply, {:ok, known}, set(plans, key, place)}

      :full ->
        {:reply, Processes.unavailable(), plans}
    end
  end

  defp wait({_policy, {:fixed, _keys}}), do: 0
  defp wait({_policy, {:fetched, source}}), do: source.wait * 1_000

  # An existing row, with its place in it.
  defp kept(plans, key, :proven), do: plans |> prove(key) |> write(key)

  defp kept(plans, {plan, _issuer} = key, {:named, client}) do
    place = place(plans, key)

    if held?(place, client) do
      plans
    else
      {:named, since, wait, clients} = place
      # The client's own oldest one goes, which is not this one.
      plans = share(plans, plan, client)
      plans |> set(key, {:named, since, wait, Map.put(clients, client, now())}) |> write(key)
    end
  end

  defp write(plans, key) do
    true = :ets.update_element(@table, key, {4, place(plans, key)})
    plans
  end

  # A client that has its share loses the tenant that it named first.
  defp share(plans, _plan, nil), do: plans

  defp share(plans, plan, client) do
    {_limit, share} = Kinds.bound(:tenants, %{})
    own = for {issuer, {:named, _, _, %{^client => at}}} <- places(plans, plan), do: {at, issuer}
    if length(own) >= share, do: release(plans, {plan, own |> Enum.min() |> elem(1)}, client), else: plans
  end

  defp release(plans, key, client) do
    {:named, since, wait, clients} = place(plans, key)

    case Map.delete(clients, client) do
      none when none == %{} -> dropped(plans, key)
      others -> plans |> set(key, {:named, since, wait, others}) |> write(key)
    end
  end

  # Room for one more that is only named. A client may still wait for the keys of one that is there.
  defp room(plans, plan, now) do
    {limit, _share} = Kinds.bound(:tenants, %{})
    named = for {issuer, {:named, since, wait, _clients}} <- places(plans, plan), do: {since + wait, issuer}

    with true <- length(named) >= limit, {waits_until, issuer} when waits_until <= now <- Enum.min(named) do
      {:ok, dropped(plans, {plan, issuer})}
    else
      false -> {:ok, plans}
      _waits -> :full
    end
  end

  # The one whose answer is not valid any more goes first, then the one whose tokens were verified longest ago.
  defp prove(plans, {plan, issuer} = key) do
    others =
      for {other, {:proven, used}} <- places(plans, plan), other != issuer, do: {valid?({plan, other}), used, other}

    plans = if length(others) >= @most_proven, do: dropped(plans, {plan, others |> Enum.min() |> elem(2)}), else: plans
    set(plans, key, {:proven, now()})
  end

  defp valid?(key), do: System.monotonic_time(:second) < :ets.lookup_element(@table, key, 3)

  defp dropped(plans, {plan, issuer} = key) do
    for {_key, {_policy, keys}, _until, _place} <- :ets.take(@table, key), do: withdraw(keys)

    case plans |> places(plan) |> Map.delete(issuer) do
      none when none == %{} -> Map.delete(plans, plan)
      others -> Map.put(plans, plan, others)
    end
  end

  # Invalidates all tokens that these keys have verified.
  defp withdraw({:fixed, keys}), do: Auth.withdraw(keys)
  defp withdraw({:fetched, source}), do: Issuer.forget(source)

  defp places(plans, plan), do: Map.get(plans, plan, %{})
  defp place(plans, {plan, issuer}), do: plans |> Map.fetch!(plan) |> Map.fetch!(issuer)
  defp set(plans, {plan, issuer}, place), do: Map.update(plans, plan, %{issuer => place}, &Map.put(&1, issuer, place))
  defp now, do: System.monotonic_time(:microsecond)
end
