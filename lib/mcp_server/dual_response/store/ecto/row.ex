defmodule McpServer.DualResponse.Store.Ecto.Row do
  # A resource as a row of the table, and back: which field is which column, and how a value crosses.
  @moduledoc false

  alias McpServer.DualResponse.Resource
  alias McpServer.DualResponse.Store.Ecto.Term

  # The order of the table. `id` and `server` are the key; they come first in every statement.
  @columns [
    name: :text,
    persist: :persist,
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

  @doc "The columns, as an `INSERT` names them."
  @spec names() :: String.t()
  def names, do: Enum.map_join(@columns, ", ", fn {field, _type} -> Atom.to_string(field) end)

  @doc "The parameters of that `INSERT`, numbered from `first` on."
  @spec placeholders(pos_integer, pos_integer) :: String.t()
  def placeholders(first, count) do
    @columns
    |> Enum.zip(first..(first + count - 1))
    |> Enum.map_join(", ", fn {{_field, type}, n} -> parameter(type, n) end)
  end

  @doc "One parameter, of the type of the column it is for."
  @spec placeholder(String.t(), pos_integer) :: String.t()
  def placeholder(name, n) do
    {_field, type} = Enum.find(@columns, fn {field, _type} -> Atom.to_string(field) == name end)
    parameter(type, n)
  end

  # Text and integers only: every client of PostgreSQL takes those alike, whatever it makes of JSON and of times.
  defp parameter(type, n) when type in [:term, :query], do: "$#{n}::text::jsonb"
  defp parameter(:time, n), do: "to_timestamp($#{n}::bigint)"
  defp parameter(:integer, n), do: "$#{n}::bigint"
  defp parameter(type, n) when type in [:text, :persist], do: "$#{n}::text"

  @doc "The columns, as a `SELECT` names them for `load/2`."
  @spec selection() :: String.t()
  def selection, do: Enum.map_join(@columns, ", ", fn {field, type} -> selected(type, field) end)

  defp selected(type, field) when type in [:term, :query], do: "#{field}::text"
  defp selected(:time, field), do: "extract(epoch FROM #{field})::bigint"
  defp selected(_type, field), do: Atom.to_string(field)

  @doc "The values of all columns."
  @spec dump(Resource.t()) :: {:ok, [term]} | {:error, term}
  def dump(resource), do: values(for {field, type} <- @columns, do: {type, Map.fetch!(resource, field)})

  @doc "The columns and values of some fields."
  @spec dump_changes(map) :: {:ok, [String.t()], [term]} | {:error, term}
  def dump_changes(changes) do
    case Map.keys(changes) -- Keyword.keys(@columns) do
      [] ->
        changed = for {field, type} <- @columns, is_map_key(changes, field), do: {field, type}

        with {:ok, values} <- values(for {field, type} <- changed, do: {type, changes[field]}) do
          {:ok, for({field, _type} <- changed, do: Atom.to_string(field)), values}
        end

      unknown ->
        {:error, {:unknown_fields, unknown}}
    end
  end

  defp values(typed) do
    Enum.reduce_while(typed, {:ok, []}, fn {type, value}, {:ok, values} ->
      case value(type, value) do
        {:error, reason} -> {:halt, {:error, reason}}
        {:ok, value} -> {:cont, {:ok, [value | values]}}
      end
    end)
    |> then(&with {:ok, values} <- &1, do: {:ok, Enum.reverse(values)})
  end

  defp value(:term, term), do: Term.dump(term)
  defp value(:query, nil), do: {:ok, nil}
  defp value(:query, query), do: Term.dump_query(query)
  defp value(:time, nil), do: {:ok, nil}
  defp value(:time, time), do: {:ok, DateTime.to_unix(time)}
  defp value(:persist, persist), do: {:ok, Atom.to_string(persist)}
  defp value(_text_or_integer, value), do: {:ok, value}

  @doc "The resource of a row."
  @spec load(String.t(), [term]) :: {:ok, Resource.t()} | {:error, term}
  def load(id, values) do
    Enum.zip(@columns, values)
    |> Enum.reduce_while({:ok, [id: id]}, fn {{field, type}, value}, {:ok, fields} ->
      case loaded(type, value) do
        {:ok, value} -> {:cont, {:ok, [{field, value} | fields]}}
        {:error, reason} -> {:halt, {:error, {field, reason}}}
      end
    end)
    |> then(&with {:ok, fields} <- &1, do: {:ok, struct!(Resource, fields)})
  end

  defp loaded(_type, nil), do: {:ok, nil}
  defp loaded(:term, text), do: Term.load(text)
  defp loaded(:query, text), do: Term.load_query(text)
  defp loaded(:time, seconds), do: DateTime.from_unix(seconds)
  defp loaded(:persist, "query"), do: {:ok, :query}
  defp loaded(:persist, "rows"), do: {:ok, :rows}
  defp loaded(_text_or_integer, value), do: {:ok, value}

  @doc "The keys of rows that hold a tenant and an id."
  @spec load_keys([[String.t()]]) :: {:ok, [{term, String.t()}]} | {:error, term}
  def load_keys(rows) do
    with {:ok, tenants} <- Term.load_all(rows),
         do: {:ok, Enum.zip_with(tenants, rows, fn tenant, [_text, id] -> {tenant, id} end)}
  end
end
