defmodule McpServer.Router.Include do
  @moduledoc false
  # The statement `include`: this router declares the entries of another router, with an optional prefix.

  alias McpServer.{Fields, NamedModule}
  alias McpServer.Router.{Access, Name, Refusal, ResourceDefinition, Scope}

  @options Fields.table([prefix: :string] ++ Access.fields(), "option")

  @kinds [
    {:tool, :tools, :tool_handlers, "tool"},
    {:prompt, :prompts, :prompt_handlers, "prompt"},
    {:resource, :resources, :resource_handlers, "resource"},
    {:resource, :resource_templates, :template_handlers, "resource template"}
  ]

  @doc "Declares the entries of another router in this one."
  @spec put!(module, term, term, Refusal.place()) :: :ok
  def put!(router, other, options, place) do
    what = "include #{inspect(other)}"
    Scope.check_outermost!(router, what, place)
    check_router!(other, what, place)
    options = Refusal.checked!(place, fn -> Fields.gather!(what, @options, options) end)
    if is_map_key(options, :scopes), do: Access.check_scopes!(options.scopes, what, place)
    access = Access.new!(options, nil, what, place)

    included = %{
      router: router,
      prefix: options[:prefix] || "",
      access: access,
      handlers: Access.handlers(access, what, place),
      place: place,
      places: Map.new(other.__mcp__(:places), &{&1.what, &1})
    }

    for {kind, structs, entries, label} <- @kinds,
        {struct, entry} <- Enum.zip(other.__mcp__(structs), Tuple.to_list(other.__mcp__(entries))),
        do: declare!(kind, label, struct, entry, included)

    overflow!(router, other.__mcp__(:overflow), what, place)
  end

  # Its tools and its links need the place for larger results. A router has one.
  defp overflow!(_router, nil, _what, _place), do: :ok

  defp overflow!(router, implementation, what, place) do
    case Scope.declared(router, :overflow) do
      [] ->
        Scope.declare(router, :overflow, %{implementation: implementation, place: place})

      [%{implementation: ^implementation}] ->
        :ok

      [%{place: earlier}] ->
        Refusal.refuse!(
          place,
          "#{what}: its `dual_responses` name another server than those at #{Refusal.format(earlier)}. Use one for both"
        )
    end
  end

  defp check_router!(other, what, place) do
    cond do
      not is_atom(other) or other in [nil, true, false] ->
        Refusal.refuse!(place, "`include` takes a router, got: #{inspect(other)}. Write: include MyApp.AdminMCP")

      missing = NamedModule.missing(other) ->
        Refusal.refuse!(place, "#{what}: #{missing}")

      not function_exported?(other, :__mcp__, 1) ->
        Refusal.refuse!(place, "#{what}: the module is no router. It needs `use McpServer.Router`")

      true ->
        :ok
    end
  end

  defp declare!(kind, label, struct, entry, %{router: router, place: place} = included) do
    name = check_name!(kind, included.prefix <> struct.name, place)
    Name.check_new!(router, kind, name, place)
    check_new_uri!(router, uri(struct), name, place)
    origin = included.places["#{label} #{inspect(struct.name)}"]

    Scope.declare(router, kind, %{
      name: name,
      what: "#{kind} #{inspect(name)}",
      uri: uri(struct),
      template?: label == "resource template",
      place: place,
      result_budget: entry[:result_budget],
      fields: [],
      ignored: origin.ignored,
      struct: %{struct | name: name},
      entry: entry |> Map.put(:name, name) |> guard(included.access) |> Access.put_default(Scope.server(router).scopes),
      handlers: included.handlers,
      structs: origin.structs
    })
  end

  defp check_name!(:tool, name, place), do: Name.check!(name, "tool", place)
  defp check_name!(kind, name, place), do: Name.check_free!(name, "a #{kind}", place)

  defp uri(%{uri: uri}), do: uri
  defp uri(%{uriTemplate: uri}), do: uri
  defp uri(_no_resource), do: nil

  defp check_new_uri!(_router, nil, _name, _place), do: :ok

  defp check_new_uri!(router, uri, name, place),
    do: ResourceDefinition.check_new_uri!(router, uri, "resource #{inspect(name)}", place)

  # The functions of `include` run before those of the declaration.
  defp guard(entry, nil), do: entry
  defp guard(%{access: declared} = entry, outer), do: %{entry | access: outermost(declared, outer)}
  defp guard(entry, outer), do: Map.put(entry, :access, outer)

  defp outermost(%{outer: inner} = declared, outer), do: %{declared | outer: outermost(inner, outer)}
  defp outermost(declared, outer), do: Map.put(declared, :outer, outer)
end
