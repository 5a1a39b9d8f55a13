defmodule McpServer.Http.Cluster.Node do
  @moduledoc false
  # Which node of a cluster a session lives on. Its id says so, in a form that tells clients nothing, so
  # that a request that reaches another node can be passed on without any state shared between them.
  #
  # Only nodes that run this library are ever asked. They know of each other through the `:pg` scope that carries
  # changes: a node that is merely connected is in no group of it.

  alias McpServer.Changes
  alias McpServer.Connection.Session

  @random_bytes 22
  @tag_bytes 8

  @doc "A new session id: 128 random bits, and in a cluster a mark of this node."
  @spec session_id() :: String.t()
  def session_id, do: if(Node.alive?(), do: Session.random_id() <> tag(node()), else: Session.random_id())

  @doc "A mark of this node, for the seal of a session id; zeros where it is in no cluster."
  @spec mark() :: <<_::48>>
  def mark, do: if(Node.alive?(), do: mark(node()), else: <<0::48>>)

  @doc "The other node with the mark, if it is connected and runs this library."
  @spec marked(<<_::48>>) :: node() | nil
  def marked(mark), do: Enum.find(others(), &(mark(&1) == mark))

  @doc "The calling process stands for this node, as long as it lives and the scope does."
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

  defp tag(node), do: Base.url_encode64(mark(node))

  defp mark(node) do
    <<mark::binary-size(6), _rest::binary>> = :crypto.hash(:sha256, Atom.to_string(node))
    mark
  end
end
