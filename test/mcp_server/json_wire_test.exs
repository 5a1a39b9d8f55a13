defmodule McpServer.JSON.WireTest do
  # The JSON of this library's structs: each field, in each revision.
  use ExUnit.Case, async: true

  alias McpServer.{
    App,
    Completion,
    Content,
    Icon,
    JSON,
    JsonRpc,
    Native,
    Prompt,
    Resource,
    ResourceTemplate,
    Schema,
    Tool
  }

  @revisions ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]

  # No public function encodes one struct for one revision: `McpServer.Protocol` frames whole results.
  defp encode_at(revision, term) do
    {:ok, text} = Native.json_encode(term, {false, revision, []})
    text
  end

  defp refused(term) do
    {:error, error} = JSON.encode(term)
    {error.kind, error.path}
  end

  describe "fields" do
    @tag req: "S4-05"
    test "default: false is kept, and so are 0 and nil in enum" do
      assert JSON.encode!(%Schema{type: "boolean", default: false}) == ~s({"type":"boolean","default":false})
      assert JSON.encode!(%Schema{default: 0, enum: [nil, "a"]}) == ~s({"enum":[null,"a"],"default":0})
    end

    @tag req: "S4-04"
    test "schemas nest, as structs and as maps" do
      schema = %Schema{type: "array", items: %Schema{type: "object", properties: %{b: %{type: :string}, a: %Schema{}}}}

      assert JSON.encode!(schema) ==
               ~s({"type":"array","items":{"type":"object","properties":{"a":{},"b":{"type":"string"}}}})
    end

    @tag req: "S4-62"
    test "only nil is left out" do
      assert JSON.encode!(%Completion{values: [], total: 0, hasMore: false}) ==
               ~s({"values":[],"total":0,"hasMore":false})

      assert JSON.encode!(%Completion{values: []}) == ~s({"values":[]})
      assert JSON.encode!(%Prompt{name: "p", description: ""}) == ~s({"name":"p","description":"","arguments":[]})

      assert JSON.encode!(%Tool.CallResult{content: [], structured_content: %{}}) ==
               ~s({"content":[],"structuredContent":{},"isError":false})
    end

    @tag req: "S4-61"
    test "struct fields are renamed, user keys inside them are not" do
      result = %Tool.CallResult{
        content: [],
        structured_content: %{:is_error => 1, "structured_content" => 2},
        _meta: %{a_b: 1}
      }

      assert JSON.encode!(result) ==
               ~s({"content":[],"structuredContent":{"is_error":1,"structured_content":2},"_meta":{"a_b":1},"isError":false})
    end

    @tag req: "S4-03"
    test "the four hints are always there" do
      assert JSON.encode!(%Tool.Annotations{}) ==
               ~s({"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true})

      assert JSON.encode!(%Tool.Annotations{readOnlyHint: nil, title: "T"}) ==
               ~s({"title":"T","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true})
    end

    @tag req: "S4-07"
    test "bytes become base64 when they are written" do
      for {bytes, text} <- [{"", ""}, {<<0>>, "AA=="}, {<<0, 255>>, "AP8="}, {<<1, 2, 3>>, "AQID"}] do
        assert JSON.encode!(%Content.Image{data: bytes, mimeType: "image/png"}) ==
                 ~s({"type":"image","data":"#{text}","mimeType":"image/png"})
      end

      bytes = :crypto.strong_rand_bytes(300_000)
      assert %{"data" => data} = JSON.decode!(JSON.encode!(%Content.Audio{data: bytes, mimeType: "audio/wav"}))
      assert Base.decode64!(data) == bytes
    end

    @tag req: "S4-42"
    test "visibility takes atoms and strings, and nothing else" do
      assert JSON.encode!(%App.UI{visibility: [:app]}) == ~s({"visibility":["app"]})
      assert JSON.encode!(%App.UI{resource_uri: "ui://x"}) == ~s({"resourceUri":"ui://x","visibility":["model","app"]})
      assert refused(%App.UI{visibility: ["user"]}) == {:invalid_field, ["visibility", 0]}
    end

    @tag req: ["S4-44", "S4-45"]
    test "a declared csp and permissions; what declares nothing is left out" do
      meta = %App.UIResourceMeta{
        csp: %{connect_domains: ["https://a"], resourceDomains: []},
        permissions: %{camera: true, microphone: %{}, geolocation: false, clipboard_write: nil},
        prefers_border: false
      }

      assert JSON.encode!(%App.Meta{ui: meta}) ==
               ~s({"ui":{"csp":{"connectDomains":["https://a"],"resourceDomains":[]},) <>
                 ~s("permissions":{"camera":{},"microphone":{}},"prefersBorder":false}})

      assert JSON.encode!(%App.UIResourceMeta{csp: %{}, permissions: %{camera: false}}) == "{}"
    end

    @tag req: "S4-53"
    test "a response has exactly one of result and error" do
      assert JSON.encode!(%JsonRpc.Response{id: 1, result: %{}}) == ~s({"jsonrpc":"2.0","result":{},"id":1})
      error = %JsonRpc.Error{code: -32_600, message: "Invalid request"}

      assert JSON.encode!(%JsonRpc.Response{id: "a", error: error}) ==
               ~s({"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request"},"id":"a"})

      assert {:invalid_field, []} = refused(%JsonRpc.Response{id: 1, result: 1, error: error})
    end

    @tag req: "S4-52"
    test "a request without id and params" do
      assert JSON.encode!(%JsonRpc.Request{method: "ping"}) == ~s({"jsonrpc":"2.0","method":"ping"})
    end
  end

  describe "plain maps where a struct is meant" do
    test "take fields in either spelling, as atoms and as strings, in wire order" do
      for tool <- [
            %{name: "t", input_schema: %{type: :object}, output_schema: nil},
            %{"inputSchema" => %{"type" => "object"}, "name" => "t"},
            %{:inputSchema => %{"type" => "object"}, "name" => :t}
          ] do
        result = %McpServer.Content.EmbeddedResource{resource: %{uri: "a:b", mime_type: "x/y", text: ""}}
        assert JSON.encode!(result) == ~s({"type":"resource","resource":{"uri":"a:b","mimeType":"x/y","text":""}})
        assert {:ok, text} = Native.json_encode(%{tools: [tool]}, {false, nil, []})
        # A map inside a map is user data: only its position in a struct makes it a tool.
        assert text =~ "tools"
      end
    end

    test "a field in two spellings is refused" do
      content = %Content.EmbeddedResource{
        resource: %{:uri => "a:b", :text => "", :mimeType => "x/y", "mime_type" => "x/z"}
      }

      assert refused(content) == {:key_collision, ["resource", "mimeType"]}
    end

    test "other keys stay, after the known ones, for the newest revision only" do
      content = %Content.EmbeddedResource{resource: %{uri: "a:b", text: "t", extra: 1}}

      assert encode_at("2026-07-28", content) ==
               ~s({"type":"resource","resource":{"uri":"a:b","text":"t","extra":1}})

      assert encode_at("2025-11-25", content) == ~s({"type":"resource","resource":{"uri":"a:b","text":"t"}})
    end

    test "content is told apart by its type" do
      result = %Tool.CallResult{
        content: [%{type: :text, text: "a"}, %{"type" => "image", "data" => "b", "mimeType" => "i/j"}]
      }

      assert JSON.encode!(result) ==
               ~s({"content":[{"type":"text","text":"a"},{"type":"image","data":"Yg==","mimeType":"i/j"}],"isError":false})

      assert refused(%Tool.CallResult{content: [%{text: "a"}]}) == {:invalid_field, ["content", 0]}
      assert refused(%Tool.CallResult{content: [%{type: "film"}]}) == {:invalid_field, ["content", 0]}
    end

    @tag req: "S4-23"
    test "message content keeps its text under text" do
      message = %Prompt.Message{role: "user", content: %Prompt.MessageContent{type: "text", text: "hi"}}
      assert JSON.encode!(message) == ~s({"role":"user","content":{"type":"text","text":"hi"}})
      image = %Prompt.MessageContent{type: "image", data: <<0>>, mimeType: "i/j"}
      assert JSON.encode!(image) == ~s({"type":"image","data":"AA==","mimeType":"i/j"})
      assert JSON.encode!(%{message | content: image}) == ~s({"role":"user","content":#{JSON.encode!(image)}})
    end
  end

  describe "what a field may not hold" do
    test "is named" do
      tool = %Tool{name: "t", inputSchema: %{}}

      for {term, error} <- [
            {%{tool | name: nil}, {:missing_field, ["name"]}},
            {%{tool | name: 1}, {:invalid_field, ["name"]}},
            {%{tool | inputSchema: []}, {:invalid_field, ["inputSchema"]}},
            {%{tool | inputSchema: %{"a" => self()}}, {:unsupported, ["inputSchema", "a"]}},
            {%{tool | title: true}, {:invalid_field, ["title"]}},
            {%{tool | annotations: %{readOnlyHint: "yes"}}, {:invalid_field, ["annotations", "readOnlyHint"]}},
            {%{tool | annotations: %Completion{}}, {:invalid_field, ["annotations"]}},
            {%{tool | icons: %Icon{src: "s"}}, {:invalid_field, ["icons"]}},
            {%{tool | icons: [%Icon{src: "s", theme: :blue}]}, {:invalid_field, ["icons", 0, "theme"]}},
            {%{tool | icons: [%Icon{src: "s"} | 1]}, {:improper_list, ["icons"]}},
            {%{tool | _meta: ~D[2026-07-28]}, {:invalid_field, ["_meta"]}},
            {%Tool.CallResult{content: nil}, {:missing_field, ["content"]}},
            {%Tool.CallResult{content: "a"}, {:invalid_field, ["content"]}},
            {%Resource{name: "r", uri: "a:b", size: 1.5}, {:invalid_field, ["size"]}},
            {%Resource.Content{uri: "a:b"}, {:invalid_field, []}},
            {%Resource.Content{uri: "a:b", text: "", blob: ""}, {:invalid_field, []}},
            {%Content.Text{text: <<255>>}, {:invalid_utf8, ["text"]}},
            {%Content.Image{data: 1, mimeType: "i/j"}, {:invalid_field, ["data"]}},
            {%Prompt.Message{role: "robot", content: %Content.Text{text: ""}}, {:invalid_field, ["role"]}},
            {%{deep: [%{tool | name: nil}]}, {:missing_field, ["deep", 0, "name"]}}
          ] do
        assert {term, refused(term)} == {term, error}
      end
    end

    test "the message says what is expected" do
      {:error, error} = JSON.encode(%Tool.CallResult{content: [%{type: "film"}]})

      assert Exception.message(error) ==
               "expected content: a struct, or a map whose type is one of text, image, audio, resource, resource_link, at /content/0"

      {:error, error} = JSON.encode(%Tool{name: "t", inputSchema: %{}, annotations: %Completion{}})
      assert Exception.message(error) == "expected a %McpServer.Tool.Annotations{} or a map, at /annotations"
    end
  end

  describe "revisions" do
    test "a field is sent only to those who know it" do
      tool = %Tool{
        name: "t",
        title: "T",
        inputSchema: %{},
        outputSchema: %{"type" => "object"},
        annotations: %Tool.Annotations{},
        icons: [%Icon{src: "s"}],
        execution: %{task_support: :optional},
        _meta: %{"a" => 1}
      }

      keys = for revision <- @revisions, do: revision |> encode_at(tool) |> JSON.decode!() |> Map.keys()

      assert keys == [
               ~w(inputSchema name),
               ~w(annotations inputSchema name),
               ~w(_meta annotations inputSchema name outputSchema title),
               ~w(_meta annotations execution icons inputSchema name outputSchema title),
               ~w(_meta annotations icons inputSchema name outputSchema title)
             ]
    end

    test "content that a revision does not know becomes text" do
      audio = %Content.Audio{data: "a", mimeType: "audio/wav", annotations: %McpServer.Annotations{priority: 1}}
      link = %Content.ResourceLink{name: "n", uri: "a:b"}

      assert encode_at("2024-11-05", audio) ==
               ~s({"type":"text","text":"[audio/wav audio]","annotations":{"priority":1}})

      assert encode_at("2025-03-26", link) == ~s({"type":"text","text":"n: a:b"})
      assert encode_at("2025-03-26", audio) =~ ~s("type":"audio")
      assert encode_at("2025-06-18", link) == ~s({"type":"resource_link","uri":"a:b","name":"n"})
    end

    test "structured content that is no object is for the newest only" do
      result = %Tool.CallResult{content: [], structured_content: [1]}
      assert encode_at("2026-07-28", result) == ~s({"content":[],"structuredContent":[1],"isError":false})
      assert encode_at("2025-11-25", result) == ~s({"content":[],"isError":false})
      assert encode_at("2025-03-26", %{result | structured_content: %{}}) == ~s({"content":[],"isError":false})
    end

    test "an output schema of another type than object, and boolean property schemas" do
      tool = %Tool{name: "t", inputSchema: %{properties: %{a: true, b: false, c: %{}}}, outputSchema: %{type: "array"}}

      assert encode_at("2026-07-28", tool) ==
               ~s({"name":"t","inputSchema":{"properties":{"a":true,"b":false,"c":{}}},"outputSchema":{"type":"array"}})

      older = ~s({"name":"t","inputSchema":{"properties":{"a":{},"b":{"not":{}},"c":{}}}})
      assert encode_at("2025-11-25", tool) == older
      assert encode_at("2025-11-25", %{tool | inputSchema: %Schema{properties: tool.inputSchema.properties}}) == older
    end

    test "an id of null is for the revisions that want one" do
      error = %JsonRpc.Error{code: -32_700, message: "Parse error"}
      assert encode_at("2025-06-18", %JsonRpc.Response{error: error}) =~ ~s("id":null)
      refute encode_at("2025-11-25", %JsonRpc.Response{error: error}) =~ "id"
    end

    @tag req: "S4-31"
    test "a template" do
      template = %ResourceTemplate{name: "n", uriTemplate: "a:{b}", title: "T"}
      assert encode_at("2025-03-26", template) == ~s({"name":"n","uriTemplate":"a:{b}"})
      assert encode_at("2025-06-18", template) == ~s({"name":"n","uriTemplate":"a:{b}","title":"T"})
    end
  end
end
