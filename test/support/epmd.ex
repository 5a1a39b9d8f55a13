defmodule McpServer.Epmd do
  # Erlang nodes find each other through epmd. It starts once for all tests that need it, and stops after the suite.
  @moduledoc false

  @doc "Starts epmd if it does not run."
  @spec start() :: :ok
  def start do
    # The first of several modules at once starts it, and the others wait for that.
    case Agent.start(&start_here/0, name: __MODULE__) do
      {:ok, _agent} -> :ok
      {:error, {:already_started, agent}} -> Agent.get(agent, & &1, 60_000)
    end
  end

  defp start_here do
    running? = match?({_names, 0}, System.cmd("epmd", ["-names"], stderr_to_stdout: true))

    unless running? do
      {_none, 0} = System.cmd("epmd", ["-daemon", "-address", "127.0.0.1"])
      ExUnit.after_suite(fn _results -> stop() end)
    end

    :ok
  end

  # epmd refuses to stop while nodes are registered. Our nodes end soon, but others may stay.
  defp stop(left \\ 20) do
    {_said, status} = System.cmd("epmd", ["-kill"], stderr_to_stdout: true)

    if status != 0 and left > 0 do
      Process.sleep(50)
      stop(left - 1)
    end
  end
end
