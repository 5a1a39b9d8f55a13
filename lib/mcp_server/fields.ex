defmodule McpServer.Fields do
  @moduledoc false
  # The implementation of all `new/1` functions: they take fields in both spellings and return a checked struct. A
  # struct declares its fields once. The struct, its type `t`, `new/1` and the table in its documentation are made from
  # them:
  #
  #     use McpServer.Fields,
  #       name: [:string, required: true, doc: "1 to 128 characters"],
  #       inputSchema: [:map, default: %{}],
  #       title: :string
  #
  # The options of a field are `required:`, `default:`, `doc:` and `type:`, a typespec narrower than the one of the
  # field's type. `new/1` can be overridden.
  #
  # The router checks the options of its declarations in the same way, with its own tables. Keys are looked up as text,
  # so no atoms are created.

  alias McpServer.Suggestion

  @typedoc """
  The type of a field.

    * `:container` is a map or a list, `:grant` a boolean or a map, `:id` a string or an integer,
      `:count` a non-negative integer.
    * `{:in, texts}` is one of these strings; an atom of that name counts and becomes the string.
    * `{:struct, module}` is that struct, a map (kept as it is) or a keyword list (for `module.new/1`).
  """
  @type type ::
          :any
          | :string
          | :boolean
          | :integer
          | :count
          | :number
          | :map
          | :list
          | :container
          | :grant
          | :id
          | {:in, [String.t()]}
          | {:list, type}
          | {:struct, module}
  @type rule :: type | [type | {:required, boolean} | {:default, any} | {:doc, String.t()}]
  @type table :: %{noun: String.t(), spellings: %{String.t() => atom}, rules: [{atom, type}], required: [atom]}

  defmacro __using__(fields) do
    fields = for {name, rule} <- fields, do: {name, split(rule)}
    rules = for {name, {type, options}} <- fields, do: {name, [type | Keyword.delete(options, :type)]}
    types = for {name, {type, options}} <- fields, do: {name, typespec(type, options)}

    quote do
      @fields unquote(rules)
      @table McpServer.Fields.table(@fields)
      @moduledoc McpServer.Fields.document(@moduledoc, @fields)
      @enforce_keys for({name, nil} <- McpServer.Fields.defaults(@fields), name in @table.required, do: name)
      defstruct McpServer.Fields.defaults(@fields)

      @type t :: %__MODULE__{unquote_splicing(types)}

      @doc "Builds the struct from its fields; raises `ArgumentError` naming the field at fault."
      @spec new(keyword | map) :: t
      def new(fields), do: McpServer.Fields.build!(__MODULE__, @table, fields)
      defoverridable new: 1
    end
  end

  defp split([type | options]), do: {type, options}
  defp split(type), do: {type, []}

  defp typespec(type, options) do
    spec = options[:type] || spec(type)
    given? = options[:required] || options[:default] != nil || (type == :any and options[:type] == nil)
    if given?, do: spec, else: quote(do: unquote(spec) | nil)
  end

  defp spec(:any), do: quote(do: any)
  defp spec(:string), do: quote(do: String.t())
  defp spec(:boolean), do: quote(do: boolean)
  defp spec(:integer), do: quote(do: integer)
  defp spec(:count), do: quote(do: non_neg_integer)
  defp spec(:number), do: quote(do: number)
  defp spec(:map), do: quote(do: map)
  defp spec(:list), do: quote(do: list)
  defp spec(:container), do: quote(do: map | list)
  defp spec(:grant), do: quote(do: boolean | map)
  defp spec(:id), do: quote(do: String.t() | integer)
  defp spec({:in, _texts}), do: quote(do: String.t())
  defp spec({:list, type}), do: quote(do: [unquote(spec(type))])
  defp spec({:struct, module}), do: quote(do: unquote(module).t() | map)

  @doc "Each field with its default, for `defstruct`."
  @spec defaults([{atom, rule}]) :: keyword
  def defaults(rules), do: for({field, rule} <- rules, do: {field, rule |> options() |> Keyword.get(:default)})

  @doc "A struct's documentation with the table of its fields, if it has a documentation."
  @spec document(String.t() | false, [{atom, rule}]) :: String.t() | false
  def document(false, _rules), do: false

  def document(text, rules) do
    rows = for {field, rule} <- rules, do: "| `#{field}` | #{column(rule)} | #{options(rule)[:doc]} |\n"
    "#{String.trim_trailing(text)}\n\n## Fields\n\n| field | type | meaning |\n|---|---|---|\n#{rows}"
  end

  defp column(rule) do
    options = options(rule)
    text = rule |> type() |> documented()

    cond do
      options[:required] -> text <> ", required"
      options[:default] != nil -> text <> ", `#{inspect(options[:default])}` by default"
      true -> text
    end
  end

  defp documented({:struct, module}), do: "`#{inspect(module)}` or map"
  defp documented({:list, {:in, _texts} = type}), do: "list of " <> documented(type)
  defp documented({:list, {:struct, module}}), do: "list of `#{inspect(module)}` or maps"
  defp documented({:list, type}), do: "list of #{documented(type)}s"
  defp documented({:in, texts}), do: Enum.map_join(texts, " or ", &"`#{inspect(&1)}`")
  defp documented(type), do: type |> describe() |> String.replace(~r/\ban? /, "")

  @doc "The table of a struct, with its fields in the order of the checks. `noun` is a field's name in messages."
  @spec table([{atom, rule}], String.t()) :: table
  def table(rules, noun \\ "field") do
    %{
      noun: noun,
      spellings: for({field, _rule} <- rules, text <- spellings(Atom.to_string(field)), into: %{}, do: {text, field}),
      rules: for({field, rule} <- rules, do: {field, type(rule)}),
      required: for({field, rule} <- rules, options(rule)[:required], do: field)
    }
  end

  defp type([type | _options]), do: type
  defp type(type), do: type

  defp options([_type | options]), do: options
  defp options(_type), do: []

  defp spellings("_" <> rest = field), do: [field, rest]
  defp spellings(field), do: Enum.uniq([field, Macro.underscore(field), camelize(field)])

  @doc """
  The camelCase spelling of a name.

      iex> McpServer.Fields.camelize("min_length")
      "minLength"
  """
  @spec camelize(String.t()) :: String.t()
  def camelize(name) do
    [first | rest] = String.split(name, "_")
    Enum.join([first | Enum.map(rest, &String.capitalize/1)])
  end

  @doc """
  Builds the struct, or raises `ArgumentError` that names the faulty field.

  `nil` counts as not given: the field has its default.
  """
  @spec build!(module, table, Enumerable.t()) :: struct
  def build!(module, table, fields), do: struct!(module, gather!(inspect(module), table, fields))

  @doc "The given fields, checked, under their names. `owner` is their owner in messages."
  @spec gather!(String.t(), table, Enumerable.t()) :: %{atom => any}
  def gather!(owner, table, fields) do
    given = fields |> pairs(owner, table) |> Enum.reduce(%{}, &put_given(&1, &2, owner, table))

    for {field, type} <- table.rules, {:ok, value} <- [fetch(given, field, owner, table)], into: %{} do
      {field, cast!(value, type, field, owner)}
    end
  end

  defp pairs(fields, _owner, _table) when is_map(fields) and not is_struct(fields), do: Map.to_list(fields)

  defp pairs(fields, owner, table) do
    if is_list(fields) and Enum.all?(fields, &match?({_key, _value}, &1)) do
      fields
    else
      raise ArgumentError, "the #{table.noun}s of #{owner} are a keyword list or a map, got: #{inspect(fields)}"
    end
  end

  defp put_given({key, value}, given, owner, table) do
    field = field!(key, owner, table)

    case given do
      _given when value == nil -> given
      %{^field => other} when other !== value -> raise ArgumentError, conflict(field, owner)
      _given -> Map.put(given, field, value)
    end
  end

  defp conflict(field, owner), do: "conflicting values for #{inspect(field)} of #{owner}: it was given twice"

  defp field!(key, owner, table) do
    text = text_of(key)

    case table.spellings do
      %{^text => field} -> field
      _spellings -> raise ArgumentError, unknown(text, owner, table)
    end
  end

  defp text_of(key) when is_atom(key), do: Atom.to_string(key)
  defp text_of(key) when is_binary(key), do: key
  defp text_of(key), do: inspect(key)

  defp unknown(text, owner, %{noun: noun} = table) do
    case Suggestion.did_you_mean(text, Map.keys(table.spellings)) do
      "" -> "#{owner} has no #{noun} #{text}. Its #{noun}s are: #{Enum.map_join(table.rules, ", ", &elem(&1, 0))}"
      hint -> "#{owner} has no #{noun} #{text}#{hint}"
    end
  end

  defp fetch(given, field, owner, table) do
    with :error <- Map.fetch(given, field) do
      if field in table.required, do: raise(ArgumentError, "#{owner} needs #{inspect(field)}"), else: :error
    end
  end

  defp cast!(value, type, field, owner) do
    case cast(value, type) do
      {:ok, value} ->
        value

      :error ->
        expected = describe(type, atoms?(value))
        raise ArgumentError, "expected #{inspect(field)} of #{owner} to be #{expected}, got: #{given(value, type)}"
    end
  end

  # Messages suggest atoms if the value was an atom.
  defp atoms?(value), do: value |> List.wrap() |> Enum.any?(&(is_atom(&1) and &1 not in [nil, true, false]))

  defp given(value, type), do: inspect(value) <> (value |> strange(type) |> meant())

  defp strange(values, {:list, {:in, _texts} = type}) when is_list(values),
    do: Enum.find_value(values, &if(cast(&1, type) == :error, do: strange(&1, type)))

  defp strange(value, {:in, texts}) when is_atom(value) or is_binary(value), do: {value, texts}
  defp strange(_value, _type), do: nil

  defp meant(nil), do: ""

  defp meant({value, texts}) do
    case Suggestion.did_you_mean(to_string(value), texts) do
      ", did you mean " <> name when is_atom(value) -> ", did you mean :" <> name
      hint -> hint
    end
  end

  defp cast(value, :any), do: {:ok, value}
  defp cast(value, :string) when is_binary(value), do: {:ok, value}
  defp cast(value, :boolean) when is_boolean(value), do: {:ok, value}
  defp cast(value, :integer) when is_integer(value), do: {:ok, value}
  defp cast(value, :count) when is_integer(value) and value >= 0, do: {:ok, value}
  defp cast(value, :number) when is_number(value), do: {:ok, value}
  defp cast(value, :map) when is_map(value), do: {:ok, value}
  defp cast(value, :list) when is_list(value), do: {:ok, value}
  defp cast(value, :container) when is_map(value) or is_list(value), do: {:ok, value}
  defp cast(value, :grant) when is_map(value) or is_boolean(value), do: {:ok, value}
  defp cast(value, :id) when is_integer(value) or is_binary(value), do: {:ok, value}
  defp cast(value, {:in, texts}) when is_atom(value) or is_binary(value), do: cast_text(to_string(value), texts)
  defp cast(value, {:list, type}) when is_list(value), do: cast_all(value, type)
  defp cast(%module{} = value, {:struct, module}), do: {:ok, value}
  defp cast(value, {:struct, _module}) when is_map(value) and not is_struct(value), do: {:ok, value}
  defp cast([{_key, _value} | _rest] = fields, {:struct, module}), do: {:ok, module.new(fields)}
  defp cast(_value, _type), do: :error

  defp cast_text(text, texts), do: if(text in texts, do: {:ok, text}, else: :error)

  defp cast_all(values, type) do
    casts = Enum.map(values, &cast(&1, type))
    if :error in casts, do: :error, else: {:ok, Enum.map(casts, &elem(&1, 1))}
  end

  defp describe({:in, texts}, true), do: "one of " <> Enum.map_join(texts, ", ", &":#{&1}")
  defp describe({:list, {:in, _texts} = type}, true), do: "a list, each element " <> describe(type, true)
  defp describe(type, _atoms?), do: describe(type)

  defp describe(:any), do: "a value"
  defp describe(:string), do: "a string"
  defp describe(:boolean), do: "a boolean"
  defp describe(:integer), do: "an integer"
  defp describe(:count), do: "a non-negative integer"
  defp describe(:number), do: "a number"
  defp describe(:map), do: "a map"
  defp describe(:list), do: "a list"
  defp describe(:container), do: "a map or a list"
  defp describe(:grant), do: "a boolean or a map"
  defp describe(:id), do: "a string or an integer"
  # Without quotes: the log hides quoted parts of a message, which can be terms of a client.
  defp describe({:in, texts}), do: "one of " <> Enum.join(texts, ", ")
  defp describe({:list, type}), do: "a list, each element " <> describe(type)
  defp describe({:struct, module}), do: "a #{inspect(module)}, a map or a keyword list"
end
