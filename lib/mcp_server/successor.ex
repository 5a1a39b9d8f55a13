defmodule McpServer.Successor do
  @moduledoc false
  # Starts a process in the place of one that was killed.
  #
  # What a killed supervisor leaves ends a moment later, and has its registered names until then. A supervisor that starts
  # its successor at once fails a thousand times in some milliseconds: it gives up, and the application ends.

  # Milliseconds that a successor waits. Supervisors below the killed one end their children first.
  @parting 10_000

  @doc """
  Starts a process with this function. If another process still has one of its names, the start is repeated when that one
  has ended. The name of a process that does not end within ten seconds is an error, as without this function.
  """
  @spec start((() -> Supervisor.on_start())) :: Supervisor.on_start()
  def start(start) do
    with {:error, reason} = error <- start.(), do: if(reason |> holder() |> ended?(), do: start(start), else: error)
  end

  # The name may be that of a process below.
  defp holder({:already_started, pid}), do: pid
  defp holder({:shutdown, {:failed_to_start_child, _id, reason}}), do: holder(reason)
  defp holder(_other), do: nil

  defp ended?(nil), do: false

  defp ended?(pid) do
    monitor = Process.monitor(pid)

    receive do
      {:DOWN, ^monitor, :process, ^pid, _reason} -> true
    after
      @parting ->
        Process.demonitor(monitor, [:flush])
        false
    end
  end
end
