defmodule Stress.Ticker do
  @moduledoc "A process of normal priority that wants to run every millisecond, and writes down how late it was."

  @spec start() :: pid()
  def start, do: spawn_link(fn -> tick(now(), []) end)

  @doc "Ends it; how late it was each time, in microseconds."
  @spec stop(pid()) :: [integer()]
  def stop(ticker) do
    send(ticker, {:stop, self()})
    receive do: ({:ticked, ^ticker, late} -> late)
  end

  defp tick(last, late) do
    receive do
      {:stop, caller} -> send(caller, {:ticked, self(), late})
    after
      1 ->
        now = now()
        tick(now, [now - last - 1_000 | late])
    end
  end

  defp now, do: System.monotonic_time(:microsecond)
end
