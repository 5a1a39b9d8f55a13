defmodule McpServer.TroubleshootingGuideTest do
  # Users search guides/troubleshooting.md for an error's text, so its texts must equal those of the sources.
  use ExUnit.Case, async: true

  @guide "guides/troubleshooting.md"
  @of_others "Messages of clients and other programs"
  @columns ["text", "log"]

  # The longest text that one `…` may replace.
  @most_between 250

  defp sections do
    [_introduction | sections] = String.split(File.read!(@guide), ~r/^## /m)

    for section <- sections, [title, text] = String.split(section, "\n", parts: 2), title != @of_others do
      {title, texts(text)}
    end
  end

  defp texts(section) do
    headings = for [_line, text] <- Regex.scan(~r/^### `(.+?)`/m, section), do: text
    headings ++ Enum.flat_map(Regex.scan(~r/(?:^\|.*\n)+/m, section), fn [table] -> cells(table) end)
  end

  defp cells(table) do
    [head, _line | rows] = for row <- String.split(table, "\n", trim: true), do: row(row)
    column = Enum.find_index(head, &(&1 in @columns))
    for row <- rows, do: row |> Enum.at(column) |> String.trim("`")
  end

  defp row(row), do: row |> String.trim("|") |> String.split("|") |> Enum.map(&String.trim/1)

  # A message may be split into several literals, and its quotes are escaped.
  defp sources do
    for file <- Path.wildcard("lib/**/*.ex") ++ Path.wildcard("native/**/*.{exs,rs}") do
      file |> File.read!() |> String.replace(~r/"\s*<>\s*(?:~S)?["']/, "") |> String.replace(~S(\"), ~S("))
    end
  end

  defp pattern(text) do
    pieces = for piece <- String.split(text, "…"), do: Regex.escape(piece)
    Regex.compile!(Enum.join(pieces, ".{0,#{@most_between}}?"))
  end

  # The core puts the standard message of the code before the reason of a JSON-RPC error.
  defp without_standard_message(text) do
    table = File.read!("native/mcp_core/src/jsonrpc/code.rs")
    messages = for [_line, message] <- Regex.scan(~r/= -\d+, "\w+", "([^"]+)";/, table), do: message
    true = "Invalid request" in messages
    Enum.find_value(messages, text, &after_prefix(text, &1 <> ": "))
  end

  defp after_prefix(text, prefix),
    do: if(String.starts_with?(text, prefix), do: String.replace_prefix(text, prefix, ""))

  test "each section has texts" do
    assert for({title, [_text | _others]} <- sections(), do: title) ==
             ["Install and compile", "Start", "Answers over HTTP", "JSON-RPC errors", "Calls", "Deploy"]
  end

  test "each text is a message of the library" do
    sources = sources()

    unknown =
      for {title, texts} <- sections(),
          text <- texts,
          pattern = text |> without_standard_message() |> pattern(),
          not Enum.any?(sources, &(&1 =~ pattern)) do
        "#{title}: #{text}"
      end

    assert unknown == []
  end

  test "each refusal of a request over HTTP has a line" do
    source = File.read!("native/mcp_core/src/http/answer.rs")
    refusals = for [_call, text] <- Regex.scan(~r/HttpAnswer::(?:invalid|unable)\(\d+, "([^"]+)"\)/, source), do: text
    {_title, texts} = List.keyfind(sections(), "Answers over HTTP", 0)
    assert "Session not found" in refusals
    assert refusals -- texts == []
  end
end
