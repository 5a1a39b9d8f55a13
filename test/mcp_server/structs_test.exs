defmodule McpServer.StructsTest do
  # Rules of document 004 for single structs, except for their JSON.
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

  doctest McpServer.Annotations
  doctest McpServer.App.Meta
  doctest McpServer.App.UI
  doctest McpServer.App.UIResourceMeta
  doctest McpServer.Completion
  doctest McpServer.Icon
  doctest McpServer.JsonRpc.Error
  doctest McpServer.JsonRpc.Request
  doctest McpServer.JsonRpc.Response
  doctest McpServer.Prompt
  doctest McpServer.Prompt.GetResult
  doctest McpServer.Prompt.Message
  doctest McpServer.Prompt.MessageContent
  doctest McpServer.Resource
  doctest McpServer.Resource.Content
  doctest McpServer.Resource.ReadResult
  doctest McpServer.ResourceTemplate
  doctest McpServer.Schema
  doctest McpServer.Tool
  doctest McpServer.Tool.Annotations
  doctest McpServer.Tool.CallResult
  doctest McpServer.Tool.Content

  @documented [
    {"S4-01", Tool, ~w(name description inputSchema annotations)a},
    {"S4-03", Tool.Annotations, ~w(title readOnlyHint destructiveHint idempotentHint openWorldHint)a},
    {"S4-04", Schema, ~w(type properties required description enum default)a},
    {"S4-08", Tool.CallResult, ~w(content structured_content _meta)a},
    {"S4-20", Prompt, ~w(name description arguments)a},
    {"S4-21", Prompt.Argument, ~w(name description required)a},
    {"S4-22", Prompt.Message, ~w(role content)a},
    {"S4-23", Prompt.MessageContent, ~w(type text)a},
    {"S4-25", Completion, ~w(values total hasMore)a},
    {"S4-30", Resource, ~w(name uri description mimeType title)a},
    {"S4-31", ResourceTemplate, ~w(name uriTemplate description mimeType title)a},
    {"S4-32", Resource.ReadResult, ~w(contents)a},
    {"S4-33", Resource.Content, ~w(name uri mimeType text blob title)a},
    {"S4-41", App.Meta, ~w(ui)a},
    {"S4-42", App.UI, ~w(resource_uri visibility)a},
    {"S4-43", App.UIResourceMeta, ~w(csp permissions domain prefers_border)a},
    {"S4-50", McpServer.Conn, ~w(session_id private)a},
    {"S4-52", JsonRpc.Request, ~w(jsonrpc method params id)a},
    {"S4-53", JsonRpc.Response, ~w(jsonrpc result error id)a},
    {"S4-54", JsonRpc.Error, ~w(code message data)a}
  ]

  for {id, module, fields} <- @documented do
    @tag req: [id, "S4-63"]
    test "#{inspect(module)} has the documented fields" do
      fields = unquote(fields)
      assert fields -- Map.keys(unquote(module).__struct__()) == []
    end
  end

  @tag req: ["S4-03", "RES-46"]
  test "the hints' defaults are those of MCP" do
    assert Tool.Annotations.new([]) ==
             %Tool.Annotations{readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true}
  end

  @tag req: "S4-04"
  test "nested schemas become one JSON object, nil left out" do
    schema = %Schema{
      type: "object",
      properties: %{tags: %Schema{type: "array", items: %Schema{type: "string"}}, plain: %{type: :number}}
    }

    assert Schema.to_json(schema) == %{
             "type" => "object",
             "properties" => %{
               "tags" => %{"type" => "array", "items" => %{"type" => "string"}},
               "plain" => %{"type" => "number"}
             }
           }
  end

  @tag req: "S4-05"
  test "default: false, default: 0 and a nil inside enum are kept" do
    assert Schema.to_json(%Schema{default: false}) == %{"default" => false}
    assert Schema.to_json(%Schema{default: 0}) == %{"default" => 0}
    assert Schema.to_json(%Schema{enum: [nil, "a"], required: []}) == %{"enum" => [nil, "a"], "required" => []}
  end

  @tag req: "S4-04"
  test "a type that JSON Schema does not have" do
    assert_raise ArgumentError, ~r/\Aexpected :type of McpServer.Schema to be one of string, /, fn ->
      Schema.new(type: "text")
    end
  end

  @tag req: "S4-08"
  test "a call result cannot be without content" do
    assert_raise ArgumentError, "McpServer.Tool.CallResult needs :content", fn ->
      Tool.CallResult.new(structured_content: %{})
    end

    assert_raise ArgumentError, ~r/the following keys must also be given.*\[:content\]/, fn ->
      struct!(Tool.CallResult, structured_content: %{})
    end
  end

  @tag req: "S4-09"
  test "structured content is any JSON value" do
    for value <- [%{}, [1], "a", 1.5, false],
        do: assert(Tool.CallResult.new(content: [], structured_content: value).structured_content == value)
  end

  @tag req: "S4-07"
  test "content is made by one function a kind" do
    assert Tool.Content.text("hi", annotations: [audience: [:user]]) ==
             %Content.Text{text: "hi", annotations: %Annotations{audience: ["user"]}}

    assert Tool.Content.image(<<0, 255>>, "image/png", _meta: %{"a" => 1}) ==
             %Content.Image{data: <<0, 255>>, mimeType: "image/png", _meta: %{"a" => 1}}

    assert Tool.Content.audio(<<0>>, "audio/wav") == %Content.Audio{data: <<0>>, mimeType: "audio/wav"}

    assert Tool.Content.resource("a:b", blob: <<1, 2>>, annotations: [priority: 1]) ==
             %Content.EmbeddedResource{
               resource: %Resource.Content{uri: "a:b", blob: "AQI="},
               annotations: %Annotations{priority: 1}
             }

    content = %Resource.Content{uri: "a:b", text: "t"}
    assert Tool.Content.resource(content) == %Content.EmbeddedResource{resource: content}
    assert Tool.Content.resource_link("n", "a:b").name == "n"
  end

  @tag req: ["S4-22", "S4-76"]
  test "a role is user, assistant or system" do
    for role <- ["user", "assistant", "system", :user, :assistant, :system] do
      assert Prompt.Message.new(role: role, content: %{}).role == to_string(role)
    end

    message = ~s(expected :role of McpServer.Prompt.Message to be one of user, assistant, system, got: "tool")
    error = assert_raise ArgumentError, message, fn -> Prompt.Message.new(role: "tool", content: %{}) end
    # The log keeps the library's own words, and hides the value.
    logged = ~s(expected :role of McpServer.Prompt.Message to be one of user, assistant, system, got: "...")
    assert McpServer.Outline.message(error) == logged
  end

  @tag req: "S4-25"
  test "a completion has 100 values, and not 101" do
    values = List.duplicate("a", 100)
    assert Completion.new(values: values).values == values
    message = "expected :values of McpServer.Completion to hold at most 100 strings"
    assert_raise ArgumentError, message, fn -> Completion.new(values: ["a" | values]) end
  end

  @tag req: "S4-25"
  test "total: 0 and has_more: false are kept" do
    assert Completion.new(values: [], total: 0, has_more: false) == %Completion{values: [], total: 0, hasMore: false}
  end

  @tag req: "S4-33"
  test "an item has text or blob, not both and not neither" do
    assert Resource.Content.new(uri: "a:b", blob: "iVBORw0KGgoAAAANS...").blob == "iVBORw0KGgoAAAANS..."

    message = "McpServer.Resource.Content needs :text or :blob"
    assert_raise ArgumentError, message, fn -> Resource.Content.new(uri: "a:b") end

    message = "conflicting values for :text and :blob of McpServer.Resource.Content: an item has one of the two"
    assert_raise ArgumentError, message, fn -> Resource.Content.new(uri: "a:b", text: "", blob: "") end
  end

  @tag req: "S4-42"
  test "visibility is for the model, the app or both, as atoms or strings" do
    assert App.UI.new([]).visibility == ["model", "app"]
    assert App.UI.new(visibility: [:app, "model"]).visibility == ["app", "model"]
    assert_raise ArgumentError, ~r/expected :visibility .* got: \["user"\]/, fn -> App.UI.new(visibility: ["user"]) end
  end

  @tag req: "S4-43"
  test "prefers_border: false is kept" do
    assert App.UIResourceMeta.new(prefersBorder: false).prefers_border == false
  end

  @tag req: ["S4-44", "S4-45", "RES-56"]
  test "the maps inside take either spelling, nil is left out, [] stays" do
    meta =
      App.UIResourceMeta.new(
        csp: %{"connectDomains" => ["a"], frame_domains: [], baseUriDomains: nil},
        permissions: %{"clipboardWrite" => true, camera: %{}, microphone: false}
      )

    assert meta.csp == %{connect_domains: ["a"], frame_domains: []}
    assert meta.permissions == %{clipboard_write: true, camera: %{}, microphone: false}

    assert_raise ArgumentError, ~r/\A:permissions of McpServer.App.UIResourceMeta has no field screen/, fn ->
      App.UIResourceMeta.new(permissions: [screen: true])
    end
  end

  @tag req: "S4-52"
  test "params are a map or a list, the id a string or an integer" do
    assert JsonRpc.Request.new(method: "m", params: [1], id: "a").params == [1]

    assert_raise ArgumentError, ~r/expected :params .* a map or a list/, fn ->
      JsonRpc.Request.new(method: "m", params: 1)
    end

    assert_raise ArgumentError, ~r/expected :id .* a string or an integer/, fn ->
      JsonRpc.Request.new(method: "m", id: 1.5)
    end

    assert_raise ArgumentError, ~r/expected :jsonrpc/, fn -> JsonRpc.Request.new(method: "m", jsonrpc: "1.0") end
  end

  @tag req: ["S4-53", "RES-10"]
  test "a response has a result or an error, not both" do
    message = "conflicting values for :result and :error of McpServer.JsonRpc.Response: give one of the two"

    assert_raise ArgumentError, message, fn ->
      JsonRpc.Response.new(id: 1, result: %{}, error: [code: 1, message: "m"])
    end

    assert JsonRpc.Response.new(id: 1, error: [code: 1, message: "m"]).error == %JsonRpc.Error{code: 1, message: "m"}
  end

  @tag req: "S4-54"
  test "a code is an integer" do
    assert_raise ArgumentError, ~r/expected :code of .* to be an integer, got: "1"/, fn ->
      JsonRpc.Error.new(code: "1", message: "m")
    end
  end

  test "a priority is from 0 to 1" do
    assert Annotations.new(priority: 0).priority == 0
    assert Annotations.new(priority: 1.0).priority == 1.0

    for priority <- [-0.1, 1.1],
        do: assert_raise(ArgumentError, ~r/from 0 to 1/, fn -> Annotations.new(priority: priority) end)
  end

  test "icons are for light or dark backgrounds" do
    assert Icon.new(src: "a", theme: :dark).theme == "dark"
  end
end
