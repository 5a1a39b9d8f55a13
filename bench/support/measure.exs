defmodule Bench.Measure do
  @moduledoc "Times functions against each other and prints tables."

  @round_us 150_000

  @typedoc "A function of this VM, or one that makes so many calls elsewhere and gives their time."
  @type contender :: {String.t(), (() -> term()) | (calls :: pos_integer() -> time())}

  @typedoc "Microseconds: of processor time, and of the clock."
  @type time :: %{cpu: float(), wall: float()}

  @doc """
  Median microseconds per call of each contender: processor time and the clock's.

  Processor time of the whole VM, garbage collection, every scheduler and the kernel's work for it included, because
  other programs on the machine do not count then: ratios and targets are of it. The contenders take turns, so that a slow moment
  hits all. `BENCH_ROUNDS` changes how many turns each has.
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

  # Where the VM tells its processor time, it does so in milliseconds: a round has to take many of them.
  defp calls_per_round(run, calls) do
    case sample(run, calls).cpu do
      time when time < @round_us / 10 -> calls_per_round(run, calls * 4)
      time -> max(round(calls * @round_us / time), 1)
    end
  end

  defp sample(run, calls) when is_function(run, 1), do: run.(calls)

  # In a process of its own, whose heap starts small and is collected as a request's would be. What the function
  # works on has been copied there before the clock is read.
  defp sample(run, calls), do: Task.await(Task.async(fn -> timed(run, calls) end), :infinity)

  defp timed(run, calls) do
    cpu = processor_us()
    wall = System.monotonic_time(:nanosecond)
    repeat(run, calls)
    elapsed = System.monotonic_time(:nanosecond) - wall
    %{cpu: processor_us() - cpu, wall: elapsed / 1000}
  end

  # The VM's own count is in milliseconds and leaves out the kernel, which does most of the work for a socket.
  defp processor_us do
    case Path.wildcard("/proc/self/task/*/schedstat") do
      [] -> elem(:erlang.statistics(:runtime), 0) * 1000
      threads -> threads |> Enum.map(&processor_ns/1) |> Enum.sum() |> div(1000)
    end
  end

  # A thread can have ended.
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

  @doc "Prints rows under a heading, columns aligned."
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

  @doc "Microseconds, readable."
  @spec us(float()) :: String.t()
  def us(time) when time < 10, do: "#{Float.round(time, 2)}"
  def us(time) when time < 1000, do: "#{Float.round(time, 1)}"
  def us(time), do: "#{round(time)}"

  @doc "Processor time and, in brackets, the clock's."
  @spec both(time()) :: String.t()
  def both(time), do: "#{us(time.cpu)} (#{us(time.wall)})"

  @doc "How many times `other` a function was as fast."
  @spec ratio(float(), float()) :: String.t()
  def ratio(other, own), do: "#{Float.round(other / own, 1)}×"

  @doc "The machine the numbers belong to."
  @spec machine() :: String.t()
  def machine do
    "#{:erlang.system_info(:system_architecture)}, #{System.schedulers_online()} schedulers, " <>
      "OTP #{System.otp_release()}, Elixir #{System.version()}, #{Date.utc_today()}"
  end
end
