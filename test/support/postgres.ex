defmodule McpServer.Postgres do
  # Debian's PostgreSQL in a temporary folder. It starts once for all tests that need it, and stops after the suite.
  @moduledoc false

  use GenServer

  @script Path.expand("../../bin/support/postgres", __DIR__)
  @start_timeout 60_000

  @doc "The folder of the server's socket. The first call starts the server."
  @spec folder() :: String.t()
  def folder do
    started =
      case GenServer.start(__MODULE__, nil, name: __MODULE__) do
        {:ok, server} -> server
        {:error, {:already_started, server}} -> server
      end

    GenServer.call(started, :folder, @start_timeout)
  end

  @impl true
  def init(nil) do
    # The script stops its server when its stdin closes, so also when this VM is killed.
    port = Port.open({:spawn_executable, @script}, [:binary, :exit_status, line: 4096])

    receive do
      {^port, {:data, {:eol, folder}}} ->
        ExUnit.after_suite(fn _results -> GenServer.stop(__MODULE__) end)
        {:ok, {port, folder}}

      {^port, {:exit_status, status}} ->
        {:stop, {:postgres, status}}
    end
  end

  @impl true
  def handle_call(:folder, _from, {port, folder}), do: {:reply, folder, {port, folder}}

  @impl true
  def handle_info({port, {:exit_status, status}}, {port, _folder} = state), do: {:stop, {:postgres, status}, state}
  def handle_info({port, {:data, _line}}, {port, _folder} = state), do: {:noreply, state}

  @impl true
  def terminate(_reason, {port, folder}) do
    if Port.info(port), do: Port.close(port)
    wait_until_gone(folder, 100)
  end

  # The suite must leave no files.
  defp wait_until_gone(folder, left) do
    if left > 0 and File.exists?(folder) do
      Process.sleep(50)
      wait_until_gone(folder, left - 1)
    end
  end
end
