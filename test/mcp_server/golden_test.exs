defmodule McpServer.GoldenTest do
  # The structs of document 004 and their JSON there.
  use ExUnit.Case, async: true

  import McpServer.Fixtures

  alias McpServer.{App, Completion, JSON, JsonRpc, Prompt, Resource, ResourceTemplate, Schema, Tool}
  alias McpServer.Tool.{CallResult, Content}

  defp property(type, description, more \\ %{}), do: Map.merge(%{"type" => type, "description" => description}, more)

  @tag req: "S4-01"
  test "a tool, from the router's own declaration" do
    defmodule Calculator do
      # `:pass` adds no keyword to the document's schema.
      use McpServer.Router, undeclared: :pass

      tool "calculator", "Performs arithmetic operations", McpServer.Handlers, :echo,
        annotations: [
          title: "Calculator",
          read_only_hint: true,
          destructive_hint: false,
          idempotent_hint: true,
          open_world_hint: false
        ] do
        input_field "operation", "Operation to perform", :string,
          required: true,
          enum: ["add", "subtract", "multiply", "divide"]

        input_field "a", "First operand", :number, required: true
        input_field "b", "Second operand", :number, required: true
      end
    end

    assert [tool] = Calculator.__mcp__(:tools)
    assert_encodes(tool, "s4-01-tool.json")
  end

  @tag req: "S4-02"
  test "the input schema as a struct and as a map" do
    properties = %{
      "operation" => property("string", "Operation to perform", %{"enum" => ["add", "subtract", "multiply", "divide"]}),
      "a" => property("number", "First operand"),
      "b" => property("number", "Second operand")
    }

    annotations = %Tool.Annotations{
      title: "Calculator",
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false
    }

    required = ["operation", "a", "b"]

    for schema <- [
          %Schema{type: "object", properties: properties, required: required},
          %{"type" => "object", "properties" => properties, "required" => required},
          %{type: :object, properties: properties, required: required}
        ] do
      tool = Tool.new(name: "calculator", description: "Performs arithmetic operations", input_schema: schema)
      assert_encodes(%{tool | annotations: annotations}, "s4-01-tool.json")
    end
  end

  @tag req: "S4-03"
  test "the hints are always written, the title only when there is one" do
    assert JSON.decode(JSON.encode!(%Tool.Annotations{})) ==
             {:ok,
              %{"readOnlyHint" => false, "destructiveHint" => true, "idempotentHint" => false, "openWorldHint" => true}}
  end

  @tag req: "S4-05"
  test "default: false, default: 0 and a nil inside enum are kept" do
    assert JSON.decode(JSON.encode!(%Schema{default: false})) == {:ok, %{"default" => false}}
    assert JSON.decode(JSON.encode!(%Schema{default: 0})) == {:ok, %{"default" => 0}}
    assert JSON.decode(JSON.encode!(%Schema{enum: [nil, "a"]})) == {:ok, %{"enum" => [nil, "a"]}}
  end

  @tag req: "S4-08"
  test "call results" do
    weather = %{"temperature" => 72, "unit" => "fahrenheit", "condition" => "Sunny"}
    content = [Content.text("Weather in NYC: 72F")]

    assert_encodes(
      CallResult.new(content: content, structured_content: weather, _meta: %{"source" => "weather-api"}),
      "s4-02-call-result.json"
    )

    assert_encodes(%CallResult{content: [Content.text("Result text")]}, "derived-s4-1.4-content-list.json")
    assert_encodes(%CallResult{content: [Content.text("Error message")], is_error: true}, "derived-s4-1.4-error.json")
  end

  @tag req: "S4-07"
  test "bytes become base64 when they are encoded" do
    assert JSON.decode(JSON.encode!(Content.image(<<255, 216>>, "image/jpeg"))) ==
             {:ok, %{"type" => "image", "data" => "/9g=", "mimeType" => "image/jpeg"}}

    assert JSON.decode(JSON.encode!(Content.audio("RIFF", "audio/wav"))) ==
             {:ok, %{"type" => "audio", "data" => "UklGRg==", "mimeType" => "audio/wav"}}

    assert JSON.decode(JSON.encode!(Content.resource("a:b", blob: <<1, 2>>))) ==
             {:ok, %{"type" => "resource", "resource" => %{"uri" => "a:b", "blob" => "AQI="}}}
  end

  @tag req: ["S4-20", "S4-21"]
  test "prompts" do
    prompt =
      Prompt.new(
        name: "code_review",
        description: "Generates a code review prompt",
        arguments: [
          [name: "language", description: "Programming language", required: true],
          [name: "code", description: "Code to review", required: true]
        ]
      )

    assert_encodes(prompt, "s4-03-prompt.json")

    assert JSON.decode(JSON.encode!(Prompt.new(name: "p", arguments: []))) == {:ok, %{"name" => "p", "arguments" => []}}

    assert JSON.decode(JSON.encode!(Prompt.Argument.new(name: "a"))) == {:ok, %{"name" => "a", "required" => false}}
  end

  @tag req: ["S4-22", "S4-23"]
  test "messages" do
    assert_encodes(McpServer.Controller.message("user", "text", "Hello world!"), "s4-04-prompt-message.json")
  end

  @tag req: "S4-25"
  test "completions" do
    completion = McpServer.Controller.completion(["Alice", "Bob", "Charlie"], total: 10, has_more: true)
    assert_encodes(completion, "s4-05-completion.json")

    assert JSON.decode(JSON.encode!(%Completion{values: [], total: 0, hasMore: false})) ==
             {:ok, %{"values" => [], "total" => 0, "hasMore" => false}}
  end

  @tag req: "S4-30"
  test "resources" do
    resource =
      Resource.new(
        name: "config",
        uri: "file:///app/config.json",
        description: "Application configuration file",
        mime_type: "application/json",
        title: "App Config"
      )

    assert_encodes(resource, "s4-06-resource.json")
    assert JSON.decode(JSON.encode!(Resource.new(name: "a", uri: "a:b"))) == {:ok, %{"name" => "a", "uri" => "a:b"}}
  end

  @tag req: "S4-31"
  test "resource templates" do
    template =
      ResourceTemplate.new(
        name: "user",
        uri_template: "https://api.example.com/users/{id}",
        description: "User profile data",
        mime_type: "application/json",
        title: "User Profile"
      )

    assert_encodes(template, "s4-07-resource-template.json")
  end

  @tag req: ["S4-32", "S4-33"]
  test "what reading gives" do
    content =
      McpServer.Controller.content("user_data.json", "https://api.example.com/users/123",
        mimeType: "application/json",
        text: ~s({"id": 123, "name": "Alice"}),
        title: "User 123"
      )

    assert_encodes(Resource.ReadResult.new(contents: [content]), "s4-08-read-result.json")

    assert_encodes(
      Resource.Content.new(
        name: "example.txt",
        uri: "file:///path/to/example.txt",
        mimeType: "text/plain",
        text: "File content here...",
        title: "Example File"
      ),
      "s4-09-resource-content-text.json"
    )

    assert_encodes(
      Resource.Content.new(
        name: "image.png",
        uri: "file:///path/to/image.png",
        mimeType: "image/png",
        blob: "iVBORw0KGgoAAAANS..."
      ),
      "s4-10-resource-content-blob.json"
    )
  end

  @tag req: ["S4-41", "S4-42"]
  test "an App's tool" do
    ui = App.UI.new(resource_uri: "ui://weather/dashboard", visibility: [:model, :app])
    assert_encodes(App.Meta.new(ui: ui), "s4-11-app-meta.json")
    assert_encodes(ui, "s4-12-app-ui.json")
    assert JSON.encode!(%App.Meta{}) == "{}"
  end

  @tag req: ["S4-43", "S4-44", "S4-45"]
  test "an App's resource" do
    for granted <- [true, %{}] do
      meta =
        App.UIResourceMeta.new(
          csp: %{connect_domains: ["api.example.com"], resource_domains: ["cdn.example.com"]},
          permissions: %{camera: granted, clipboard_write: granted, microphone: false},
          domain: "a904794854a047f6.claudemcpcontent.com",
          prefers_border: true
        )

      assert_encodes(meta, "s4-13-ui-resource-meta.json")
    end

    assert JSON.encode!(App.UIResourceMeta.new(prefers_border: false, permissions: [])) == ~s({"prefersBorder":false})
  end

  @tag req: ["S4-52", "S4-53", "S4-54"]
  test "JSON-RPC" do
    assert_encodes(JsonRpc.Request.new(method: "tools/list", id: 1), "derived-s4-jsonrpc-request.json")

    assert_encodes(
      JsonRpc.Response.new(id: 1, error: [code: -32_601, message: "Method not found"]),
      "derived-s4-jsonrpc-error.json"
    )

    assert_encodes(
      JsonRpc.Response.new(error: [code: -32_700, message: "Parse error"]),
      "derived-s4-jsonrpc-parse-error.json"
    )

    assert JSON.decode(JSON.encode!(JsonRpc.Response.new(id: 1))) ==
             {:ok, %{"jsonrpc" => "2.0", "result" => %{}, "id" => 1}}
  end

  @tag req: "S4-50"
  test "a conn is no JSON" do
    assert {:error, %JSON.EncodeError{}} = JSON.encode(%McpServer.Conn{})
  end
end
