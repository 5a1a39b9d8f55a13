defmodule McpServer.Http.Session.ReplayRoom do
  @moduledoc false
  # Shares the room for stored events: all sessions of a node have 64 MiB together, and each client a share of them.
  # When room is short, the client that stores most loses events, not the next client that stores one.
  #
  # A quota counts the bytes, so that sessions store events without a message. `Sessions` knows the sessions. A round frees
  # a quarter of the room, so that rounds are rare.

  alias McpServer.Http.Session.Replay
  alias McpServer.Quota
  alias McpServer.Quota.{Client, Kinds}

  # The element of the counters.
  @first 1

  @typedoc "The quota that counts the bytes, and a flag whether room was already requested."
  @type t :: %{quota: Quota.t(), asked: :atomics.atomics_ref()}

  @typedoc "A session's client, and the counter of its own stored bytes."
  @type paid :: %{client: Client.t(), own: :atomics.atomics_ref()}

  @doc "Makes the node's room."
  @spec load() :: :ok
  def load, do: :persistent_term.put(__MODULE__, new(Quota.of_node()))

  @doc "The node's room."
  @spec of_node() :: t()
  def of_node, do: :persistent_term.get(__MODULE__)

  @doc "The room in a quota."
  @spec new(Quota.t()) :: t()
  def new(quota), do: %{quota: quota, asked: :atomics.new(1, [])}

  @doc "What a new session of a client has stored: nothing."
  @spec paid(Client.t()) :: paid()
  def paid(client), do: %{client: client, own: :atomics.new(1, [])}

  @doc "The account of a session. `ask` is called when room is short."
  @spec account(t(), paid(), percent :: 1..100, ask :: (() -> term())) :: Replay.account()
  def account(%{quota: quota, asked: asked}, paid, percent, ask) do
    %{
      quota: Quota.put_bound(quota, :event_bytes, Kinds.bound(:event_bytes, %{max_share: percent})),
      client: paid.client,
      own: paid.own,
      make_room: fn -> if :atomics.compare_exchange(asked, @first, 0, 1) == :ok, do: ask.() end
    }
  end

  @doc "Subtracts the stored bytes of an ended session."
  @spec give_back(t(), paid()) :: :ok
  def give_back(%{quota: quota}, paid), do: Quota.give(quota, :event_bytes, paid.client, :atomics.get(paid.own, @first))

  @doc "Counts the stored bytes of a session again, after the count was reset."
  @spec recount(t(), paid()) :: :ok
  def recount(%{quota: quota}, paid),
    do: Quota.take_anyway(quota, :event_bytes, paid.client, :atomics.get(paid.own, @first))

  @doc """
  How many bytes each session must drop: sessions of the client that stores most come first, then those of the next
  client.
  """
  @spec demands(t(), [{pid(), paid()}]) :: [{pid(), pos_integer()}]
  def demands(%{quota: quota, asked: asked}, sessions) do
    :atomics.put(asked, @first, 0)

    sessions
    |> Enum.map(fn {pid, paid} -> {pid, paid.client, :atomics.get(paid.own, @first)} end)
    |> demands_of(Quota.held(quota, :event_bytes) - div(Quota.limit(quota, :event_bytes) * 3, 4))
  end

  @doc false
  @spec demands_of([{pid(), Client.t(), non_neg_integer()}], integer()) :: [{pid(), pos_integer()}]
  def demands_of(stored, excess) do
    stored
    |> Enum.group_by(&elem(&1, 1))
    |> Enum.sort_by(fn {_client, sessions} -> sessions |> Enum.map(&elem(&1, 2)) |> Enum.sum() end, :desc)
    |> Enum.flat_map(fn {_client, sessions} -> Enum.sort_by(sessions, &elem(&1, 2), :desc) end)
    |> Enum.reduce_while({[], excess}, &demand/2)
    |> elem(0)
    |> Enum.reverse()
  end

  defp demand({_pid, _client, bytes}, {demands, excess}) when excess <= 0 or bytes == 0, do: {:halt, {demands, excess}}

  defp demand({pid, _client, bytes}, {demands, excess}),
    do: {:cont, {[{pid, min(bytes, excess)} | demands], excess - bytes}}
end
