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

  # Applications stop as usual. Then `:user` would get a second for its output, and who ends it earlier causes a report to
  # handlers of the log that have ended, which the log writes to stderr. Once those have ended, no process is left that
  # could print, so the VM ends.
  defp stop do
    spawn(__MODULE__, :halt_after_log, [])
    System.stop(0)
  end

  @doc false
  @spec halt_after_log() :: no_return()
  def halt_after_log do
    # A stopping application ends all processes of its group, but this one must be the last.
    Process.group_leader(self(), Process.whereis(:init))
    reference = Process.monitor(:logger_sup)

    receive do
      {:DOWN, ^reference, _type, _object, _reason} -> System.halt(0)
    end
  end
end
