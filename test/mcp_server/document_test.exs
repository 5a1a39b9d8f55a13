defmodule McpServer.DocumentTest do
  # The code of document 004, section 9, as printed there, and its JSON.
  use ExUnit.Case, async: true

  import McpServer.Fixtures

  # The document uses Jason, which is optional.
  alias McpServer.JSON, as: Jason

  @tag req: "S4-90"
  test "9.1, creating a tool definition" do
    tool = %McpServer.Tool{
      name: "echo",
      description: "Echoes back the input",
      inputSchema: %McpServer.Schema{
        type: "object",
        properties: %{
          "message" => %{
            "type" => "string",
            "description" => "Message to echo"
          }
        },
        required: ["message"]
      },
      annotations: %McpServer.Tool.Annotations{
        title: "Echo",
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false
      }
    }

    assert_encodes(tool, "derived-s4-9.1-tool.json")
  end

  @tag req: "S4-90"
  test "9.2, creating prompt messages" do
    messages = [
      %McpServer.Prompt.Message{
        role: "system",
        content: %McpServer.Prompt.MessageContent{
          type: "text",
          text: "You are a helpful assistant."
        }
      },
      %McpServer.Prompt.Message{
        role: "user",
        content: %McpServer.Prompt.MessageContent{
          type: "text",
          text: "Hello!"
        }
      }
    ]

    assert_encodes(messages, "derived-s4-9.2-messages.json")
  end

  @tag req: "S4-90"
  test "9.3, creating resource content" do
    content = %McpServer.Resource.Content{
      name: "config.json",
      uri: "file:///app/config.json",
      mimeType: "application/json",
      text: Jason.encode!(%{setting: "value"}),
      title: "Application Configuration"
    }

    read_result = %McpServer.Resource.ReadResult{
      contents: [content]
    }

    assert_encodes(read_result, "derived-s4-9.3-read-result.json")
  end

  @tag req: "S4-90"
  test "1.4, extended response with structured content" do
    assert {:ok, result} =
             {:ok,
              McpServer.Tool.CallResult.new(
                content: [McpServer.Tool.Content.text("Result text")],
                structured_content: %{"key" => "value"},
                _meta: %{"timestamp" => "2024-01-01"}
              )}

    assert_encodes(result, "derived-s4-1.4-call-result.json")
  end
end
