defmodule McpServer.Router.NimbleFields do
  @moduledoc false
  # The fields of a NimbleOptions schema. It is a keyword list, so the package is not needed.

  @json [:string, :number, :boolean, :object, :array, :null]
  @structs %{
    Date => :date,
    Time => :time,
    DateTime => :datetime,
    NaiveDateTime => :naive_datetime,
    Decimal => :decimal,
    URI => :uri
  }

  @doc "The fields. Raises `ArgumentError` for a type without a JSON form."
  @spec fields!(term) :: [McpServer.Router.Elsewhere.field()]
  def fields!(%{__struct__: NimbleOptions, schema: schema}), do: fields!(schema)

  def fields!(schema) do
    if not Keyword.keyword?(schema),
      do: raise(ArgumentError, "a schema of NimbleOptions is a keyword list, got: #{inspect(schema)}")

    for {name, options} <- schema do
      {type, more} = type!(Keyword.get(options, :type, :any), options, name)
      {name, {type, description(options), more ++ kept(options)}}
    end
  end

  defp description(options), do: if(is_binary(options[:doc]), do: String.trim(options[:doc]))

  defp kept(options) do
    deprecated = if options[:deprecated], do: [deprecated: true], else: []
    required? = options[:required] == true and not Keyword.has_key?(options, :default)
    default = if options[:default] == nil, do: [], else: [default: options[:default]]
    if(required?, do: [required: true], else: []) ++ default ++ deprecated
  end

  defp type!(:any, _options, _name), do: {@json, []}
  defp type!(type, _options, _name) when type in [:string, :boolean, :integer], do: {type, []}
  defp type!(:float, _options, _name), do: {:number, []}
  defp type!(:non_neg_integer, _options, _name), do: {:integer, [minimum: 0]}
  defp type!(:pos_integer, _options, _name), do: {:integer, [minimum: 1]}
  defp type!(nil, _options, _name), do: {:null, []}
  defp type!({:in, %Range{first: first, last: last}}, _o, _name), do: {:integer, [minimum: first, maximum: last]}
  defp type!({:in, values}, _options, name) when is_list(values), do: enum!(values, name)
  defp type!({:list, type}, _options, name), do: {[type!(type, [], name)], []}
  defp type!({:map, _key, type}, _options, name), do: {:object, [additional_properties: schema!(type, name)]}
  defp type!({:struct, module}, _options, _name) when is_map_key(@structs, module), do: {@structs[module], []}
  defp type!({:or, types}, _options, name), do: {types |> Enum.map(&plain!(&1, name)) |> Enum.uniq(), []}

  defp type!(type, options, name) when type in [:map, :keyword_list, :non_empty_keyword_list] do
    case options[:keys] do
      nil -> {:object, []}
      keys -> {Map.new(fields!(no_wildcard!(keys, name))), []}
    end
  end

  defp type!(type, _options, name) do
    raise ArgumentError,
          "the option #{inspect(name)} has the type #{inspect(type)}, which no JSON has. Leave it out of the schema for " <>
            "the tool, or declare the argument with `input`"
  end

  defp no_wildcard!(keys, name) do
    if Keyword.has_key?(keys, :*),
      do:
        raise(
          ArgumentError,
          "the option #{inspect(name)} has the key :*, which stands for any. Write {:map, :string, type}"
        ),
      else: keys
  end

  defp enum!(values, name) do
    cond do
      Enum.all?(values, &is_binary/1) ->
        {:string, [enum: values]}

      Enum.all?(values, &is_integer/1) ->
        {:integer, [enum: values]}

      Enum.all?(values, &is_number/1) ->
        {:number, [enum: values]}

      true ->
        raise ArgumentError,
              "the option #{inspect(name)} is one of #{inspect(values)}: JSON has strings and numbers only"
    end
  end

  defp plain!(type, name) do
    case type!(type, [], name) do
      {plain, []} when is_atom(plain) ->
        plain

      _other ->
        raise ArgumentError, "the option #{inspect(name)} is one of several types that are not plain: #{inspect(type)}"
    end
  end

  defp schema!(type, name) do
    {plain, more} = type!(type, [], name)

    if not is_atom(plain),
      do: raise(ArgumentError, "the values of the option #{inspect(name)} are not plain: #{inspect(type)}")

    Map.new([{:type, plain} | more])
  end
end
