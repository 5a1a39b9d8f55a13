defmodule Notes.MCP do
  @moduledoc """
  The server, with its handlers. Editors see all tools, other users those that only read.

      mix mcp.stdio Notes.MCP --as ada
  """
  use McpServer.Router, name: "notes", version: "1.0.0", arguments: :atoms
  use McpServer.Controller

  alias Notes.Store

  @editor {__MODULE__, :editor?, []}

  tool "search_notes", "Finds notes by words, labels and days", hints: [:read_only] do
    input words: {:string, "Words that the note must have", default: "", max_length: 200},
          filter:
            {%{
               tags: {[:string], "Labels that the note must have", default: []},
               since: {:date, "Written on this day or later"},
               until: {:date, "Written on this day or earlier"}
             }, "Which notes", default: %{}},
          limit: {:integer, "How many notes at most", default: 20, minimum: 1, maximum: 100}

    run fn _conn, %{words: words, filter: filter, limit: limit} ->
      listed(Enum.take(Store.search(words, filter), limit))
    end
  end

  tool "list_notes", "Lists all notes, the newest first", hints: [:read_only] do
    run fn _conn, _arguments -> listed(Store.all()) end
  end

  tool "create_note", "Writes a note", authorize: @editor, hints: [:non_destructive] do
    input title: {:string, "Its title", required: true, min_length: 1, max_length: 80},
          body: {:string, "Its text, in Markdown", default: ""},
          tags: {[:string], "Its labels", default: []},
          written: {:date, "The day it is about; today if it is left out"}

    run fn _conn, note -> Store.create(Map.put_new(note, :written, Date.utc_today())) end
  end

  tool "update_note", "Changes what is given of a note", authorize: @editor, hints: [:idempotent] do
    input id: {:integer, "Its id", required: true},
          title: {:string, "Its new title", min_length: 1, max_length: 80},
          body: {:string, "Its new text"},
          tags: {[:string], "Its new labels"}

    run fn _conn, %{id: id} = changes -> Store.update(id, Map.delete(changes, :id)) end
  end

  tool "delete_note", "Deletes a note, after the user has agreed", authorize: @editor, hints: [] do
    input id: {:integer, "Its id", required: true}

    run fn conn, %{id: id} ->
      with {:ok, note} <- Store.fetch(id) do
        confirm(conn, "Delete the note #{inspect(note.title)}?", fn ->
          :ok = Store.delete(id)
          {:ok, "Deleted"}
        end)
      end
    end
  end

  tool "export_notes", "Gives all notes as one document", hints: [:read_only] do
    input format: {:string, "Markdown for people, JSON for programs", enum: ~w(markdown json), default: "markdown"}
    run fn _conn, %{format: format} -> exported(Store.all(), format) end
  end

  resource "note", "notes://{id}" do
    description "A note as Markdown"
    read Notes.MCP, :read
    complete Notes.MCP, :ids
  end

  prompt "summarize", "Summarizes the notes about a subject", completion: false do
    argument "subject", "What the notes are about", required: true
    get Notes.MCP, :summarize
  end

  def editor?(conn), do: conn.principal == "ada"

  def read(_conn, %{id: id}) do
    with {number, ""} <- Integer.parse(id), {:ok, note} <- Store.fetch(number) do
      content("note", "notes://#{id}", text: markdown(note), mime_type: "text/markdown")
    else
      _unknown -> {:error, :not_found}
    end
  end

  def ids(_conn, :id, prefix), do: for(%{id: id} <- Store.all(), String.starts_with?("#{id}", prefix), do: "#{id}")
  def summarize(_conn, %{subject: subject}), do: "Search the notes about #{subject}, and summarize them."

  defp listed(notes), do: %{notes: for(note <- notes, do: Map.take(note, [:id, :title, :tags, :written]))}
  defp exported(notes, "markdown"), do: Enum.map_join(notes, "\n\n", &markdown/1)
  defp exported(notes, "json"), do: %{notes: notes}
  defp markdown(note), do: "# #{note.title}\n\n#{note.body}"
end
