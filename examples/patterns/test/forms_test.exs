defmodule Patterns.FormsTest do
  # Not async: whether clients are asked by forms is a setting of the application.
  use ExUnit.Case
  use McpServer.Test, router: Patterns.MCP

  setup do
    Application.put_env(:patterns, :forms, true)
    on_exit(fn -> Application.delete_env(:patterns, :forms) end)
  end

  defp filled_in(content), do: %{"elicitation/create" => %{"action" => "accept", "content" => content}}

  for revision <- ["2025-11-25", "2026-07-28"] do
    test "the query and then a filter are asked for by forms, #{revision}" do
      answers = fn "elicitation/create", %{"requestedSchema" => %{"properties" => properties}} ->
        content = if properties["q"], do: %{"q" => "effect"}, else: %{"category" => "streams"}
        %{"action" => "accept", "content" => content}
      end

      options = [revision: unquote(revision), answers: answers]
      assert {:ok, %{"structuredContent" => found}} = call_tool("search_patterns", %{}, options)
      assert %{"q" => "effect", "category" => "streams"} = found["query"]
      assert found["metadata"]["totalCount"] == 6
    end

    test "an id that there is not is asked for again, #{revision}" do
      options = [revision: unquote(revision), answers: filled_in(%{"id" => "service-error-handling"})]
      assert {:ok, %{"structuredContent" => found}} = call_tool("get_pattern", %{"id" => "services"}, options)
      assert found["id"] == "service-error-handling"
    end

    test "who fills in nothing, and who cannot, gets the data, #{revision}" do
      declined = [revision: unquote(revision), answers: %{"elicitation/create" => %{"action" => "decline"}}]
      unable = [revision: unquote(revision), client_capabilities: %{}]

      for options <- [declined, unable] do
        assert {:ok, %{"structuredContent" => %{"kind" => "needsInput:v1"}, "isError" => false}} =
                 call_tool("search_patterns", %{}, options)
      end
    end
  end
end
