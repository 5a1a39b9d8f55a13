defmodule McpServer.Http.Disconnection do
  @moduledoc false
  # Disconnects clients on all nodes: drops their cached tokens, and ends their sessions and streams.

  alias McpServer.Auth.Cache
  alias McpServer.{Changes, Limit, Recipient}
  alias McpServer.Http.Cluster.Node
  alias McpServer.Http.Session.{Sealed, Tombstones}
  alias McpServer.Http.Sessions
  alias McpServer.Tools.Server

  @doc "Disconnects the clients of a recipient. Other nodes do so a moment later."
  @spec everywhere(router :: module(), Recipient.t()) :: :ok
  def everywhere(router, recipient) do
    bury(router, recipient)
    for node <- Node.others(), do: :erpc.cast(node, __MODULE__, :here, [router, recipient])
    here(router, recipient)
  end

  # A sealed session need not be open on any node, and its expiry can be read only with its principal. The operator, not
  # a client, has ended it.
  defp bury(router, {:session, id}) do
    if Sealed.sealed?(id) do
      Tombstones.put(id, System.system_time(:millisecond) + Limit.most(:milliseconds), nil)
      Server.session_over(router, id)
    end
  end

  defp bury(_router, _recipient), do: :ok

  # Tokens come first: a client that reconnects at once is checked again.
  @doc false
  @spec here(router :: module(), Recipient.t()) :: :ok
  def here(router, recipient) do
    Cache.forget(recipient)
    Sessions.disconnect(router, recipient)
    Changes.disconnect_here(router, recipient)
  end
end
