defmodule McpServer.DualResponse.Store.Ecto.Row do
  # Converts a resource to a row of the table and back: the column of each field, and the conversion of its values.
  @moduledoc false

  alias McpServer.DualResponse.Resource
  alias McpServer.DualResponse.Store.Ecto.Term

  # The order of the table's columns. `id` and `server` are the key, and come first in every statement.
  @columns [
    name: :text,
    persist: {:one_of, [:query, :rows]},
    status: {:one_of, [:ready, :deleted]},
    sort_mode: {:one_of, [:execute, :memory]},
    tie_break: :text,
    query: :query,
    columns: :term,
    total_count: :integer,
    sample_data: :term,
    created_at: :time,
    expires_at: :time,
    deadline: :integer,
    access_count: :integer,
    last_accessed_at: :time,
    metadata: :term,
    tenant: :term,
    subject: :term,
    bytes: :integer
  ]

  @doc "The columns for an `INSERT`."
  @spec names() :: String.t()
  def names, do: Enum.map_join(@columns, ", ", fn {field, _type} -> Atom.to_string(field) end)

  @doc "The placeholders for the `INSERT`, numbered from `first`."
  @spec placeholders(pos_integer, pos_integer) :: String.t()
  def placeholders(first, count) do
    @columns
    |> Enum.zip(first..(first + count - 1))
    |> Enum.map_join(", ", fn {{_field, type}, n} -> parameter(type, n) end)
  end

  @doc "One placeholder, with the type of its column."
  @spec placeholder(String.t(), pos_integer) :: String.t()
  def placeholder(name, n) do
    {_field, type} = Enum.find(@columns, fn {field, _type} -> Atom.to_string(field) == name end)
    parameter(type, n)
  end

  # Only text and integers: all PostgreSQL clients handle them alike, unlike JSON and times.
  defp parameter(type, n) when type in [:term, :query], do: "$#{n}::text::jsonb"
  defp parameter(:time, n), do: "to_timestamp($#{n}::bigint)"
  defp parameter(:integer, n), do: "$#{n}::bigint"
  defp parameter(_text, n), do: "$#{n}::text"

  @doc "The columns of a `SELECT` for `load/2`."
  @spec selection() :: String.t()
  def selection, do: Enum.map_join(@columns, ", ", fn {field, type} -> selected(type, field) end)

  defp selected(type, field) when type in [:term, :query], do: "#{field}::text"
  defp selected(:time, field), do: "extract(epoch FROM #{field})::bigint"
  defp selected(_type, field), do: Atom.to_string(field)

  @doc "The values of all columns."
  @spec dump!(Resource.t()) :: [term]
  def dump!(resource), do: for({field, type} <- @columns, do: value(type, Map.fetch!(resource, field)))

  @doc "The columns of some fields, with their values."
  @spec dump_changes!(map) :: {[String.t()], [term]}
  def dump_changes!(changes) do
    changed = for {field, type} <- @columns, is_map_key(changes, field), do: {field, type}

    length(changed) == map_size(changes) ||
      raise ArgumentError, "a resource has other fields: #{inspect(Map.keys(changes))}"

    {for({field, _type} <- changed, do: Atom.to_string(field)),
     for({field, type} <- changed, do: value(type, changes[field]))}
  end

  defp value(:term, term), do: Term.dump!(term)
  defp value(_type, nil), do: nil
  defp value(:query, query), do: Term.dump_query!(query)
  defp value(:time, time), do: DateTime.to_unix(time)
  defp value({:one_of, _atoms}, atom), do: Atom.to_string(atom)
  defp value(_text_or_integer, value), do: value

  @doc "The resource of a row."
  @spec load!(String.t(), [term]) :: Resource.t()
  def load!(id, values) do
    fields = for {{field, type}, value} <- Enum.zip(@columns, values), do: {field, loaded(type, value)}
    struct!(Resource, [{:id, id} | fields])
  end

  defp loaded(_type, nil), do: nil
  defp loaded(:term, text), do: Term.load!(text)
  defp loaded(:query, text), do: Term.load_query!(text)
  defp loaded(:time, seconds), do: DateTime.from_unix!(seconds)
  defp loaded({:one_of, atoms}, text), do: Enum.find(atoms, &(Atom.to_string(&1) == text))
  defp loaded(_text_or_integer, value), do: value
end
