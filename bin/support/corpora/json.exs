defmodule Corpora.Json do
  # The suites of JSON readers and writers, through `McpServer.JSON`.

  alias McpServer.JSON

  def rows(folder) do
    suite = "JSONTestSuite/test_parsing/"
    last = [duplicate_keys: :last]

    [
      {"JSONTestSuite y_, the last of equal keys counts", files(folder, suite <> "y_*", &accepted(&1, last))},
      {"JSONTestSuite y_, as messages are read", files(folder, suite <> "y_*", &accepted(&1, []))},
      {"JSONTestSuite n_", files(folder, suite <> "n_*", &refused/1)},
      {"JSONTestSuite i_", files(folder, suite <> "i_*", &outcome/1)},
      {"JSONTestSuite transform", files(folder, "JSONTestSuite/test_transform/*", &outcome/1)},
      {"jiffy cases", files(folder, "jiffy-cases/test/cases/*.json", &outcome/1)},
      {"jiffy short doubles", doubles(folder)},
      {"jason formatter suite", formatted(folder)},
      {"utf8tests, read", utf8(folder, &read_string/1)},
      {"utf8tests, written", utf8(folder, &written_string/1)}
    ]
  end

  defp files(folder, pattern, judge) do
    for file <- folder |> Path.join(pattern) |> Path.wildcard(), do: {Path.basename(file), judge.(File.read!(file))}
  end

  # An accepted value is the same after it is written and read again.
  defp accepted(text, options) do
    with {:ok, value} <- JSON.decode(text, options), :passed <- round_trip(value) do
      :passed
    else
      {:error, error} -> to_string(error.kind)
      other -> other
    end
  end

  defp round_trip(value), do: if(JSON.decode(JSON.encode!(value)) === {:ok, value}, do: :passed, else: "changed")

  defp refused(text), do: if(match?({:error, _error}, JSON.decode(text)), do: :passed, else: "accepted")

  # The written value, or the error.
  defp outcome(text) do
    case JSON.decode(text) do
      {:ok, value} -> if round_trip(value) == :passed, do: digest(JSON.encode!(value)), else: "changed"
      {:error, error} -> to_string(error.kind)
    end
  end

  # A short, plain value is pinned as text, other values by their digest.
  defp digest(text) do
    if byte_size(text) <= 60 and text == for(<<byte <- text>>, byte < 0x7F, into: "", do: <<byte>>),
      do: text,
      else: "#{byte_size(text)} bytes, MD5 " <> Base.encode16(:erlang.md5(text), case: :lower)
  end

  # The file has the shortest digits of each number.
  defp doubles(folder) do
    file = Path.join(folder, "jiffy-cases/test/cases/short-doubles.txt")

    for line <- File.stream!(file), text = String.trim_trailing(line, ".\n"), {float, _rest} <- [Float.parse(text)] do
      written = JSON.encode!(float)
      good = JSON.decode!(written) === float and digits(written) <= digits(text)
      {text, if(good, do: :passed, else: written)}
    end
  end

  defp digits(text) do
    text |> String.split(["e", "E"]) |> hd() |> String.replace(~r/\D/, "") |> String.trim("0") |> byte_size()
  end

  defp formatted(folder) do
    for kind <- ["", ".min", ".pretty"],
        file <- folder |> Path.join("jason-formatter-suite/formatter_test_suite/*#{kind}.json") |> Path.wildcard(),
        kind != "" or not String.contains?(Path.basename(file, ".json"), ".") do
      {Path.basename(file), laid_out(kind, String.trim_trailing(File.read!(file)))}
    end
  end

  defp laid_out(kind, text) do
    case {kind, JSON.decode(text)} do
      {_kind, {:error, error}} -> to_string(error.kind)
      {"", {:ok, value}} -> round_trip(value)
      {".min", {:ok, value}} -> if JSON.encode!(value) == text, do: :passed, else: JSON.encode!(value)
      {".pretty", {:ok, value}} -> if JSON.encode!(value, pretty: true) == text, do: :passed, else: "laid out otherwise"
    end
  end

  defp utf8(folder, judge) do
    cases = Path.join(folder, "utf8tests/utf8tests.json") |> File.read!() |> JSON.decode!()

    for %{"id" => id, "hex" => hex, "valid" => valid} <- cases["cases"] do
      taken = judge.(Base.decode16!(hex, case: :mixed))
      {id, if(taken == valid, do: :passed, else: "taken: #{taken}")}
    end
  end

  defp read_string(bytes), do: JSON.decode(<<?", escaped(bytes)::binary, ?">>) == {:ok, bytes}

  defp written_string(bytes), do: match?({:ok, _text}, JSON.encode(bytes))

  # Control characters, quotes and backslashes are UTF-8, but must be escaped inside a JSON string.
  defp escaped(bytes) do
    for <<byte <- bytes>>, into: "" do
      if byte < 0x20 or byte in [?", ?\\], do: "\\u" <> Base.encode16(<<0, byte>>), else: <<byte>>
    end
  end
end
