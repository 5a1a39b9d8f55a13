defmodule McpServer.RequestState do
  @moduledoc """
  The secret that seals a handler's state while a client carries it.

  On 2026-07-28 a handler that needs input returns `input_required` with a state, and the client brings
  that state back with its answers. The state is sealed (authenticated encryption) and bound to the
  principal, the router and its mount, the method, the name and the arguments of the request, and to a
  time: whatever comes back changed, late, elsewhere or with another request is answered with `-32602`.
  Which mounts of several nodes are the same one, `:mount_name` of `McpServer.HttpServer` says.

  Without configuration each node draws a random secret when it starts. That is right for one node; where
  several nodes serve the same clients, or a state must outlive a restart, configure one secret for all:

      # config/runtime.exs
      config :mcp_server, secret: System.fetch_env!("MCP_SECRET")

  | option | default | |
  |---|---|---|
  | `:secret` | random per start | at least 32 bytes |
  | `:request_state_ttl` | `600_000` | how long a state may take to come back, in milliseconds |

  A state can be brought back more than once within that time. Handlers whose step must happen at most
  once have to remember that they took it.
  """

  alias McpServer.{Protocol, Request}

  @secret_bytes 32
  @ttl_ms 600_000

  # Draws the secret of this start; raises where the configured one is too short to be one.
  @doc false
  @spec load() :: :ok
  def load do
    :persistent_term.put(__MODULE__, :crypto.strong_rand_bytes(@secret_bytes))
    _checked = secret()
    :ok
  end

  @doc false
  @spec seal(Request.t(), principal :: term(), state :: term(), Protocol.place()) :: String.t() | nil
  def seal(request, principal, state, place \\ {nil, nil})
  def seal(_request, _principal, nil, _place), do: nil

  def seal(request, principal, state, place) do
    ttl_ms = Application.get_env(:mcp_server, :request_state_ttl, @ttl_ms)
    Protocol.seal_state(secret(), principal, request, state, ttl_ms, place)
  end

  @doc false
  @spec open(Request.t(), principal :: term(), Protocol.place()) :: {:ok, term()} | {:error, :invalid_state}
  def open(request, principal, place \\ {nil, nil})
  def open(%Request{request_state: nil}, _principal, _place), do: {:ok, nil}
  def open(request, principal, place), do: Protocol.open_state(secret(), principal, request, place)

  defp secret do
    case Application.get_env(:mcp_server, :secret) do
      nil -> :persistent_term.get(__MODULE__)
      # The seal wants a key of exactly its own length.
      secret when is_binary(secret) and byte_size(secret) >= @secret_bytes -> :crypto.hash(:sha256, secret)
      _too_short -> raise ArgumentError, "config :mcp_server, :secret must be a string of at least 32 bytes"
    end
  end
end
