defmodule Corpora.Report do
  # Compares the results with the pins: prints the table, the exceptions by reason, and the differences.

  @type outcome :: :passed | String.t()
  @type row :: {corpus :: String.t(), [{name :: String.t(), outcome}]}

  # A corpus is pinned by its number of cases and, for cases that do not pass,
  #
  #   * `exceptions`: reasons, each with the names of the cases, or
  #   * `outcomes`: the outcome of every case by its name, if the corpus leaves the choice to the implementation.

  @spec print([row], map) :: boolean
  def print(rows, pins) do
    judged = for {corpus, results} <- rows, do: judge(corpus, results, Map.get(pins, corpus, %{}))
    IO.puts(line("corpus", "cases", "passed", "exceptions"))
    Enum.each(judged, &IO.puts(line(&1.corpus, &1.cases, &1.passed, &1.exceptions)))
    Enum.each(judged, &print_exceptions/1)
    missing = for corpus <- Map.keys(pins) -- Enum.map(rows, &elem(&1, 0)), do: "#{corpus}: was not run"
    faults = missing ++ for row <- judged, fault <- row.faults, do: "#{row.corpus}: #{fault}"
    Enum.each(faults, &IO.puts(:stderr, &1))
    faults == []
  end

  defp line(corpus, cases, passed, exceptions) do
    String.pad_trailing(corpus, 52) <> Enum.map_join([cases, passed, exceptions], &String.pad_leading("#{&1}", 11))
  end

  defp judge(corpus, results, pin) do
    outcomes = Map.get(pin, "outcomes", %{})
    results = for {name, outcome} <- results, do: {name, if(outcomes[name] == outcome, do: :passed, else: outcome)}
    others = for {name, outcome} <- results, outcome != :passed, into: %{}, do: {name, outcome}
    exceptions = Map.get(pin, "exceptions", %{})
    pinned = for {_why, names} <- exceptions, name <- names, into: MapSet.new(), do: name

    %{
      corpus: corpus,
      cases: length(results),
      passed: length(results) - map_size(others),
      exceptions: map_size(others),
      why: exceptions,
      faults: count_fault(length(results), pin["cases"]) ++ faults(others, pinned, results)
    }
  end

  defp count_fault(count, count), do: []
  defp count_fault(count, pinned), do: ["#{count} cases, but #{pinned || "none"} are pinned"]

  defp faults(others, pinned, results) do
    names = MapSet.new(results, &elem(&1, 0))

    for({name, outcome} <- others, name not in pinned, do: "not as it should be: #{name}: #{outcome}") ++
      for(name <- pinned, name in names, not is_map_key(others, name), do: "an exception that passes: #{name}") ++
      for name <- pinned, name not in names, do: "an exception that is no case: #{name}"
  end

  defp print_exceptions(%{why: why}) when why == %{}, do: :ok

  defp print_exceptions(row) do
    IO.puts("\n#{row.corpus}, exceptions: #{row.exceptions}")

    for {why, names} <- Enum.sort(row.why) do
      IO.puts("  #{why} (#{length(names)}):")
      for name <- names, do: IO.puts("    #{name}")
    end
  end
end
