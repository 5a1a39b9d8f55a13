defmodule McpServer.DualResponse.Reading do
  @moduledoc false
  # `resources/read` of a dual response's URI: a description of the resource, and its first rows.

  alias McpServer.{Conn, DualResponse, JSON}
  alias McpServer.DualResponse.{Error, Page, Resource, Response}
  alias McpServer.Resource.Content

  @doc "The handler of the template that `dual_responses` declares."
  @spec read(Conn.t(), map) :: Content.t() | {:error, :not_found | String.t()}
  def read(%Conn{router: router} = conn, %{"id" => id}) do
    {_spill, server} = router.__mcp__(:overflow)
    identity = DualResponse.identity(server, conn)

    with {:ok, resource} <- DualResponse.lookup(server, id, identity),
         {:ok, page} <- DualResponse.fetch(server, resource, %{}, identity),
         {:ok, text} <- JSON.encode(body(resource, page)) do
      %Content{uri: nil, name: resource.name, mimeType: "application/json", text: text}
    else
      {:error, %Error{code: code}} when code in [:resource_not_found, :resource_expired, :resource_gone] ->
        {:error, :not_found}

      {:error, %Error{message: message}} ->
        {:error, message}

      {:error, %JSON.EncodeError{}} ->
        {:error, "The rows cannot be written as JSON"}
    end
  end

  # The REST endpoint returns the same members in two responses.
  defp body(%Resource{} = resource, %Page{} = page) do
    %{
      "status" => "ready",
      "columns" => resource.columns,
      "created_at" => Response.timestamp(resource.created_at),
      "expires_at" => Response.timestamp(resource.expires_at),
      "access_count" => resource.access_count + 1,
      "data" => page.data,
      "total_count" => page.total_count,
      "returned_count" => page.returned_count,
      "offset" => page.offset,
      "has_next" => page.has_next,
      "next_offset" => page.next_offset
    }
  end
end
