defmodule McpServer.PresentationTest do
  # Formats, blocks, kinds and limits: the common parts of all results.
  use ExUnit.Case, async: true
  @moduletag :capture_log
  doctest McpServer.Presentation

  import McpServer.TestLog

  alias McpServer.{JSON, Presentation, PresentationView}
  alias McpServer.Content.Text
  alias McpServer.Presentation.{Kind, MismatchError, NeedsInput, ToolError}
  alias McpServer.Tool.CallResult

  @view PresentationView
  @formats ["markdown", "json", "both"]
  @thing %{"id" => "t1", "title" => "Thing"}

  test "the keys of a kind are written in the order of its schema, `kind` first" do
    kind = Kind.new("book:v1", properties: [title: [type: "string"], author: [type: "string"]])
    assert kind.order == ["kind", "title", "author"]
    assert kind.schema["required"] == ["kind"]
  end

  defp present!(payload, options \\ []) do
    {:ok, %CallResult{} = result} = Presentation.present(@view, "thing:v1", payload, options)
    result
  end

  # One result of each kind, in this format.
  defp of_each_kind(format) do
    {:ok, details} = Presentation.present(@view, "thing:v1", @thing, format: format, markdown: "# Thing")
    {:ok, question} = Presentation.needs_input(@view, message: "Which?", fields: :id, reason: "No id", format: format)
    {:ok, failure} = Presentation.tool_error(@view, :timeout, format: format)

    {:ok, results} =
      Presentation.search(
        @view,
        %{"q" => "x", "format" => format},
        PresentationView.options([PresentationView.thing(1)])
      )

    [details, question, failure, results]
  end

  defp json?(%Text{text: text}), do: match?({:ok, %{"kind" => _}}, JSON.decode(text))

  describe "the format" do
    @tag req: "S0-01"
    test "a payload, Markdown and a format become a result" do
      assert %CallResult{content: [%Text{text: "# Thing"}], is_error: false} =
               present!(@thing, markdown: ["# ", "Thing"])
    end

    @tag req: "S0-02"
    test "for json and both exactly one block is JSON of a known kind, and fits its schema" do
      for format <- ["json", "both"], result <- of_each_kind(format) do
        assert [block] = Enum.filter(result.content, &json?/1)
        data = JSON.decode!(block.text)
        assert Kind.validate(Presentation.view!(@view).kinds[data["kind"]], data) == :ok
      end
    end

    @tag req: ["S0-03", "RES-29"]
    test "structuredContent is there in all three" do
      for format <- @formats, result <- of_each_kind(format), do: assert(%{"kind" => _} = result.structured_content)
    end

    @tag req: "S0-04"
    test "the JSON block and structuredContent hold the same data" do
      for format <- ["json", "both"], result <- of_each_kind(format) do
        assert JSON.decode!(List.last(result.content).text) == result.structured_content
      end
    end

    @tag req: "S0-05"
    test "missing or nil is markdown; another value is refused, never a default" do
      assert [%Text{text: "x"}] = present!(@thing, markdown: "x").content
      assert [%Text{text: "x"}] = present!(@thing, format: nil, markdown: "x").content

      for format <- ["JSON", "html", "", " json", :json, 1, %{}] do
        result = present!(@thing, format: format, markdown: "x")
        assert %{"kind" => "toolError:v1", "code" => "CLIENT_ERROR", "retryable" => false} = result.structured_content
        assert result.is_error
      end
    end

    @tag req: ["S0-06", "S0-13"]
    test "markdown has no block that is data" do
      for result <- of_each_kind("markdown"), do: refute(Enum.any?(result.content, &json?/1))
    end

    @tag req: ["S0-07", "S0-13"]
    test "json is the JSON block alone" do
      for result <- of_each_kind("json") do
        assert [block] = result.content
        assert json?(block)
      end
    end

    @tag req: ["S0-08", "S0-13", "RES-67"]
    test "both is one Markdown block, extra blocks, and the JSON block last" do
      for result <- of_each_kind("both") do
        assert [markdown, json] = result.content
        assert {json?(markdown), json?(json)} == {false, true}
      end

      result = present!(@thing, format: "both", markdown: "# Thing", extras: ["## From", fn -> "## More" end])
      assert ["# Thing", "## From", "## More", _json] = Enum.map(result.content, & &1.text)
      assert length(present!(@thing, format: "json", markdown: "# Thing", extras: ["## From"]).content) == 1
    end

    test "Markdown that is a function is made only where it is wanted" do
      parent = self()

      render = fn ->
        send(parent, :rendered)
        "text"
      end

      present!(@thing, format: "json", markdown: render)
      refute_received :rendered
      present!(@thing, format: "both", markdown: render)
      assert_received :rendered
    end

    @tag req: "S0-76"
    test "what clients of the default see is the Markdown, as it is given" do
      markdown = "# Thing\n\nA *thing* with `code`, | bars | and <!-- a comment -->.\n"

      assert [%Text{text: ^markdown, mimeType: "text/markdown", _meta: nil, annotations: nil}] =
               present!(@thing, markdown: markdown).content
    end

    @tag req: "RES-70"
    test "data that has no query echoes no format" do
      for format <- @formats,
          do: assert(present!(@thing, format: format).structured_content == Map.put(@thing, "kind", "thing:v1"))
    end
  end

  describe "blocks" do
    @tag req: ["S0-09", "S0-10"]
    test "their media types" do
      [markdown, json] = present!(@thing, format: "both", markdown: "x").content
      assert JSON.encode!(markdown) == ~s({"type":"text","text":"x","mimeType":"text/markdown"})
      assert %{"type" => "text", "mimeType" => "application/json"} = JSON.decode!(JSON.encode!(json))
    end

    @tag req: ["S0-11", "RES-31"]
    test "of failures it is text/plain, and can be another" do
      {:ok, result} = Presentation.tool_error(@view, :timeout)
      assert [%Text{mimeType: "text/plain"}] = result.content
      {:ok, result} = Presentation.tool_error(Presentation.new(error_mime_type: "text/markdown"), :timeout)
      assert [%Text{mimeType: "text/markdown"}] = result.content
    end

    @tag req: "RES-30"
    test "the media type can be in _meta, or nowhere" do
      for {place, expected} <- [
            meta: ~s({"type":"text","text":"x","_meta":{"mimeType":"text/markdown"}}),
            none: ~s({"type":"text","text":"x"})
          ] do
        view = Presentation.new(mime_type: place, kinds: [{"a:v1", %{}}])
        {:ok, result} = Presentation.present(view, "a:v1", %{}, markdown: "x")
        assert JSON.encode!(hd(result.content)) == expected
      end
    end

    @tag req: ["S0-17", "RES-34", "RES-69"]
    test "two spaces a level, each member on its line, keys as the kind declares them" do
      payload = %{
        "id" => "t1",
        "title" => "T",
        "note" => "n",
        "a" => [1],
        "sections" => [%{"type" => "example", "title" => "S"}]
      }

      [json] = present!(payload, format: "json").content

      assert json.text == """
             {
               "kind": "thing:v1",
               "title": "T",
               "id": "t1",
               "sections": [
                 {
                   "title": "S",
                   "type": "example"
                 }
               ],
               "note": "n",
               "a": [
                 1
               ]
             }\
             """
    end

    @tag req: "S0-17"
    test "the keys of the two kinds that every view has" do
      {:ok, failure} = Presentation.tool_error(@view, {:status, 500}, format: "json")
      assert keys(failure) == ["kind", "code", "message", "retryable", "details", "statusCode"]

      question = [message: "Which?", fields: "id", reason: "No id", suggestions: %{"id" => ["a"]}]
      options = [%{value: "a", description: "An a", field: "id"}]
      {:ok, question} = Presentation.needs_input(@view, question ++ [options: options], format: "json")

      assert keys(question) ==
               ~w(kind type message needsInput fields reason suggestions id options label value description field)
    end

    defp keys(result) do
      [block] = result.content
      Regex.scan(~r/"(\w+)":/, block.text, capture: :all_but_first) |> List.flatten()
    end

    @tag req: "S0-14"
    test "what is nil is left out, at any depth" do
      payload =
        Map.merge(@thing, %{
          "note" => nil,
          "sections" => [%{"title" => "S", "type" => nil}],
          "empty" => [],
          "no" => false
        })

      result = present!(payload, format: "json")

      assert result.structured_content ==
               Map.merge(@thing, %{
                 "kind" => "thing:v1",
                 "sections" => [%{"title" => "S"}],
                 "empty" => [],
                 "no" => false
               })

      refute hd(result.content).text =~ "null"
    end

    @tag req: "S0-14"
    test "in the details of a failure null is kept" do
      {:ok, result} = Presentation.tool_error(@view, ToolError.new(:client_error, "Bad", details: %{"received" => nil}))
      assert result.structured_content["details"] == %{"received" => nil}
    end

    @tag req: "S0-15"
    test "the kind is put in, under the kind of key the others have" do
      assert present!(Map.put(@thing, "kind", "other:v1")).structured_content["kind"] == "thing:v1"
      assert present!(%{id: "t1", title: "T"}).structured_content == %{kind: "thing:v1", id: "t1", title: "T"}
      assert own_log(fn -> present!(%{id: "t1", title: "T"}) end) == ""
    end

    @tag req: ["RES-13", "RES-63"]
    test "isError is sent, and false for what is no failure" do
      assert JSON.decode!(JSON.encode!(present!(@thing)))["isError"] == false
    end
  end

  describe "kinds" do
    @tag req: "S0-16"
    test "a name and a version, from 1 on" do
      for name <- ["thing:v1", "a-b_c:v12", "T1:v4294967295"], do: assert(Kind.new(name, %{}).name == name)

      for name <- [
            "thing",
            "thing:1",
            "thing:v0",
            "thing:v01",
            "thing:v",
            ":v1",
            "1a:v1",
            "a b:v1",
            "a:v1 ",
            "",
            :thing,
            "a:v4294967296"
          ] do
        assert_raise ArgumentError, ~r/a kind is a name and a version/, fn -> Kind.new(name, %{}) end
      end
    end

    test "a schema is that of an object, and one that can be used" do
      assert_raise ArgumentError, ~r/that of an object/, fn -> Kind.new("a:v1", type: "array") end
      assert_raise ArgumentError, ~r/cannot be used/, fn -> Kind.new("a:v1", properties: [x: [type: "strin"]]) end
      assert Kind.new("a:v1", properties: []).schema["properties"] == %{"kind" => %{"const" => "a:v1"}}
      assert Kind.new("a:v1", properties: [x: []]).schema["properties"]["x"] == %{}
    end

    test "a kind that is not declared is the developer's mistake" do
      assert_raise ArgumentError, ~r/declares no kind "other:v1"/, fn ->
        Presentation.present(@view, "other:v1", %{})
      end

      assert_raise ArgumentError, ~r/does not `use McpServer.Presentation`/, fn ->
        Presentation.present(Enum, "a:v1", %{})
      end
    end

    test "a mistake in a view is refused at its own line" do
      for {line, message, body} <- [
            {3, ~r/already declared/, ~s(kind "a:v1", %{}\nkind "a:v1", %{})},
            {2, ~r/every view has/, ~s(kind "toolError:v1", %{})},
            {2, ~r/a name and a version/, ~s(kind "a", %{})}
          ] do
        source = "defmodule McpServer.Presentation.Refused do use McpServer.Presentation\n#{body}\nend"
        error = assert_raise CompileError, message, fn -> Code.compile_string(source, "view.ex") end
        assert %{file: "view.ex", line: ^line} = error
      end

      source = ~s(defmodule McpServer.Presentation.Refused do\nuse McpServer.Presentation, markers: "x"\nend)
      assert_raise CompileError, ~r/no option markers/, fn -> Code.compile_string(source, "view.ex") end
    end

    @tag req: ["S0-79", "RES-62"]
    test "the output schema is one of the kinds, a question or a failure" do
      schema = Presentation.output_schema(@view, ["thing:v1"])
      assert %{"type" => "object", "required" => ["kind"], "oneOf" => [_thing, _needs_input, _tool_error]} = schema
      assert length(Presentation.output_schema(@view)["oneOf"]) == 4

      for format <- @formats, result <- of_each_kind(format) do
        assert McpServer.Schema.validate(Presentation.output_schema(@view), result.structured_content) == :ok
      end

      assert {:error, _error} = McpServer.Schema.validate(schema, %{"kind" => "thing:v2"})
    end

    test "the schemas of the two kinds every view has are those of the documents" do
      text = McpServer.Fixtures.read("schemas/tool-structured-content.schema.json")
      schemas = Map.new(JSON.decode!(text)["oneOf"], &{&1["properties"]["kind"]["const"], &1})

      for kind <- ["needsInput:v1", "toolError:v1"],
          do: assert(Presentation.view!(@view).kinds[kind].schema == schemas[kind])
    end
  end

  describe "what is not as it says" do
    @tag req: "S0-32"
    test "is logged once, and sent; raised only where that is asked for" do
      payload = %{"id" => 1, "title" => "T"}
      log = own_log(fn -> assert present!(payload).structured_content["id"] == 1 end)
      assert log =~ "MCP presentation of thing:v1: it does not fit its schema"
      refute log =~ ~s("id" => 1)

      raising = %{Presentation.view!(@view) | on_mismatch: :raise}

      assert_raise MismatchError, ~r/does not fit its schema/, fn ->
        Presentation.present(raising, "thing:v1", payload)
      end

      ignoring = %{raising | on_mismatch: :ignore}
      assert own_log(fn -> Presentation.present(ignoring, "thing:v1", payload) end) == ""
    end

    @tag req: "S0-32"
    test "of a long list the first 100 elements stand for all where it is a warning" do
      bad = fn place -> for n <- 1..200, do: %{"title" => if(n == place, do: n, else: "T"), "type" => "example"} end
      payload = fn place -> Map.put(@thing, "sections", bad.(place)) end
      assert own_log(fn -> present!(payload.(100)) end) =~ "/sections/99/title"
      assert own_log(fn -> present!(payload.(101)) end) == ""
      raising = %{Presentation.view!(@view) | on_mismatch: :raise}

      assert_raise MismatchError, ~r(/sections/100/title), fn ->
        Presentation.present(raising, "thing:v1", payload.(101))
      end

      # A violation that exists only in the sample of 100 elements is not reported.
      view = Presentation.new(kinds: [{"a:v1", properties: [x: [type: "array", minItems: 150]]}])
      assert own_log(fn -> Presentation.present(view, "a:v1", %{"x" => Enum.to_list(1..150)}) end) == ""
      assert own_log(fn -> Presentation.present(view, "a:v1", %{"x" => Enum.to_list(1..149)}) end) =~ "/x"
    end

    @tag req: ["S0-32", "S0-74"]
    test "raised inside of a handler's work it still is a result" do
      raising = %{Presentation.view!(@view) | on_mismatch: :raise}

      log =
        own_log(fn ->
          assert {:ok, %{is_error: true, structured_content: %{"code" => "UNKNOWN_ERROR"}}} =
                   Presentation.respond(raising, %{}, fn _ -> Presentation.present(raising, "thing:v1", %{}) end)
        end)

      assert log =~ "MismatchError"
    end

    # Earlier, missing markers went unnoticed if a handler rendered the text.
    @tag req: ["S0-29", "S0-32"]
    test "a payload that announces other markers than its text has is logged" do
      view = Presentation.new(kinds: [{"a:v1", %{}}], index: "i", card: "c")
      payload = %{"metadata" => %{"contractMarkers" => %{"index" => 1, "cards" => 1, "version" => "v1"}}}
      [index, card] = for which <- [:index, :card], do: Presentation.marker(view, which)

      for {markdown, logged} <- [
            {[index, "\n", card], ~r/\A\z/},
            {index, ~r/0 card markers for 1 rendered cards/},
            {card, ~r/0 index markers for 1 announced/}
          ] do
        log = own_log(fn -> Presentation.present(view, "a:v1", payload, format: "both", markdown: markdown) end)
        assert log =~ logged
      end

      assert own_log(fn -> Presentation.present(view, "a:v1", payload, format: "json") end) == ""
    end
  end

  describe "the size of the texts" do
    @describetag req: "S0-77"
    @message "Result set too large to render. Please narrow your search query."

    defp limited(bytes), do: Presentation.new(kinds: [{"a:v1", %{}}], max_output_bytes: bytes)

    test "is limited: at the limit and one beyond" do
      text = String.duplicate("é", 50)
      assert {:ok, %{content: [%{text: ^text}]}} = Presentation.present(limited(100), "a:v1", %{}, markdown: text)

      assert {:ok, %{is_error: true} = result} = Presentation.present(limited(99), "a:v1", %{}, markdown: text)
      assert %{"code" => "SERVER_ERROR", "retryable" => false, "message" => @message} = result.structured_content
      assert [%{text: @message, mimeType: "text/plain"}] = result.content
    end

    test "counts all blocks, and the replacement has the format asked for" do
      {:ok, whole} = Presentation.present(limited(:infinity), "a:v1", %{"x" => "y"}, format: "both", markdown: "12345")
      json = JSON.encode!(whole.structured_content, pretty: true)
      size = byte_size(json) + 5

      assert {:ok, %{is_error: false}} =
               Presentation.present(limited(size), "a:v1", %{"x" => "y"}, format: "both", markdown: "12345")

      assert {:ok, %{is_error: true} = result} =
               Presentation.present(limited(size - 1), "a:v1", %{"x" => "y"}, format: "both", markdown: "12345")

      assert [%{text: @message}, %{mimeType: "application/json"}] = result.content
    end

    test "is 1 MiB where nothing else is said" do
      assert Presentation.new([]).max_output_bytes == 1_048_576
      view = Presentation.new(kinds: [{"a:v1", %{}}])

      assert {:ok, %{is_error: false}} =
               Presentation.present(view, "a:v1", %{}, markdown: String.duplicate("x", 1_048_576))

      assert {:ok, %{is_error: true}} =
               Presentation.present(view, "a:v1", %{}, markdown: String.duplicate("x", 1_048_577))
    end

    test "without a limit the answer's encoder writes the JSON block from the data, and it is the same" do
      view = Presentation.view!(@view)
      payload = %{"title" => "T \"1\"", "id" => "t1", "sections" => [%{"type" => "example", "title" => "é\n"}]}

      [limited, unlimited] =
        for view <- [view, %{view | max_output_bytes: :infinity}] do
          {:ok, result} = Presentation.present(view, "thing:v1", payload, format: "both", markdown: "x")
          assert {:ok, data} = Presentation.extract_structured(result, @view)
          assert data == Map.put(payload, "kind", "thing:v1")
          JSON.decode!(JSON.encode!(result))
        end

      assert limited == unlimited
    end

    test "options that are none" do
      for bytes <- [0, -1, 1.5, :lots],
          do: assert_raise(ArgumentError, ~r/max_output_bytes/, fn -> Presentation.new(max_output_bytes: bytes) end)

      assert_raise ArgumentError, ~r/secrets are texts/, fn -> Presentation.new(secrets: [1]) end
      assert_raise ArgumentError, ~r/name and version are letters/, fn -> Presentation.new(card: "a card") end
      assert_raise ArgumentError, ~r/has no index marker/, fn -> Presentation.marker(Presentation.new([]), :index) end
    end
  end

  @tag req: ["S0-38", "RES-26"]
  test "times are UTC with exactly three digits" do
    {:ok, plus_two, _} = DateTime.from_iso8601("2026-01-22T23:30:00+02:00")
    plus_two = %{plus_two | utc_offset: 7200, std_offset: 0, time_zone: "Etc/GMT-2", zone_abbr: "+02", hour: 23}

    for {time, text} <- [
          {~U[2026-01-22 21:30:00Z], "2026-01-22T21:30:00.000Z"},
          {~U[2026-01-22 21:30:00.5Z], "2026-01-22T21:30:00.500Z"},
          {~U[2026-01-22 21:30:00.123999Z], "2026-01-22T21:30:00.123Z"},
          {~N[2026-01-22 21:30:00], "2026-01-22T21:30:00.000Z"},
          {plus_two, "2026-01-22T21:30:00.000Z"}
        ] do
      assert Presentation.timestamp(time) == text
      assert text =~ ~r/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/
    end
  end

  @tag req: ["S0-51", "RES-28"]
  test "a summary has at most 203 characters" do
    assert Presentation.summary(String.duplicate("é", 200)) == String.duplicate("é", 200)
    assert Presentation.summary(String.duplicate("é", 201)) == String.duplicate("é", 200) <> "..."
    # A space at 161 is beyond 80 %, a space at 160 is not.
    assert Presentation.summary(String.duplicate("a", 161) <> " " <> String.duplicate("b", 100)) ==
             String.duplicate("a", 161) <> "..."

    early = String.duplicate("a", 160) <> " " <> String.duplicate("b", 100)
    assert Presentation.summary(early) == String.slice(early, 0, 200) <> "..."
    # The space must be among the first 200 characters.
    for length <- [199, 200] do
      word = String.duplicate("a", length)
      assert Presentation.summary(word <> " bbbbb") == word <> "..."
    end
  end

  # Earlier, code points were counted, and graphemes were split.
  @tag req: "S0-51"
  test "a summary is counted in graphemes, and cut between them" do
    family = "👩‍👩‍👧‍👦"
    assert Presentation.summary(String.duplicate(family, 200)) == String.duplicate(family, 200)
    assert Presentation.summary(String.duplicate(family, 201)) == String.duplicate(family, 200) <> "..."

    before = String.duplicate("a", 199)
    assert Presentation.summary(before <> "e\u0301") == before <> "e\u0301"
    assert Presentation.summary(before <> "e\u0301b") == before <> "e\u0301..."
    assert Presentation.summary(before <> "🇫🇷🇩🇪") == before <> "🇫🇷..."
    # A summary has at most 4,000 code points, and a grapheme that is longer is split.
    accents = "e" <> String.duplicate("\u0301", 1_999)
    assert Presentation.summary(accents <> accents) == accents <> accents
    assert Presentation.summary(accents <> accents <> "b") == accents <> accents <> "..."

    assert Presentation.summary("e" <> String.duplicate("\u0301", 4_000)) ==
             "e" <> String.duplicate("\u0301", 199) <> "..."
  end

  @tag req: ["S0-50", "S0-52", "S0-53", "S0-54"]
  test "details are passed on as they are given" do
    code = String.duplicate("x", 11 * 1024)
    payload = Map.put(@thing, "examples", [%{"code" => code, "language" => "typescript"}])
    assert present!(payload).structured_content["examples"] == payload["examples"]
    log = own_log(fn -> present!(Map.put(@thing, "sections", [%{"title" => "S", "type" => "other"}])) end)
    assert log =~ "does not fit its schema"
  end

  test "a question and a failure can be returned as they are" do
    question = NeedsInput.new(message: "Which?", fields: ["id"], reason: "No id")

    assert {:ok, %{structured_content: %{"kind" => "needsInput:v1"}}} =
             Presentation.respond(@view, %{}, fn _ -> question end)

    assert {:ok, %{is_error: true}} = Presentation.respond(@view, %{}, fn _ -> ToolError.new(:not_found, "Gone") end)
  end
end
