defmodule McpServer.FieldsTest do
  # The guarantees of `new/1`, for every struct.
  use ExUnit.Case, async: true

  alias McpServer.{
    Annotations,
    App,
    Completion,
    Content,
    Icon,
    JsonRpc,
    Prompt,
    Resource,
    ResourceTemplate,
    Schema,
    Tool
  }

  doctest McpServer.Fields
  doctest McpServer.Suggestion

  # Every field of every struct, as in document 004.
  @structs [
    {Tool,
     name: "t",
     description: "d",
     inputSchema: %{"type" => "object"},
     annotations: %Tool.Annotations{},
     outputSchema: %{"type" => "object"},
     title: "T",
     icons: [%Icon{src: "https://a"}],
     execution: %{"taskSupport" => "optional"},
     _meta: %{"a" => 1}},
    {Tool.Annotations,
     title: "T", readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false},
    {Tool.CallResult, content: [], structured_content: %{"a" => 1}, _meta: %{"a" => 1}, is_error: true},
    {Schema,
     type: "object",
     properties: %{},
     required: [],
     description: "d",
     enum: [nil, "a"],
     default: false,
     items: %{"type" => "string"}},
    {Prompt,
     name: "p",
     description: "d",
     arguments: [%Prompt.Argument{name: "a"}],
     title: "P",
     icons: [%Icon{src: "https://a"}],
     _meta: %{"a" => 1}},
    {Prompt.Argument, name: "a", description: "d", title: "A", required: true},
    {Prompt.Message, role: "user", content: %Prompt.MessageContent{type: "text", text: "t"}},
    {Prompt.MessageContent,
     type: "text",
     text: "t",
     data: "d",
     mimeType: "text/plain",
     resource: %Resource.Content{uri: "a:b", text: "t"},
     annotations: %Annotations{},
     _meta: %{"a" => 1}},
    {Prompt.GetResult, description: "d", messages: [], _meta: %{"a" => 1}},
    {Completion, values: ["a"], total: 0, hasMore: false},
    {Resource,
     name: "r",
     uri: "a:b",
     description: "d",
     mimeType: "text/plain",
     title: "R",
     size: 0,
     annotations: %Annotations{},
     icons: [%Icon{src: "https://a"}],
     _meta: %{"a" => 1}},
    {ResourceTemplate,
     name: "r",
     uriTemplate: "a:{b}",
     description: "d",
     mimeType: "text/plain",
     title: "R",
     annotations: %Annotations{},
     icons: [%Icon{src: "https://a"}],
     _meta: %{"a" => 1}},
    {Resource.Content, name: "c", uri: "a:b", mimeType: "text/plain", text: "t", title: "C", _meta: %{"a" => 1}},
    {Resource.ReadResult, contents: [], _meta: %{"a" => 1}, ttl_ms: 0, cache_scope: "public"},
    {App.Meta, ui: %App.UI{}},
    {App.UI, resource_uri: "ui://a", visibility: ["app"]},
    {App.UIResourceMeta,
     csp: %{connect_domains: ["a.example"]}, permissions: %{camera: true}, domain: "d", prefers_border: false},
    {JsonRpc.Request, jsonrpc: "2.0", method: "ping", params: %{}, id: 1},
    {JsonRpc.Response, jsonrpc: "2.0", result: %{}, id: "1"},
    {JsonRpc.Error, code: -32_600, message: "m", data: %{}},
    {Icon, src: "https://a", mimeType: "image/png", sizes: ["any"], theme: "dark"},
    {Annotations, audience: ["user"], priority: 1, lastModified: "2025-01-01T00:00:00Z"},
    {Content.Text, text: "t", mimeType: "text/plain", annotations: %Annotations{}, _meta: %{"a" => 1}},
    {Content.Image, data: "d", mimeType: "image/png", annotations: %Annotations{}, _meta: %{"a" => 1}},
    {Content.Audio, data: "d", mimeType: "audio/wav", annotations: %Annotations{}, _meta: %{"a" => 1}},
    {Content.EmbeddedResource,
     resource: %Resource.Content{uri: "a:b", text: "t"}, annotations: %Annotations{}, _meta: %{"a" => 1}},
    {Content.ResourceLink,
     uri: "a:b",
     name: "r",
     title: "R",
     description: "d",
     mimeType: "text/plain",
     size: 0,
     icons: [%Icon{src: "https://a"}],
     annotations: %Annotations{},
     _meta: %{"a" => 1}}
  ]

  for {module, fields} <- @structs do
    @module module
    @fields Macro.escape(fields)

    @tag req: ["RES-08", "RES-11"]
    test "#{inspect(module)} takes either spelling, as atoms or strings, in a list or a map" do
      struct = struct!(@module, unquote(@fields))

      for spell <- [&Function.identity/1, &Macro.underscore/1, &camel/1],
          key <- [&String.to_existing_atom/1, &Function.identity/1] do
        fields = for {field, value} <- unquote(@fields), do: {field |> to_string() |> spell.() |> existing(key), value}
        assert @module.new(fields) == struct
        assert @module.new(Map.new(fields)) == struct
      end
    end
  end

  test "the documentation of each public struct lists its fields" do
    for {module, _fields} <- @structs,
        {:docs_v1, _line, :elixir, _format, %{"en" => text}, _metadata, _docs} <- [Code.fetch_docs(module)] do
      listed = for [_row, field] <- Regex.scan(~r/^\| `(\w+)` \|/m, text), do: String.to_existing_atom(field)
      assert Enum.sort(listed) == module.__struct__() |> Map.from_struct() |> Map.keys() |> Enum.sort()
    end

    {:docs_v1, _line, :elixir, _format, %{"en" => text}, _metadata, _docs} = Code.fetch_docs(Icon)
    assert text =~ ~s(| `src` | string, required | an `https:` or `data:` URI of the image |)
    assert text =~ ~s(| `theme` | `"light"` or `"dark"` | the background that the icon fits |)
  end

  # The required fields of each struct.
  @minimal [
    {Tool, name: "t"},
    {Tool.Annotations, []},
    {Tool.CallResult, content: []},
    {Schema, []},
    {Prompt, name: "p"},
    {Prompt.Argument, name: "a"},
    {Prompt.Message, role: "user", content: %{"type" => "text", "text" => "t"}},
    {Prompt.MessageContent, type: "text"},
    {Prompt.GetResult, messages: []},
    {Completion, values: []},
    {Resource, name: "r", uri: "a:b"},
    {ResourceTemplate, name: "r", uriTemplate: "a:{b}"},
    {Resource.Content, uri: "a:b", text: "t"},
    {Resource.ReadResult, contents: []},
    {App.Meta, []},
    {App.UI, []},
    {App.UIResourceMeta, []},
    {JsonRpc.Request, method: "ping"},
    {JsonRpc.Response, []},
    {JsonRpc.Error, code: -32_600, message: "m"},
    {Icon, src: "https://a"},
    {Annotations, []},
    {Content.Text, text: "t"},
    {Content.Image, data: "d", mimeType: "image/png"},
    {Content.Audio, data: "d", mimeType: "audio/wav"},
    {Content.EmbeddedResource, resource: %{"uri" => "a:b", "text" => "t"}},
    {Content.ResourceLink, uri: "a:b", name: "r"}
  ]

  for {module, minimal} <- @minimal do
    @module module

    @tag req: "S4-62"
    test "#{inspect(module)} takes nil for not given" do
      minimal = unquote(Macro.escape(minimal))
      struct = struct!(@module, minimal)
      nils = for field <- Map.keys(Map.from_struct(struct)), not Keyword.has_key?(minimal, field), do: {field, nil}
      assert @module.new(minimal) == struct
      assert @module.new(minimal ++ nils) == struct
    end

    for {field, _value} <- minimal, {module, field} not in [{Resource.Content, :text}] do
      test "#{inspect(module)} names #{field} when it is missing" do
        message = "#{inspect(@module)} needs #{unquote(inspect(field))}"
        fields = Keyword.delete(unquote(Macro.escape(minimal)), unquote(field))
        assert_raise ArgumentError, message, fn -> @module.new(fields) end
      end
    end
  end

  @tag req: "RES-11"
  test "conflicting values are refused, the same value twice is not" do
    message = "conflicting values for :mimeType of McpServer.Icon: it was given twice"
    assert_raise ArgumentError, message, fn -> Icon.new(src: "a", mimeType: "image/png", mime_type: "image/gif") end
    assert Icon.new(src: "a", mimeType: "image/png", mime_type: "image/png").mimeType == "image/png"
    assert Icon.new(%{"mimeType" => nil, mime_type: "image/png", src: "a"}).mimeType == "image/png"
  end

  @tag req: "RES-11"
  test "an unknown field is refused with what it may have been" do
    message = "McpServer.Icon has no field mimetype, did you mean mimeType?"
    assert_raise ArgumentError, message, fn -> Icon.new(src: "a", mimetype: "image/png") end
    message = "McpServer.Icon has no field 1. Its fields are: src, mimeType, sizes, theme"
    assert_raise ArgumentError, message, fn -> Icon.new(%{1 => 2, src: "a"}) end
  end

  @tag req: "RES-11"
  test "a string key makes no atom" do
    name = "field_#{System.unique_integer([:positive])}_that_nobody_has"
    assert_raise ArgumentError, ~r/has no field #{name}/, fn -> Icon.new(%{name => 1}) end
    assert_raise ArgumentError, fn -> String.to_existing_atom(name) end
  end

  test "a field of the wrong type is named, with what it may be" do
    for {value, message} <- [
          {[src: 1], "expected :src of McpServer.Icon to be a string, got: 1"},
          {[src: "a", sizes: "any"],
           ~s(expected :sizes of McpServer.Icon to be a list, each element a string, got: "any")},
          {[src: "a", theme: "blue"], ~s(expected :theme of McpServer.Icon to be one of light, dark, got: "blue")}
        ] do
      assert_raise ArgumentError, message, fn -> Icon.new(value) end
    end
  end

  test "what is no set of fields is refused" do
    for fields <- [nil, "name", [1], %Icon{src: "a"}] do
      assert_raise ArgumentError, ~r/\Athe fields of McpServer.Icon are a keyword list or a map, got: /, fn ->
        Icon.new(fields)
      end
    end
  end

  test "a struct inside may be given by its fields; a map stays as it is" do
    assert Tool.new(name: "t", annotations: [read_only_hint: true]).annotations == %Tool.Annotations{readOnlyHint: true}
    assert Tool.new(name: "t", annotations: %{"x" => 1}).annotations == %{"x" => 1}
    assert_raise ArgumentError, ~r/expected :annotations/, fn -> Tool.new(name: "t", annotations: %Schema{}) end
  end

  defp camel("_" <> _ = field), do: field
  defp camel(field), do: McpServer.Fields.camelize(field)

  # The atom, if it exists already.
  defp existing(text, key) do
    key.(text)
  rescue
    ArgumentError -> text
  end
end
