defmodule McpServer.OutlineTest do
  use ExUnit.Case, async: true

  alias McpServer.Outline

  doctest Outline

  # What a peer has written must not look like another line of the log, nor control a terminal or turn its text around.
  test "no control character of a text reaches a line" do
    for character <- Enum.concat([0..0x1F, 0x7F..0x9F, 0x2028..0x202E, 0x2066..0x2069]) do
      line = Outline.line("a" <> <<character::utf8>> <> "b")
      assert {character, line =~ ~r/\Aa\\[0-9A-Za-z{}]+b\z/} == {character, true}
    end

    for character <- [" ", "~", "ü", "\u00A0", "日"], do: assert(Outline.line(character) == character)
  end

  test "invalid UTF-8 is escaped byte by byte" do
    assert Outline.line("a" <> <<0xFF, 0xC3>> <> "b") == ~S(a\xFF\xC3b)
  end
end
