defmodule McpServer.Http.Disconnection do
  @moduledoc false
  # Clients that are let go at once, on all nodes: what is known of their tokens, their sessions and their streams.

  alias McpServer.Auth.Cache
  alias McpServer.{Changes, Recipient}
  alias McpServer.Http.Cluster.Node
  alias McpServer.Http.Sessions

  @doc "Lets the clients of a recipient go; other nodes do so a moment later."
  @spec everywhere(router :: module(), Recipient.t()) :: :ok
  def everywhere(router, recipient) do
    for node <- Node.others(), do: :erpc.cast(node, __MODULE__, :here, [router, recipient])
    here(router, recipient)
  end

  # Tokens come first: whoever comes back at once is judged anew.
  @doc false
  @spec here(router :: module(), Recipient.t()) :: :ok
  def here(router, recipient) do
    Cache.forget(recipient)
    Sessions.shut_down_of(router, recipient)
    Changes.disconnect_here(router, recipient)
  end
end
