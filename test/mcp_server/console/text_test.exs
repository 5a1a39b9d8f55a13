defmodule McpServer.Console.TextTest do
  # What a terminal would obey is not in what a server's data becomes.
  use ExUnit.Case, async: true

  alias McpServer.Console.Text
  alias McpServer.JSON

  # Escape, delete, the control sequence introducer in one character, and changes of direction.
  @obeyed ["\e[2J", "\d", "\u009B2J", "\u202E", "\u2066"]

  # Earlier, JSON kept all but the first.
  test "control characters are removed from text, and escaped in JSON" do
    for obeyed <- @obeyed do
      value = %{"a" => "x" <> obeyed <> "é\u2028", obeyed => [obeyed]}

      for printed <- [
            Text.json(value),
            Text.call(%{"content" => [%{"type" => "unknown", "x" => obeyed}], "structuredContent" => value}),
            Text.error(%{"code" => 1, "message" => "x" <> obeyed, "data" => value}),
            Text.notification("notifications/progress", %{"progress" => obeyed, "total" => obeyed}),
            Text.safe(obeyed)
          ] do
        text = IO.iodata_to_binary(printed)

        assert {obeyed, text =~ ~r/[\x{00}-\x{09}\x{0B}-\x{1F}\x{7F}-\x{9F}\x{202A}-\x{202E}\x{2066}-\x{2069}]/u} ==
                 {obeyed, false}
      end

      assert JSON.decode(Text.json(value)) == {:ok, value}
    end
  end
end
