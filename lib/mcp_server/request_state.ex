defmodule McpServer.RequestState do
  @moduledoc false
  # Seals a handler's state that a client sends back later (2026-07-28). The state is bound to the principal, the router
  # and its mount, the method, the name and the arguments of the request, and to an expiry time. The application's
  # `:secret` and `:request_state_ttl` are documented in guides/http.md.

  alias McpServer.{Protocol, Request, Secret}

  @ttl_ms 600_000

  @doc false
  @spec seal(Request.t(), principal :: term(), state :: term(), Protocol.place()) :: String.t() | nil
  def seal(request, principal, state, place \\ {nil, nil})
  def seal(_request, _principal, nil, _place), do: nil

  def seal(request, principal, state, place) do
    Protocol.seal_state(Secret.key(), principal, request, state, ttl_ms(), place)
  end

  @doc "How long a state can be sent back, in milliseconds."
  @spec ttl_ms() :: pos_integer()
  def ttl_ms, do: Application.get_env(:mcp_server, :request_state_ttl, @ttl_ms)

  @doc false
  @spec open(Request.t(), principal :: term(), Protocol.place()) :: {:ok, term()} | {:error, :invalid_state}
  def open(request, principal, place \\ {nil, nil})
  def open(%Request{request_state: nil}, _principal, _place), do: {:ok, nil}
  def open(request, principal, place), do: Protocol.open_state(Secret.key(), principal, request, place)
end
