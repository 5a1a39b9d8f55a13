defmodule McpServer.Http.Session.Reopening do
  @moduledoc false
  # A session whose id holds it, and which this node does not have. A connected node that has it keeps it: the request goes
  # there. Where none has it, this node opens it.
  #
  # Two requests may come to two nodes at once. The nodes that know each other take a lock before one of them opens the
  # session; a node without others needs none, because `Sessions` opens one session after the other.

  alias McpServer.Http.Cluster.Node
  alias McpServer.Http.{Mount, Sessions}
  alias McpServer.Http.Session.{Sealed, Tombstones}

  # How long other nodes may take to say whether they have a session, in milliseconds.
  @ask_ms 2_000
  # How often a lock is tried that another node has.
  @tries 5

  @doc "Finds or opens the session that is sealed in the id."
  @spec find(String.t(), Sealed.t(), Mount.t(), principal :: term(), peer :: :inet.ip_address() | nil) ::
          Sessions.found()
  def find(id, sealed, mount, principal, peer) do
    question = [id, Mount.place(mount), principal]
    open = fn -> Sessions.reopen(id, sealed, mount, principal, peer) end
    if Tombstones.dead?(id), do: :unknown, else: look(Node.others(), sealed.home, question, open)
  end

  defp look([], _home, _question, open), do: open.()

  # Most sessions are where they were opened first.
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
      # The others have gone, or run another release.
      true -> :nowhere
    end
  end
end
