defmodule Patterns.DocumentsTest do
  # The seven examples of the document that this server comes from, as an MCP client gets them.
  use ExUnit.Case, async: true
  use McpServer.Test, router: Patterns.MCP

  alias McpServer.{JSON, Presentation}

  @fixtures Path.expand("../../../test/fixtures/documents", __DIR__)
  @eras ["2025-11-25", "2026-07-28"]

  defp fixture(name), do: @fixtures |> Path.join(name) |> File.read!() |> JSON.decode!()

  # One revision says more of every result; and `isError: false` says what the documents leave out.
  defp answer(tool, request, revision) do
    {:ok, result} = call_tool(tool, request, revision: revision)
    assert {false, result} = Map.pop(result, "isError")
    Map.drop(result, ["resultType", "_meta"])
  end

  defp each_era(tool, number, name, check) do
    request = fixture("s3-0#{number}-request.json")
    expected = fixture(name)
    for revision <- @eras, do: check.(answer(tool, request, revision), expected)
  end

  defp texts(result), do: Enum.map(result["content"], & &1["text"])

  defp without_texts(result),
    do: Map.update!(result, "content", &Enum.map(&1, fn block -> Map.delete(block, "text") end))

  @tag req: ["S3-01", "S3-02", "S3-03", "RES-01", "RES-64"]
  test "example 1, a search as Markdown" do
    each_era("search_patterns", 1, "corrected-s3-01-response.json", fn result, expected -> assert result == expected end)
  end

  @tag req: "S3-04"
  test "example 2, a search as both" do
    each_era("search_patterns", 2, "corrected-s3-02-response.json", fn result, expected ->
      assert without_texts(result) == without_texts(expected)
      [markdown, json] = texts(result)
      [elided, expected_json] = texts(expected)
      assert String.starts_with?(markdown, String.trim_trailing(elided, "..."))
      assert JSON.decode!(json) == JSON.decode!(expected_json)
      assert JSON.decode!(json) == result["structuredContent"]
    end)
  end

  # The document shows two of the eight patterns.
  @tag req: ["S3-05", "RES-04"]
  test "example 3, a search as JSON" do
    each_era("search_patterns", 3, "corrected-s3-03-response.json", fn result, expected ->
      abbreviated = update_in(result["structuredContent"]["patterns"], &Enum.take(&1, 2))
      assert length(result["structuredContent"]["patterns"]) == 8
      assert abbreviated["structuredContent"] == expected["structuredContent"]
      assert without_texts(abbreviated)["content"] == without_texts(expected)["content"]
      [json] = texts(result)
      assert JSON.decode!(json) == result["structuredContent"]
    end)
  end

  # Both documents print it.
  @tag req: ["S3-06", "S0-64"]
  test "example 4, an empty query" do
    for name <- ["s3-04-response.json", "s0-04-elicit-empty-query.json"] do
      each_era("search_patterns", 4, name, fn result, expected -> assert result == expected end)
    end

    assert answer("search_patterns", %{}, "2026-07-28") == fixture("s3-04-response.json")
  end

  # The document shows five of the eleven options.
  @tag req: ["S3-07", "S3-14", "RES-05"]
  test "example 5, too much" do
    each_era("search_patterns", 5, "s3-05-response.json", fn result, expected ->
      {options, data} = Map.pop(result["structuredContent"], "options")
      {shown, expected_data} = Map.pop(expected["structuredContent"], "options")
      assert data == expected_data
      assert result["content"] == expected["content"]

      suggestions = data["needsInput"]["suggestions"]

      assert Enum.map(options, &{&1["field"], &1["value"]}) ==
               for(field <- ["category", "difficulty"], value <- suggestions[field], do: {field, value})

      assert length(options) == 11
      assert shown -- options == []
    end)
  end

  @tag req: ["S3-08", "RES-68"]
  test "example 6, a pattern" do
    each_era("get_pattern", 6, "s3-06-response.json", fn result, expected -> assert result == expected end)
  end

  @tag req: "S3-09"
  test "example 7, a pattern that there is not" do
    each_era("get_pattern", 7, "s3-07-response.json", fn result, expected -> assert result == expected end)
  end

  @tag req: ["S0-34", "S3-08", "S3-09"]
  test "the data of examples 4, 6 and 7 as printed by themselves" do
    for {tool, number} <- [{"search_patterns", 4}, {"get_pattern", 6}, {"get_pattern", 7}] do
      each_era(tool, number, "s3-0#{number}-structured.json", fn result, expected ->
        assert result["structuredContent"] == expected
      end)
    end
  end

  test "every pattern can be got in each format, and fits the schema of the documents" do
    for %{"id" => id} <- Patterns.Catalogue.search(%{"q" => "effect"}), format <- ["markdown", "json", "both"] do
      {:ok, result} = call_tool("get_pattern", %{"id" => id, "format" => format})
      assert result["structuredContent"]["id"] == id
      assert valid?(result["structuredContent"])

      if format != "markdown",
        do: assert(Presentation.extract_structured(result, Patterns.View) == {:ok, result["structuredContent"]})
    end
  end

  defp valid?(data) do
    McpServer.Schema.validate(fixture("schemas/tool-structured-content.schema.json"), data) == :ok
  end

  test "arguments that are none are refused before the catalogue is searched" do
    for arguments <- [
          %{"q" => "error", "limit" => 0},
          %{"q" => "error", "limit" => 101},
          %{"q" => "error", "limit" => "5"},
          %{"q" => "error", "difficulty" => "expert"},
          %{"q" => "error", "format" => "html"}
        ] do
      assert {:ok, %{"isError" => true, "content" => [%{"text" => text}]}} = call_tool("search_patterns", arguments)
      assert text =~ "nvalid"
    end
  end
end
