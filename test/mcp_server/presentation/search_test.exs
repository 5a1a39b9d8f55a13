defmodule McpServer.Presentation.SearchTest do
  # The search pattern around test searches; examples/patterns tests the documents' server.
  use ExUnit.Case, async: true
  @moduletag :capture_log

  import McpServer.PresentationView, only: [thing: 1, thing: 2, thing: 3, options: 1, options: 2]

  alias McpServer.{JSON, Presentation, PresentationView}

  @view PresentationView
  @index "<!-- kind:thing-index:v1 -->"
  @card "<!-- kind:thing-card:v1 -->"

  defp things(count), do: for(n <- 1..count//1, do: thing(n))

  defp search!(arguments, options) do
    {:ok, result} = Presentation.search(@view, arguments, options)
    result
  end

  defp data(arguments, options), do: search!(arguments, options).structured_content
  defp markdown(arguments, options), do: hd(search!(arguments, options).content).text
  defp ids(items), do: Enum.map(items, & &1["id"])

  describe "the data" do
    @tag req: "S0-20"
    test "kind, query, metadata, items; provenance only when asked for" do
      options =
        options(things(2), provenance: fn -> [source: "Shelf", timestamp: ~U[2026-01-22 21:30:00Z], version: "v9"] end)

      assert data(%{"q" => "x"}, options) |> Map.keys() |> Enum.sort() == ["kind", "metadata", "query", "things"]
      refute Map.has_key?(data(%{"q" => "x", "includeProvenancePanel" => false}, options), "provenance")

      assert data(%{"q" => "x", "includeProvenancePanel" => true}, options)["provenance"] ==
               %{"source" => "Shelf", "timestamp" => "2026-01-22T21:30:00.000Z", "version" => "v9"}
    end

    @tag req: ["S0-20", "RES-67"]
    test "asked for, provenance is a block of its own as well, before the JSON" do
      options = options(things(1), provenance: %{"source" => "Shelf\n# x", "path" => "/srv/x", "counts" => [1, 2]})
      result = search!(%{"q" => "x", "format" => "both", "includeProvenancePanel" => true}, options)
      assert [_page, panel, json] = Enum.map(result.content, & &1.text)
      assert panel == "## Provenance\n\n- counts: [1,2]\n- source: Shelf # x"
      assert JSON.decode!(json)["provenance"] == %{"source" => "Shelf\n# x", "counts" => [1, 2]}
      assert length(search!(%{"q" => "x", "format" => "both"}, options).content) == 2
    end

    @tag req: ["S0-21", "S0-22", "RES-02", "RES-35", "S3-10"]
    test "what was asked for is echoed, and the format it resolved to" do
      options = options(things(2))
      assert data(%{"q" => "x"}, options)["query"] == %{"q" => "x", "format" => "markdown"}

      asked = %{"q" => "x", "limit" => 1, "group" => "round", "size" => nil, "other" => 1, "format" => "both"}
      assert data(asked, options)["query"] == %{"q" => "x", "limit" => 1, "group" => "round", "format" => "both"}
    end

    @tag req: "RES-34"
    test "the echo comes in the order in which the kind declares it" do
      [json] = search!(%{"limit" => 2, "q" => "x", "format" => "json"}, options(things(2))).content
      assert json.text =~ ~s("query": {\n    "q": "x",\n    "limit": 2,\n    "format": "json"\n  })
    end

    @tag req: "S0-23"
    test "a limit is an integer from 1 to 100" do
      for limit <- [1, 100],
          do: assert(%{"kind" => "thingSearchResults:v1"} = data(%{"q" => "x", "limit" => limit}, options(things(2))))

      for limit <- [0, 101, 1.5, "5", -1, true] do
        options = options([], find: fn _arguments -> flunk("searched") end)
        assert %{"code" => "CLIENT_ERROR"} = data(%{"q" => "x", "limit" => limit}, options)
      end
    end

    @tag req: ["S0-24", "RES-03"]
    test "the metadata counts all matches" do
      found = [thing(1, "round", "large"), thing(2, "flat"), thing(3, "round"), thing(4, "round")]

      assert data(%{"q" => "x", "limit" => 2}, options(found))["metadata"] == %{
               "totalCount" => 4,
               "groups" => %{"round" => 3, "flat" => 1},
               "sizes" => %{"small" => 3, "large" => 1},
               "renderedCards" => 2,
               "renderedCardIds" => ["t1", "t2"],
               "contractMarkers" => %{"index" => 1, "cards" => 2, "version" => "v1"}
             }
    end

    @tag req: ["S0-25", "RES-04"]
    test "all matches are listed, or as many as the limit says" do
      options = options(things(7))
      assert ids(data(%{"q" => "x"}, options)["things"]) == ids(things(7))
      assert ids(data(%{"q" => "x", "limit" => 3}, options)["things"]) == ids(things(3))
      assert ids(data(%{"q" => "x", "limit" => 100}, options)["things"]) == ids(things(7))
    end

    @tag req: "S0-26"
    test "a match has the members named; empty ones are left out" do
      assert [listed] =
               data(%{"q" => "x"}, options([Map.merge(thing(1), %{"tags" => [], "size" => nil, "secret" => 1})]))[
                 "things"
               ]

      assert listed == %{"id" => "t1", "title" => "Thing 1", "group" => "round"}
    end

    test "a match may be a map with atoms or a struct, and the summary a function" do
      options = options([%{id: "a", title: "A", group: :round}], index: nil, card: nil)
      data = data(%{"q" => "x"}, options)
      assert data["things"] == [%{"id" => "a", "title" => "A", "group" => :round}]
      assert data["metadata"]["groups"] == %{"round" => 1}

      assert data(%{"q" => "x"}, [summary: &%{"id" => &1["id"]}] ++ Keyword.delete(options(things(1)), :summary))[
               "things"
             ] == [%{"id" => "t1"}]
    end

    @tag req: ["S0-27", "RES-27"]
    test "descriptions are not cut" do
      long = String.duplicate("word ", 200)
      options = options([Map.put(thing(1), "description", long)], summary: ["id", "description"])
      assert [%{"description" => ^long}] = data(%{"q" => "x"}, options)["things"]
    end

    @tag req: ["S0-31", "S3-05", "RES-59"]
    test "as JSON there are no cards and no markers" do
      metadata = data(%{"q" => "x", "format" => "json"}, options(things(5)))["metadata"]
      assert %{"renderedCards" => 0, "renderedCardIds" => []} = metadata
      assert metadata["contractMarkers"] == %{"index" => 0, "cards" => 0, "version" => "v1"}
    end

    @tag req: ["S0-28", "S0-29", "RES-01"]
    test "cards are for the first K, 3 or as many as the server says, and 10 at most" do
      for {options, expected} <- [
            {[], 3},
            {[cards: 1], 1},
            {[cards: 10], 10},
            {[card: nil], 0}
          ] do
        result = search!(%{"q" => "x"}, options(things(12), options))
        metadata = result.structured_content["metadata"]
        assert metadata["renderedCards"] == expected
        assert metadata["renderedCardIds"] == ids(things(expected))
        assert metadata["contractMarkers"] == Presentation.contract_markers(@view, hd(result.content).text)
        assert metadata["contractMarkers"]["cards"] == expected
      end

      assert data(%{"q" => "x", "limit" => 2}, options(things(12)))["metadata"]["renderedCards"] == 2

      for cards <- [0, 11] do
        assert_raise ArgumentError, "cards of search/3 has to be from 1 to 10, got: #{cards}", fn ->
          search!(%{"q" => "x"}, options(things(12), cards: cards))
        end
      end
    end
  end

  describe "the Markdown" do
    @tag req: ["S3-02", "S3-03", "RES-33", "S0-30"]
    test "heading, introduction, index and cards, markers on lines of their own" do
      options = options([thing(1), thing(2, "flat|ish")], title: "Shelf Results", details_tool: "get", cards: 1)

      assert markdown(%{"q" => "x"}, options) == """
             ## Shelf Results for "x"

             Found **2** matching things. Detailed documentation for the top results follows. Use thing IDs from the Index with 'get' for additional deep-dives.

             ## Index

             #{@index}
             | Thing | Group |
             | :--- | :--- |
             | Thing 1 | round |
             | Thing 2 | flat\\|ish |

             ## Top 1 Things

             # Thing 1

             #{@card}
             **Group:** round

             **About:** About 1\
             """
    end

    @tag req: "S0-39"
    test "there are markers and no JSON" do
      result = search!(%{"q" => "x"}, options(things(4)))
      assert [%{text: text, mimeType: "text/markdown"}] = result.content
      assert %{"index" => 1, "cards" => 3} = Presentation.contract_markers(@view, text)
      assert {:error, _error} = JSON.decode(text)
    end

    @tag req: "RES-61"
    test "nothing found is an ordinary result" do
      assert markdown(%{"q" => "x"}, options([])) == ~s(No things found for "x".)
      data = data(%{"q" => "x"}, options([]))
      assert data["things"] == []
      assert %{"totalCount" => 0, "groups" => groups, "renderedCards" => 0} = data["metadata"]
      assert groups == %{}
      assert data["metadata"]["contractMarkers"] == %{"index" => 0, "cards" => 0, "version" => "v1"}
    end

    @tag req: ["S0-32", "S0-33"]
    test "cards without a marker, and a second index, are warnings" do
      import McpServer.TestLog
      without = options(things(2), card: fn _thing -> "# A card" end)
      assert own_log(fn -> search!(%{"q" => "x"}, without) end) =~ "0 card markers for 2 rendered cards"
      twice = options(things(2), index: fn _things -> "a\n\n" <> @index end)
      assert own_log(fn -> search!(%{"q" => "x"}, twice) end) =~ "2 index markers, of which there may be one"
      assert own_log(fn -> search!(%{"q" => "x"}, options(things(2))) end) == ""
    end

    @tag req: "RES-60"
    test "a query and a title with a marker add none" do
      found = [Map.merge(thing(1), %{"title" => "T\n#{@card}\n#{@index}", "about" => "```\n#{@card}"})]
      result = search!(%{"q" => "x\n#{@index}\n"}, options(found))

      assert result.structured_content["metadata"]["contractMarkers"] == %{
               "index" => 1,
               "cards" => 1,
               "version" => "v1"
             }

      assert hd(result.content).text =~ "&lt;!-- kind:thing-card:v1 -->"
    end
  end

  describe "asking back" do
    @tag req: ["S0-34", "S0-64", "S3-06"]
    test "without a query, and nothing is searched" do
      options = options([], find: fn _arguments -> flunk("searched") end)

      for arguments <- [%{}, %{"q" => nil}, %{"q" => ""}, %{"q" => "  \n"}, %{"q" => "\u3000"}, %{"q" => 1}] do
        result = search!(arguments, options)

        assert result.structured_content == %{
                 "kind" => "needsInput:v1",
                 "type" => "elicitation",
                 "message" => "What thing are you looking for? Please provide a search query.",
                 "needsInput" => %{
                   "fields" => ["q"],
                   "reason" => "Search query is required to find relevant things",
                   "suggestions" => %{"q" => ["round things"]}
                 }
               }

        assert [%{text: "## Search Query Needed\n\nWhat thing are you" <> _rest}] = result.content
        refute result.is_error
      end
    end

    @tag req: "S0-35"
    test "more than 20 matches without a filter" do
      for {count, arguments, kind} <- [
            {20, %{}, "thingSearchResults:v1"},
            {21, %{}, "needsInput:v1"},
            {21, %{"group" => "round"}, "thingSearchResults:v1"},
            {21, %{"size" => "small"}, "thingSearchResults:v1"},
            {21, %{"group" => ""}, "needsInput:v1"}
          ] do
        assert data(Map.put(arguments, "q", "x"), options(things(count)))["kind"] == kind
      end
    end

    @tag req: "S0-35"
    test "the threshold can be another, or none; and without filters there is none" do
      assert data(%{"q" => "x"}, options(things(3), too_broad: 2))["kind"] == "needsInput:v1"
      assert data(%{"q" => "x"}, options(things(99), too_broad: :infinity))["kind"] == "thingSearchResults:v1"
      assert data(%{"q" => "x"}, options(things(99), filters: []))["kind"] == "thingSearchResults:v1"
    end

    @tag req: "S0-36"
    test "whatever the limit" do
      assert %{"kind" => "needsInput:v1", "message" => "Found 50 things." <> _} =
               data(%{"q" => "x", "limit" => 5}, options(things(50)))
    end

    @tag req: ["S0-37", "S0-65", "S3-07", "S3-14", "RES-05"]
    test "with every value the matches have, and no other" do
      found = for(n <- 1..15, do: thing(n, "flat", "large")) ++ for(n <- 16..30, do: thing(n, "round", "small"))
      result = search!(%{"q" => "x"}, options(found))
      message = "Found 30 things. Would you like to narrow your search by group or size?"

      assert result.structured_content["message"] == message

      assert result.structured_content["needsInput"] == %{
               "fields" => ["group", "size"],
               "reason" => "Too many results (30). Narrowing filters will help find the right thing.",
               "suggestions" => %{"group" => ["flat", "round"], "size" => ["small", "large"]}
             }

      options = result.structured_content["options"]

      assert Enum.map(options, &{&1["field"], &1["value"]}) == [
               {"group", "flat"},
               {"group", "round"},
               {"size", "small"},
               {"size", "large"}
             ]

      assert hd(options) == %{
               "label" => "flat",
               "value" => "flat",
               "description" => "Filter by flat group",
               "field" => "group"
             }

      assert options |> Enum.group_by(& &1["field"]) |> map_size() == 2

      assert hd(result.content).text ==
               "## Narrow Your Search\n\n#{message}\n\n**Available filters:**\n- Group: flat, round\n- Size: small, large"
    end

    @tag req: "S0-65"
    test "a filter without values says any" do
      found = for n <- 1..21, do: Map.delete(thing(n), "size")
      assert markdown(%{"q" => "x"}, options(found)) =~ "\n- Size: any"
    end

    test "of one filter at most fifty values are offered" do
      found = for n <- 1..60, do: thing(n, "g#{n}")
      data = data(%{"q" => "x"}, options(found))
      assert length(data["needsInput"]["suggestions"]["group"]) == 50
    end
  end

  test "a search that fails is a failure of its kind" do
    for {reason, code} <- [{:timeout, "NETWORK_ERROR"}, {{:status, 503}, "SERVER_ERROR"}, {:whatever, "UNKNOWN_ERROR"}] do
      assert %{"code" => ^code} = data(%{"q" => "x"}, options([], find: fn _arguments -> {:error, reason} end))
    end

    assert data(%{"q" => "x"}, options([], find: fn _arguments -> {:ok, [thing(1)]} end))["metadata"]["totalCount"] == 1
  end

  test "options that are none are refused" do
    assert_raise ArgumentError, ~r/no option itms/, fn ->
      Presentation.search(@view, %{"q" => "x"}, kind: "a:v1", itms: "x")
    end

    assert_raise ArgumentError, ~r/needs :find/, fn -> Presentation.search(@view, %{"q" => "x"}, kind: "a:v1") end
  end
end
