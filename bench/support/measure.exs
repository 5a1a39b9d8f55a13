defmodule Bench.Measure do
  @moduledoc "Times functions against each other and prints tables."

  @rounds 11
  @round_ms 150

  @doc """
  Median microseconds of processor time per call of each function.

  Processor time of the whole VM, garbage collection and every scheduler included, because other programs on
  the machine do not count then. The functions take turns, so that a slow moment hits all.
  """
  @spec medians([{String.t(), (() -> term())}]) :: %{String.t() => float()}
  def medians(contenders) do
    counts = Map.new(contenders, fn {name, run} -> {name, calls_per_round(run, 1)} end)

    for(_round <- 1..@rounds, {name, run} <- contenders, do: {name, one_round(run, counts[name])})
    |> Enum.group_by(&elem(&1, 0), &elem(&1, 1))
    |> Map.new(fn {name, times} -> {name, Enum.at(Enum.sort(times), div(@rounds, 2))} end)
  end

  # The VM tells its processor time in milliseconds, so a round has to take many of them.
  defp calls_per_round(run, calls) do
    case elapsed_ms(run, calls) do
      time when time < div(@round_ms, 10) -> calls_per_round(run, calls * 4)
      time -> max(div(calls * @round_ms, time), 1)
    end
  end

  defp one_round(run, calls), do: elapsed_ms(run, calls) * 1000 / calls

  # In a process of its own, whose heap starts small and is collected as a request's would be. What the function
  # works on has been copied there before the clock is read.
  defp elapsed_ms(run, calls), do: Task.await(Task.async(fn -> timed(run, calls) end), :infinity)

  defp timed(run, calls) do
    {before, _since_last} = :erlang.statistics(:runtime)
    repeat(run, calls)
    {now, _since_last} = :erlang.statistics(:runtime)
    now - before
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
