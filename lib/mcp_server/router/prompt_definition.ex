defmodule McpServer.Router.PromptDefinition do
  @moduledoc false
  # Checks a `prompt` declaration, and makes the struct for clients and the entry for dispatch.

  alias McpServer.{Fields, Icon, Prompt}
  alias McpServer.Router.{Access, Arguments, Handler, LintRules, Name, Refusal, Scope, Statement}

  @options Fields.table(
             [
               title: :string,
               completion: :boolean,
               icons: {:list, {:struct, Icon}},
               meta: :map,
               arguments: {:in, ~w(strings atoms)},
               lint: :any
             ] ++ Access.fields(),
             "option"
           )
  @argument_options Fields.table([required: :boolean, title: :string], "option")
  @arity %{get: 2, complete: 3}

  @doc "Begins a prompt."
  @spec open!(module, term, term, keyword, tail :: String.t(), Refusal.place()) :: :ok
  def open!(module, name, description, options, tail, place) do
    name = Name.check_free!(name, "a prompt", place)
    what = "prompt #{inspect(name)}"
    Scope.check_outermost!(module, what, place)
    Name.check_new!(module, :prompt, name, place)

    if Statement.missing?(description) do
      Refusal.refuse!(place, "#{what} has no description. Write: prompt #{inspect(name)}, \"What it is for\"#{tail}")
    end

    options = Refusal.checked!(place, fn -> Fields.gather!(what, @options, options) end)
    options = Map.put(options, :access, Access.new!(options, Scope.server(module).scopes, what, place))

    Scope.open(module, %{
      what: what,
      place: place,
      name: name,
      description: Name.check_description!(description, what, place),
      options: options,
      keys: options[:arguments] || Scope.server(module).arguments,
      arguments: [],
      fields: [],
      get: nil,
      complete: nil
    })
  end

  @doc "Adds an argument to the innermost prompt."
  @spec put_argument!(module, term, term, keyword, tail :: String.t(), Refusal.place()) :: :ok
  def put_argument!(module, name, description, options, tail, place) do
    prompt = Scope.current(module)
    what = "argument #{inspect(name)} of #{prompt.what}"
    name = Name.check_free!(name, "an argument of #{prompt.what}", place)

    if Statement.missing?(description) do
      Refusal.refuse!(place, "#{what} has no description. Write: argument #{inspect(name)}, \"What it is\"#{tail}")
    end

    check_new!(prompt, name, what, place)
    options = Refusal.checked!(place, fn -> Fields.gather!(what, @argument_options, options) end)

    argument = %Prompt.Argument{
      name: name,
      description: Name.check_description!(description, what, place),
      title: options[:title],
      required: Map.get(options, :required, false)
    }

    field = {"/arguments/#{length(prompt.arguments)}", place}
    Scope.update(module, &%{&1 | arguments: [argument | &1.arguments], fields: [field | &1.fields]})
  end

  defp check_new!(prompt, name, what, place) do
    for {%{name: ^name}, {_pointer, earlier}} <- Enum.zip(prompt.arguments, prompt.fields),
        do: Refusal.refuse_twin!(place, what, earlier)
  end

  @doc "Sets the `get` or `complete` function of the innermost prompt."
  @spec put_handler!(module, :get | :complete, term, term, Refusal.place()) :: :ok
  def put_handler!(module, statement, controller, function, place) do
    prompt = Scope.current(module)
    named = Handler.statement!(prompt, statement, controller, function, Map.fetch!(@arity, statement), place)
    Scope.update(module, &Map.put(&1, statement, named))
  end

  @doc "Ends the innermost prompt."
  @spec close!(module) :: :ok
  def close!(module) do
    prompt = Scope.close(module)
    check_complete!(prompt)

    Scope.declare(module, :prompt, %{
      name: prompt.name,
      what: prompt.what,
      place: prompt.place,
      fields: prompt.fields,
      ignored: LintRules.ignored!(prompt.options[:lint], prompt.what, prompt.place),
      struct: wire_struct(prompt),
      entry: entry(prompt),
      handlers: handlers(prompt)
    })
  end

  defp handlers(prompt) do
    Enum.reject([prompt.get, prompt.complete], &is_nil/1) ++
      Access.handlers(prompt.options.access, prompt.what, prompt.place)
  end

  defp check_complete!(%{get: nil} = prompt) do
    Refusal.refuse!(
      prompt.place,
      "#{prompt.what} has no function that makes its messages. Write in its do block: get MyApp.Prompts, :greet"
    )
  end

  # A prompt without arguments needs no `complete`.
  defp check_complete!(%{complete: nil, arguments: []}), do: :ok
  defp check_complete!(%{complete: nil, options: %{completion: false}}), do: :ok

  defp check_complete!(%{complete: nil} = prompt) do
    Refusal.refuse!(
      prompt.place,
      "#{prompt.what} needs a function that completes its arguments: `complete Module, :function`, " <>
        "or the option `completion: false`"
    )
  end

  defp check_complete!(%{complete: %{place: place}, options: %{completion: false}} = prompt) do
    Refusal.refuse!(place, "#{prompt.what} has the option `completion: false`, and yet a `complete`. Remove one")
  end

  defp check_complete!(%{complete: %{what: what, place: place}, arguments: []}) do
    Refusal.refuse!(
      place,
      "#{what} has nothing to complete: the prompt has no arguments. Remove `complete`, or declare an `argument`"
    )
  end

  defp check_complete!(_prompt), do: :ok

  defp wire_struct(%{options: options} = prompt) do
    %Prompt{
      name: prompt.name,
      description: prompt.description,
      arguments: Enum.reverse(prompt.arguments),
      title: options[:title],
      icons: options[:icons],
      _meta: options[:meta]
    }
  end

  defp entry(prompt) do
    names = for argument <- Enum.reverse(prompt.arguments), do: argument.name

    %{
      name: prompt.name,
      get: prompt.get.handler,
      complete: prompt.complete && prompt.complete.handler,
      arguments: names
    }
    |> Arguments.put_atoms!(prompt, names)
    |> Access.put(prompt.options.access)
  end
end
