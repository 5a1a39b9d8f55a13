defmodule McpServer.Http.Cluster.Node do
  @moduledoc false
  # Finds the cluster node that a session lives on. A session id contains a mark of its node, which is opaque to
  # clients. So nodes can forward requests without shared state.
  #
  # Only nodes that run this library are asked. They find each other in the `:pg` scope that carries changes: other
  # connected nodes are in none of its groups.

  alias McpServer.Changes
  alias McpServer.Connection.Session

  @random_bytes 22
  @tag_bytes 8

  @doc "A new session id: 128 random bits, and in a cluster a mark of this node."
  @spec session_id() :: String.t()
  def session_id, do: if(Node.alive?(), do: Session.random_id() <> tag(node()), else: Session.random_id())

  @doc "The mark of this node, for the seal of a session id. It is zeros outside a cluster."
  @spec mark() :: <<_::48>>
  def mark, do: if(Node.alive?(), do: mark(node()), else: <<0::48>>)

  @doc "The other node with this mark, if it is connected and runs this library."
  @spec marked(<<_::48>>) :: node() | nil
  def marked(mark), do: Enum.find(others(), &(mark(&1) == mark))

  @doc "Registers the calling process for this node, until the process or the scope ends."
  @spec join() :: :ok
  def join, do: :pg.join(Changes, __MODULE__, self())

  @doc "The other connected nodes that run this library."
  @spec others() :: [node()]
  def others, do: for(pid <- :pg.get_members(Changes, __MODULE__), node(pid) != node(), uniq: true, do: node(pid))

  @doc "The other node that a session id names, if it is connected and runs this library."
  @spec of_session(String.t()) :: {:remote, node()} | :unknown
  def of_session(<<_random::binary-size(@random_bytes), tag::binary-size(@tag_bytes)>>) do
    case Enum.find(others(), &(tag(&1) == tag)) do
      nil -> :unknown
      node -> {:remote, node}
    end
  end

  def of_session(_id), do: :unknown

  @doc "Whether a session id names the node. `nil` for an id that names none."
  @spec named?(String.t(), node()) :: boolean() | nil
  def named?(<<_random::binary-size(@random_bytes), tag::binary-size(@tag_bytes)>>, node), do: tag == tag(node)
  def named?(_id, _node), do: nil

  defp tag(node), do: Base.url_encode64(mark(node))

  defp mark(node) do
    <<mark::binary-size(6), _rest::binary>> = :crypto.hash(:sha256, Atom.to_string(node))
    mark
  end
end
