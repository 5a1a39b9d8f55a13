defmodule McpServer.Tool.Content do
  @moduledoc """
  Builds the content of a tool's result.

      {:ok, [Content.text("Here it is."), Content.image(File.read!("chart.png"), "image/png")]}

  The last parameter of each function takes the other fields of the struct, in camelCase or snake_case: `annotations:`,
  `mime_type:`, `_meta:` and so on.
  """

  alias McpServer.Content.{Audio, EmbeddedResource, Image, ResourceLink, Text}
  alias McpServer.Resource

  @doc """
  Text.

      iex> McpServer.Tool.Content.text("hello")
      %McpServer.Content.Text{text: "hello"}
      iex> McpServer.Tool.Content.text("# Hello", mime_type: "text/markdown")
      %McpServer.Content.Text{text: "# Hello", mimeType: "text/markdown"}
  """
  @spec text(String.t(), keyword) :: Text.t()
  def text(text, fields \\ [])
  # A shortcut for the most common content. Without options there is nothing to check.
  def text(text, []) when is_binary(text), do: %Text{text: text}
  def text(text, fields), do: Text.new([text: text] ++ fields)

  @doc """
  An image, from its raw bytes.

      iex> McpServer.Tool.Content.image(<<137, 80>>, "image/png")
      %McpServer.Content.Image{data: <<137, 80>>, mimeType: "image/png"}
  """
  @spec image(binary, String.t(), keyword) :: Image.t()
  def image(data, mime_type, fields \\ []), do: Image.new([data: data, mimeType: mime_type] ++ fields)

  @doc """
  Sound, from its raw bytes.

      iex> McpServer.Tool.Content.audio("RIFF", "audio/wav")
      %McpServer.Content.Audio{data: "RIFF", mimeType: "audio/wav"}
  """
  @spec audio(binary, String.t(), keyword) :: Audio.t()
  def audio(data, mime_type, fields \\ []), do: Audio.new([data: data, mimeType: mime_type] ++ fields)

  @doc """
  An embedded resource: a `McpServer.Resource.Content`, or its URI and either `text:` or `blob:` (raw bytes).

      iex> McpServer.Tool.Content.resource("file:///a.txt", text: "hi", mimeType: "text/plain").resource
      %McpServer.Resource.Content{uri: "file:///a.txt", text: "hi", mimeType: "text/plain"}
  """
  @spec resource(Resource.Content.t()) :: EmbeddedResource.t()
  def resource(%Resource.Content{} = content), do: %EmbeddedResource{resource: content}

  @doc "See `resource/1`; `annotations:` and `_meta:` belong to the content block, the other fields to the resource."
  @spec resource(String.t(), keyword) :: EmbeddedResource.t()
  def resource(uri, fields) when is_binary(uri) and is_list(fields) do
    {block, content} = Keyword.split(fields, [:annotations, :_meta])
    EmbeddedResource.new([resource: Resource.Content.from_raw([uri: uri] ++ content)] ++ block)
  end

  @doc """
  A link to a resource that the client may read later.

      iex> McpServer.Tool.Content.resource_link("log", "file:///var/log/app.log", size: 12)
      %McpServer.Content.ResourceLink{name: "log", uri: "file:///var/log/app.log", size: 12}
  """
  @spec resource_link(String.t(), String.t(), keyword) :: ResourceLink.t()
  def resource_link(name, uri, fields \\ []), do: ResourceLink.new([name: name, uri: uri] ++ fields)
end
