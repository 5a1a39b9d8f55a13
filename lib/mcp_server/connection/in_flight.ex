defmodule McpServer.Connection.InFlight do
  @moduledoc false
  # The unanswered requests of a session over HTTP. The process that holds a request starts its call and answers it, and
  # the session's process takes no part in most calls.
  #
  # A request has a row in a public table: `{{session, id}, turns, holder, call, entry}`, so that ids are unique. `call`
  # is `nil` until it runs, and `entry` is `nil` for a call that the session has started itself. The first process to
  # take its turn at the row ends the call: the holder when there is a result, or the session, which then adopts the
  # call. The other process passes on the call's messages. The table outlives both. Counters tell holders about the
  # session: the number of taken places and of calls that wait for the client, the bytes of all, those of answers that a
  # batch keeps, whether it is ending, its log level, and two times. Each place and byte of the session is also one of the
  # server's, as long as the session's process lives.

  alias McpServer.{Protocol, Quota, Request}
  alias McpServer.Connection.{Report, Session}
  alias McpServer.Dispatch.ToolPlaces
  alias McpServer.Quota.Client

  @table __MODULE__
  @taken 1
  @closed 2
  @level 3
  @seen 4
  @checked 5
  @asking 6
  @bytes 7
  @answers 8
  @slots 8

  @levels List.to_tuple(Session.log_levels())
  @indexes Session.log_levels() |> Enum.with_index() |> Map.new()

  # Each count of a session whose process has ended, so that none reaches zero again.
  @ended -0xFFFF_FFFF_FFFF

  @enforce_keys [:counters, :most, :quota, :client, :tool_shares]
  defstruct [:counters, :most, :quota, :client, :tool_shares]

  @typedoc """
  `:most` – the session's places; `:quota` – that of its server; `:client` – whose session it is; `:tool_shares` – what one
  tool may have of the places
  """
  @type t :: %__MODULE__{
          counters: :atomics.atomics_ref(),
          most: pos_integer(),
          quota: Quota.t(),
          client: Client.t(),
          tool_shares: [ToolPlaces.share()]
        }

  @typedoc """
  The data of a call that the session may adopt. `:request` is a `Request.summary/1`, and `:bytes` is what counts for its
  arguments. `:since` is the arrival of the request, in milliseconds.
  """
  @type entry :: %{
          request: Request.t(),
          http_id: String.t() | nil,
          timeout: pos_integer(),
          deadline: integer(),
          started_at: integer() | nil,
          since: integer(),
          events?: boolean(),
          bytes: non_neg_integer()
        }

  @doc "Makes the table. The calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, :ordered_set, write_concurrency: true])
    :ok
  end

  @doc """
  The shared state of a client's session with places for so many calls. Each is also a place of the server. `bounds`
  are those of a tool.
  """
  @spec new(most :: pos_integer(), Quota.t(), Client.t(), ToolPlaces.bounds()) :: t()
  def new(most, quota, client, bounds) do
    counters = :atomics.new(@slots, signed: true)
    shares = [ToolPlaces.share({:session, counters}, most, bounds) | ToolPlaces.shares(quota, client, bounds)]
    in_flight = %__MODULE__{counters: counters, most: most, quota: quota, client: client, tool_shares: shares}
    put_level(in_flight, %Session{}.log_level)
    seen(in_flight)
    :atomics.put(in_flight.counters, @checked, System.monotonic_time(:millisecond))
    in_flight
  end

  @doc """
  Takes an id, a place and bytes, for a call that the calling process starts in its session.

  `:full` means that the session, the server or the client's share of it has no place or bytes.
  """
  @spec claim_own(t(), Request.id(), bytes :: non_neg_integer()) :: :ok | :duplicate | :full
  # The turn is taken, because only the session ends a call that it has started itself.
  def claim_own(in_flight, id, bytes), do: claim_row(in_flight, {{self(), id}, 1, self(), nil, nil}, bytes)

  @doc "Takes an id, a place and bytes, for a call that the calling process starts for another process's session."
  @spec claim(t(), session :: pid(), entry()) :: :ok | :duplicate | :full
  def claim(in_flight, session, %{request: %{id: id}, bytes: bytes} = entry),
    do: claim_row(in_flight, {{session, id}, 0, self(), nil, pack(entry)}, bytes)

  # The row comes last: for a process that is killed before, nobody gives back what it has not taken.
  defp claim_row(in_flight, {key, _turns, _holder, nil, _entry} = row, bytes) do
    with {:known, false} <- {:known, :ets.member(@table, key)},
         {:behind, false} <- {:behind, behind?(in_flight)},
         :ok <- take(in_flight, @taken, 1, in_flight.most),
         {:bytes, :ok} <- {:bytes, take(in_flight, @bytes, bytes, :infinity)} do
      if :ets.insert_new(@table, row), do: :ok, else: unclaimed(in_flight, bytes, :duplicate)
    else
      {:known, true} -> :duplicate
      {:bytes, :full} -> unclaimed(in_flight, 0, :full)
      _behind_or_full -> :full
    end
  end

  defp unclaimed(in_flight, bytes, reason) do
    leave(in_flight, 1, bytes)
    reason
  end

  # An ended session takes nothing, because nobody would give it back.
  defp take(_in_flight, _slot, 0, _most), do: :ok

  defp take(%{counters: counters} = in_flight, slot, amount, most) do
    taken = :atomics.add_get(counters, slot, amount)

    with true <- taken > 0,
         true <- taken > most or Quota.take(in_flight.quota, kind(slot), in_flight.client, amount) == :full do
      # If the session has ended meanwhile, the server has got back what was not taken.
      if :atomics.sub_get(counters, slot, amount) < 0, do: take_anyway(in_flight, slot, amount)
      :full
    else
      false -> :ok
    end
  end

  defp take_anyway(%{quota: quota, client: client}, slot, amount),
    do: Quota.take_anyway(quota, kind(slot), client, amount)

  defp give(_in_flight, _slot, 0), do: :ok

  defp give(%{counters: counters} = in_flight, slot, amount) do
    if :atomics.sub_get(counters, slot, amount) >= 0, do: give_back(in_flight, slot, amount), else: :ok
  end

  defp give_back(%{quota: quota, client: client}, slot, amount), do: Quota.give(quota, kind(slot), client, amount)

  defp kind(@taken), do: :calls
  defp kind(@asking), do: :questions
  defp kind(@bytes), do: :argument_bytes
  defp kind(@answers), do: :answer_bytes

  # Every claim copies the entry into the table, and most of its size would be empty fields of the request.
  defp pack(entry), do: %{entry | request: Request.to_row(entry.request)}
  defp unpack(id, entry), do: %{entry | request: Request.from_row(id, entry.request)}

  @doc "Registers the running call of a request. From now on the session may adopt it."
  @spec put(session :: pid(), Request.id(), call :: pid()) :: boolean()
  def put(session, id, call), do: :ets.update_element(@table, {session, id}, {4, call})

  @doc "Whether the calling holder of a request may end its call, because the session has not adopted it."
  @spec end?(session :: pid(), Request.id()) :: boolean()
  def end?(session, id) do
    key = {session, id}
    # Another request may use the id by now.
    :ets.lookup_element(@table, key, 3) == self() and first?(key)
  rescue
    # The row was deleted with the session or with the call.
    ArgumentError -> false
  end

  @doc "Adopts a call from the holder of its request, unless the holder has ended it."
  @spec adopt(session :: pid(), Request.id()) :: {:ok, holder :: pid(), call :: pid(), entry()} | :none
  def adopt(session, id) do
    with [{key, 0, holder, call, packed}] when call != nil <- :ets.lookup(@table, {session, id}),
         true <- first?(key) do
      {:ok, holder, call, unpack(id, packed)}
    else
      _ended_or_adopted -> :none
    end
  end

  @doc "Notes that the holder knows of the adoption. It then needs no message about the session's end."
  @spec told(session :: pid(), Request.id()) :: boolean()
  def told(session, id), do: :ets.update_element(@table, {session, id}, {3, session})

  defp first?(key) do
    :ets.update_counter(@table, key, 1) == 1
  rescue
    # The row was deleted with the session or with the call.
    ArgumentError -> false
  end

  @doc "Gives id, place and bytes back. The request is about to be answered, or gets no answer."
  @spec release(t(), session :: pid(), Request.id(), bytes :: non_neg_integer()) :: :ok
  def release(in_flight, session, id, bytes) do
    free(session, id)
    give(in_flight, @bytes, bytes)
    give(in_flight, @taken, 1)
  end

  @doc "Gives the id back, but neither place nor bytes."
  @spec free(session :: pid(), Request.id()) :: true
  def free(session, id), do: :ets.delete(@table, {session, id})

  defp leave(in_flight, places, bytes) do
    give(in_flight, @bytes, bytes)
    give(in_flight, @taken, places)
  end

  @doc "Gives back what a session has whose process has ended."
  @spec abandon(t()) :: :ok
  def abandon(%{counters: counters} = in_flight) do
    close(in_flight)

    for slot <- [@asking, @bytes, @answers, @taken],
        do: give_back(in_flight, slot, max(:atomics.exchange(counters, slot, @ended), 0))

    :ok
  end

  @doc "Gives id, place and bytes back for a holder that has ended, if the session has not adopted its call."
  @spec clean_up(t() | nil, session :: pid(), Request.id()) :: :ok
  def clean_up(nil, _session, _id), do: :ok

  def clean_up(in_flight, session, id) do
    with [{_key, _turns, holder, call, packed}] <- :ets.lookup(@table, {session, id}),
         false <- Process.alive?(holder) do
      release(in_flight, session, id, if(packed, do: packed.bytes, else: 0))
      if call, do: Report.abandoned(holder, call)
    end

    :ok
  end

  @doc "What one tool may have of the places."
  @spec tool_shares(t() | nil) :: [ToolPlaces.share()]
  def tool_shares(nil), do: []
  def tool_shares(%{tool_shares: shares}), do: shares

  @doc "Takes more bytes for a call of the session."
  @spec hold(t() | nil, bytes :: non_neg_integer()) :: :ok | :full
  def hold(nil, _bytes), do: :ok
  def hold(in_flight, bytes), do: take(in_flight, @bytes, bytes, :infinity)

  @doc """
  Takes the bytes of a batch, until it is answered. `:full` means that the server or the client's share of it has no
  room, or that the client has left too much unread: most messages of a batch need no place.
  """
  @spec admit_batch(t() | nil, bytes :: non_neg_integer()) :: :ok | :full
  def admit_batch(nil, _bytes), do: :ok

  def admit_batch(in_flight, bytes), do: if(behind?(in_flight), do: :full, else: hold(in_flight, bytes))

  @doc "Whether the client has left so much unread that it gets nothing more."
  @spec behind?(t() | nil) :: boolean()
  def behind?(nil), do: false
  def behind?(%{quota: quota, client: client}), do: Quota.behind?(quota, :answer_bytes, client)

  @doc "Counts an answer that waits for the others of its batch, or to be written."
  @spec keep_answer(t() | nil, bytes :: pos_integer()) :: :ok
  def keep_answer(nil, _bytes), do: :ok

  def keep_answer(%{counters: counters} = in_flight, bytes) do
    if :atomics.add_get(counters, @answers, bytes) > 0, do: take_anyway(in_flight, @answers, bytes), else: :ok
  end

  @doc "Gives back the answers that are written. The transport counts them."
  @spec forget_answers(t() | nil, bytes :: non_neg_integer()) :: :ok
  def forget_answers(nil, _bytes), do: :ok
  def forget_answers(in_flight, bytes), do: give(in_flight, @answers, bytes)

  @doc "Gives back the answers, the bytes and the places of an answered batch."
  @spec leave_batch(t() | nil, %{
          :answers => non_neg_integer(),
          :bytes => non_neg_integer(),
          :places => non_neg_integer(),
          optional(atom()) => term()
        }) :: :ok
  def leave_batch(nil, _batch), do: :ok

  def leave_batch(in_flight, %{answers: answers, bytes: bytes, places: places}) do
    give(in_flight, @answers, answers)
    leave(in_flight, places, bytes)
  end

  @doc "Frees the place of a call that waits for the client. `:full` means that too many wait, of the client or of all."
  @spec wait(t() | nil) :: :ok | :full
  def wait(nil), do: :ok

  def wait(in_flight), do: with(:ok <- take(in_flight, @asking, 1, :infinity), do: give(in_flight, @taken, 1))

  @doc "Takes a place for a call that continues, even if none is free."
  @spec go_on(t() | nil) :: :ok
  def go_on(nil), do: :ok

  def go_on(%{counters: counters} = in_flight) do
    if :atomics.add_get(counters, @taken, 1) > 0, do: take_anyway(in_flight, @taken, 1)
    give(in_flight, @asking, 1)
  end

  @doc "Whether calls run."
  @spec busy?(t() | nil) :: boolean()
  def busy?(nil), do: false
  def busy?(in_flight), do: :atomics.get(in_flight.counters, @taken) > 0

  @doc "Whether an unanswered request has the id. A session without calls looks nothing up."
  @spec taken?(t(), session :: pid(), Request.id()) :: boolean()
  def taken?(in_flight, session, id), do: open?(in_flight) and :ets.member(@table, {session, id})

  @doc "The id of an encoded answer, if an unanswered request has it. A session without calls looks nothing up."
  @spec taken_id(t(), session :: pid(), Protocol.message()) :: {:ok, Request.id()} | :free
  def taken_id(in_flight, session, reply) do
    with true <- open?(in_flight),
         {:ok, id} <- Protocol.reply_id(reply),
         true <- :ets.member(@table, {session, id}) do
      {:ok, id}
    else
      _free -> :free
    end
  end

  # Running calls, and calls that wait for the client.
  defp open?(%{counters: counters} = in_flight), do: busy?(in_flight) or :atomics.get(counters, @asking) > 0

  @doc "The ids of the requests of a session."
  @spec ids(session :: pid()) :: [Request.id()]
  def ids(session), do: :ets.select(@table, [{{{session, :"$1"}, :_, :_, :_, :_}, [], [:"$1"]}])

  @doc "The ids of the requests whose call is the process: one or none."
  @spec ids(session :: pid(), call :: pid()) :: [Request.id()]
  def ids(session, call), do: :ets.select(@table, [{{{session, :"$1"}, :_, :_, call, :_}, [], [:"$1"]}])

  @doc "Whether a holder has claimed a request of the session, but not registered its call yet."
  @spec starting?(session :: pid()) :: boolean()
  def starting?(session),
    do: :ets.select(@table, [{{{session, :_}, 0, :_, nil, :_}, [], [true]}], 1) != :"$end_of_table"

  @doc "Whether a living holder has claimed the request with that id, but not registered its call yet."
  @spec starting?(session :: pid(), Request.id()) :: boolean()
  def starting?(session, id) do
    case :ets.lookup(@table, {session, id}) do
      [{_key, 0, holder, nil, _packed}] -> Process.alive?(holder)
      _running_or_none -> false
    end
  end

  @doc "Marks the session as ending. From now on its process decides about each request."
  @spec close(t()) :: :ok
  def close(in_flight), do: :atomics.put(in_flight.counters, @closed, 1)

  @spec closed?(t()) :: boolean()
  def closed?(in_flight), do: :atomics.get(in_flight.counters, @closed) == 1

  @doc "Notes the time of a client's request, in milliseconds."
  @spec seen(t(), now :: integer()) :: :ok
  def seen(in_flight, now \\ System.monotonic_time(:millisecond)), do: :atomics.put(in_flight.counters, @seen, now)

  @doc "The time of the client's last request, in milliseconds."
  @spec seen_at(t()) :: integer()
  def seen_at(in_flight), do: :atomics.get(in_flight.counters, @seen)

  @doc """
  Whether so many milliseconds have passed since the session was last checked, or opened. Only one process is told so.
  """
  @spec check?(t(), every :: pos_integer(), now :: integer()) :: boolean()
  def check?(%{counters: counters}, every, now \\ System.monotonic_time(:millisecond)) do
    last = :atomics.get(counters, @checked)
    now - last >= every and :atomics.compare_exchange(counters, @checked, last, now) == :ok
  end

  @doc "Stores the session's log level."
  @spec put_level(t() | nil, String.t()) :: :ok
  def put_level(nil, _level), do: :ok
  def put_level(in_flight, level), do: :atomics.put(in_flight.counters, @level, Map.fetch!(@indexes, level))

  @spec level(t()) :: String.t()
  def level(in_flight), do: elem(@levels, :atomics.get(in_flight.counters, @level))

  @doc "Ends the calls of a session whose process has ended, and informs the holders of its requests."
  @spec session_down(pid()) :: :ok
  def session_down(session) do
    rows = :ets.select(@table, [{{{session, :"$1"}, :_, :"$2", :"$3", :_}, [], [{{:"$1", :"$2", :"$3"}}]}])

    for {id, holder, call} <- rows do
      # The row goes first: with it the holder would answer for the call that is killed here.
      :ets.delete(@table, {session, id})
      send(holder, {:mcp_session_down, session})
      if call, do: Process.exit(call, :kill)
      # While there was the row, its end was the session's to report.
      if call != nil and not Process.alive?(holder), do: Report.abandoned(holder, call)
    end

    :ok
  end

  @doc "Lets sessions adopt the calls of holders that have ended."
  @spec holders_down(MapSet.t(pid())) :: :ok
  def holders_down(holders) do
    rows = :ets.select(@table, [{{{:"$1", :"$2"}, :_, :"$3", :_, :_}, [], [{{:"$1", :"$2", :"$3"}}]}])
    for {session, id, holder} <- rows, MapSet.member?(holders, holder), do: send(session, {:mcp_hand_over, id})
    :ok
  end

  @doc "The calls that a session has adopted or may adopt. They do not end with their holder."
  @spec calls() :: [pid()]
  def calls, do: :ets.select(@table, [{{:_, :_, :_, :"$1", :_}, [{:is_pid, :"$1"}], [:"$1"]}])
end
