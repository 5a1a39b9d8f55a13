defmodule McpServer.Router.ToolHandler do
  @moduledoc false
  # The function of a tool: a function of a controller, a function of the router by its name, or `run fn … end` in the
  # tool's block, which becomes a function of the router.

  alias McpServer.Router.{FieldBlock, Handler, Refusal, Scope, Statement, ToolBlock}

  @doc """
  The function that a declaration names, and the options, which may take the position of omitted arguments. It is
  `{:unnamed, text}` if the block must define the function. `text` is the error if the block does not.
  """
  @spec named!(module, {term, term, term}, String.t(), String.t(), String.t(), Refusal.place()) ::
          {{module, atom} | {:unnamed, String.t()}, term}
  def named!(router, {controller, function, options}, what, statement, tail, place) do
    cond do
      Statement.missing?(function) and local?(controller) ->
        {{router, controller}, function ++ options}

      Statement.missing?(controller) and Statement.missing?(function) and String.ends_with?(tail, " do") ->
        {{:unnamed, unnamed(what, statement, tail)}, controller ++ function ++ options}

      true ->
        {Handler.check!(controller, function, what, statement, tail, place), options}
    end
  end

  # An atom that names a function, not a module.
  defp local?(term),
    do: is_atom(term) and term not in [nil, true, false] and not match?("Elixir." <> _name, Atom.to_string(term))

  defp unnamed(what, statement, tail) do
    "#{what} has no function. Write in its block: run fn conn, arguments -> … end, or name a function: " <>
      "#{statement} MyApp.Tools, :run#{tail}"
  end

  @doc "The function of a tool whose block has ended."
  @spec fetch!(%{:handler => term, :place => Refusal.place(), optional(atom) => term}) :: {module, atom}
  def fetch!(%{handler: {:unnamed, text}, place: place}), do: Refusal.refuse!(place, text)
  def fetch!(%{handler: handler}), do: handler

  @doc "The code of `run`: a function of the router, without the imported statements of the block."
  @spec run(Macro.t(), Macro.Env.t()) :: Macro.t()
  def run(fun, caller) do
    place = Refusal.place(caller)
    [conn, arguments] = Macro.generate_arguments(2, __MODULE__)

    head =
      {{:unquote, [], [quote(do: unquote(__MODULE__).put_run!(__MODULE__, unquote(other(fun)), unquote(place)))]}, [],
       [conn, arguments]}

    body =
      quote do
        import unquote(ToolBlock), only: [], warn: false
        import unquote(FieldBlock), only: [], warn: false
        unquote(fun).(unquote(conn), unquote(arguments))
      end

    quote do
      @doc false
      def unquote(head), do: unquote(body)
    end
  end

  # What `run` got instead of a function of two arguments, as far as its code shows it.
  defp other({:fn, _meta, [{:->, _arrow, [[{:when, _when, parameters}], _body]} | _clauses]}),
    do: function(length(parameters) - 1)

  defp other({:fn, _meta, [{:->, _arrow, [parameters, _body]} | _clauses]}), do: function(length(parameters))
  defp other({:&, _meta, [{:/, _slash, [_name, arity]}]}) when is_integer(arity), do: function(arity)

  defp other({:&, _meta, [body]}) do
    {_body, arity} = Macro.prewalk(body, 0, &{&1, max(&2, position(&1))})
    function(arity)
  end

  # What a call or a variable gives is not known yet.
  defp other({form, _meta, _arguments}) when form not in [:__aliases__, :{}, :%{}], do: nil
  defp other(literal), do: Macro.to_string(literal)

  defp position({:&, _meta, [position]}) when is_integer(position), do: position
  defp position(_node), do: 0

  defp function(2), do: nil
  defp function(1), do: "a function of 1 argument"
  defp function(arity), do: "a function of #{arity} arguments"

  @doc """
  Sets the function of `run` for the innermost tool, and returns its name. `other` is what `run` got instead of a
  function of two arguments.
  """
  @spec put_run!(module, other :: String.t() | nil, Refusal.place()) :: atom
  def put_run!(router, other, place) do
    tool = Scope.current(router)

    cond do
      not is_map_key(tool, :handler) ->
        Refusal.refuse!(place, "`run` stands in the block of #{tool.what}. It belongs in the block of the tool")

      not match?({:unnamed, _text}, tool.handler) ->
        {module, function} = tool.handler

        Refusal.refuse!(
          place,
          "#{tool.what} has a function already, #{inspect(module)}.#{function}/2. Remove it or `run`"
        )

      other != nil ->
        Refusal.refuse!(
          place,
          "`run` of #{tool.what} takes a function of the conn and the arguments, got: #{other}. " <>
            "Write: run fn conn, arguments -> … end"
        )

      true ->
        # Creating the atom is safe: the author wrote the text, and the tool's name is checked.
        function = String.to_atom("run " <> tool.name)
        Scope.update(router, &%{&1 | handler: {router, function}})
        function
    end
  end
end
