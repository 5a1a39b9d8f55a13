defmodule McpServer.Http.Disconnection do
  @moduledoc false
  # Disconnects clients on all nodes: drops their cached tokens, and ends their sessions and streams.

  alias McpServer.Auth.Cache
  alias McpServer.{Changes, Recipient}
  alias McpServer.Http.Cluster.Node
  alias McpServer.Http.Sessions

  @doc "Disconnects the clients of a recipient. Other nodes do so a moment later."
  @spec everywhere(router :: module(), Recipient.t()) :: :ok
  def everywhere(router, recipient) do
    for node <- Node.others(), do: :erpc.cast(node, __MODULE__, :here, [router, recipient])
    here(router, recipient)
  end

  # Tokens come first: a client that reconnects at once is checked again.
  @doc false
  @spec here(router :: module(), Recipient.t()) :: :ok
  def here(router, recipient) do
    Cache.forget(recipient)
    Sessions.disconnect(router, recipient)
    Changes.disconnect_here(router, recipient)
  end
end
