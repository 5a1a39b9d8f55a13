defmodule McpServer.NotesGuideTest do
  # The guide builds the example step by step: its code equals the example's.
  use ExUnit.Case, async: true

  defp flat(code),
    do: code |> String.split("\n") |> Enum.map(&String.trim/1) |> Enum.reject(&(&1 == "")) |> Enum.join("\n")

  test "the code of the guide stands in the example, and all of the example in the guide" do
    example = flat(File.read!("examples/notes/lib/notes/mcp.ex"))
    blocks = for [_all, code] <- Regex.scan(~r/^```elixir\n(.*?)^```$/ms, File.read!("guides/notes.md")), do: flat(code)
    assert length(blocks) > 10
    for block <- blocks, line <- String.split(block, "\n"), do: assert(example =~ line)

    shown = blocks |> Enum.flat_map(&String.split(&1, "\n")) |> MapSet.new()
    [_moduledoc, code] = String.split(example, ~s("""\nuse McpServer.Router), parts: 2)
    missing = Enum.reject(String.split("use McpServer.Router" <> code, "\n"), &(&1 in shown))
    assert missing == ["alias Notes.Store"]
  end

  test "the example has at most 100 lines" do
    assert length(String.split(File.read!("examples/notes/lib/notes/mcp.ex"), "\n", trim: true)) <= 100
    assert File.stream!("examples/notes/lib/notes/mcp.ex") |> Enum.count() <= 100
  end
end
