defmodule Notes.Store do
  @moduledoc "Notes in memory: what a database would be."
  use Agent

  @type note :: %{id: pos_integer, title: String.t(), body: String.t(), tags: [String.t()], written: Date.t()}

  @doc false
  def start_link(_options), do: Agent.start_link(fn -> {1, %{}} end, name: __MODULE__)

  @doc "All notes, the newest first."
  @spec all() :: [note]
  def all, do: Agent.get(__MODULE__, fn {_next, notes} -> notes |> Map.values() |> Enum.sort_by(& &1.id, :desc) end)

  @doc "The notes that have the words, all the tags, and were written from `since` to `until`."
  @spec search(String.t(), map) :: [note]
  def search(words, filter) do
    words = words |> String.downcase() |> String.split()
    Enum.filter(all(), &(has_words?(&1, words) and filter[:tags] -- &1.tags == [] and within?(&1.written, filter)))
  end

  defp has_words?(note, words) do
    text = String.downcase(note.title <> " " <> note.body)
    Enum.all?(words, &String.contains?(text, &1))
  end

  defp within?(date, filter) do
    Date.compare(date, filter[:since] || date) != :lt and Date.compare(date, filter[:until] || date) != :gt
  end

  @doc "The note with the id."
  @spec fetch(pos_integer) :: {:ok, note} | {:error, String.t()}
  def fetch(id), do: Agent.get(__MODULE__, fn {_next, notes} -> found(notes, id) end)

  defp found(notes, id), do: with(:error <- Map.fetch(notes, id), do: {:error, "There is no note #{id}. Search for it"})

  @doc "Writes a new note."
  @spec create(map) :: note
  def create(fields) do
    Agent.get_and_update(__MODULE__, fn {next, notes} ->
      note = Map.put(fields, :id, next)
      {note, {next + 1, Map.put(notes, next, note)}}
    end)
  end

  @doc "Changes some fields of a note."
  @spec update(pos_integer, map) :: {:ok, note} | {:error, String.t()}
  def update(id, changes) do
    Agent.get_and_update(__MODULE__, fn {next, notes} ->
      case found(notes, id) do
        {:ok, note} -> {{:ok, Map.merge(note, changes)}, {next, %{notes | id => Map.merge(note, changes)}}}
        unknown -> {unknown, {next, notes}}
      end
    end)
  end

  @doc "Deletes a note."
  @spec delete(pos_integer) :: :ok
  def delete(id), do: Agent.update(__MODULE__, fn {next, notes} -> {next, Map.delete(notes, id)} end)
end
