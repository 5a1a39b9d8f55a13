defmodule Stress.Ticker do
  @moduledoc "A process of normal priority that wakes every millisecond, and records its delays."

  @spec start() :: pid()
  def start, do: spawn_link(fn -> tick(now(), []) end)

  @doc "Stops it; returns each delay in microseconds."
  @spec stop(pid()) :: [integer()]
  def stop(ticker) do
    send(ticker, {:stop, self()})
    receive do: ({:ticked, ^ticker, late} -> late)
  end

  @doc """
  The milliseconds that the normal schedulers' threads waited for a core, `nil` if the system does not report them.
  On a busy machine this explains the delays of a ticker.
  """
  @spec waited_for_cores() :: non_neg_integer() | nil
  def waited_for_cores do
    case Path.wildcard("/proc/self/task/*/schedstat") do
      [] -> nil
      files -> files |> Enum.map(&waited/1) |> Enum.sum() |> div(1_000_000)
    end
  end

  # A thread may have ended meanwhile.
  defp waited(file) do
    with {:ok, name} <- File.read(Path.join(Path.dirname(file), "comm")),
         true <- name =~ ~r/\A\d+_scheduler/,
         {:ok, text} <- File.read(file) do
      text |> String.split() |> Enum.at(1) |> String.to_integer()
    else
      _other -> 0
    end
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
