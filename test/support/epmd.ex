defmodule McpServer.Epmd do
  # Erlang nodes find each other through epmd.
  @moduledoc false

  import ExUnit.Callbacks, only: [on_exit: 1]

  @doc "A tag for the tests of a module. Without epmd they are skipped, and one line says so."
  @spec skip(what :: String.t()) :: [skip: boolean]
  def skip(what) do
    missing? = System.find_executable("epmd") == nil
    if missing?, do: IO.puts("#{what} is not tested: there is no epmd on this machine.")
    [skip: missing?]
  end

  @doc "Starts epmd if it does not run, and ends it after the tests of the module."
  @spec start() :: :ok
  def start do
    running? = match?({_names, 0}, System.cmd("epmd", ["-names"], stderr_to_stdout: true))

    unless running? do
      {_none, 0} = System.cmd("epmd", ["-daemon", "-address", "127.0.0.1"])
      on_exit(&stop/0)
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
