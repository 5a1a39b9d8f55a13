defmodule McpServer.RequestState do
  @moduledoc false
  # Seals a handler's state that a client sends back later (2026-07-28). The state is bound to the principal, the router
  # and its mount, the method, the name and the arguments of the request, and to an expiry time. The application's
  # `:secret` and `:request_state_ttl` are documented in guides/http.md.

  alias McpServer.{Protocol, Request, Secret}

  @ttl_ms 600_000

  @doc "Seals a state of the request at `now`, in milliseconds of the wall clock."
  @spec seal(Request.t(), principal :: term(), state :: term(), Protocol.place(), now :: pos_integer()) ::
          String.t() | nil
  def seal(request, principal, state, place \\ {nil, nil}, now \\ now())
  def seal(_request, _principal, nil, _place, _now), do: nil

  def seal(request, principal, state, place, now),
    do: Protocol.seal_state(Secret.key(), principal, request, state, now + ttl_ms(), place)

  @doc "How long a state can be sent back, in milliseconds."
  @spec ttl_ms() :: pos_integer()
  def ttl_ms, do: Application.get_env(:mcp_server, :request_state_ttl, @ttl_ms)

  @doc "Opens the state of the request at `now`, in milliseconds of the wall clock."
  @spec open(Request.t(), principal :: term(), Protocol.place(), now :: pos_integer()) ::
          {:ok, term()} | {:error, :invalid_state}
  def open(request, principal, place \\ {nil, nil}, now \\ now())
  def open(%Request{request_state: nil}, _principal, _place, _now), do: {:ok, nil}
  def open(request, principal, place, now), do: Protocol.open_state(Secret.key(), principal, request, now, place)

  defp now, do: System.system_time(:millisecond)
end
