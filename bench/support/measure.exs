defmodule Bench.Measure do
  @moduledoc "Times functions against each other and prints tables."

  @round_us 150_000

  @typedoc "A function of this VM, or one that makes so many calls elsewhere and gives their time."
  @type contender :: {String.t(), (() -> term()) | (calls :: pos_integer() -> time())}

  @typedoc "Microseconds: of processor time, and of the clock."
  @type time :: %{cpu: float(), wall: float()}

  @doc """
  Median microseconds per call of each contender: processor time and wall time.

  Processor time is of the whole VM: with garbage collection, all schedulers and kernel time. Ratios and targets use it,
  because it excludes other programs on the machine. The contenders take turns, so that a slow moment
  affects all of them. `BENCH_ROUNDS` sets the number of turns.
  """
  @spec timings([contender()]) :: %{String.t() => time()}
  def timings(contenders) do
    counts = Map.new(contenders, fn {name, run} -> {name, calls_per_round(run, 1)} end)

    for(_round <- 1..rounds(), {name, run} <- contenders, do: {name, sample(run, counts[name]), counts[name]})
    |> Enum.group_by(&elem(&1, 0), fn {_name, time, calls} -> {time.cpu / calls, time.wall / calls} end)
    |> Map.new(fn {name, times} -> {name, %{cpu: median(times, 0), wall: median(times, 1)}} end)
  end

  @doc "The processor time of `timings/1`."
  @spec medians([contender()]) :: %{String.t() => float()}
  def medians(contenders), do: Map.new(timings(contenders), fn {name, time} -> {name, time.cpu} end)

  defp rounds, do: String.to_integer(System.get_env("BENCH_ROUNDS", "11"))

  defp median(times, which), do: times |> Enum.map(&elem(&1, which)) |> Enum.sort() |> Enum.at(div(length(times), 2))

  # The VM reports its processor time in milliseconds, so a round must take many milliseconds.
  defp calls_per_round(run, calls) do
    case sample(run, calls).cpu do
      time when time < @round_us / 10 -> calls_per_round(run, calls * 4)
      time -> max(round(calls * @round_us / time), 1)
    end
  end

  defp sample(run, calls) when is_function(run, 1), do: run.(calls)

  # Runs in a new process, whose heap starts small and is collected like that of a request. The function's
  # data is copied before the measurement starts.
  defp sample(run, calls), do: Task.await(Task.async(fn -> timed(run, calls) end), :infinity)

  defp timed(run, calls) do
    cpu = processor_us()
    wall = System.monotonic_time(:nanosecond)
    repeat(run, calls)
    elapsed = System.monotonic_time(:nanosecond) - wall
    %{cpu: processor_us() - cpu, wall: elapsed / 1000}
  end

  # The VM's count is in milliseconds and excludes the kernel, which does most of the work for a socket.
  defp processor_us do
    case Path.wildcard("/proc/self/task/*/schedstat") do
      [] -> elem(:erlang.statistics(:runtime), 0) * 1000
      threads -> threads |> Enum.map(&processor_ns/1) |> Enum.sum() |> div(1000)
    end
  end

  # The thread may have ended.
  defp processor_ns(thread) do
    case File.read(thread) do
      {:ok, text} -> text |> String.split() |> hd() |> String.to_integer()
      {:error, _ended} -> 0
    end
  end

  defp repeat(_run, 0), do: :ok

  defp repeat(run, calls) do
    run.()
    repeat(run, calls - 1)
  end

  @doc "Prints rows under a heading, with aligned columns."
  @spec table(String.t(), [String.t()], [[String.t()]]) :: :ok
  def table(title, header, rows) do
    widths = [header | rows] |> Enum.zip_with(fn column -> column |> Enum.map(&String.length/1) |> Enum.max() end)
    IO.puts("\n#{title}")
    for row <- [header | rows], do: IO.puts(line(row, widths))
    :ok
  end

  defp line([first | rest], [width | widths]) do
    cells = Enum.zip_with(rest, widths, &String.pad_leading/2)
    Enum.join(["  " <> String.pad_trailing(first, width) | cells], "  ")
  end

  @doc "Formats microseconds."
  @spec us(float()) :: String.t()
  def us(time) when time < 10, do: "#{Float.round(time, 2)}"
  def us(time) when time < 1000, do: "#{Float.round(time, 1)}"
  def us(time), do: "#{round(time)}"

  @doc "Formats processor time, with wall time in brackets."
  @spec both(time()) :: String.t()
  def both(time), do: "#{us(time.cpu)} (#{us(time.wall)})"

  @doc "The speed of a function as a multiple of the speed of `other`."
  @spec ratio(float(), float()) :: String.t()
  def ratio(other, own), do: "#{Float.round(other / own, 1)}×"

  @doc "The machine of the measurements."
  @spec machine() :: String.t()
  def machine do
    "#{:erlang.system_info(:system_architecture)}, #{System.schedulers_online()} schedulers, " <>
      "OTP #{System.otp_release()}, Elixir #{System.version()}, #{Date.utc_today()}"
  end
end
