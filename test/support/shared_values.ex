defmodule McpServer.SharedValues do
  # A session store that several VMs share: the values are in the memory of one of them.
  @moduledoc false
  @behaviour McpServer.SessionStore

  alias McpServer.{Conn, HttpVm, Session}

  @doc "Makes the first VM's memory the session store of all."
  @spec share([HttpVm.t()]) :: :ok
  def share([%{node: node} | _others] = vms),
    do: Enum.each(vms, &HttpVm.call(&1, Application, :put_env, [:mcp_server, :session_store, {__MODULE__, node}]))

  @doc "Gives each VM its default store again."
  @spec unshare([HttpVm.t()]) :: :ok
  def unshare(vms), do: Enum.each(vms, &HttpVm.call(&1, Application, :delete_env, [:mcp_server, :session_store]))

  # Runs in a VM. Puts values under these keys behind a handle.
  @doc false
  def put_each(conn, handle, keys) do
    {:ok, conn} = Session.use_handle(conn, handle)
    for key <- keys, do: Session.put_session(conn, key, key)
  end

  # Runs in a VM. Returns the values under these keys.
  @doc false
  def get_each(%Conn{} = conn, handle, keys) do
    {:ok, conn} = Session.use_handle(conn, handle)
    for key <- keys, do: Session.get_session(conn, key)
  end

  @impl true
  def get(node, key) do
    value = :erpc.call(node, :persistent_term, :get, [{__MODULE__, key}, nil])
    # Writers that do not wait for each other overlap.
    Process.sleep(1)
    if value, do: {:ok, value}, else: :none
  end

  @impl true
  def put(node, key, value, _ttl, _holder), do: :erpc.call(node, :persistent_term, :put, [{__MODULE__, key}, value])

  @impl true
  def delete(node, key), do: :erpc.call(node, :persistent_term, :erase, [{__MODULE__, key}]) && :ok
end
