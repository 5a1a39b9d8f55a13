defmodule McpServer.Router.FieldType do
  @moduledoc false
  # The types of a field: the types of JSON Schema, and Elixir types that strings are converted to.

  alias McpServer.{Schema, Suggestion}
  alias McpServer.Router.Refusal

  # The published schema of an Elixir type. JSON Schema has no format for a local time or a decimal number.
  @elixir [
    {"date", %{"format" => "date"}},
    {"time", %{"format" => "time"}},
    {"datetime", %{"format" => "date-time"}},
    {"naive_datetime", %{"pattern" => "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?$"}},
    {"decimal", %{"pattern" => "^[+-]?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$"}},
    {"uuid", %{"format" => "uuid"}},
    {"uri", %{"format" => "uri"}},
    {"text", %{}}
  ]
  @published Map.new(@elixir)
  @names Schema.types() ++ Enum.map(@elixir, &elem(&1, 0))

  # Names of these types in other libraries.
  @other_names %{
    "map" => "object",
    "keyword" => "object",
    "list" => "array",
    "float" => "number",
    "utc_datetime" => "datetime",
    "url" => "uri",
    "nil" => "null"
  }

  # The formats of draft 2020-12. The last two need Unicode tables and are never checked.
  @formats ~w(date date-time duration email hostname ipv4 ipv6 iri iri-reference json-pointer regex
              relative-json-pointer time uri uri-reference uri-template uuid idn-email idn-hostname)

  @typedoc "The JSON Schema type or types, further keywords, and the type that strings are converted to."
  @type t :: {String.t() | [String.t()], %{String.t() => String.t()}, cast :: String.t() | nil}

  @doc "Reads a type, or a list of allowed types."
  @spec read!(term, String.t(), Refusal.place()) :: t
  def read!([_first | _rest] = types, owner, place) do
    {types, published, casts} = types |> Enum.map(&one!(&1, owner, place)) |> unzip()

    types = List.flatten(types)

    case Enum.reject(casts, &is_nil/1) do
      [] -> {types, %{}, nil}
      [cast] -> {one_string!(types, owner, place), Enum.find(published, %{}, &(&1 != %{})), cast}
      _casts -> refuse_two!(owner, place)
    end
  end

  def read!(type, owner, place), do: one!(type, owner, place)

  defp one_string!(types, owner, place),
    do: if(Enum.count(types, &(&1 == "string")) == 1, do: Enum.uniq(types), else: refuse_two!(owner, place))

  defp unzip(types),
    do: {Enum.map(types, &elem(&1, 0)), Enum.map(types, &elem(&1, 1)), Enum.map(types, &elem(&1, 2))}

  @spec refuse_two!(String.t(), Refusal.place()) :: no_return
  defp refuse_two!(owner, place) do
    Refusal.refuse!(
      place,
      "#{owner} has two types that are strings in JSON. Keep one of them, or write :string and tell them apart yourself"
    )
  end

  defp one!(type, owner, place) do
    text = if is_atom(type) and type != nil, do: Atom.to_string(type), else: type

    case @published do
      %{^text => published} -> {json(text), published, loaded!(text, owner, place)}
      _elixir -> if text in Schema.types(), do: {text, %{}, nil}, else: Refusal.refuse!(place, wrong(type, text, owner))
    end
  end

  # Models write numbers. A pattern is only for strings.
  defp json("decimal"), do: ["string", "number"]
  defp json(_type), do: "string"

  defp loaded!("decimal", owner, place) do
    if Code.ensure_loaded?(Decimal),
      do: "decimal",
      else:
        Refusal.refuse!(
          place,
          "#{owner} is a :decimal, which needs the package decimal. Add {:decimal, \"~> 2.0\"} to the deps of your " <>
            "mix.exs, or write :string"
        )
  end

  defp loaded!(type, _owner, _place), do: type

  defp wrong(type, text, owner) do
    stop =
      if is_binary(text),
        do: Suggestion.end_sentence(Map.get(@other_names, text, text), @names, ":"),
        else: "."

    "#{owner} has no type #{inspect(type)}#{stop} #{list()}"
  end

  @doc "A sentence that lists the types."
  @spec list() :: String.t()
  def list, do: "The types are: " <> Enum.map_join(@names, ", ", &":#{&1}")

  @doc "Refuses unknown formats, and a format beside a type that implies one."
  @spec check_format!(%{String.t() => term}, %{String.t() => String.t()}, String.t(), Refusal.place()) :: :ok
  def check_format!(%{"format" => format}, published, owner, place) do
    cond do
      published != %{} ->
        Refusal.refuse!(place, "#{owner} has a `format:` beside a type that has its own. Remove `format:`")

      format in @formats ->
        :ok

      true ->
        Refusal.refuse!(place, unknown_format(format, owner))
    end
  end

  def check_format!(_keywords, _published, _owner, _place), do: :ok

  defp unknown_format(format, owner) do
    stop = Suggestion.end_sentence(format, @formats)

    "#{owner} has the format #{inspect(format)}, which JSON Schema does not have#{stop} The formats are: " <>
      "#{Enum.join(@formats, ", ")}. For one of your own, write the whole schema with `input_schema`"
  end
end
