defmodule Stress.Report do
  @moduledoc "Prints the measurements and verdicts of the stress scripts."

  @doc "The machine of the measurements."
  @spec machine() :: String.t()
  def machine do
    "#{:erlang.system_info(:system_architecture)}, #{System.schedulers_online()} schedulers, " <>
      "OTP #{System.otp_release()}, Elixir #{System.version()}, #{Date.utc_today()}"
  end

  @doc "A line of a table."
  @spec line(String.t(), [String.t()]) :: :ok
  def line(name, cells) do
    IO.puts("  " <> String.pad_trailing(name, 22) <> Enum.map_join(cells, "  ", &String.pad_leading(&1, 12)))
  end

  @doc "Prints a line of milliseconds: count, percentiles, maximum. Returns p99.9 and the maximum in microseconds."
  @spec percentiles(String.t(), [integer()], [String.t()]) :: {integer(), integer()}
  def percentiles(name, microseconds, further \\ []) do
    sorted = microseconds |> Enum.sort() |> List.to_tuple()
    [p50, p99, p999, most] = for share <- [0.5, 0.99, 0.999, 1.0], do: at(sorted, share)
    line(name, ["#{tuple_size(sorted)}" | for(value <- [p50, p99, p999, most], do: ms(value))] ++ further)
    {p999, most}
  end

  @doc "Prints the heading of the percentiles."
  @spec percentiles_heading() :: :ok
  def percentiles_heading, do: line("lateness, ms", ["ticks", "p50", "p99", "p99.9", "most", "no core"])

  defp at(sorted, share), do: elem(sorted, min(tuple_size(sorted) - 1, trunc(tuple_size(sorted) * share)))
  defp ms(microseconds), do: :erlang.float_to_binary(microseconds / 1_000, decimals: 2)

  @doc "Prints a line for each figure of a VM, before and now; see `McpServer.Invariant`."
  @spec figures(map(), map()) :: :ok
  def figures(before, now) do
    line("", ~w(before now))
    for name <- Enum.sort(Map.keys(before)), do: line(name, ["#{before[name]}", "#{now[name]}"])
    :ok
  end

  @doc """
  Prints the findings and returns whether all judged findings held.

  What was missed comes last: CI shows the last lines of a suite that failed.
  """
  @spec held?([{String.t(), boolean()} | {String.t(), boolean(), :timed}], boolean()) :: boolean()
  def held?(findings, short?) do
    IO.puts("")
    {unjudged, judged} = Enum.split_with(findings, &(short? and tuple_size(&1) == 3))
    {held, missed} = Enum.split_with(judged, &elem(&1, 1))
    for finding <- held, do: IO.puts("  held    #{elem(finding, 0)}")
    for finding <- unjudged, do: IO.puts("  #{word(finding)}  #{elem(finding, 0)} (not judged)")
    for finding <- missed, do: IO.puts("  MISSED  #{elem(finding, 0)}")
    IO.puts("\n#{length(held)} of #{length(judged)} held")
    missed == []
  end

  defp word(finding), do: if(elem(finding, 1), do: "held  ", else: "MISSED")
end
