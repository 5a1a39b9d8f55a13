defmodule McpServer.Router.Handler do
  @moduledoc false
  # The functions that a router names. A macro takes them without a dependency on their module, and they are checked to
  # exist.

  alias McpServer.NamedFunction
  alias McpServer.Router.{Refusal, Statement}

  @typedoc "`what` is for messages: `tool \"add\"`, `get of prompt \"greet\"`. Of several arities one must exist."
  @type named :: %{
          what: String.t(),
          handler: {module, atom},
          arity: arity | [arity],
          place: Refusal.place(),
          optional?: boolean
        }

  @doc """
  Expands a module's name in a macro as in a function's body. So the router has no compile-time dependency on the
  module.
  """
  @spec as_runtime(Macro.t(), Macro.Env.t()) :: Macro.t()
  def as_runtime(ast, env) do
    Macro.prewalk(ast, fn
      {schema, value} when schema in [:input_schema, :output_schema] -> {schema, expanded(value, env)}
      {source, schema} -> if ecto?(source, env), do: expanded({source, schema}, env), else: {source, schema}
      {:{}, _meta, [source | _schema]} = type -> if ecto?(source, env), do: expanded(type, env), else: type
      node -> expand(node, later(env))
    end)
  end

  # A module in a schema is read while the router compiles, so the router depends on it.
  defp expanded(ast, env), do: Macro.prewalk(ast, &expand(&1, env))

  # `{McpServer.Ecto, MyApp.Note, …}` as the type of a field.
  defp ecto?({:__aliases__, _meta, _parts} = source, env), do: expand(source, later(env)) == McpServer.Ecto
  defp ecto?(_type, _env), do: false

  defp later(env), do: %{env | function: {:__mcp__, 1}}

  defp expand({:__aliases__, _meta, _parts} = alias, env), do: Macro.expand(alias, env)
  defp expand(node, _env), do: node

  @doc "The code that passes the function of a statement, such as `get`, to `definition`."
  @spec declare(module, atom, Macro.t(), Macro.t(), Macro.Env.t()) :: Macro.t()
  def declare(definition, statement, controller, function, caller) do
    quote do
      unquote(definition).put_handler!(
        __MODULE__,
        unquote(statement),
        unquote(as_runtime(controller, caller)),
        unquote(function),
        unquote(Refusal.place(caller))
      )
    end
  end

  @doc """
  Checks that a handler is a module and a function's name. `statement` is the text before them, `tail` the text after
  them.
  """
  @spec check!(term, term, String.t(), String.t(), String.t(), Refusal.place()) :: {module, atom}
  def check!(module, function, what, statement, tail \\ "", place) do
    cond do
      Statement.missing?(function) ->
        Refusal.refuse!(
          place,
          "#{what} needs a module and the name of a function. Write: #{statement} #{written(module)}#{tail}"
        )

      not name?(module) ->
        Refusal.refuse!(place, "#{what} needs a module, got: #{inspect(module)}")

      not name?(function) ->
        Refusal.refuse!(place, "#{what} needs a function's name, got: #{inspect(function)}")

      true ->
        {module, function}
    end
  end

  @doc "The function of a statement in a prompt or a resource."
  @spec statement!(%{required(:what) => String.t(), optional(atom) => term}, atom, term, term, arity, Refusal.place()) ::
          named
  def statement!(block, statement, controller, function, arity, place) do
    what = "`#{statement}` of #{block.what}"

    if earlier = Map.fetch!(block, statement) do
      Refusal.refuse!(place, "#{what} is already defined, at #{Refusal.format(earlier.place)}. Remove one")
    end

    handler = check!(controller, function, what, "#{statement}", place)
    %{what: what, handler: handler, arity: arity, place: place, optional?: false}
  end

  # The expected form of a function that was written in another form.
  defp written({module, function}), do: "#{inspect(module)}, #{inspect(function)}"

  defp written(function) when is_function(function) do
    [module, name] = for key <- [:module, :name], do: function |> Function.info(key) |> elem(1)
    written({module, name})
  end

  defp written(module), do: written({if(name?(module), do: module, else: MyApp.Tools), :run})

  defp name?(term), do: is_atom(term) and term not in [nil, true, false]

  @doc """
  Returns the error of a handler that is missing, or that exists with two arities, after all modules were compiled.
  Returns `nil` if the handler is as it should be.
  """
  @spec missing(named) :: String.t() | nil
  def missing(%{what: what, handler: handler, arity: arities}) do
    arities = List.wrap(arities)
    texts = for arity <- arities, text = NamedFunction.missing(handler, arity), do: text

    cond do
      length(texts) == length(arities) -> "#{what} #{hd(texts)}"
      texts == [] and length(arities) > 1 -> "#{what} #{ambiguous(handler, arities)}"
      true -> nil
    end
  end

  # A function of the conn alone also decides on lists. With a default argument it would be called with the arguments.
  defp ambiguous({module, function}, arities) do
    [one, other] = for arity <- arities, do: Exception.format_mfa(module, function, arity)
    write = if arities == [1, 2], do: "Write &#{one} or &#{other}", else: "Rename one of them"
    "names both #{one} and #{other}, and only one can decide. #{write}"
  end
end
