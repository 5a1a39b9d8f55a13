defmodule McpServer.Icon do
  @moduledoc """
  An icon of the server, a tool, a prompt or a resource, sent since revision 2025-11-25.

      iex> McpServer.Icon.new(src: "https://example.com/icon.png", mime_type: "image/png")
      %McpServer.Icon{src: "https://example.com/icon.png", mimeType: "image/png"}
  """

  use McpServer.Fields,
    src: [:string, required: true, doc: "an `https:` or `data:` URI of the image"],
    mimeType: [:string, doc: ~s(`"image/png"`, `"image/svg+xml"`, …)],
    sizes: [{:list, :string}, doc: ~s(`"48x48"`, or `"any"` for scalable images)],
    theme: [{:in, ~w(light dark)}, doc: "the background that the icon fits"]
end
