defmodule Everything.Library do
  @moduledoc "The resources."
  use McpServer.Controller

  alias Everything.Media

  def static_text(_conn, _params) do
    uri = "test://static-text"
    content("static.txt", uri, mimeType: "text/plain", text: "This is the content of the static text resource.")
  end

  def static_image(_conn, _params) do
    content("static.png", "test://static-binary", mimeType: "image/png", blob: Media.png())
  end

  def watched(_conn, _params) do
    content("watched.txt", "test://watched-resource", mimeType: "text/plain", text: "Watched resource content.")
  end

  def by_id(_conn, %{"id" => id}) do
    # Written out, because maps have no order and this text is promised to the byte.
    json = ~s({"id":#{json(id)},"templateTest":true,"data":#{json("Data for ID: #{id}")}})
    content("#{id}.json", "test://template/#{id}/data", mimeType: "application/json", text: json)
  end

  defp json(text), do: McpServer.JSON.encode!(text)

  def complete_id(_conn, "id", prefix) do
    values = Enum.filter(["1", "12", "123"], &String.starts_with?(&1, prefix))
    completion(values, total: length(values), has_more: false)
  end
end
