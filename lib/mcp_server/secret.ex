defmodule McpServer.Secret do
  @moduledoc false
  # The secret for sealed values that clients send back: request states, session ids and handles; and for the choice of
  # stand-ins for unknown names. `config :mcp_server, secret:` is the same on every node and after every start. Without it
  # each start makes a random one.

  @bytes 32

  # Makes the random secret of this start. Raises if the configured secret is too short.
  @doc false
  @spec load() :: :ok
  def load do
    :persistent_term.put(__MODULE__, :crypto.strong_rand_bytes(@bytes))
    _checked = key()
    :ok
  end

  @doc "Whether the secret is configured, so that other nodes and later starts can have the same one."
  @spec configured?() :: boolean()
  def configured?, do: Application.get_env(:mcp_server, :secret) != nil

  @doc "The key of the seal."
  @spec key() :: <<_::256>>
  def key do
    case Application.get_env(:mcp_server, :secret) do
      nil -> :persistent_term.get(__MODULE__)
      # The seal needs a key of exactly 32 bytes.
      secret when is_binary(secret) and byte_size(secret) >= @bytes -> :crypto.hash(:sha256, secret)
      _too_short -> raise ArgumentError, "config :mcp_server, :secret must be a string of at least 32 bytes"
    end
  end

  @doc "The key that decides which hidden entry stands in for an unknown name."
  @spec stand_in_key() :: <<_::256>>
  def stand_in_key, do: :crypto.mac(:hmac, :sha256, key(), "stand-ins")
end
