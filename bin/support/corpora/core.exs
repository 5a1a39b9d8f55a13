defmodule Corpora.Core do
  # What has no function in Elixir is asked of the core by its own tests. Each prints `corpus: NAME: CASES` when every
  # case has passed.

  def rows(file) do
    for [_line, corpus, cases] <- Regex.scan(~r/corpus: (.+): (\d+)/, File.read!(file)),
        do: {corpus, for(number <- 1..String.to_integer(cases), do: {"#{number}", :passed})}
  end
end
