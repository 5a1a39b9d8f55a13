defmodule McpServer.Router.ToolDefinition do
  @moduledoc false
  # Checks a `tool` declaration, and makes the struct for clients and the entry for dispatch.

  alias McpServer.{App, Fields, Icon, Tool}

  alias McpServer.Router.{
    Access,
    Arguments,
    Elsewhere,
    Field,
    Formats,
    Hints,
    LintRules,
    Name,
    RawSchema,
    Refusal,
    Scope,
    ShortForm,
    Statement,
    ToolHandler,
    Undeclared
  }

  @capabilities %{"sampling" => :sampling, "elicitation" => :elicitation, "roots" => :roots}

  @fields [
            title: :string,
            hints: {:list, {:in, Hints.names()}},
            annotations: {:struct, Tool.Annotations},
            ui: :string,
            visibility: {:list, {:in, ~w(model app)}},
            timeout: :any,
            cancel_grace: :count,
            max_concurrent: :count,
            requires: {:list, {:in, ~w(sampling elicitation roots)}},
            input_schema: :any,
            output_schema: :any,
            additional_properties: :boolean,
            icons: {:list, {:struct, Icon}},
            execution: :map,
            task_support: {:in, ~w(forbidden optional required)},
            task_start: {:in, ~w(call handler)},
            meta: :map,
            tags: {:list, :string},
            result_budget: :count,
            formats: :any,
            repair: :boolean,
            undeclared: {:in, Undeclared.names()},
            arguments: {:in, ~w(strings atoms)},
            struct: :any,
            lint: :any
          ] ++ Access.fields()

  @options Fields.table(@fields, "option")

  # For a tool that is declared at run time, the contents of the statement and its block are fields too.
  @statement [name: [:string, required: true], description: :string, input: :any, output: :any, _meta: :map]
  @run_time Fields.table(@statement ++ Keyword.delete(@fields, :meta))

  # A smaller budget has no room for the link.
  @min_budget 2_048

  # The maximum of the VM's timers, in milliseconds.
  @max_timeout 4_294_967_295

  # Milliseconds. An ended call keeps its memory during its grace.
  @max_grace 60_000

  @doc "Begins a tool."
  @spec open!(module, term, term, {term, term}, keyword, tail :: String.t(), Refusal.place()) :: :ok
  def open!(module, name, description, {controller, function}, options, tail, place) do
    name = Name.check!(name, "tool", place)
    what = "tool #{inspect(name)}"
    Scope.check_outermost!(module, what, place)
    Name.check_new!(module, :tool, name, place)
    check_given!(description, controller, what, name, tail, place)
    description = Name.check_description!(description, what, place)
    statement = "tool #{inspect(name)}, #{inspect(description)},"
    {handler, options} = ToolHandler.named!(module, {controller, function, options}, what, statement, tail, place)
    begin!(module, {name, description, handler}, options, what, place)
  end

  @doc "Declares a tool for a compiled router, from all its fields."
  @spec put!(module, Enumerable.t(), term, Refusal.place()) :: :ok
  def put!(module, fields, handler, place) do
    fields = Refusal.checked!(place, fn -> Fields.gather!("a tool", @run_time, fields) end)
    {said, options} = Map.split(fields, Keyword.keys(@statement))
    name = Name.check!(said.name, "tool", place)
    if said[:description] == nil, do: Refusal.refuse!(place, "tool #{inspect(name)} has no description")

    begin!(
      module,
      {name, said.description, handler},
      Map.put(options, :meta, said[:_meta]),
      "tool #{inspect(name)}",
      place
    )

    for into <- [:input, :output], fields = said[into], do: ShortForm.put!(module, into, fields, [], place)
    close!(module)
  end

  defp begin!(module, {name, description, handler}, options, what, place) do
    Hints.check!(options, what, place)
    options = Refusal.checked!(place, fn -> gather!(what, options) end)
    check_timeout!(options[:timeout], what, place)
    check_options!(options, what, place)
    check_budget!(options[:result_budget], what, place)
    check_grace!(options[:cancel_grace], what, place)
    check_concurrent!(options[:max_concurrent], what, place)
    server = Scope.server(module)
    options = options |> Map.put(:access, Access.new!(options, server.scopes, what, place)) |> put_hints(server.hints)
    Formats.check!(options, what, place)
    Arguments.check_struct!(options[:struct], what, place)

    Scope.open(module, %{
      what: what,
      place: place,
      name: name,
      description: description,
      handler: handler,
      options: options,
      input: [],
      output: [],
      input_schema: nil,
      output_schema: nil,
      elsewhere: %{},
      fields: [],
      undeclared: Undeclared.of_tool(module, options),
      keys: options[:arguments] || server.arguments,
      struct: options[:struct],
      rule: %{},
      run_time?: Scope.run_time?(module)
    })

    options
    |> Map.take([:input_schema, :output_schema])
    |> Enum.each(fn {key, schema} -> put_schema!(module, key, schema, place) end)
  end

  defp put_hints(options, hints) when hints == nil or is_map_key(options, :annotations), do: options
  defp put_hints(options, hints), do: Map.put_new(options, :hints, hints)

  # Error texts must name annotations as the author wrote them, not the struct's fields.
  defp gather!(what, options) do
    Fields.gather!(what, @options, options)
  rescue
    error in ArgumentError ->
      message = String.replace_prefix(error.message, "#{inspect(Tool.Annotations)} has", "annotations of #{what} have")
      reraise ArgumentError, [message: message], __STACKTRACE__
  end

  # A module's name in the position of the description shows that the description is missing.
  defp check_given!(description, controller, what, name, tail, place) do
    if Statement.missing?(description) or (module?(description) and not module?(controller)) do
      rest = if is_atom(controller), do: "#{inspect(description)}, #{inspect(controller)}", else: "MyApp.Tools, :run"
      written = "tool #{inspect(name)}, \"What it does\", #{rest}#{tail}"
      Refusal.refuse!(place, "#{what} has no description. Write: #{written}")
    end
  end

  defp module?(term), do: is_atom(term) and match?("Elixir." <> _name, Atom.to_string(term))

  defp check_timeout!(nil, _what, _place), do: :ok
  defp check_timeout!(timeout, _what, _place) when timeout in 1..@max_timeout, do: :ok

  defp check_timeout!(timeout, what, place) when is_integer(timeout) and timeout > 0 do
    Refusal.refuse!(place, "timeout of #{what} is at most #{@max_timeout} milliseconds, got: #{timeout}")
  end

  defp check_timeout!(timeout, what, place) do
    Refusal.refuse!(
      place,
      "timeout of #{what} must be a number of milliseconds above 0, such as 5_000, got: #{inspect(timeout)}"
    )
  end

  defp check_options!(%{hints: _hints, annotations: _annotations}, what, place) do
    Refusal.refuse!(place, "#{what} has both `hints:` and `annotations:`, which say the same: keep one")
  end

  defp check_options!(%{task_support: _support, execution: _execution}, what, place) do
    Refusal.refuse!(place, "#{what} has both `task_support:` and `execution:`, which say the same: keep one")
  end

  defp check_options!(%{visibility: []}, what, place) do
    Refusal.refuse!(
      place,
      "the visibility of #{what} is :model, :app or both, got: [], with which nobody may call it. Write: visibility: [:model]"
    )
  end

  defp check_options!(%{undeclared: _undeclared, additional_properties: _allowed}, what, place),
    do: Undeclared.refuse_both!(what, place)

  defp check_options!(_options, _what, _place), do: :ok

  defp check_budget!(budget, what, place) when is_integer(budget) and budget < @min_budget do
    Refusal.refuse!(place, "the result_budget of #{what} is at least #{@min_budget} bytes, got: #{budget}")
  end

  defp check_budget!(_budget, _what, _place), do: :ok

  defp check_concurrent!(0, what, place),
    do: Refusal.refuse!(place, "the max_concurrent of #{what} is at least 1, got: 0")

  defp check_concurrent!(_most, _what, _place), do: :ok

  defp check_grace!(grace, what, place) when is_integer(grace) and grace > @max_grace do
    Refusal.refuse!(place, "the cancel_grace of #{what} is at most #{@max_grace} milliseconds, got: #{grace}")
  end

  defp check_grace!(_grace, _what, _place), do: :ok

  @doc "Sets a verbatim schema of the innermost tool."
  @spec put_schema!(module, :input_schema | :output_schema, term, Refusal.place()) :: :ok
  def put_schema!(module, key, schema, place) do
    tool = Scope.current(module)
    what = "#{key} of #{tool.what}"

    if not is_map_key(tool, key) do
      Refusal.refuse!(place, "#{key} stands in the block of #{tool.what}. It belongs in the block of the tool")
    end

    if Map.fetch!(tool, key), do: Refusal.refuse!(place, "the #{what} is already defined. Remove one")

    case Elsewhere.fields!(schema, side(key), "the #{what}", place) do
      nil -> Scope.update(module, &Map.put(&1, key, parse(key).(schema, "the #{what}", place)))
      fields -> put_elsewhere!(module, key, {elem(schema, 0), fields}, place)
    end
  end

  # The linter says where the texts of these fields belong.
  defp put_elsewhere!(module, key, {source, fields}, place) do
    Scope.update(module, &put_in(&1.elsewhere[key], source))
    ShortForm.put!(module, side(key), fields, [], place)
  end

  defp side(:input_schema), do: :input
  defp side(:output_schema), do: :output

  defp parse(:input_schema), do: &RawSchema.parse_object!/3
  defp parse(:output_schema), do: &RawSchema.parse!/3

  @doc "Ends the innermost tool."
  @spec close!(module) :: :ok
  def close!(module) do
    tool = Scope.close(module)
    tool = %{tool | handler: ToolHandler.fetch!(tool)}
    check_one_way!(tool, :input_schema, :input)
    check_one_way!(tool, :output_schema, :output)
    struct = wire_struct(tool)
    arguments = tool |> as_object() |> Arguments.form!(struct.inputSchema)

    Scope.declare(module, :tool, %{
      name: tool.name,
      what: tool.what,
      place: tool.place,
      result_budget: tool.options[:result_budget],
      fields: tool.fields,
      elsewhere: tool.elsewhere,
      ignored: LintRules.ignored!(tool.options[:lint], tool.what, tool.place),
      struct: struct,
      entry: Map.put(entry(tool), :arguments, arguments),
      handlers: handlers(tool),
      structs: if(arguments, do: arguments.structs, else: [])
    })
  end

  defp handlers(%{options: options} = tool) do
    call = %{what: tool.what, handler: tool.handler, arity: 2, place: tool.place, optional?: false}
    [call | Access.handlers(options.access, tool.what, tool.place)]
  end

  defp check_one_way!(tool, key, fields) do
    if Map.fetch!(tool, key) && Map.fetch!(tool, fields) != [] do
      Refusal.refuse!(tool.place, "#{tool.what} has both #{key} and #{fields}_field, which say the same: keep one")
    end

    for option <- [:additional_properties, :undeclared], tool.input_schema && Map.has_key?(tool.options, option) do
      Refusal.refuse!(
        tool.place,
        "#{tool.what} has both `#{option}:` and `input_schema`. Write additionalProperties in the schema"
      )
    end
  end

  defp wire_struct(%{options: options} = tool) do
    %Tool{
      name: tool.name,
      description: tool.description,
      inputSchema: tool.input_schema || input(tool),
      outputSchema: tool.output_schema || output(tool.output),
      annotations: annotations(options),
      title: options[:title],
      icons: options[:icons],
      execution: execution(options),
      _meta: meta(options)
    }
  end

  defp execution(%{task_support: support}), do: %{"taskSupport" => support}
  defp execution(options), do: options[:execution]

  defp input(tool) do
    schema = Map.merge(%{"type" => "object", "properties" => %{}}, Field.object(tool.input))

    case tool.options do
      %{additional_properties: allowed} -> Map.put(schema, "additionalProperties", allowed)
      _options -> Undeclared.close(schema, as_object(tool))
    end
  end

  # The arguments together form an object, like the objects inside them.
  defp as_object(tool) do
    own? = is_map_key(tool.options, :undeclared)
    Map.merge(tool, %{root: :input, properties: tool.input, own_undeclared?: own?})
  end

  defp output([]), do: nil
  defp output(fields), do: Map.put(Field.object(fields), "type", "object")

  # Clients of revision 2025-03-26 read a tool's title only from its annotations.
  defp annotations(%{annotations: %Tool.Annotations{title: nil} = annotations} = options) do
    %{annotations | title: options[:title]}
  end

  defp annotations(%{annotations: annotations}), do: annotations

  defp annotations(%{hints: hints} = options) do
    %Tool.Annotations{
      title: options[:title],
      readOnlyHint: "read_only" in hints,
      destructiveHint: "non_destructive" not in hints,
      idempotentHint: "idempotent" in hints,
      openWorldHint: "closed_world" not in hints
    }
  end

  defp annotations(%{title: title}), do: %Tool.Annotations{title: title}
  defp annotations(_options), do: nil

  defp meta(options) do
    case {ui(options), options[:meta]} do
      {nil, meta} -> meta
      {ui, nil} -> %App.Meta{ui: ui}
      {ui, meta} -> Map.put(meta, "ui", ui)
    end
  end

  defp ui(options) when is_map_key(options, :ui) or is_map_key(options, :visibility) do
    ui = %App.UI{resource_uri: options[:ui]}
    if visibility = options[:visibility], do: %{ui | visibility: visibility}, else: ui
  end

  defp ui(_options), do: nil

  defp entry(tool), do: tool |> target() |> Access.put(tool.options.access)

  defp target(tool) do
    %{
      name: tool.name,
      handler: tool.handler,
      timeout: tool.options[:timeout],
      cancel_grace: tool.options[:cancel_grace] || 0,
      max_concurrent: tool.options[:max_concurrent],
      requires: Enum.map(tool.options[:requires] || [], &Map.fetch!(@capabilities, &1)),
      task_start: if(tool.options[:task_start] == "handler", do: :handler, else: :call),
      result_budget: tool.options[:result_budget],
      formats: tool.options[:formats],
      repair: tool.options[:repair],
      # Clients that validate or render the structured content need it in full.
      keeps_data?: tool.output_schema != nil or tool.output != [] or tool.options[:ui] != nil,
      any_output?: tool.output_schema != nil and not object?(tool.output_schema)
    }
  end

  # Whether a schema allows only objects.
  defp object?(%{"type" => "object"}), do: true
  defp object?(%{type: type}), do: type in ["object", :object]
  defp object?(_schema), do: false
end
