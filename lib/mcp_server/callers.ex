defmodule McpServer.Callers do
  @moduledoc false
  # The `$callers` of a process: the processes in whose name it works. A sandbox of Ecto or a mock that a test has allowed
  # one of them applies to the process, too (see `Task`).

  alias McpServer.Conn

  @key :mcp_callers

  @doc "The callers of a process that the calling process starts."
  @spec here() :: [pid()]
  def here, do: [self() | Process.get(:"$callers", [])]

  @doc "Sets the callers of the calling process, which has just started."
  @spec set([pid()]) :: :ok
  def set([]), do: :ok

  def set(callers) do
    Process.put(:"$callers", callers)
    :ok
  end

  @doc "Puts the callers of a request into the conn of its calls."
  @spec carry(Conn.t(), [pid()]) :: Conn.t()
  def carry(conn, []), do: conn
  def carry(conn, callers), do: Conn.put_private(conn, @key, callers)

  @doc "The callers in a conn, or others."
  @spec of(Conn.t(), otherwise :: [pid()]) :: [pid()]
  def of(%{private: %{@key => callers}}, _otherwise), do: callers
  def of(_conn, otherwise), do: otherwise
end
