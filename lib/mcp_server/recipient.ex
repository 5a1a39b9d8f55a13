defmodule McpServer.Recipient do
  @moduledoc false
  # The recipient of a change or a value: all clients of a router, the clients of one principal, or one session. It is
  # the same on every node. Principals are encoded as binaries, because they may be any term.

  @type t :: :router | {:principal, binary()} | {:session, String.t()}

  @doc "The recipient from the option `principal:` or `session:`, or an error text."
  @spec new(term()) :: {:ok, t()} | {:error, String.t()}
  def new([{:principal, nil}]), do: {:error, "a principal is not nil: clients without one are nobody's"}
  def new([{:principal, principal}]), do: {:ok, principal(principal)}
  def new([{:session, id}]) when is_binary(id), do: {:ok, {:session, id}}
  def new(_other), do: {:error, "write principal: principal, or session: id"}

  @doc "The router and the recipient of a `t:McpServer.scope/0`."
  @spec scope(term()) :: {:ok, {router :: module(), t()}} | {:error, String.t()}
  def scope({router, options}) when is_atom(router) do
    with {:ok, recipient} <- new(options), do: router(router, recipient)
  end

  def scope(router) when is_atom(router), do: router(router, :router)

  def scope(other) do
    {:error,
     "a scope is a router, {router, principal: principal} or {router, session: id}, got: #{McpServer.Outline.of(other)}"}
  end

  defp router(router, recipient) do
    McpServer.Catalog.fetch(router)
    {:ok, {router, recipient}}
  rescue
    error in ArgumentError -> {:error, error.message}
  end

  defp principal(principal), do: {:principal, :erlang.term_to_binary(principal, [:deterministic, minor_version: 2])}

  @doc "All recipients that include a client with that principal and session, the narrowest first."
  @spec all(principal :: term(), session_id :: String.t() | nil) :: [t()]
  def all(principal, session_id) do
    for({id, true} <- [{{:session, session_id}, session_id != nil}], do: id) ++
      for({principal, true} <- [{principal, principal != nil}], do: principal(principal)) ++ [:router]
  end

  @doc "Whether a recipient includes a client with that principal and session."
  @spec concerns?(t(), principal :: term(), session_id :: String.t() | nil) :: boolean()
  def concerns?(:router, _principal, _session_id), do: true
  def concerns?({:session, id}, _principal, session_id), do: id == session_id

  def concerns?({:principal, _} = recipient, principal, _session_id),
    do: principal != nil and recipient == principal(principal)
end
