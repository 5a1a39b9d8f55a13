defmodule McpServer.Options do
  @moduledoc false
  # Options as tables: the type, the default and a line of documentation of each. Validation, documentation and the
  # guide about limits use the same table:
  #
  #     [
  #       path: [:string, default: "/mcp", doc: "where it is served"],
  #       drain: [:milliseconds, default: 5_000, doc: "how long calls go on", beyond: "they are killed"],
  #       limits: [{:group, [max_depth: [{:count, 128}, default: 128]]}, doc: "the limits of messages"]
  #     ]
  #
  # An option can also have `required: true`, `secret: true` (its value is never printed), `shown:` (documentation text
  # instead of the default), `beyond:` (the effect of exceeding a limit), and `misnamed:` (names that people try
  # instead). If an option is given twice, the first one counts, and groups are merged. So `options ++ defaults` works.

  alias McpServer.Auth.Secret
  alias McpServer.{Limit, Suggestion}

  @typedoc """
  The type of an option. `{:hook, n}` is a function of `n` arguments or `{module, function}`. `{:or, values, type}` is
  one of the values or of the type. `{text, predicate}` is a value that satisfies the predicate.
  """
  @type type ::
          Limit.unit()
          | :any
          | :name
          | :map
          | :string
          | :strings
          | {:function, non_neg_integer()}
          | {:hook, pos_integer()}
          | {:in, [term()]}
          | {:or, [term()], type()}
          | {:group, table()}
          | {String.t(), (term() -> boolean())}
  @type table :: [{atom(), [type() | {atom(), term()}]}]

  @doc """
  The checked options with defaults. A group becomes a map.

  Raises `ArgumentError` with the given value, the allowed values and a suggestion. `owner` is the options' owner.

      iex> table = [limits: [{:group, [max_depth: [{:count, 128}, default: 64]]}], path: [:string, default: "/"]]
      iex> McpServer.Options.check!("Server", table, path: "/mcp")
      %{limits: %{max_depth: 64}, path: "/mcp"}

      iex> table = [limits: [{:group, [max_depth: [:count]]}]]
      iex> McpServer.Options.check!("Server", table, max_depth: 3)
      ** (ArgumentError) Server has no option :max_depth. Write limits: [max_depth: …]. Its options are: limits
  """
  @spec check!(String.t(), table(), term()) :: %{atom() => term()}
  def check!(owner, table, options) do
    Keyword.keyword?(options) || raise ArgumentError, "the options of #{owner} are a keyword list"
    Enum.each(Keyword.keys(options), &known!(owner, table, &1))
    for {name, [type | about]} <- table, into: %{}, do: {name, value!(owner, name, type, about, options)}
  end

  @doc """
  The options for a child specification, which supervisors print: secrets are wrapped. `check!/3` accepts them too.

      iex> McpServer.Options.hide([key: [:string, secret: true], path: [:string]], key: "abc", path: "/")
      [key: %McpServer.Auth.Secret{value: "abc"}, path: "/"]
  """
  @spec hide(table(), keyword()) :: keyword()
  def hide(table, options) do
    for {name, value} <- options, do: {name, if(table[name][:secret], do: %Secret{value: value}, else: value)}
  end

  defp value!(owner, name, {:group, table}, _about, options),
    do: check!("#{name}: of #{owner}", table, options |> Keyword.get_values(name) |> Enum.flat_map(&List.wrap/1))

  defp value!(owner, name, type, about, options) do
    case Keyword.fetch(options, name) do
      {:ok, given} ->
        value = with %Secret{value: hidden} <- given, do: hidden
        valid?(type, value) || raise ArgumentError, wrong(name, type, about, value)
        value

      :error ->
        if about[:required], do: raise(ArgumentError, "#{owner} needs #{name}: #{text(type)}"), else: about[:default]
    end
  end

  defp wrong(name, type, about, value) do
    got = if about[:secret], do: "", else: ", got: #{inspect(value)}"
    "expected #{inspect(name)} to be #{text(type)}#{got}#{meant_value(type, value)}"
  end

  defp meant_value({:in, [text | _] = values}, value) when is_binary(text) and is_binary(value),
    do: Suggestion.did_you_mean(value, values)

  defp meant_value(_type, _value), do: ""

  defp known!(owner, table, name) do
    Keyword.has_key?(table, name) || raise ArgumentError, unknown(owner, table, name)
  end

  @doc "The error text for an unknown option."
  @spec unknown(String.t(), table(), atom()) :: String.t()
  def unknown(owner, table, name) do
    "#{owner} has no option #{inspect(name)}#{meant(table, name)} Its options are: #{Enum.join(Keyword.keys(table), ", ")}"
  end

  defp meant(table, name) do
    with [] <- written(table, fn {option, [_type | about]} -> option == name or name in (about[:misnamed] || []) end),
         "" <- near(table, name) do
      "."
    else
      [_ | _] = written -> ". Write #{Enum.join(written, " or ")}."
      near -> near
    end
  end

  # The suggested options, each in its group.
  defp written(table, meant?) do
    Enum.flat_map(table, fn
      {group, [{:group, inner} | _about]} -> for option <- written(inner, meant?), do: "#{group}: [#{option}]"
      {name, _rule} = option -> if meant?.(option), do: ["#{name}: …"], else: []
    end)
  end

  defp near(table, name) do
    names = Enum.flat_map(table, fn {name, [type | _about]} -> [name | names(type)] end)
    Suggestion.did_you_mean(Atom.to_string(name), Enum.map(names, &Atom.to_string/1))
  end

  defp names({:group, table}), do: Keyword.keys(table)
  defp names(_type), do: []

  defp valid?(:any, _value), do: true
  defp valid?(:name, value), do: is_atom(value) and value not in [nil, true, false]
  defp valid?(:map, value), do: is_map(value)
  defp valid?(:string, value), do: is_binary(value)
  defp valid?(:strings, value), do: is_list(value) and Enum.all?(value, &is_binary/1)
  defp valid?({:function, arity}, value), do: is_function(value, arity)
  defp valid?({:hook, _arity}, {module, function}), do: is_atom(module) and is_atom(function)
  defp valid?({:hook, arity}, value), do: is_function(value, arity)
  defp valid?({:in, values}, value), do: value in values
  defp valid?({:or, values, type}, value), do: value in values or valid?(type, value)
  defp valid?({text, holds?}, value) when is_binary(text), do: holds?.(value)
  defp valid?(unit, value), do: Limit.within?(value, unit)

  defp text(:any), do: "a value"
  defp text(:name), do: "the name of a module or process"
  defp text(:map), do: "a map"
  defp text(:string), do: "a string"
  defp text(:strings), do: "a list of strings"
  defp text({:function, arity}), do: "a function of #{arguments(arity)}"
  defp text({:hook, arity}), do: "a function of #{arguments(arity)} or {module, function}"
  defp text({:in, values}), do: Enum.map_join(values, " or ", &inspect/1)
  defp text({:or, values, type}), do: Enum.map_join(values, &"#{inspect(&1)} or ") <> text(type)
  defp text({text, _holds?}) when is_binary(text), do: text
  defp text(unit), do: Limit.text(unit)

  defp arguments(0), do: "no argument"
  defp arguments(1), do: "one argument"
  defp arguments(arity), do: "#{arity} arguments"

  @doc "The options for documentation: a table, and another one for each group."
  @spec document(table()) :: String.t()
  def document(table) do
    {groups, options} = Enum.split_with(table, &match?({_name, [{:group, _table} | _about]}, &1))
    inner = for {name, [{:group, table} | about]} <- groups, do: "\n`#{name}:` #{about[:doc]}\n\n#{rows(table)}"
    IO.iodata_to_binary([rows(options) | inner])
  end

  defp rows(table) do
    rows = for {name, [type | about]} <- table, do: "| `:#{name}` | #{default(type, about)} | #{about[:doc]} |\n"
    "| option | default | meaning |\n|---|---|---|\n#{rows}"
  end

  @doc "The limits among the options, for the guide, each with its maximum and the effect of exceeding it."
  @spec limits(table()) :: String.t()
  def limits(table) do
    rows =
      for {name, [unit | about]} <- table, about[:beyond] do
        "| `#{name}` | #{default(unit, about)} | #{Limit.show(Limit.most(unit), unit)} | #{about[:doc]} | #{about[:beyond]} |\n"
      end

    "| option | default | at most | meaning | beyond it |\n|---|---|---|---|---|\n#{rows}"
  end

  defp default(type, about) do
    default = about[:default]

    cond do
      about[:shown] -> about[:shown]
      about[:required] -> "required"
      default == nil -> "none"
      is_integer(default) -> Limit.show(default, type)
      true -> "`#{inspect(default)}`"
    end
  end
end
