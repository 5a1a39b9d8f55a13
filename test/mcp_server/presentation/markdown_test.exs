defmodule McpServer.Presentation.MarkdownTest do
  # Markdown around foreign text, and the markers counted in that text.
  use ExUnit.Case, async: true
  doctest McpServer.Presentation.Markdown

  alias McpServer.{Presentation, PresentationView}
  alias McpServer.Presentation.Markdown

  @card "<!-- kind:thing-card:v1 -->"
  @index "<!-- kind:thing-index:v1 -->"

  defp cards(text), do: Presentation.contract_markers(PresentationView, text)["cards"]

  @tag req: "S0-30"
  test "the markers are those texts" do
    assert Presentation.marker(PresentationView, :card) == @card
    assert Presentation.marker(PresentationView, :index) == @index
    view = Presentation.new(index: "pattern-index", card: "pattern-card")
    assert Presentation.marker(view, :index) == "<!-- kind:pattern-index:v1 -->"
    assert Presentation.marker(view, :card) == "<!-- kind:pattern-card:v1 -->"
    assert Presentation.marker(%{view | marker_version: "v2"}, :card) == "<!-- kind:pattern-card:v2 -->"
  end

  @tag req: ["S0-16", "S0-29"]
  test "they are counted with the version of the view" do
    text = "#{@index}\n#{@card}\n#{@card}\n<!-- kind:thing-card:v2 -->"
    assert Presentation.contract_markers(PresentationView, text) == %{"index" => 1, "cards" => 2, "version" => "v1"}
    assert Presentation.contract_markers(Presentation.new([]), text) == %{"index" => 0, "cards" => 0, "version" => "v1"}

    fixture = McpServer.Fixtures.read("s0-11-contract-markers.json")
    view = Presentation.new(index: "pattern-index", card: "pattern-card")
    text = Enum.join([Presentation.marker(view, :index) | List.duplicate(Presentation.marker(view, :card), 3)], "\n")
    assert %{"contractMarkers" => Presentation.contract_markers(view, text)} == McpServer.JSON.decode!(fixture)
  end

  @tag req: "RES-60"
  test "one counts alone on its line, outside of code" do
    for {text, count} <- [
          {@card, 1},
          {"a\n#{@card}\nb", 1},
          {"a\r\n#{@card}\r\nb", 1},
          {"   #{@card}  ", 1},
          {"    #{@card}", 0},
          {"a #{@card}", 0},
          {"#{@card} a", 0},
          {"`#{@card}`", 0},
          {"```\n#{@card}\n```", 0},
          {"```\n#{@card}", 0},
          {"~~~ html\n#{@card}\n```\n~~~\n#{@card}", 1},
          {"````\n```\n#{@card}\n````\n#{@card}", 1},
          {"``` a`b\n#{@card}", 1},
          {"``\n#{@card}\n``", 1},
          {"    ```\n#{@card}", 1},
          {"```\n``` x\n#{@card}\n```\n#{@card}", 1}
        ] do
      assert cards(text) == count, inspect(text)
    end
  end

  @tag req: "S3-13"
  test "a cell stays a cell" do
    row = fn cell -> Markdown.table(["A", "B"], [[cell, "b"]]) |> String.split("\n") |> List.last() end

    for {cell, written} <- [
          {"a|b", "| a\\|b | b |"},
          {"a\\|b", "| a\\\\\\|b | b |"},
          {"a\\", "| a\\\\ | b |"},
          {"a\nb\r\nc", "| a b c | b |"},
          {"", "|  | b |"}
        ] do
      assert row.(cell) == written
    end
  end

  @tag req: ["S3-03", "RES-68"]
  test "what a card does not have is left out" do
    assert Markdown.card("T", @card, [], []) == "# T\n\n#{@card}"
    assert Markdown.card("T", @card, [{"A", nil}, {"B", "b"}], []) == "# T\n\n#{@card}\n**B:** b"

    sections = [
      {"A", nil},
      {"B", ""},
      {"C", {:code, []}},
      {"D", {:code, nil}},
      {"E", {:code_block, nil, "x"}},
      {"F", {:list, nil}}
    ]

    assert Markdown.card("T", @card, [], sections) == "# T\n\n#{@card}"

    sections = [
      {"API", {:code, ["a", "b`"]}},
      {"Example", {:code_block, "1 |> f()\n```", "elixir"}},
      {"Notes", {:list, ["x\ny"]}}
    ]

    assert Markdown.card("T", @card, [], sections) ==
             "# T\n\n#{@card}\n\n**API:** `a`, `` b` ``\n\n**Example:**\n\n````elixir\n1 |> f()\n```\n````\n\n**Notes:**\n\n- x y"

    assert for(text <- ["a", "a.", "a!", "a?", "a…", nil], do: Markdown.sentence(text)) == [
             "a.",
             "a.",
             "a!",
             "a?",
             "a…",
             nil
           ]
  end

  @tag req: "RES-60"
  test "text of others adds no marker, and keeps those of others from being hidden" do
    evil = "x\n#{@card}\n```\n~~~"

    card =
      Markdown.card(evil, @card, [{evil, nil}, {"B", evil}], [
        {"C", evil},
        {"D", {:code, [evil]}},
        {"E", {:code_block, evil, evil}},
        {"F", {:list, [evil]}}
      ])

    assert cards(card <> "\n\n" <> @card) == 2
    assert cards(Markdown.block("a\n```\n#{@card}") <> "\n" <> @card) == 1
    assert cards(Markdown.block("a\n#{@card}\nb")) == 0
    assert Markdown.block("a\n```\nb\n```\n") == "a\n```\nb\n```\n"
  end

  test "large texts are worked on elsewhere, with the same result" do
    long = String.duplicate("word\n", 20_000) <> @card
    assert cards(long) == 1
    assert Markdown.line(long) == String.duplicate("word ", 20_000) <> "&lt;!-- kind:thing-card:v1 -->"
    assert Presentation.summary(long) |> String.length() == 203
  end
end
