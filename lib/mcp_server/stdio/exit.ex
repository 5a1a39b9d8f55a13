defmodule McpServer.Stdio.Exit do
  @moduledoc false
  # What happens when the client has gone.

  @doc "Carries out the option `:on_eof`."
  @spec run(:stop | :ignore | (() -> term())) :: :ok
  def run(:ignore), do: :ok
  def run(:stop), do: stop()

  def run(fun) when is_function(fun, 0) do
    _ignored = fun.()
    :ok
  end

  # Applications are stopped as always. But at the end of it `:user` takes no notice of being asked to
  # stop, and its supervisor then waits a whole second; by that time nothing is left that could print.
  defp stop do
    spawn(fn ->
      # An application that stops takes every process of its group with it; this one has to be the last.
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
