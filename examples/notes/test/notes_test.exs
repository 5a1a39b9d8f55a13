defmodule NotesTest do
  # Each test in a session and in the stateless era: handlers are written once.
  use ExUnit.Case, async: false
  use McpServer.Test, router: Notes.MCP

  alias Notes.Store

  @eras ["2025-11-25", "2026-07-28"]

  setup do
    for note <- Store.all(), do: Store.delete(note.id)
    :ok
  end

  defp titles(%{"notes" => notes}), do: Enum.map(notes, & &1["title"])

  defp call!(tool, arguments, options) do
    assert {:ok, result} = call_tool(tool, arguments, options)
    assert result["isError"] != true, inspect(result)
    result["structuredContent"] || hd(result["content"])["text"]
  end

  for revision <- @eras do
    describe "#{revision}:" do
      @ada [principal: "ada", revision: revision]
      @eve [principal: "eve", revision: revision]

      test "a note is written, found, changed and exported" do
        note = call!("create_note", %{"title" => "Milk", "tags" => ["shop"], "written" => "2026-02-28"}, @ada)
        assert %{"id" => id, "title" => "Milk", "body" => "", "tags" => ["shop"], "written" => "2026-02-28"} = note
        call!("create_note", %{"title" => "Bread", "written" => "2026-03-01"}, @ada)

        assert titles(call!("list_notes", %{}, @eve)) == ["Bread", "Milk"]
        assert titles(call!("search_notes", %{}, @eve)) == ["Bread", "Milk"]
        assert titles(call!("search_notes", %{"limit" => 1}, @eve)) == ["Bread"]
        assert titles(call!("search_notes", %{"words" => "MIL"}, @eve)) == ["Milk"]

        for {filter, found} <- [
              {%{"tags" => ["shop"]}, ["Milk"]},
              {%{"since" => "2026-03-01"}, ["Bread"]},
              {%{"until" => "2026-02-28"}, ["Milk"]},
              {%{"since" => "2026-02-28", "until" => "2026-03-01"}, ["Bread", "Milk"]},
              {%{"tags" => ["shop"], "since" => "2026-03-01"}, []}
            ] do
          assert titles(call!("search_notes", %{"filter" => filter}, @eve)) == found
        end

        assert %{"title" => "Milk", "body" => "2 l"} = call!("update_note", %{"id" => id, "body" => "2 l"}, @ada)
        assert call!("export_notes", %{}, @eve) == "# Bread\n\n\n\n# Milk\n\n2 l"
        assert titles(call!("export_notes", %{"format" => "json"}, @eve)) == ["Bread", "Milk"]
      end

      test "without a date a note is of today" do
        assert call!("create_note", %{"title" => "Now"}, @ada)["written"] == Date.to_iso8601(Date.utc_today())
      end

      test "what the model gets wrong it is told" do
        assert_tool_error(call_tool("create_note", %{"titel" => "x"}, @ada), ~r/titel/)
        assert_tool_error(call_tool("search_notes", %{"filter" => %{"since" => "2026-02-30"}}, @eve), ~r/since/)

        assert_tool_error(
          call_tool("update_note", %{"id" => 0, "body" => "x"}, @ada),
          "There is no note 0. Search for it"
        )
      end

      test "a note is deleted after the user has agreed" do
        %{id: id} = Store.create(%{title: "Old", body: "", tags: [], written: ~D[2020-01-01]})

        call = fn answer ->
          call_tool("delete_note", %{"id" => id}, [answers: %{"elicitation/create" => answer}] ++ @ada)
        end

        assert_tool_error(call.(%{"action" => "decline"}), ~r/Nothing was done/)
        assert [%{id: ^id}] = Store.all()

        assert {:ok, %{"content" => [%{"text" => "Deleted"}]}} = call.(%{"action" => "accept", "content" => %{}})

        assert Store.all() == []
      end

      test "who may only read sees only the tools that do" do
        names = fn options ->
          {:ok, tools} = list_tools(options)
          Enum.map(tools, & &1["name"])
        end

        assert names.(@eve) == ["search_notes", "list_notes", "export_notes"]
        assert length(names.(@ada)) == 6
        assert {:error, %{"message" => "Tool 'delete_note' not found"}} = call_tool("delete_note", %{"id" => 1}, @eve)
      end

      test "a note is a resource, its id is completed, and the prompt names the subject" do
        %{id: id} = Store.create(%{title: "Milk", body: "2 l", tags: [], written: ~D[2026-01-01]})

        assert {:ok, %{"contents" => [%{"text" => "# Milk\n\n2 l", "mimeType" => "text/markdown"}]}} =
                 read_resource("notes://#{id}", @eve)

        assert {:error, %{"message" => _text}} = read_resource("notes://0", @eve)

        assert {:ok, %{"messages" => [%{"content" => %{"text" => text}}]}} =
                 get_prompt("summarize", %{"subject" => "food"}, @eve)

        assert text == "Search the notes about food, and summarize them."
      end
    end
  end
end
