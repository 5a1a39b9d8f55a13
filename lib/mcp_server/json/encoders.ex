# Makes `Jason.encode!(tool)` and, from Elixir 1.18 on, `JSON.encode!(tool)` return the JSON that clients get. Each
# library's protocol is implemented if it exists while this file is compiled. Mix compiles optional dependencies first.
structs = [
  McpServer.Annotations,
  McpServer.App.Meta,
  McpServer.App.UI,
  McpServer.App.UIResourceMeta,
  McpServer.Completion,
  McpServer.Content.Audio,
  McpServer.Content.EmbeddedResource,
  McpServer.Content.Image,
  McpServer.Content.ResourceLink,
  McpServer.Content.Text,
  McpServer.Envelope,
  McpServer.Icon,
  McpServer.JsonRpc.Error,
  McpServer.JsonRpc.Request,
  McpServer.JsonRpc.Response,
  McpServer.Prompt,
  McpServer.Prompt.Argument,
  McpServer.Prompt.GetResult,
  McpServer.Prompt.Message,
  McpServer.Prompt.MessageContent,
  McpServer.Resource,
  McpServer.Resource.Content,
  McpServer.Resource.ReadResult,
  McpServer.ResourceTemplate,
  McpServer.Schema,
  McpServer.Tool,
  McpServer.Tool.Annotations,
  McpServer.Tool.CallResult
]

if Code.ensure_loaded?(Jason.Encoder) do
  for struct <- structs do
    defimpl Jason.Encoder, for: struct do
      def encode(struct, _options), do: McpServer.JSON.encode_to_iodata!(struct)
    end
  end
end

if Code.ensure_loaded?(JSON.Encoder) do
  for struct <- structs do
    defimpl JSON.Encoder, for: struct do
      def encode(struct, _encoder), do: McpServer.JSON.encode_to_iodata!(struct)
    end
  end
end
