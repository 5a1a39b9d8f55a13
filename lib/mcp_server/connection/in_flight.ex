defmodule McpServer.Connection.InFlight do
  @moduledoc false
  # The requests of a session that have not been answered, where not only the session runs them: over HTTP the process
  # that holds a request starts its call and answers it, and the session hears nothing of most calls.
  #
  # A request has a row of a public table, under its session's process and its id, so an id is in use once. The first
  # who takes its turn at the row ends the call: the holder when there is a result, or the session, which then adopts
  # the call. The other one gives what it hears of the call to the first. The table outlives both. What a holder has to
  # know of the session is in counters: how many places are taken, whether it ends, its log level.

  alias McpServer.Request
  alias McpServer.Connection.Session

  @table __MODULE__
  @taken 1
  @closed 2
  @level 3
  @seen 4
  @slots 4

  @levels List.to_tuple(Session.log_levels())
  @indexes Session.log_levels() |> Enum.with_index() |> Map.new()

  @enforce_keys [:counters, :most]
  defstruct [:counters, :most]

  @type t :: %__MODULE__{counters: :atomics.atomics_ref(), most: pos_integer()}

  @typedoc "What the session has to know of a call that it adopts; `:since` is in milliseconds, when its request came."
  @type entry :: %{
          request: Request.t(),
          request_id: String.t() | nil,
          timeout: pos_integer(),
          deadline: integer(),
          started_at: integer(),
          since: integer(),
          events?: boolean()
        }

  @doc "Makes the table; the calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, :ordered_set, write_concurrency: true])
    :ok
  end

  @doc "What a session shares, which has places for so many calls."
  @spec new(most :: pos_integer()) :: t()
  def new(most) do
    in_flight = %__MODULE__{counters: :atomics.new(@slots, signed: true), most: most}
    put_level(in_flight, %Session{}.log_level)
    seen(in_flight)
    in_flight
  end

  @doc "Takes an id and a place for a call that the calling process starts for the session."
  @spec claim(t(), session :: pid(), Request.id()) :: :ok | :duplicate | :full
  def claim(in_flight, session, id) do
    # Nobody else ever ends a call that the session has started itself.
    turns = if session == self(), do: 1, else: 0

    cond do
      not :ets.insert_new(@table, {{session, id}, turns, self(), nil, nil}) -> :duplicate
      :atomics.add_get(in_flight.counters, @taken, 1) <= in_flight.most -> :ok
      true -> refuse(in_flight, session, id)
    end
  end

  defp refuse(in_flight, session, id) do
    release(in_flight, session, id)
    :full
  end

  @doc "The call of a request runs: from now on the session may adopt it."
  @spec put(session :: pid(), Request.id(), call :: pid(), entry()) :: boolean()
  def put(session, id, call, entry), do: :ets.update_element(@table, {session, id}, [{4, call}, {5, entry}])

  @doc "Whether the holder of a request ends its call, because the session has not adopted it."
  @spec end?(session :: pid(), Request.id()) :: boolean()
  def end?(session, id) do
    key = {session, id}
    # The id may be free again, and in use for another request.
    :ets.lookup_element(@table, key, 3) == self() and first?(key)
  rescue
    # The row went with the session, or with its call.
    ArgumentError -> false
  end

  @doc "Takes a call over from the holder of its request, unless that has ended it."
  @spec adopt(session :: pid(), Request.id()) :: {:ok, holder :: pid(), call :: pid(), entry()} | :none
  def adopt(session, id) do
    with [{key, 0, holder, call, entry}] when call != nil <- :ets.lookup(@table, {session, id}),
         true <- first?(key) do
      {:ok, holder, call, entry}
    else
      _ended_or_adopted -> :none
    end
  end

  @doc "The holder has been told that the session has adopted its call: it need not hear of the session's end."
  @spec told(session :: pid(), Request.id()) :: boolean()
  def told(session, id), do: :ets.update_element(@table, {session, id}, {3, session})

  defp first?(key) do
    :ets.update_counter(@table, key, 1) == 1
  rescue
    # The row went with the session, or with its call.
    ArgumentError -> false
  end

  @doc "Gives id and place back: the request is about to be answered, or never will be."
  @spec release(t(), session :: pid(), Request.id()) :: :ok
  def release(in_flight, session, id) do
    :ets.delete(@table, {session, id})
    :atomics.sub(in_flight.counters, @taken, 1)
  end

  @doc "Gives id and place back for a holder that has ended, where the session has not adopted its call."
  @spec clean_up(t() | nil, session :: pid(), Request.id()) :: :ok
  def clean_up(nil, _session, _id), do: :ok

  def clean_up(in_flight, session, id) do
    case :ets.lookup(@table, {session, id}) do
      [{_key, _turns, holder, _call, _entry}] -> unless Process.alive?(holder), do: release(in_flight, session, id)
      [] -> :ok
    end

    :ok
  end

  @doc "A call that waits for the client takes no place."
  @spec wait(t() | nil) :: :ok
  def wait(nil), do: :ok
  def wait(in_flight), do: :atomics.sub(in_flight.counters, @taken, 1)

  @doc "The call goes on, whether there is a place or not."
  @spec go_on(t() | nil) :: :ok
  def go_on(nil), do: :ok
  def go_on(in_flight), do: :atomics.add(in_flight.counters, @taken, 1)

  @doc "Whether calls run."
  @spec busy?(t() | nil) :: boolean()
  def busy?(nil), do: false
  def busy?(in_flight), do: :atomics.get(in_flight.counters, @taken) > 0

  @doc "The ids of the requests of a session."
  @spec ids(session :: pid()) :: [Request.id()]
  def ids(session), do: :ets.select(@table, [{{{session, :"$1"}, :_, :_, :_, :_}, [], [:"$1"]}])

  @doc "The ids of the requests whose call is the process: one or none."
  @spec ids(session :: pid(), call :: pid()) :: [Request.id()]
  def ids(session, call), do: :ets.select(@table, [{{{session, :"$1"}, :_, :_, call, :_}, [], [:"$1"]}])

  @doc "Whether a holder is about to start a call of the session, or has done so and not said which it is."
  @spec starting?(session :: pid()) :: boolean()
  def starting?(session),
    do: :ets.select(@table, [{{{session, :_}, 0, :_, nil, :_}, [], [true]}], 1) != :"$end_of_table"

  @doc "The same of the request with that id, as long as its holder is there."
  @spec starting?(session :: pid(), Request.id()) :: boolean()
  def starting?(session, id) do
    case :ets.lookup(@table, {session, id}) do
      [{_key, 0, holder, nil, nil}] -> Process.alive?(holder)
      _running_or_none -> false
    end
  end

  @doc "From now on the session is asked about each request: it is about to end."
  @spec close(t()) :: :ok
  def close(in_flight), do: :atomics.put(in_flight.counters, @closed, 1)

  @spec closed?(t()) :: boolean()
  def closed?(in_flight), do: :atomics.get(in_flight.counters, @closed) == 1

  @doc "The client asks for something."
  @spec seen(t()) :: :ok
  def seen(in_flight), do: :atomics.put(in_flight.counters, @seen, System.monotonic_time(:millisecond))

  @doc "When it last did, in milliseconds."
  @spec seen_at(t()) :: integer()
  def seen_at(in_flight), do: :atomics.get(in_flight.counters, @seen)

  @doc "The session's log level."
  @spec put_level(t() | nil, String.t()) :: :ok
  def put_level(nil, _level), do: :ok
  def put_level(in_flight, level), do: :atomics.put(in_flight.counters, @level, Map.fetch!(@indexes, level))

  @spec level(t()) :: String.t()
  def level(in_flight), do: elem(@levels, :atomics.get(in_flight.counters, @level))

  @doc "A session's process has ended: nobody answers its requests any more, and its calls end."
  @spec session_down(pid()) :: :ok
  def session_down(session) do
    rows = :ets.select(@table, [{{{session, :"$1"}, :_, :"$2", :"$3", :_}, [], [{{:"$1", :"$2", :"$3"}}]}])

    for {id, holder, call} <- rows do
      if call, do: Process.exit(call, :kill)
      send(holder, {:mcp_session_down, session})
      :ets.delete(@table, {session, id})
    end

    :ok
  end

  @doc "Processes have ended while they held a request: its session adopts the call."
  @spec holders_down(MapSet.t(pid())) :: :ok
  def holders_down(holders) do
    rows = :ets.select(@table, [{{{:"$1", :"$2"}, :_, :"$3", :_, :_}, [], [{{:"$1", :"$2", :"$3"}}]}])
    for {session, id, holder} <- rows, MapSet.member?(holders, holder), do: send(session, {:mcp_hand_over, id})
    :ok
  end

  @doc "The calls that a session has adopted or may adopt: none ends with the process that started it."
  @spec calls() :: [pid()]
  def calls, do: :ets.select(@table, [{{:_, :_, :_, :"$1", :_}, [{:is_pid, :"$1"}], [:"$1"]}])
end
