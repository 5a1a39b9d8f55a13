defmodule McpServer.Router.ShortForm do
  @moduledoc false
  # `input` and `output`: fields as a keyword list, each as `{type, description, options}`. They are declared like
  # `input_field` and `output_field`.

  alias McpServer.Router.{Elsewhere, Field, Handler, Refusal, Scope, Statement}

  @doc "The code of `input` and `output`."
  @spec declare(:input | :output, Macro.t(), Macro.Env.t()) :: Macro.t()
  def declare(into, fields, caller) do
    places = if Keyword.keyword?(fields), do: for({_name, spec} <- fields, do: place(spec, caller)), else: []

    quote do
      unquote(__MODULE__).put!(
        __MODULE__,
        unquote(into),
        unquote(Handler.as_runtime(fields, caller)),
        unquote(places),
        unquote(Refusal.place(caller))
      )
    end
  end

  @doc "Refuses the parameters of `input_field` after `input`."
  @spec refuse_long!(:input | :output, [Macro.t()], Macro.Env.t()) :: no_return
  def refuse_long!(into, arguments, caller) do
    positional = arguments |> Enum.reject(&Keyword.keyword?/1) |> Enum.map_join(", ", &Macro.to_string/1)
    tail = Statement.tail(arguments, Enum.any?(arguments, &(Keyword.keyword?(&1) and Keyword.has_key?(&1, :do))))

    Refusal.refuse!(
      Refusal.place(caller),
      "`#{into}` takes fields by their names: #{into} title: {:string, \"The title\"}. " <>
        "Write: #{into}_field #{positional}#{tail}"
    )
  end

  defp place({_name, meta, _arguments}, caller) when is_list(meta),
    do: Refusal.place(%{caller | line: Keyword.get(meta, :line, caller.line)})

  defp place(_literal, caller), do: Refusal.place(caller)

  @doc "Declares the fields in the innermost block."
  @spec put!(module, :input | :output | :properties, term, [Refusal.place()], Refusal.place()) :: :ok
  def put!(module, into, fields, places, place) do
    if not (Keyword.keyword?(fields) or is_map(fields)) or fields == [] do
      Refusal.refuse!(
        place,
        "`#{statement(into)}` takes fields by their names, got: #{inspect(fields)}. " <>
          "Write: #{statement(into)} title: {:string, \"The title\"}"
      )
    end

    places = Stream.concat(places, Stream.repeatedly(fn -> place end))
    Enum.each(Enum.zip(fields, places), fn {{name, spec}, place} -> field!(module, into, name, spec, place) end)
  end

  defp field!(module, into, name, spec, place) do
    {type, description, options} = parts!(spec, into, name, place)
    type = fields(type, Map.get(Scope.current(module), :root, into), place)

    Field.open!(module, into, name, {description, outer(type)}, options, "", place)
    inside!(module, type, place)
    Field.close!(module, block?(type))
  end

  # Fields that are declared elsewhere may lack a description.
  defp parts!({type, description, options}, _into, _name, _place)
       when (is_binary(description) or description == nil) and is_list(options),
       do: {type, description, options}

  defp parts!({type, description}, _into, _name, _place) when is_binary(description), do: {type, description, []}

  defp parts!(spec, into, name, place) do
    Refusal.refuse!(
      place,
      "`#{statement(into)}` describes #{inspect(to_string(name))} as {type, description} or " <>
        "{type, description, options}, got: #{inspect(spec)}. Write: #{statement(into)} #{name}: {:string, \"What it is\"}"
    )
  end

  # A schema of Ecto stands for an object with its fields.
  defp fields(declared, side, place) when is_tuple(declared) and elem(declared, 0) == McpServer.Ecto,
    do: declared |> Elsewhere.fields!(side, "the type of a field", place) |> Map.new()

  defp fields([{type, options}], side, place) when is_list(options), do: [{fields(type, side, place), options}]
  defp fields([type | null], side, place), do: [fields(type, side, place) | null]
  defp fields(type, _side, _place), do: type

  # A list with one type is an array of that type. A map is an object with these fields. Both may also be null.
  defp outer([nested, :null]) when is_list(nested) or is_map(nested), do: [outer(nested), :null]
  defp outer([_type]), do: :array
  defp outer(%{} = _fields), do: :object
  defp outer(type), do: type

  defp block?([nested, :null]), do: block?(nested)
  defp block?([_type]), do: true
  defp block?(%{}), do: true
  defp block?(_type), do: false

  defp inside!(module, [nested, :null], place), do: inside!(module, nested, place)
  defp inside!(module, [{type, options}], place) when is_list(options), do: items!(module, type, options, place)
  defp inside!(module, [type], place), do: items!(module, type, [], place)
  defp inside!(module, %{} = fields, place), do: put!(module, :properties, fields, [], place)
  defp inside!(_module, _type, _place), do: :ok

  defp items!(module, type, options, place) do
    Field.open_items!(module, outer(type), options, "", place)
    inside!(module, type, place)
    Field.close!(module, block?(type))
  end

  defp statement(:output), do: "output"
  defp statement(_input), do: "input"
end
