defmodule McpServer.Http.Node do
  @moduledoc false
  # Which node of a cluster a session lives on. Its id says so, in a form that tells clients nothing, so
  # that a request that reaches another node can be passed on without any state shared between them.

  alias McpServer.Session

  @random_bytes 22
  @tag_bytes 8

  @doc "A new session id: 128 random bits, and in a cluster a mark of this node."
  @spec session_id() :: String.t()
  def session_id, do: if(Node.alive?(), do: Session.random_id() <> tag(node()), else: Session.random_id())

  @doc "The other node that a session id names, if it is connected."
  @spec of_session(String.t()) :: {:remote, node()} | :unknown
  def of_session(<<_random::binary-size(@random_bytes), tag::binary-size(@tag_bytes)>>) do
    case Enum.find(Node.list(), &(tag(&1) == tag)) do
      nil -> :unknown
      node -> {:remote, node}
    end
  end

  def of_session(_id), do: :unknown

  defp tag(node) do
    <<mark::binary-size(6), _rest::binary>> = :crypto.hash(:sha256, Atom.to_string(node))
    Base.url_encode64(mark)
  end
end
