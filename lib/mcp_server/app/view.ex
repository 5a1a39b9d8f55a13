defmodule McpServer.App.View do
  @moduledoc false
  # A router's data about a view, which is added to the result of reading the view. Hosts take the media type and the
  # policy from the content. So a handler need not repeat the declaration.

  alias McpServer.App
  alias McpServer.Resource.{Content, ReadResult}

  @scheme "ui://"
  @mime_type ["mimeType", "mime_type", :mimeType, :mime_type]
  @meta ["_meta", "meta", :_meta, :meta]

  @type t :: %{mime_type: String.t(), meta: App.UIResourceMeta.t() | nil}

  @doc """
  Whether a URI or URI template has the scheme of views.

      iex> McpServer.App.View.uri?("ui://weather/dashboard")
      true
  """
  @spec uri?(term) :: boolean
  def uri?(uri), do: is_binary(uri) and String.starts_with?(uri, @scheme)

  @doc "Adds the declared data of a view to the outcome of its handler."
  @spec complete(outcome, map | nil) :: outcome when outcome: term
  def complete({:ok, %ReadResult{contents: contents} = result}, %{view: view}) when is_list(contents) do
    {:ok, %{result | contents: Enum.map(contents, &content(&1, view))}}
  end

  def complete(outcome, _entry), do: outcome

  # Other contents of the result, such as a picture, stay unchanged.
  defp content(content, view), do: if(document?(content), do: filled(content, view), else: content)

  defp document?(%Content{uri: uri}), do: uri?(uri)
  defp document?(content) when is_struct(content), do: false
  defp document?(%{"uri" => uri}), do: uri?(uri)
  defp document?(%{uri: uri}), do: uri?(uri)
  defp document?(_content), do: false

  defp filled(%Content{} = content, view) do
    %{content | mimeType: content.mimeType || view.mime_type, _meta: with_ui(content._meta, view.meta)}
  end

  defp filled(content, view) do
    content |> put_new(@mime_type, view.mime_type) |> put_ui(view.meta)
  end

  # The keys of a map may be texts or atoms, in snake case or camel case.
  defp put_new(content, [key | _] = keys, value) do
    if Enum.any?(keys, &(Map.get(content, &1) != nil)), do: content, else: Map.put(Map.drop(content, keys), key, value)
  end

  defp put_ui(content, nil), do: content

  defp put_ui(content, ui) do
    [key | _] = for(key <- @meta, content[key] != nil, do: key) ++ ["_meta"]
    Map.put(content, key, with_ui(content[key], ui))
  end

  defp with_ui(meta, nil), do: meta
  defp with_ui(nil, ui), do: %App.Meta{ui: ui}
  defp with_ui(%App.Meta{ui: nil}, ui), do: %App.Meta{ui: ui}
  defp with_ui(%{"ui" => _own} = meta, _ui), do: meta
  defp with_ui(%{ui: _own} = meta, _ui), do: meta
  defp with_ui(meta, ui) when is_map(meta), do: Map.put(meta, "ui", ui)
  defp with_ui(meta, _ui), do: meta
end
