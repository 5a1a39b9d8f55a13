defmodule McpServer.DualResponse.Sorting do
  @moduledoc false
  # Sorts stored rows. The sort is stable. `nil` and missing values come last in both orders. Values of different types
  # are in this order: numbers, strings, booleans, others.

  alias McpServer.DualResponse

  @doc "The name of a column, from `:name` or `\"name\"`, as text."
  @spec name(map) :: String.t()
  def name(column), do: to_string(column[:name] || column["name"])

  @doc "Whether every field is a sortable column."
  @spec sortable?([String.t()], [map]) :: boolean
  def sortable?([], _columns), do: true

  def sortable?(fields, columns) do
    names = for column <- columns, sortable?(column), do: name(column)
    Enum.all?(fields, &(&1 in names))
  end

  defp sortable?(column), do: Map.get(column, :sortable, Map.get(column, "sortable", true)) != false

  @typedoc "An order of rows: the fields in both spellings, and the direction of each."
  @type order :: {[{String.t(), String.t() | atom()}], [:asc | :desc]}

  @doc "The order by these keys. The first key counts most."
  @spec order([DualResponse.sort()], tie_break :: String.t() | nil) :: order()
  def order(keys, tie_break) do
    keys = keys ++ if(tie_break, do: [%{field: tie_break, order: :asc}], else: [])
    {Enum.map(keys, &spellings(&1.field)), Enum.map(keys, & &1.order)}
  end

  @typedoc "A term that stands for a row, and what decides about its place. There may be 100,000 of these in memory."
  @type ranked :: nonempty_list(term)

  @doc "What decides about the place of a row, with a term that stands for the row."
  @spec ranked(order(), map, term) :: ranked()
  def ranked({fields, _orders}, row, stand_in), do: [stand_in | Enum.map(fields, &value(row, &1))]

  @doc "The terms that stand for the rows, sorted."
  @spec sort(order(), [ranked()]) :: [term]
  def sort({_fields, orders}, ranked),
    do: ranked |> Enum.sort(fn [_ | a], [_ | b] -> before?(a, b, orders) end) |> Enum.map(&hd/1)

  # Keys of rows are texts or atoms. No atom is created from a column's name.
  defp spellings(field) do
    {field, String.to_existing_atom(field)}
  rescue
    ArgumentError -> {field, field}
  end

  defp value(row, {text, atom}) do
    case row do
      %{^text => value} -> key(value)
      %{^atom => value} -> key(value)
      _row -> :missing
    end
  end

  defp key(nil), do: :missing
  defp key(value) when is_atom(value) and not is_boolean(value), do: Atom.to_string(value)
  # Encoded as ISO 8601, whose text order is the order of time.
  defp key(%module{} = value) when module in [Date, Time, NaiveDateTime, DateTime], do: module.to_iso8601(value)
  defp key(value), do: value

  # Whether one row may stay before another. Equal rows may, which keeps the sort stable.
  defp before?([], [], []), do: true
  defp before?([same | as], [same | bs], [_order | orders]), do: before?(as, bs, orders)
  defp before?([:missing | _as], [_b | _bs], _orders), do: false
  defp before?([_a | _as], [:missing | _bs], _orders), do: true
  defp before?([a | as], [b | bs], [_order | orders]) when a == b, do: before?(as, bs, orders)
  defp before?([a | _as], [b | _bs], [:asc | _orders]), do: less?(a, b)
  defp before?([a | _as], [b | _bs], [:desc | _orders]), do: less?(b, a)

  defp less?(a, b) when is_number(a) and is_number(b), do: a < b
  defp less?(a, b) when is_binary(a) and is_binary(b), do: a < b
  defp less?(a, b), do: {class(a), a} < {class(b), b}

  defp class(value) when is_number(value), do: 0
  defp class(value) when is_binary(value), do: 1
  defp class(value) when is_boolean(value), do: 2
  defp class(_other), do: 3
end
