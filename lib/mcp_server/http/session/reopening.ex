defmodule McpServer.Http.Session.Reopening do
  @moduledoc false
  # Finds a sealed session that this node does not have. If a connected node has the session, the request goes there.
  # Otherwise this node opens it.
  #
  # Two nodes may receive requests of the session at once. So a node takes a lock among the connected nodes before it
  # opens the session. A single node needs no lock, because `Sessions` opens one session after the other.

  alias McpServer.Http.Cluster.Node
  alias McpServer.Http.{Mount, Sessions}
  alias McpServer.Http.Session.{Sealed, Tombstones}

  # The timeout of questions to other nodes, in milliseconds.
  @ask_ms 2_000
  # The number of attempts to take a lock that another node holds.
  @tries 5

  @doc "Finds or opens the session that the id seals."
  @spec find(String.t(), Sealed.t(), Mount.t(), principal :: term(), peer :: :inet.ip_address() | nil) ::
          Sessions.found()
  def find(id, sealed, mount, principal, peer) do
    question = [id, Mount.place(mount), principal]
    open = fn -> Sessions.reopen(id, sealed, mount, principal, peer) end
    if Tombstones.dead?(id), do: :unknown, else: look(Node.others(), sealed.home, question, open)
  end

  defp look([], _home, _question, open), do: open.()

  # Most sessions are still on the node that opened them first.
  defp look(others, home, question, open) do
    home = List.wrap(Node.marked(home))

    with :nowhere <- ask(home, question),
         :nowhere <- ask(others -- home, question),
         do: open_alone(others, question, open)
  end

  defp open_alone(others, [id, place, principal] = question, open) do
    look_again = fn ->
      with :elsewhere <- Sessions.find_here(id, place, principal),
           :nowhere <- ask(others, question),
           do: open.()
    end

    with :aborted <- :global.trans({{__MODULE__, id}, self()}, look_again, [node() | others], @tries),
         do: :unreachable
  end

  defp ask([], _question), do: :nowhere

  defp ask(nodes, question) do
    answers = Enum.zip(nodes, :erpc.multicall(nodes, Sessions, :whereabouts, question, @ask_ms))

    cond do
      found = Enum.find(answers, &match?({_node, {:ok, :here}}, &1)) -> {:remote, elem(found, 0)}
      Enum.any?(answers, &match?({_node, {:ok, :dead}}, &1)) -> :unknown
      Enum.any?(answers, &match?({_node, {:error, {:erpc, :timeout}}}, &1)) -> :unreachable
      # The other nodes have disconnected, or run another release.
      true -> :nowhere
    end
  end
end
