defmodule McpServer.Http.Session.ReplayRoom do
  @moduledoc false
  # Shares the room for stored events: all sessions of a node have 64 MiB together, and each client a share of them.
  # When room is short, the client that stores most loses events, not the next client that stores one.
  #
  # The counters are atomics, so that sessions update them without a message. `Sessions` knows the sessions.

  alias McpServer.Http.Session.Replay
  alias McpServer.Share

  # Bytes of stored events, over all sessions.
  @max_bytes 64 * 1024 * 1024
  # Stored bytes after room was made. The distance to the maximum keeps these rounds rare.
  @kept_bytes div(@max_bytes * 3, 4)

  # The counter's elements: stored bytes, and whether room was already requested.
  @bytes 1
  @asked 2

  @typedoc "The counters of a session's stored bytes: its own, and that of all sessions of its client."
  @type paid :: %{
          own: :atomics.atomics_ref(),
          counter: :atomics.atomics_ref(),
          holder: Share.holder()
        }

  @doc "A new counter for a node."
  @spec new() :: :atomics.atomics_ref()
  def new, do: :atomics.new(2, [])

  @doc "The counters of a new session of a client."
  @spec paid(Share.holder(), :atomics.atomics_ref() | nil) :: paid()
  def paid(holder, counter),
    do: %{own: :atomics.new(1, []), counter: counter || :atomics.new(1, []), holder: holder}

  @doc "The account of a session. `ask` is called when room is short."
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

  @doc "Subtracts the stored bytes of an ended session."
  @spec give_back(:atomics.atomics_ref(), paid()) :: :ok
  def give_back(node, paid) do
    bytes = :atomics.get(paid.own, @bytes)
    :atomics.sub(node, @bytes, bytes)
    :atomics.sub(paid.counter, @bytes, bytes)
  end

  @doc """
  How many bytes each session must drop: sessions of the client that stores most come first, then those of the next
  client.
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
