defmodule McpServer.RequestState do
  @moduledoc false
  # The secret that seals a handler's state while a client carries it (2026-07-28). The state is bound to the
  # principal, the router and its mount, the method, the name and the arguments of the request, and to a time.
  # The application's `:secret` and `:request_state_ttl` are documented in guides/http.md.

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
