defmodule McpServer.Tools.OpenSessions do
  @moduledoc false
  # Whether a session can have run-time tools: they are removed at its end, so there must be a session. Those over HTTP
  # are in the table of `Http.Sessions`, all others in a table here. The application's process owns the table.
  #
  # Any node may open a sealed session from its id, so only its end can be known.

  alias McpServer.Http.Cluster.Node
  alias McpServer.Http.Session.{Sealed, Tombstones}
  alias McpServer.Http.Sessions
  alias McpServer.Quota.Client
  alias McpServer.Tools.Server

  @table __MODULE__
  # The timeout of a question to another node, in milliseconds.
  @ask_ms 2_000

  @typedoc "`:unsure` means that the session's node is not connected, or did not answer."
  @type state :: :open | :ended | :none | :unsure

  @doc "Makes the table. The calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, read_concurrency: true])
    :ok
  end

  @doc "Notes that the calling process is a session of the router. Without an id it is none."
  @spec enter(module(), id :: String.t() | nil) :: true
  def enter(_router, nil), do: true
  def enter(router, id), do: :ets.insert(@table, {{router, id}, self()})

  @doc "Ends the tools of a session that `enter/2` has noted."
  @spec leave(module(), id :: String.t() | nil) :: :ok
  def leave(router, id) do
    :ets.delete(@table, {router, id})
    Server.session_over(router, id)
  end

  @doc "Does this for the session of a process that has ended without it, if it was one."
  @spec ended(pid()) :: :ok
  def ended(pid) do
    for [{router, id}] <- :ets.match(@table, {:"$1", pid}), do: leave(router, id)
    :ok
  end

  @doc "The state of a session of the router, on this node or on the connected node that its id names."
  @spec state(module(), id :: String.t()) :: state()
  def state(router, id) do
    cond do
      Sealed.sealed?(id) -> if Tombstones.dead?(id), do: :ended, else: :open
      here?(router, id) -> :open
      true -> elsewhere(Node.of_session(id), router, id)
    end
  end

  # An id that names no node is of this one.
  defp elsewhere(:unknown, _router, id), do: if(Node.named?(id, node()) == false, do: :unsure, else: :none)

  defp elsewhere({:remote, node}, router, id) do
    if :erpc.call(node, __MODULE__, :here?, [router, id], @ask_ms), do: :open, else: :none
  catch
    # The node has disconnected, or does not answer.
    _kind, _reason -> :unsure
  end

  @doc "Who has the share of what is put for a session: its client, if this node has it."
  @spec client(module(), id :: String.t()) :: Client.t()
  def client(router, id), do: Sessions.client(router, id)

  @doc "Whether a session ends with the node. If its id names none, only its own node has put its tools."
  @spec of_node?(id :: String.t(), writer :: node(), node()) :: boolean()
  def of_node?(id, writer, node) do
    case Node.named?(id, node) do
      nil -> writer == node and not Sealed.sealed?(id)
      named? -> named?
    end
  end

  @doc "Whether this node has the session."
  @spec here?(module(), id :: String.t()) :: boolean()
  def here?(router, id), do: entered?(router, id) or Sessions.open?(router, id)

  defp entered?(router, id) do
    case :ets.lookup(@table, {router, id}) do
      [{_key, pid}] -> Process.alive?(pid)
      [] -> false
    end
  end
end
