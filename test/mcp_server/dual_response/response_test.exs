defmodule McpServer.DualResponse.ResponseTest do
  use ExUnit.Case, async: true

  import McpServer.DualResponses
  import McpServer.Fixtures

  alias McpServer.Content.{ResourceLink, Text}
  alias McpServer.{DualResponse, JSON}
  alias McpServer.DualResponse.Response

  @response %Response{
    resource_id: "abc123",
    resource_uri: "resource://abc123",
    resource_url: "https://api.example.com/resources/abc123",
    name: "Institution Search Results",
    sample: [%{"id" => 1, "name" => "MIT", "state" => "MA"}],
    total_count: 847,
    columns: [
      %{name: "id", type: "number"},
      %{name: "name", type: "string"},
      %{name: "state", type: "string"}
    ],
    expires_at: ~U[2025-01-15 10:45:00Z],
    created_at: ~U[2025-01-15 10:30:00.999Z]
  }

  @tag req: "S1-30"
  test "the fields" do
    name = server()
    response = create!(name, 20)
    id = response.resource_id

    assert %Response{
             resource_uri: "resource://" <> ^id,
             resource_url: "https://api.example.com/resources/" <> ^id,
             name: "Numbers",
             total_count: 20,
             columns: [%{name: "n"}, %{name: "text"}]
           } = response

    assert response.sample == rows(15)
    assert %{created_at: created_at, expires_at: expires_at} = DualResponse.get_resource(name, id)
    assert {response.created_at, response.expires_at} == {created_at, expires_at}
    assert create!(name, 1, expiration: :infinity).expires_at == nil
  end

  @tag req: "S1-31"
  test "the content is the document's" do
    assert [%Text{text: "Found 847 results. Sample data and full dataset link included."}, %ResourceLink{}] =
             Response.to_mcp_content(@response)

    assert_encodes(Response.to_mcp_content(@response), "s1-01-mcp-content.json")
  end

  @tag req: ["S1-32", "S1-34", "RES-14", "RES-15", "RES-23", "RES-26"]
  test "the structured content has exactly these keys" do
    assert %{"results" => results, "resource" => resource, "metadata" => metadata} =
             structured = Response.to_structured_content(@response)

    assert map_size(structured) == 3
    assert results == @response.sample

    assert resource == %{
             "uri" => "resource://abc123",
             "url" => "https://api.example.com/resources/abc123",
             "name" => "Institution Search Results",
             "mimeType" => "application/json"
           }

    assert metadata == %{
             "total_count" => 847,
             "columns" => @response.columns,
             "executed_at" => "2025-01-15T10:30:00Z",
             "expires_at" => "2025-01-15T10:45:00Z"
           }
  end

  @tag req: "RES-18"
  test "expires_at is there and null when the resource is kept" do
    structured = Response.to_structured_content(%{@response | expires_at: nil})
    assert structured["metadata"]["expires_at"] == nil
    assert JSON.encode!(structured) =~ ~s("expires_at":null)
  end

  @tag req: ["S1-32", "RES-24"]
  test "the members of the documents' examples, elided as they are" do
    for fixture <- ["s1-02-structured-content.json"], {:ok, text} <- [read(fixture)] do
      {:ok, expected} = JSON.decode(text)
      {:ok, actual} = @response |> Response.to_structured_content() |> JSON.encode!() |> JSON.decode()
      assert Map.keys(actual) == Map.keys(expected)
      assert Map.delete(actual["resource"], "url") == expected["resource"]
      assert Map.delete(actual["metadata"], "columns") == Map.delete(expected["metadata"], "columns")
    end
  end

  @tag req: "S1-33"
  test "the tool's result is the document's" do
    assert_encodes(Response.to_mcp_tool_result(@response), "derived-s1-tool-result-847.json")
  end

  @tag req: ["RES-14", "RES-23"]
  test "keys of rows and columns are nobody's to change" do
    rows = [%{"totalCount" => 1, "total_count" => 2, "has-next" => 3}]
    response = %{@response | sample: rows, columns: [%{"name" => "totalCount", "displayName" => "Total"}]}
    {:ok, decoded} = response |> Response.to_mcp_tool_result() |> JSON.encode!() |> JSON.decode()
    assert decoded["structuredContent"]["results"] == rows
    assert decoded["structuredContent"]["metadata"]["columns"] == response.columns
  end
end
