defmodule McpServer.Secret do
  @moduledoc false
  # The secret that seals what clients carry for the server: states of requests, ids of sessions, handles.
  # `config :mcp_server, secret:` is the same on every node and after every start; without it each start draws its own.

  @bytes 32

  # Draws the secret of this start; raises where the configured one is too short to be one.
  @doc false
  @spec load() :: :ok
  def load do
    :persistent_term.put(__MODULE__, :crypto.strong_rand_bytes(@bytes))
    _checked = key()
    :ok
  end

  @doc "Whether other nodes, and this one after a restart, can have the same secret."
  @spec configured?() :: boolean()
  def configured?, do: Application.get_env(:mcp_server, :secret) != nil

  @doc "The key of the seal."
  @spec key() :: <<_::256>>
  def key do
    case Application.get_env(:mcp_server, :secret) do
      nil -> :persistent_term.get(__MODULE__)
      # The seal wants a key of exactly its own length.
      secret when is_binary(secret) and byte_size(secret) >= @bytes -> :crypto.hash(:sha256, secret)
      _too_short -> raise ArgumentError, "config :mcp_server, :secret must be a string of at least 32 bytes"
    end
  end
end
