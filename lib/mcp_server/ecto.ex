defmodule McpServer.Ecto do
  @moduledoc """
  Declares the arguments of a tool, or the fields of its result, from an Ecto schema or embedded schema.

      tool "create_note", "Creates a note", MyApp.Notes, :create,
        input_schema: {McpServer.Ecto, MyApp.Note, only: [:title, :due, :tags]}

      def create(_conn, arguments) do
        %MyApp.Note{} |> MyApp.Note.changeset(arguments) |> MyApp.Repo.insert() |> …
      end

  In the short form of fields it is also a type, for example of the rows of a list:

      tool "list_notes", "Lists notes", MyApp.Notes, :list do
        output notes: {[{McpServer.Ecto, MyApp.Note, only: [:id, :title, :due]}], "The notes"},
               total: {:integer, "How many there are"}
      end

  The schema is read when the router is compiled. The router is recompiled when the schema changes. The fields are the
  same as those of `McpServer.Router.ToolBlock.input/1`: undeclared arguments are refused, and dates and decimals arrive
  as Elixir values. The block of the tool may declare further fields.

  | option | meaning | default |
  |---|---|---|
  | `only:`, `except:` | names of fields and embeds | all but ids, those of other tables included, timestamps, and fields with `redact: true` |
  | `required:` | names of required fields, of those that are taken | required fields of the changeset |
  | `nullable:` | names of fields that are taken and may be `null`, which arrives as `nil`; `:optional` for all that are neither required nor generated | none for arguments, `:optional` for results |
  | `changeset:` | the function whose validations are read: a name, `{module, name}`, or `false` | `:changeset`, if it exists |
  | `descriptions:` | map of field names to texts; several tools may share it | |

  The changeset function is called with an empty struct and no parameters when the router is compiled. These validations
  are published, as far as JSON Schema can express them: `validate_required`, `validate_length`, `validate_number`,
  `validate_inclusion`, `validate_subset` and `validate_format`. The handler must still call the changeset function,
  because constraints and custom validations are not read. A length counts code points in JSON, and graphemes in a
  changeset, so a text with combined characters may be refused below a maximum. Defaults of the schema are not published,
  because a tool that changes some fields would reset the others. Ecto fills in defaults when a struct is inserted.

  | type of Ecto | type of the field |
  |---|---|
  | `:integer`, `:float`, `:boolean`, `:map` | `:integer`, `:number`, `:boolean`, `:object` |
  | `:id` | `:integer` of 64 bits |
  | `:string` | `:text`: NUL characters are refused, as by PostgreSQL |
  | `:binary_id`, `Ecto.UUID` | `:uuid` |
  | `:date`, `:time`, `:naive_datetime`, `:utc_datetime`, and those with `_usec` | the same |
  | `:decimal` | `:decimal`: a string or a number |
  | `{:array, type}`, `{:map, type}` | arrays, objects |
  | `Ecto.Enum` | a string, one of its values |
  | `embeds_one`, `embeds_many` | an object, an array of objects; with the changeset function of the embed |
  | a type of your own | the type for its `type/0` |

  Associations and virtual fields are omitted, and so are fields of the types `:id` and `:binary_id` that `only:` does not
  name: the owner of a row is not for a client to choose.

  An argument that is `null` counts as missing, unless `nullable:` names it: then the tool can empty the field. Such a
  field is a union of types, which some clients do not know. A field of a result is `nil` while its column is empty, so
  fields that are neither required nor generated may be `null` there, also those of embeds. Those that are generated, as
  ids and timestamps are, are required there.

  The fields of a result describe it: their types and names, but no validations, because a row may be older than those.
  They leave nothing out: the members of a struct are those of its `@derive {McpServer.JSON.Encoder, only: […]}`. If two
  tools send different members of one struct, let the functions return maps: `{:ok, Map.take(note, [:id, :title])}`.

  A `changeset/3` with a scope, as Phoenix 1.8 generates it, cannot be called without one. Then give the function that has
  the validations, of a struct and parameters, or write `changeset: false` and `required:`.

  This module does not depend on Ecto: it calls the reflection functions of the schema.
  """

  alias McpServer.{NamedModule, Suggestion}

  @options [:only, :except, :required, :changeset, :descriptions]

  @types %{
    Ecto.UUID => :uuid,
    :integer => :integer,
    :float => :number,
    :boolean => :boolean,
    :string => :text,
    :map => :object,
    :binary_id => :uuid,
    :uuid => :uuid,
    :date => :date,
    :time => :time,
    :time_usec => :time,
    :naive_datetime => :naive_datetime,
    :naive_datetime_usec => :naive_datetime,
    :utc_datetime => :datetime,
    :utc_datetime_usec => :datetime,
    :decimal => :decimal
  }

  # A `bigint`: a database refuses numbers beyond it with an exception.
  @id [minimum: -0x8000_0000_0000_0000, maximum: 0x7FFF_FFFF_FFFF_FFFF]

  @bounds %{
    greater_than: :exclusive_minimum,
    greater_than_or_equal_to: :minimum,
    less_than: :exclusive_maximum,
    less_than_or_equal_to: :maximum,
    equal_to: :const
  }

  @doc false
  @spec fields!(module, :input | :output, keyword) :: [McpServer.Router.Elsewhere.field()]
  def fields!(schema, side, options \\ []) do
    check_schema!(schema)
    options = Keyword.validate!(options, [nullable: nullable(side)] ++ @options)
    changeset = changeset(schema, options)
    required = options[:required] || changeset.required
    present = required ++ generated(schema)
    demanded = if side == :output, do: present, else: required
    options = Keyword.update(options, :descriptions, %{}, &Map.new/1)
    for option <- [:only, :except, :required, :nullable], do: check_names!(options[option], option, schema)
    check_names!(Map.keys(options[:descriptions]), :descriptions, schema)
    chosen = chosen(schema, options)
    for option <- [:required, :nullable], do: check_chosen!(options[option], option, chosen, schema)

    for name <- chosen do
      {type, keywords} = type!(schema, name, side)
      validations = for {^name, validation} <- published(changeset, side), do: validation
      validated = keywords(validations, type, keywords)
      required? = name in demanded
      {type, validated} = or_null(items(type, validations), validated, nullable?(options[:nullable], name, present))
      {name, {type, options[:descriptions][name], if(required?, do: [required: true], else: []) ++ validated}}
    end
  end

  # A row may be older than a validation, and its list must not fail for it.
  defp published(changeset, :input), do: Enum.reverse(changeset.validations)
  defp published(_changeset, :output), do: []

  defp nullable(:input), do: []
  defp nullable(:output), do: :optional

  defp nullable?(:optional, name, present), do: name not in present
  defp nullable?(names, name, _present), do: name in names

  # What names the allowed values has to name `null`, too.
  defp or_null(type, keywords, false), do: {type, keywords}

  defp or_null(type, keywords, true) do
    keywords =
      Enum.map(keywords, fn
        {:enum, values} -> {:enum, values ++ [nil]}
        {:const, value} -> {:enum, [value, nil]}
        keyword -> keyword
      end)

    {[type, :null], keywords}
  end

  defp check_schema!(schema) do
    mistake =
      cond do
        not is_atom(schema) or schema in [nil, true, false] ->
          "a schema of Ecto is the name of a module such as MyApp.Note"

        missing = NamedModule.missing(schema) ->
          "the schema of Ecto: #{missing}"

        function_exported?(schema, :__schema__, 1) ->
          nil

        true ->
          "the module is no schema of Ecto. It needs `use Ecto.Schema`"
      end

    if mistake, do: raise(ArgumentError, "#{inspect(schema)}: #{mistake}")
  end

  defp check_names!(nil, _option, _schema), do: :ok
  defp check_names!(:optional, :nullable, _schema), do: :ok

  defp check_names!(names, option, schema) do
    known = known(schema)

    for name <- names, name not in known do
      meant = Suggestion.end_sentence(to_string(name), Enum.map(known, &to_string/1), ":")
      fields = Enum.map_join(known, ", ", &inspect/1)

      raise ArgumentError,
            "`#{option}:` names #{inspect(name)}, which #{inspect(schema)} does not have#{meant} Its fields are: #{fields}"
    end
  end

  # Such a name would do nothing. Several tools share one map of descriptions.
  defp check_chosen!(names, option, chosen, schema) when is_list(names) do
    if name = Enum.find(names, &(&1 not in chosen)) do
      raise ArgumentError,
            "`#{option}:` names #{inspect(name)}, which is not among the fields that are taken from #{inspect(schema)}. " <>
              "Name it in `only:` too, or remove it from `#{option}:`"
    end
  end

  defp check_chosen!(_none, _option, _chosen, _schema), do: :ok

  # Embeds are among the fields.
  defp known(schema), do: schema.__schema__(:fields)

  defp chosen(schema, options) do
    names = options[:only] || for name <- known(schema) -- unnamed(schema), not key?(schema, name), do: name
    names -- (options[:except] || [])
  end

  defp key?(schema, name), do: schema.__schema__(:type, name) in [:id, :binary_id]

  # What neither a client nor a model sees by default.
  defp unnamed(schema), do: generated(schema) ++ schema.__schema__(:redact_fields)

  defp generated(schema) do
    id = with {name, _source, _type} <- schema.__schema__(:autogenerate_id), do: name
    [id | schema.__schema__(:autogenerate_fields)]
  end

  defp type!(schema, name, side) do
    case schema.__schema__(:embed, name) do
      nil -> field!(schema.__schema__(:type, name), schema, name)
      %{cardinality: :one, related: related} -> {embed(related, side), []}
      %{cardinality: :many, related: related} -> {[embed(related, side)], []}
    end
  end

  defp embed(related, side), do: Map.new(fields!(related, side))

  defp field!({:array, inner}, schema, name) do
    {type, keywords} = field!(inner, schema, name)
    {[{type, keywords}], []}
  end

  defp field!({:map, inner}, schema, name) do
    {type, keywords} = field!(inner, schema, name)
    {:object, [additional_properties: Map.new([{:type, json(type)} | keywords])]}
  end

  # A tuple of three before Ecto 3.12.
  defp field!({:parameterized, {Ecto.Enum, enum}}, _schema, _name), do: enum(enum)
  defp field!({:parameterized, Ecto.Enum, enum}, _schema, _name), do: enum(enum)
  defp field!(:id, _schema, _name), do: {:integer, @id}
  defp field!(type, _schema, _name) when is_map_key(@types, type), do: {@types[type], []}

  defp field!(type, schema, name) do
    if is_atom(type) and Code.ensure_loaded?(type) and function_exported?(type, :type, 0),
      do: field!(type.type(), schema, name),
      else: raise(ArgumentError, unknown(type, schema, name))
  end

  defp unknown(type, schema, name) do
    "the field #{inspect(name)} of #{inspect(schema)} has the type #{inspect(type)}, which no JSON has. " <>
      "Leave it out with `except: [#{inspect(name)}]`, and declare it with `input` if the tool needs it"
  end

  defp enum(%{mappings: mappings}), do: {:string, [enum: for({value, _stored} <- mappings, do: Atom.to_string(value))]}

  # Members of a map are not read as Elixir values.
  defp json(type) when type in [:integer, :number, :boolean, :string, :object], do: type
  defp json(_text), do: :string

  defp changeset(schema, options) do
    case Keyword.get(options, :changeset, :changeset) do
      false ->
        %{required: [], validations: []}

      {module, function} ->
        called!(module, function, schema)

      function ->
        cond do
          Keyword.has_key?(options, :changeset) or function_exported?(schema, function, 2) ->
            called!(schema, function, schema)

          function_exported?(schema, function, 3) ->
            raise ArgumentError, scoped(schema, function)

          true ->
            changeset(schema, changeset: false)
        end
    end
  end

  defp scoped(schema, function) do
    "#{inspect(schema)}.#{function}/3 cannot be called without a scope, and there is no #{function}/2. Name the function " <>
      "of a struct and parameters that has the validations, `changeset: :validations`, or write `changeset: false` and " <>
      "`required:`"
  end

  defp called!(module, function, schema) do
    case apply(module, function, [struct(schema), %{}]) do
      %{required: required, validations: validations} -> %{required: required, validations: validations}
      other -> raise ArgumentError, "#{named(module, function)} returned no changeset: #{inspect(other)}"
    end
  rescue
    error in ArgumentError -> reraise error, __STACKTRACE__
    error -> raise ArgumentError, failed(module, function, Exception.message(error))
  catch
    :exit, _reason -> raise ArgumentError, failed(module, function, "it exited")
  end

  defp failed(module, function, reason) do
    "#{named(module, function)} cannot be called with an empty struct and no parameters (#{reason}). " <>
      "Name another function, or write `changeset: false` and `required:`"
  end

  defp named(module, function), do: "#{inspect(module)}.#{function}/2"

  # Omits keywords that the enumeration or the type implies, and bounds of a column where a validation has narrower ones.
  defp keywords(validations, type, keywords) do
    read = for validation <- validations, keyword <- read(validation, type), do: keyword
    if keywords == @id, do: Keyword.merge(keywords, read), else: Keyword.merge(read, keywords)
  end

  # A subset is an inclusion of each item.
  defp items([{type, keywords}], validations) do
    inclusions = for {:subset, values} <- validations, do: {:inclusion, values}
    [{type, keywords(inclusions, type, keywords)}]
  end

  defp items(type, _validations), do: type

  defp read({:length, options}, [_items]), do: lengths(options, :min_items, :max_items)
  defp read({:length, options}, type) when type in [:string, :text], do: lengths(options, :min_length, :max_length)

  defp read({:number, bounds}, type) when type in [:integer, :number] do
    for {bound, value} <- bounds, is_number(value), keyword = @bounds[bound], do: {keyword, value}
  end

  defp read({:inclusion, values}, type) when type in [:string, :text], do: texts(values)
  defp read({:inclusion, %Range{first: first, last: last}}, :integer), do: [minimum: first, maximum: last]

  defp read({:inclusion, values}, type) when type in [:integer, :number],
    do: if(Enum.all?(values, &is_number/1), do: [enum: Enum.to_list(values)], else: [])

  defp read({:format, %Regex{} = regex}, type) when type in [:string, :text], do: pattern(regex)
  defp read(_validation, _type), do: []

  defp texts(values), do: if(Enum.all?(values, &is_binary/1), do: [enum: Enum.to_list(values)], else: [])

  # A text has at least as many bytes as characters, so a limit in bytes gives only a maximum of characters.
  defp lengths(options, min, max) do
    bytes? = options[:count] == :bytes
    least = options[:is] || options[:min]
    most = options[:is] || options[:max]
    if(least && not bytes?, do: [{min, least}], else: []) ++ if most, do: [{max, most}], else: []
  end

  # The changeset alone checks patterns that JSON Schema cannot express, with look-around or options.
  defp pattern(regex) do
    source = regex |> Regex.source() |> String.replace("\\A", "^") |> String.replace(~r/\\[zZ]\z/, "$")
    plain? = Regex.opts(regex) in ["", "u", [], [:unicode], [:ucp, :unicode], [:unicode, :ucp]]

    if plain? and match?({:ok, _validator}, McpServer.Schema.Validator.compile(%{"pattern" => source})),
      do: [pattern: source],
      else: []
  end
end
