defmodule McpServer.Router.Field do
  @moduledoc false
  # One declared field of a tool, and the JSON Schema it stands for.

  alias McpServer.{Fields, Schema, Suggestion}
  alias McpServer.Router.{Name, Places, Refusal, Scope, Statement}

  # Every keyword of JSON Schema 2020-12 that says something about a plain value.
  @keywords [
    title: :string,
    enum: :list,
    const: :any,
    default: :any,
    examples: :list,
    format: :string,
    pattern: :string,
    minLength: :count,
    maxLength: :count,
    minimum: :number,
    maximum: :number,
    exclusiveMinimum: :number,
    exclusiveMaximum: :number,
    multipleOf: :number,
    minItems: :count,
    maxItems: :count,
    uniqueItems: :boolean,
    minProperties: :count,
    maxProperties: :count,
    additionalProperties: :grant,
    contentEncoding: :string,
    contentMediaType: :string,
    deprecated: :boolean,
    readOnly: :boolean,
    writeOnly: :boolean
  ]
  @options Fields.table([required: :boolean, items: :any] ++ @keywords, "option")
  @item_options Fields.table([description: :string, items: :any] ++ @keywords, "option")

  # What JSON Schema calls otherwise.
  @elixir_types %{
    "map" => "object",
    "keyword" => "object",
    "list" => "array",
    "float" => "number",
    "text" => "string",
    "date" => "string",
    "nil" => "null"
  }

  @doc "Begins a field of the innermost block: one of its `into` (`:input`, `:output` or `:properties`)."
  @spec open!(module, atom, term, {term, term}, keyword, tail :: String.t(), Refusal.place()) :: :ok
  def open!(module, into, name, {description, type}, options, tail, place) do
    outer = Scope.current(module)
    name = if is_atom(name) and name != nil, do: Atom.to_string(name), else: name
    into = into!(into, outer, name, place)
    owner = "#{noun(into)} #{inspect(name)} of #{outer.what}"
    name = Name.check_free!(name, "#{article(into)} #{noun(into)} of #{outer.what}", place)
    check_outer!(outer, into, owner, place)
    check_new!(outer, into, name, owner, place)
    check_given!(description, type, owner, &"#{statement(into)} #{inspect(name)}, #{&1}#{tail}", place)
    {required, schema} = schema!(owner, description, type, options, @options, place)

    Scope.open(module, %{
      what: owner,
      into: into,
      root: Map.get(outer, :root, into),
      place: place,
      name: name,
      required: required,
      schema: schema,
      properties: [],
      fields: []
    })
  end

  @doc "Begins the description of an array's elements."
  @spec open_items!(module, term, keyword, tail :: String.t(), Refusal.place()) :: :ok
  def open_items!(module, type, options, tail, place) do
    outer = Scope.current(module)
    owner = "items of #{outer.what}"

    cond do
      not is_map_key(outer, :schema) ->
        Refusal.refuse!(place, "`items` stands in #{outer.what} itself. It belongs in the block of an :array field")

      outer.schema["type"] != "array" ->
        Refusal.refuse!(place, "`items` describes the elements of an array, but #{outer.what} is #{given(outer)}")

      Map.has_key?(outer.schema, "items") ->
        Refusal.refuse!(place, "the #{owner} are already defined. Remove one `items`")

      true ->
        if Statement.missing?(type),
          do: Refusal.refuse!(place, "the #{owner} have no type. Write: items :object#{tail}")

        {_required, schema} = schema!(owner, nil, type, options, @item_options, place)

        Scope.open(module, %{
          what: owner,
          into: :items,
          root: outer.root,
          place: place,
          schema: schema,
          properties: [],
          fields: []
        })
    end
  end

  @doc "Ends the innermost field or item. `block?` says whether it had a block of its own."
  @spec close!(module, boolean) :: :ok
  def close!(module, block?) do
    field = Scope.close(module)
    check_block!(field, block?)
    schema = Map.merge(field.schema, object(field.properties))
    fields = Places.of_field(pointer(field), field.place, field.fields)

    Scope.update(module, fn outer -> %{add(outer, field, schema) | fields: fields ++ outer.fields} end)
  end

  defp add(outer, %{into: :items}, schema), do: put_in(outer.schema["items"], schema)

  defp add(outer, field, schema) do
    added = %{name: field.name, required: field.required, schema: schema, place: field.place}
    Map.update!(outer, field.into, &[added | &1])
  end

  defp pointer(%{into: :items}), do: "/items"
  defp pointer(%{into: :input, name: name}), do: "/inputSchema" <> Places.property(name)
  defp pointer(%{into: :output, name: name}), do: "/outputSchema" <> Places.property(name)
  defp pointer(%{into: :properties, name: name}), do: Places.property(name)

  @doc "The object schema of these fields, given last first."
  @spec object([%{:name => String.t(), :required => boolean, :schema => map, optional(atom) => term}]) :: %{
          String.t() => term
        }
  def object([]), do: %{}

  def object(fields) do
    properties = Map.new(fields, &{&1.name, &1.schema})
    required = for %{required: true, name: name} <- Enum.reverse(fields), do: name
    if required == [], do: %{"properties" => properties}, else: %{"properties" => properties, "required" => required}
  end

  # Inside a field of the same side `input_field` can only mean `field`.
  defp into!(into, %{root: root}, _name, _place) when into in [:properties, root], do: :properties

  defp into!(into, %{root: _other} = outer, name, place) do
    Refusal.refuse!(
      place,
      "#{statement(into)} #{inspect(name)} stands in the block of #{outer.what}. A field of an object is written " <>
        "`field`; #{article(into)} #{noun(into)} belongs in the block of the tool"
    )
  end

  defp into!(:properties, tool, name, place) do
    Refusal.refuse!(
      place,
      "field #{inspect(name)} stands in #{tool.what} itself. Write `input_field` for an argument, `output_field` for a result"
    )
  end

  defp into!(into, _tool, _name, _place), do: into

  defp check_given!(description, type, owner, statement, place) do
    with {fault, description, type} <- lacking(description, type, Statement.missing?(type)) do
      written = statement.("#{inspect(description)}, #{inspect(type)}")
      Refusal.refuse!(place, "#{owner} #{fault}. Write: #{written}")
    end
  end

  defp lacking(type, text, false) when is_atom(type) and type != nil and is_binary(text),
    do: {"has its type before its description", text, type}

  defp lacking(_description, _type, false), do: :ok
  defp lacking(text, _type, true) when is_binary(text), do: {"has no type. #{types()}", text, :string}

  defp lacking(type, _type, true) do
    if type == nil or Statement.missing?(type),
      do: {"has no description and no type", "What it is", :string},
      else: {"has no description", "What it is", type}
  end

  defp statement(:input), do: "input_field"
  defp statement(:output), do: "output_field"
  defp statement(:properties), do: "field"

  defp noun(:input), do: "input field"
  defp noun(:output), do: "output field"
  defp noun(:properties), do: "field"

  defp article(:properties), do: "a"
  defp article(_into), do: "an"

  defp check_outer!(%{schema: %{"type" => "object"}}, :properties, _owner, _place), do: :ok

  defp check_outer!(%{schema: %{"type" => "array"}} = outer, :properties, owner, place) do
    Refusal.refuse!(
      place,
      "#{owner} has no object to be in: #{outer.what} is an array; describe its elements with `items`"
    )
  end

  defp check_outer!(%{schema: _schema} = outer, :properties, owner, place) do
    Refusal.refuse!(place, "#{owner} has no object to be in: #{outer.what} is #{given(outer)}. Make it an :object")
  end

  defp check_outer!(_outer, _into, _owner, _place), do: :ok

  defp check_new!(outer, into, name, owner, place) do
    if earlier = Enum.find(Map.fetch!(outer, into), &(&1.name == name)) do
      Refusal.refuse_twin!(place, owner, earlier.place)
    end
  end

  defp given(%{schema: %{"type" => type}}), do: "of type #{inspect(type)}"

  defp check_block!(%{schema: %{"type" => "array"} = schema} = field, true) do
    if not Map.has_key?(schema, "items") do
      Refusal.refuse!(
        field.place,
        "the block of #{field.what} has to say what its `items` are. Write in it: items :string"
      )
    end
  end

  defp check_block!(%{schema: %{"type" => "object"}}, true), do: :ok

  defp check_block!(field, true) do
    Refusal.refuse!(
      field.place,
      "only an :object or an :array has a block, but #{field.what} is #{given(field)}. Remove the block, or change the type"
    )
  end

  defp check_block!(_field, false), do: :ok

  defp schema!(owner, description, type, options, table, place) do
    type = type!(type, owner, place)
    {extensions, options} = split_extensions(options, owner, place)
    given = Refusal.checked!(place, fn -> Fields.gather!(owner, table, options) end)
    {special, keywords} = Map.split(given, [:required, :items])
    keywords = Map.new(keywords, fn {keyword, value} -> {Atom.to_string(keyword), Schema.to_json(value)} end)
    check_enum!(keywords, owner, place)

    schema =
      %{"type" => type}
      |> Map.merge(described(Name.check_description!(description, owner, place)))
      |> Map.merge(keywords)
      |> Map.merge(items!(special, type, owner, place))
      |> Map.merge(extensions)

    {Map.get(special, :required, false), schema}
  end

  defp described(nil), do: %{}
  defp described(description), do: %{"description" => description}

  # Keywords of others, like `"x-mcp-header": "Region"`, go out as they are.
  defp split_extensions(options, owner, place) do
    if not Keyword.keyword?(options) do
      Refusal.refuse!(place, "the options of #{owner} are a keyword list, got: #{inspect(options)}")
    end

    {extensions, options} = Enum.split_with(options, fn {key, _value} -> String.starts_with?(to_string(key), "x-") end)
    {Map.new(extensions, fn {key, value} -> {Atom.to_string(key), Schema.to_json(value)} end), options}
  end

  defp type!([_first | _rest] = types, owner, place), do: Enum.map(types, &type!(&1, owner, place))

  defp type!(type, owner, place) do
    text = if is_atom(type) and type != nil, do: Atom.to_string(type), else: type
    if text in Schema.types(), do: text, else: Refusal.refuse!(place, wrong_type(type, text, owner))
  end

  defp wrong_type(type, text, owner) do
    stop =
      if is_binary(text),
        do: Suggestion.end_sentence(Map.get(@elixir_types, text, text), Schema.types(), ":"),
        else: "."

    "#{owner} has no type #{inspect(type)}#{stop} #{types()}"
  end

  defp types, do: "The types are: " <> Enum.map_join(Schema.types(), ", ", &":#{&1}")

  defp items!(%{items: %{} = schema}, "array", _owner, place) do
    %{"items" => Refusal.checked!(place, fn -> Schema.to_json(schema) end)}
  end

  defp items!(%{items: type}, "array", owner, place),
    do: %{"items" => %{"type" => type!(type, "items of #{owner}", place)}}

  defp items!(%{items: _items}, type, owner, place) do
    Refusal.refuse!(place, "`items:` describes the elements of an array, but #{owner} is of type #{inspect(type)}")
  end

  defp items!(_special, _type, _owner, _place), do: %{}

  defp check_enum!(%{"enum" => []}, owner, place),
    do: Refusal.refuse!(place, "the enum of #{owner} allows no value. Write at least one")

  defp check_enum!(%{"enum" => values, "default" => default}, owner, place) do
    if default not in values do
      Refusal.refuse!(
        place,
        "the default of #{owner} is #{inspect(default)}, which its enum does not allow. Write one of its values: #{inspect(values)}"
      )
    end
  end

  defp check_enum!(_keywords, _owner, _place), do: :ok
end
