defmodule McpServer.Stdio.Exit do
  @moduledoc false
  # Ends the VM when the client has gone.

  @doc "Executes the option `:on_eof`."
  @spec run(:stop | :ignore | (() -> term())) :: :ok
  def run(:ignore), do: :ok
  def run(:stop), do: stop()

  def run(fun) when is_function(fun, 0) do
    _ignored = fun.()
    :ok
  end

  # Applications stop as usual. At the end `:user` ignores its shutdown, and its supervisor waits a second for it. By
  # then no process is left that could print, so `:user` is killed without the wait.
  defp stop do
    spawn(fn ->
      # A stopping application ends all processes of its group, but this one must be the last.
      Process.group_leader(self(), Process.whereis(:init))
      reference = Process.monitor(:kernel_safe_sup)

      receive do
        {:DOWN, ^reference, _type, _object, _reason} -> end_user()
      end
    end)

    System.stop(0)
  end

  defp end_user do
    with user when is_pid(user) <- Process.whereis(:user), do: Process.exit(user, :kill)
  end
end
