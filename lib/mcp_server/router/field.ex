defmodule McpServer.Router.Field do
  @moduledoc false
  # A declared field of a tool, and its JSON Schema.

  alias McpServer.{Fields, Schema}
  alias McpServer.Router.{Default, FieldType, Name, Places, Refusal, Rule, Scope, Statement, Undeclared}

  # All keywords of JSON Schema 2020-12 for plain values.
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
  # Options of an argument outside its schema.
  @argument [undeclared: {:in, Undeclared.names()}, struct: :any]
  @options Fields.table([required: :boolean, items: :any] ++ @argument ++ @keywords, "option")
  @item_options Fields.table([description: :string, items: :any] ++ @argument ++ @keywords, "option")

  @doc "Begins a field of the innermost block, in its `:input`, `:output` or `:properties`."
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
    {special, schema, rule} = schema!(owner, description, type, options, @options, place)

    outer
    |> frame(owner, Map.get(outer, :root, into), {special, schema, rule}, place)
    |> Map.merge(%{into: into, name: name, required: Map.get(special, :required, false)})
    |> then(&Scope.open(module, &1))
  end

  defp frame(outer, owner, root, {special, schema, rule}, place) do
    frame = %{what: owner, root: root, place: place, schema: schema, properties: [], fields: [], rule: rule}
    Map.merge(frame, Undeclared.of_field!(special, frame, outer, place))
  end

  @doc "Begins the description of an array's elements."
  @spec open_items!(module, term, keyword, tail :: String.t(), Refusal.place()) :: :ok
  def open_items!(module, type, options, tail, place) do
    outer = Scope.current(module)
    owner = "items of #{outer.what}"

    cond do
      not is_map_key(outer, :schema) ->
        Refusal.refuse!(place, "`items` stands in #{outer.what} itself. It belongs in the block of an :array field")

      not container?(outer, "array") ->
        Refusal.refuse!(place, "`items` describes the elements of an array, but #{outer.what} is #{given(outer)}")

      Map.has_key?(outer.schema, "items") ->
        Refusal.refuse!(place, "the #{owner} are already defined. Remove one `items`")

      true ->
        if Statement.missing?(type),
          do: Refusal.refuse!(place, "the #{owner} have no type. Write: items :object#{tail}")

        {special, schema, rule} = schema!(owner, nil, type, options, @item_options, place)

        outer
        |> frame(owner, outer.root, {special, schema, rule}, place)
        |> Map.put(:into, :items)
        |> then(&Scope.open(module, &1))
    end
  end

  @doc "Ends the innermost field or item. `block?` tells whether it had a block."
  @spec close!(module, boolean) :: :ok
  def close!(module, block?) do
    field = Scope.close(module)
    check_block!(field, block?)
    schema = field.schema |> Map.merge(object(field.properties)) |> Undeclared.close(field)
    Default.check!(schema, field)
    fields = Places.of_field(pointer(field), field.place, field.fields)

    Scope.update(module, fn outer -> %{add(outer, field, schema) | fields: fields ++ outer.fields} end)
  end

  defp add(outer, %{into: :items} = field, schema),
    do: put_rule(put_in(outer.schema["items"], schema), field, &Rule.put_items/2)

  defp add(outer, field, schema) do
    added = %{name: field.name, required: field.required, schema: schema, place: field.place}
    outer |> Map.update!(field.into, &[added | &1]) |> put_rule(field, &Rule.put_property(&1, field.name, &2))
  end

  # Rules are only for arguments, not for results.
  defp put_rule(outer, %{root: :output}, _put), do: outer
  defp put_rule(outer, field, put), do: put.(outer, Rule.of(field))

  defp pointer(%{into: :items}), do: "/items"
  defp pointer(%{into: :input, name: name}), do: "/inputSchema" <> Places.property(name)
  defp pointer(%{into: :output, name: name}), do: "/outputSchema" <> Places.property(name)
  defp pointer(%{into: :properties, name: name}), do: Places.property(name)

  @doc "The object schema of these fields, which are in reverse order."
  @spec object([%{:name => String.t(), :required => boolean, :schema => map, optional(atom) => term}]) :: %{
          String.t() => term
        }
  def object([]), do: %{}

  def object(fields) do
    properties = Map.new(fields, &{&1.name, &1.schema})
    required = for %{required: true, name: name} <- Enum.reverse(fields), do: name
    if required == [], do: %{"properties" => properties}, else: %{"properties" => properties, "required" => required}
  end

  # Inside a field, `input_field` (or `output_field`) of the same side means `field`.
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
  defp lacking(text, _type, true) when is_binary(text), do: {"has no type. #{FieldType.list()}", text, :string}

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

  defp check_outer!(%{schema: _schema} = outer, :properties, owner, place) do
    cond do
      container?(outer, "object") ->
        :ok

      container?(outer, "array") ->
        Refusal.refuse!(
          place,
          "#{owner} has no object to be in: #{outer.what} is an array; describe its elements with `items`"
        )

      true ->
        Refusal.refuse!(place, "#{owner} has no object to be in: #{outer.what} is #{given(outer)}. Make it an :object")
    end
  end

  defp check_outer!(_outer, _into, _owner, _place), do: :ok

  # An array or an object may also be null.
  defp container?(%{schema: %{"type" => types}}, type), do: container?(types, type)
  defp container?(types, type), do: List.wrap(types) -- ["null"] == [type]

  defp check_new!(outer, into, name, owner, place) do
    if earlier = Enum.find(Map.fetch!(outer, into), &(&1.name == name)) do
      Refusal.refuse_twin!(place, owner, earlier.place)
    end
  end

  defp given(%{schema: %{"type" => type}}), do: "of type #{inspect(type)}"

  defp check_block!(field, true) do
    cond do
      container?(field, "object") or is_map_key(field.schema, "items") ->
        :ok

      container?(field, "array") ->
        Refusal.refuse!(
          field.place,
          "the block of #{field.what} has to say what its `items` are. Write in it: items :string"
        )

      true ->
        Refusal.refuse!(
          field.place,
          "only an :object or an :array has a block, but #{field.what} is #{given(field)}. Remove the block, or change the type"
        )
    end
  end

  defp check_block!(_field, false), do: :ok

  # The options outside the schema, the schema, and the cast of a value.
  defp schema!(owner, description, type, options, table, place) do
    {types, published, cast} = FieldType.read!(type, owner, place)
    {extensions, options} = split_extensions(options, owner, place)
    given = Refusal.checked!(place, fn -> Fields.gather!(owner, table, options) end)
    {special, keywords} = Map.split(given, [:required, :items | Keyword.keys(@argument)])
    keywords = Map.new(keywords, fn {keyword, value} -> {Atom.to_string(keyword), Schema.to_json(value)} end)
    check_keywords!(keywords, special, published, owner, place)
    {items, items_rule} = items!(special, types, owner, place)

    schema =
      %{"type" => types}
      |> Map.merge(described(Name.check_description!(description, owner, place)))
      |> Map.merge(published)
      |> Map.merge(keywords)
      |> Map.merge(items)
      |> Map.merge(extensions)

    {special, schema, cast |> Rule.cast() |> Rule.with_items(items_rule)}
  end

  defp check_keywords!(keywords, special, published, owner, place) do
    check_enum!(keywords, owner, place)
    FieldType.check_format!(keywords, published, owner, place)
    if special[:required], do: Default.refuse_required!(keywords, owner, place)
  end

  defp described(nil), do: %{}
  defp described(description), do: %{"description" => description}

  # Extension keywords, like `"x-mcp-header": "Region"`, are published unchanged.
  defp split_extensions(options, owner, place) do
    if not Keyword.keyword?(options) do
      Refusal.refuse!(place, "the options of #{owner} are a keyword list, got: #{inspect(options)}")
    end

    {extensions, options} = Enum.split_with(options, fn {key, _value} -> String.starts_with?(to_string(key), "x-") end)
    {Map.new(extensions, fn {key, value} -> {Atom.to_string(key), Schema.to_json(value)} end), options}
  end

  defp items!(%{items: items}, types, owner, place) do
    if not container?(types, "array") do
      Refusal.refuse!(place, "`items:` describes the elements of an array, but #{owner} is of type #{inspect(types)}")
    end

    element!(items, owner, place)
  end

  defp items!(_special, _types, _owner, _place), do: {%{}, nil}

  defp element!(%{} = schema, _owner, place),
    do: {%{"items" => Refusal.checked!(place, fn -> Schema.to_json(schema) end)}, nil}

  defp element!(type, owner, place) do
    {types, published, cast} = FieldType.read!(type, "items of #{owner}", place)
    {%{"items" => Map.put(published, "type", types)}, Rule.cast(cast)}
  end

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
