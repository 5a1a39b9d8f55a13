defmodule McpServer.Http.Session.ReplayRoom do
  @moduledoc false
  # How the room for stored events is shared: all sessions of a node have 64 MiB, a client has its share of them,
  # and when room is short the client that stores most gives way, not the one that comes next.
  #
  # Counters are atomics, so that sessions pay without a message; which sessions there are, `Sessions` knows.

  alias McpServer.Http.Session.Replay
  alias McpServer.Share

  # Bytes of stored events, over all sessions.
  @max_bytes 64 * 1024 * 1024
  # What is left of it once room was made: sessions need not be asked for each event.
  @kept_bytes div(@max_bytes * 3, 4)

  # The counter's second element: whether somebody has asked for room already.
  @bytes 1
  @asked 2

  @typedoc "What a session stores: its own counter, that of all sessions of its client, and who that is."
  @type paid :: %{
          own: :atomics.atomics_ref(),
          counter: :atomics.atomics_ref(),
          holder: Share.holder()
        }

  @doc "The counter of a node."
  @spec new() :: :atomics.atomics_ref()
  def new, do: :atomics.new(2, [])

  @doc "What a new session of a client pays with."
  @spec paid(Share.holder(), :atomics.atomics_ref() | nil) :: paid()
  def paid(holder, counter),
    do: %{own: :atomics.new(1, []), counter: counter || :atomics.new(1, []), holder: holder}

  @doc "The account of a session; `ask` is called when room has to be made."
  @spec account(:atomics.atomics_ref(), paid(), percent :: 1..100, ask :: (() -> term())) :: Replay.account()
  def account(node, paid, percent, ask) do
    most = if paid.holder, do: Share.of({@max_bytes, percent}), else: @max_bytes

    %{
      node: node,
      own: paid.own,
      max_bytes: @max_bytes,
      holder: %{counter: paid.counter, max_bytes: most},
      make_room: fn -> if :atomics.compare_exchange(node, @asked, 0, 1) == :ok, do: ask.() end
    }
  end

  @doc "Gives back what a session had stored that is no longer there."
  @spec give_back(:atomics.atomics_ref(), paid()) :: :ok
  def give_back(node, paid) do
    bytes = :atomics.get(paid.own, @bytes)
    :atomics.sub(node, @bytes, bytes)
    :atomics.sub(paid.counter, @bytes, bytes)
  end

  @doc """
  How many bytes each session is to forget: those of the client that stores most, and of the next one if that is not
  enough.
  """
  @spec demands(:atomics.atomics_ref(), [{pid(), paid()}]) :: [{pid(), pos_integer()}]
  def demands(node, sessions) do
    :atomics.put(node, @asked, 0)

    sessions
    |> Enum.map(fn {pid, paid} -> {pid, paid.holder, :atomics.get(paid.own, @bytes)} end)
    |> demands_of(:atomics.get(node, @bytes) - @kept_bytes)
  end

  @doc false
  @spec demands_of([{pid(), Share.holder(), non_neg_integer()}], integer()) :: [{pid(), pos_integer()}]
  def demands_of(stored, excess) do
    stored
    |> Enum.group_by(&elem(&1, 1))
    |> Enum.sort_by(fn {_holder, sessions} -> sessions |> Enum.map(&elem(&1, 2)) |> Enum.sum() end, :desc)
    |> Enum.flat_map(fn {_holder, sessions} -> Enum.sort_by(sessions, &elem(&1, 2), :desc) end)
    |> Enum.reduce_while({[], excess}, &demand/2)
    |> elem(0)
    |> Enum.reverse()
  end

  defp demand({_pid, _holder, bytes}, {demands, excess}) when excess <= 0 or bytes == 0, do: {:halt, {demands, excess}}

  defp demand({pid, _holder, bytes}, {demands, excess}),
    do: {:cont, {[{pid, min(bytes, excess)} | demands], excess - bytes}}
end
