defmodule McpServer.Router.Access do
  @moduledoc false
  # The access options of a declaration: `authorize:`, `visible:`, `scopes:` and `listed:`. They are checked here, and
  # resolved to `McpServer.Access` when the catalogue is built.

  alias McpServer.Access
  alias McpServer.Auth.Scopes
  alias McpServer.Router.{Handler, Refusal}
  alias McpServer.Tools.Tags

  @hooks [:authorize, :visible]
  @fields [authorize: :any, visible: :any, scopes: :any, listed: {:in, ~w(granted always)}]
  @listed %{"granted" => :granted, "always" => :always}

  @doc "The access options, for a declaration's table of options."
  @spec fields() :: keyword
  def fields, do: @fields

  @doc """
  Defines the `fn` and `&` functions of the options in the module, because the table cannot contain closures.
  Returns the definitions, and the options with the functions' names.
  """
  @spec hoist(Macro.t(), Macro.Env.t()) :: {[Macro.t()], Macro.t()}
  def hoist(options, env) when is_list(options) do
    {options, definitions} =
      Enum.map_reduce(options, [], fn
        {key, value}, definitions when key in @hooks ->
          {definition, value} = named(key, value, env)
          {{key, value}, definition ++ definitions}

        option, definitions ->
          {option, definitions}
      end)

    {Enum.reverse(definitions), options}
  end

  def hoist(options, _env), do: {[], options}

  defp named(_key, {:&, _, [{:/, _, [{{:., _, _}, _, []}, _arity]}]} = external, _env), do: {[], external}

  defp named(_key, {:&, _, [{:/, _, [{name, _, context}, arity]}]}, env) when is_atom(name) and is_atom(context),
    do: {[], quote(do: Function.capture(unquote(env.module), unquote(name), unquote(arity)))}

  defp named(key, {:&, _, [body]} = capture, env) do
    {_body, arity} =
      Macro.prewalk(body, 0, fn
        {:&, _, [place]} = argument, most when is_integer(place) -> {argument, max(place, most)}
        other, most -> {other, most}
      end)

    define(key, capture, arity, env)
  end

  defp named(key, {:fn, _, [{:->, _, [parameters, _body]} | _clauses]} = fun, env),
    do: define(key, fun, parameters |> without_guard() |> length(), env)

  defp named(_key, value, _env), do: {[], value}

  defp without_guard([{:when, _, parameters}]), do: Enum.drop(parameters, -1)
  defp without_guard(parameters), do: parameters

  # A `for` around the declaration can declare the function several times.
  defp define(key, fun, arity, env) do
    name = :"__#{key}_#{:erlang.phash2(fun)}__"
    arguments = Macro.generate_arguments(arity, __MODULE__)

    definition =
      quote do
        unless Module.defines?(__MODULE__, {unquote(name), unquote(arity)}) do
          @doc false
          def unquote(name)(unquote_splicing(arguments)), do: unquote(fun).(unquote_splicing(arguments))
        end
      end

    {[definition], quote(do: Function.capture(unquote(env.module), unquote(name), unquote(arity)))}
  end

  @doc """
  The checked options, `nil` if the declaration has no access rules. `default` are the scopes of a declaration without
  `scopes:`.
  """
  @spec new!(map, [String.t()] | nil, String.t(), Refusal.place()) :: Access.declared() | nil
  def new!(options, default, what, place) do
    hooks = for key <- @hooks, {:ok, value} <- [Map.fetch(options, key)], do: {key, hook!(key, value, what, place)}
    hooks = tags!(options[:tags], what, place) ++ hooks ++ scopes!(options, default, what, place)
    listed = Map.get(@listed, options[:listed], :granted)

    if options[:listed] && not Enum.any?([:authorize, :scopes, :hidden_scopes], &Keyword.has_key?(hooks, &1)) do
      Refusal.refuse!(
        place,
        "#{what} has `listed:` without `authorize:` or `scopes:`, so everybody may use it. Remove `listed:`, or write: " <>
          "authorize: {MyApp.Auth, :allowed?}"
      )
    end

    if hooks != [], do: Map.new([{:listed, listed} | hooks])
  end

  defp tags!(tags, _what, _place) when tags in [nil, []], do: []

  defp tags!(tags, what, place) do
    with wrong when wrong != nil <- Enum.find(tags, &(not Tags.valid?(&1))) do
      Refusal.refuse!(place, "a tag of #{what} is a string of 1 to 128 bytes, got: #{inspect(wrong)}")
    end

    [tags: {Tags, :enabled?, [Enum.uniq(tags)], [2]}]
  end

  defp scopes!(%{scopes: :public}, _default, _what, _place), do: [public?: true]
  # An empty list overrides the router's default scopes: any token suffices.
  defp scopes!(%{scopes: []}, [_ | _], _what, _place), do: []

  defp scopes!(%{scopes: scopes} = options, _default, what, place),
    do: [asked(check_scopes!(scopes, what, place), options[:listed])]

  defp scopes!(_options, nil, _what, _place), do: []
  defp scopes!(options, default, _what, _place), do: [asked(default, options[:listed])]

  @doc "Raises if the value is not a list of scopes."
  @spec check_scopes!(term, String.t(), Refusal.place()) :: [String.t()]
  def check_scopes!(scopes, what, place) do
    unless Scopes.valid?(scopes) and scopes != [] and Scopes.offline() not in scopes do
      Refusal.refuse!(
        place,
        "scopes of #{what} must be a list of scopes without spaces and without \"offline_access\", got: #{inspect(scopes)}. " <>
          ~S'Write: scopes: ["files:read"]'
      )
    end

    scopes
  end

  # A client can acquire missing scopes, so the entry is listed unless `listed:` hides it.
  defp asked(scopes, listed) do
    key = if listed == "granted", do: :hidden_scopes, else: :scopes
    {key, {Scopes, :check, [scopes], [2]}}
  end

  defp hook!(key, fun, what, place) when is_function(fun) do
    info = Function.info(fun)

    case {info[:type], info[:arity]} do
      {:external, arity} when arity in [1, 2] ->
        {info[:module], info[:name], [], [arity]}

      {_local, arity} when arity not in [1, 2] ->
        Refusal.refuse!(
          place,
          "#{key} of #{what} takes the conn, or the conn and the arguments; got a function of #{arity} arguments"
        )

      {:local, arity} ->
        Refusal.refuse!(
          place,
          "#{key} of #{what} must be a named function, {module, function} or &Module.function/#{arity}, because it is " <>
            "called by its name, on other nodes too, got: #{inspect(fun)}. Write: #{key}: {MyApp.Auth, :allowed?}"
        )
    end
  end

  defp hook!(key, {module, function}, what, place), do: hook!(key, {module, function, []}, what, place)

  defp hook!(key, {module, function, arguments}, what, place) when is_atom(function) and is_list(arguments) do
    _handler = Handler.check!(module, function, "#{key} of #{what}", "#{key}:", place)
    {module, function, arguments, [1 + length(arguments), 2 + length(arguments)]}
  end

  defp hook!(key, other, what, place), do: refuse!(key, other, what, place)

  @spec refuse!(atom, term, String.t(), Refusal.place()) :: no_return
  defp refuse!(key, other, what, place) do
    function = if is_atom(other) and other not in [true, false], do: other, else: :allowed?

    Refusal.refuse!(
      place,
      "#{key} of #{what} must be {module, function}, {module, function, arguments} or a function, got: " <>
        "#{inspect(other)}. Write: #{key}: {MyApp.Auth, #{inspect(function)}}"
    )
  end

  @doc "The entry with its access rules."
  @spec put(map, Access.declared() | nil) :: map
  def put(entry, nil), do: entry

  def put(entry, %{public?: true, listed: _granted} = access) when map_size(access) == 2,
    do: Map.put(entry, :public?, true)

  def put(entry, %{public?: true} = access),
    do: Map.merge(entry, %{public?: true, access: Map.delete(access, :public?)})

  def put(entry, access), do: Map.put(entry, :access, access)

  @doc "The entry of an included router, which needs these scopes if it declares none."
  @spec put_default(map, [String.t()] | nil) :: map
  def put_default(entry, nil), do: entry
  def put_default(%{public?: true} = entry, _scopes), do: entry

  def put_default(entry, scopes) do
    access = Map.get(entry, :access, %{listed: :granted})
    if scoped?(access), do: entry, else: Map.put(entry, :access, Map.new([asked(scopes, nil) | Map.to_list(access)]))
  end

  @doc "Whether the access rules require scopes."
  @spec scoped?(Access.declared()) :: boolean
  def scoped?(%{outer: outer} = access), do: scoped?(outer) or scoped?(Map.delete(access, :outer))
  def scoped?(access), do: is_map_key(access, :scopes) or is_map_key(access, :hidden_scopes)

  @doc "The functions of the access rules, for the check that they exist."
  @spec handlers(Access.declared() | nil, String.t(), Refusal.place()) :: [Handler.named()]
  def handlers(nil, _what, _place), do: []

  def handlers(access, what, place) do
    for key <- @hooks, {module, function, _arguments, arities} <- [access[key]] do
      %{what: "#{key} of #{what}", handler: {module, function}, arity: arities, place: place, optional?: false}
    end
  end
end
