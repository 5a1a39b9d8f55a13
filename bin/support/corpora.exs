# Runs the public test suites through the public functions, and prints a line per corpus.
#
#     mix run --no-start bin/support/corpora.exs FOLDER
#
# A case passes when the answer is the right one. A case may also be refused, where the library says no on purpose: a
# schema that refers to another document, or a file with a key twice. Exits with 1 when a case failed.

defmodule Corpora do
  alias McpServer.JSON
  alias McpServer.Schema.Validator

  # How many cases may be refused: more would be a loss. The schemas refer to other documents.
  @drafts %{"draft2020-12" => 49, "draft2019-09" => 36, "draft7" => 23, "draft6" => 23, "draft4" => 17}

  def run(folder) do
    rows = [
      {"JSONTestSuite y_ (accept)", 2, each_file(folder, "JSONTestSuite/test_parsing/y_*", &accepted/1)},
      {"JSONTestSuite n_ (refuse)", 0, each_file(folder, "JSONTestSuite/test_parsing/n_*", &not_accepted/1)},
      {"JSONTestSuite i_ (answer)", 0, each_file(folder, "JSONTestSuite/test_parsing/i_*", &answered/1)},
      {"JSONTestSuite transform", 0, each_file(folder, "JSONTestSuite/test_transform/*", &answered/1)},
      {"jiffy cases", 0, each_file(folder, "jiffy-cases/test/cases/*.json", &answered/1)},
      {"jason formatter suite", 3, each_file(folder, "jason-formatter-suite/formatter_test_suite/*.json", &accepted/1)},
      {"utf8tests", 0, utf8(folder)},
      {"naughty strings", 0, naughty(folder)}
      | for({draft, most} <- @drafts, do: {"JSON-Schema-Test-Suite #{draft}", most, schemas(folder, draft)})
    ]

    outcomes = for {name, most_refused, results} <- rows, do: print(name, most_refused, results)
    if false in outcomes, do: System.halt(1)
  end

  defp print(name, most_refused, results) do
    counts =
      [passed, refused, failed] = for result <- [:passed, :refused, :failed], do: Enum.count(results, &(&1 == result))

    columns = Enum.zip_with(counts, ~w(passed refused failed), &"#{String.pad_leading("#{&1}", 5)} #{&2}")
    good = passed > 0 and refused <= most_refused and failed == 0
    note = if good, do: "", else: "  NOT AS IT SHOULD BE"
    IO.puts(String.pad_trailing(name, 38) <> Enum.join(columns) <> note)
    good
  end

  defp each_file(folder, pattern, judge) do
    for file <- folder |> Path.join(pattern) |> Path.wildcard() do
      result = judge.(File.read!(file))
      if result == :failed, do: IO.puts(:stderr, "failed: #{Path.basename(file)}")
      result
    end
  end

  # What is accepted must survive being written and read again.
  defp accepted(text) do
    case JSON.decode(text) do
      {:ok, value} -> round_trip(value)
      # A key twice, and (in the formatter suite) several texts in one file, which is no JSON text.
      {:error, %{kind: kind}} when kind in [:duplicate_key, :trailing_bytes] -> :refused
      {:error, _error} -> :failed
    end
  end

  defp not_accepted(text), do: if(match?({:error, _}, JSON.decode(text)), do: :passed, else: :failed)

  defp answered(text) do
    case JSON.decode(text) do
      {:ok, value} -> round_trip(value)
      {:error, _error} -> :passed
    end
  end

  defp round_trip(value), do: if(JSON.decode(JSON.encode!(value)) == {:ok, value}, do: :passed, else: :failed)

  defp utf8(folder) do
    for %{"hex" => hex, "valid" => valid} <- read(folder, "utf8tests/utf8tests.json")["cases"] do
      bytes = Base.decode16!(hex, case: :mixed)
      text = <<?", escaped(bytes)::binary, ?">>
      if match?({:ok, ^bytes}, JSON.decode(text)) == valid, do: :passed, else: :failed
    end
  end

  # Control characters, quotes and backslashes are UTF-8, but must be escaped inside a JSON string.
  defp escaped(bytes) do
    for <<byte <- bytes>>, into: "" do
      if byte < 0x20 or byte in [?", ?\\], do: "\\u" <> Base.encode16(<<0, byte>>), else: <<byte>>
    end
  end

  defp naughty(folder) do
    for text <- read(folder, "naughty-strings/blns.json"), do: round_trip(%{text => [text]})
  end

  defp schemas(folder, draft) do
    pattern = "JSON-Schema-Test-Suite/tests/#{draft}/*.json"
    files = folder |> Path.join(pattern) |> Path.wildcard()
    for file <- files, group <- JSON.decode!(File.read!(file)), result <- group(group, draft), do: result
  end

  defp group(%{"schema" => schema, "tests" => tests, "description" => description}, draft) do
    case Validator.compile(dialect(schema, draft)) do
      {:ok, validator} -> for test <- tests, do: judge(validator, test, description)
      {:error, _error} -> for _test <- tests, do: :refused
    end
  end

  # The suite's older drafts leave the dialect to the one who runs it.
  defp dialect(%{} = schema, "draft2020-12"), do: schema
  defp dialect(%{} = schema, draft), do: Map.put_new(schema, "$schema", dialect_uri(draft))
  defp dialect(schema, _draft), do: schema

  defp dialect_uri("draft2019-09"), do: "https://json-schema.org/draft/2019-09/schema"
  defp dialect_uri("draft" <> number), do: "http://json-schema.org/draft-0#{number}/schema#"

  defp judge(validator, %{"data" => data, "valid" => valid} = test, description) do
    accepted = Validator.validate(validator, data) == :ok

    if accepted == valid do
      :passed
    else
      IO.puts(:stderr, "failed: #{description}: #{test["description"]}")
      :failed
    end
  end

  defp read(folder, file), do: folder |> Path.join(file) |> File.read!() |> JSON.decode!()
end

Corpora.run(hd(System.argv()))
