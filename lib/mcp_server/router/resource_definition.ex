defmodule McpServer.Router.ResourceDefinition do
  @moduledoc false
  # Checks a `resource` declaration, and makes the struct for clients and the entry for dispatch. A URI with variables
  # makes a template.

  alias McpServer.{Annotations, App, Fields, Icon, Resource, ResourceTemplate}
  alias McpServer.App.View
  alias McpServer.Router.{Access, Arguments, Handler, LintRules, Name, Refusal, Scope, Statement, Uri}

  @statements Fields.table(
                [
                  description: :string,
                  mimeType: :string,
                  title: :string,
                  size: :count,
                  icons: {:list, {:struct, Icon}},
                  annotations: {:struct, Annotations},
                  csp: :any,
                  permissions: :any,
                  app_domain: :string,
                  prefers_border: :boolean,
                  meta: :map
                ],
                "statement"
              )
  @options Fields.table([arguments: {:in, ~w(strings atoms)}] ++ Access.fields(), "option")
  @arity %{read: 2, complete: 3}
  @view App.mime_type()
  @view_only [:csp, :permissions, :app_domain, :prefers_border]

  @doc "Begins a resource."
  @spec open!(module, term, term, term, tail :: String.t(), Refusal.place()) :: :ok
  def open!(module, name, uri, options, tail, place) do
    name = Name.check_free!(name, "a resource", place)
    what = "resource #{inspect(name)}"
    Scope.check_outermost!(module, what, place)
    Name.check_new!(module, :resource, name, place)

    if Statement.missing?(uri) do
      Refusal.refuse!(
        place,
        "#{what} has no URI. Write: resource #{inspect(name)}, \"https://example.com/#{name}\"#{tail}"
      )
    end

    variables = variables!(uri, what, place)
    check_new_uri!(module, uri, what, place)
    check_options!(options, what, place)
    options = Refusal.checked!(place, fn -> Fields.gather!(what, @options, options) end)

    Scope.open(module, %{
      what: what,
      place: place,
      name: name,
      uri: uri,
      variables: variables,
      access: Access.new!(options, Scope.server(module).scopes, what, place),
      keys: options[:arguments] || Scope.server(module).arguments,
      statements: %{},
      read: nil,
      complete: nil
    })
  end

  # Some options of tools and prompts are statements in resources.
  defp check_options!(options, what, place) do
    statement = Keyword.keyword?(options) and Enum.find(options, fn {key, _} -> @statements.spellings["#{key}"] end)

    with {key, value} <- statement do
      Refusal.refuse!(
        place,
        "#{what} has no option #{key}: it is a statement in its block. Write: #{key} #{inspect(value)}"
      )
    end
  end

  defp variables!(uri, what, place) when is_binary(uri) do
    case Uri.variables(uri) do
      {:ok, variables} -> variables
      {:error, reason} -> Refusal.refuse!(place, "the URI of #{what} is not valid, #{reason}; got: #{inspect(uri)}")
    end
  end

  defp variables!(uri, what, place) do
    Refusal.refuse!(place, "the URI of #{what} is a string, got: #{inspect(uri)}")
  end

  @doc "Refuses a URI that another resource has."
  @spec check_new_uri!(module, String.t(), what :: String.t(), Refusal.place()) :: :ok
  def check_new_uri!(module, uri, what, place) do
    case Enum.find(Scope.declared(module, :resource), &(&1.uri == uri)) do
      nil ->
        :ok

      earlier ->
        Refusal.refuse!(
          place,
          "the URI of #{what} is already that of resource #{inspect(earlier.name)}. Change or remove one"
        )
    end
  end

  @doc "Sets the value of a statement in the innermost resource."
  @spec put!(module, atom, term, Refusal.place()) :: :ok
  def put!(module, statement, value, place) do
    resource = Scope.current(module)

    if Map.has_key?(resource.statements, statement) do
      Refusal.refuse!(place, "`#{statement}` of #{resource.what} is already defined. Remove one")
    end

    if statement == :size and resource.variables != [] do
      Refusal.refuse!(place, "#{resource.what} has variables in its URI, so it has no one size. Remove `size`")
    end

    given = Refusal.checked!(place, fn -> checked(resource.what, statement, value, place) end)
    check_view!(resource, statement, given[statement], place)
    Scope.update(module, &%{&1 | statements: Map.merge(&1.statements, given)})
  end

  # The struct of an App's options checks them.
  defp checked(what, :csp, value, _place), do: %{csp: App.UIResourceMeta.csp!(value, "`csp` of #{what}")}

  defp checked(what, :permissions, value, _place) do
    %{permissions: App.UIResourceMeta.permissions!(value, "`permissions` of #{what}")}
  end

  defp checked(what, :lint, value, place), do: %{lint: LintRules.ignored!(value, what, place)}
  defp checked(what, statement, value, _place), do: Fields.gather!(what, @statements, [{statement, value}])

  # Hosts accept only this media type from a ui:// resource, and view options only from ui:// resources.
  defp check_view!(resource, statement, value, place) do
    case {View.uri?(resource.uri), statement} do
      {true, :mimeType} when value != @view ->
        Refusal.refuse!(
          place,
          "the mimeType of #{resource.what} is #{@view}, as of every ui:// resource; got: #{value}. Remove `mimeType`"
        )

      {true, :csp} ->
        check_csp!(resource.what, value, place)

      {false, :mimeType} when value == @view ->
        Refusal.refuse!(
          place,
          "#{resource.what} cannot be a view: the URI of a view begins with ui://, got: #{inspect(resource.uri)}"
        )

      {false, statement} when statement in @view_only ->
        Refusal.refuse!(
          place,
          "`#{statement}` of #{resource.what} is for views only. Remove it, or give the resource a URI that begins with ui://"
        )

      _fine ->
        :ok
    end
  end

  # The origins are checked by building the hosts' policy.
  defp check_csp!(what, csp, place) do
    with {:error, reason} <- App.CSP.validate(csp) do
      Refusal.refuse!(
        place,
        "`csp` of #{what} cannot be a policy: #{reason}. An origin is like https://*.example.com"
      )
    end
  end

  @doc "Sets the `read` or `complete` function of the innermost resource."
  @spec put_handler!(module, :read | :complete, term, term, Refusal.place()) :: :ok
  def put_handler!(module, statement, controller, function, place) do
    resource = Scope.current(module)

    if statement == :complete and resource.variables == [] do
      Refusal.refuse!(
        place,
        "`complete` of #{resource.what} has nothing to complete: #{inspect(resource.uri)} has no variables. " <>
          "Remove `complete`, or write a variable in the URI: {id}"
      )
    end

    named = Handler.statement!(resource, statement, controller, function, Map.fetch!(@arity, statement), place)
    Scope.update(module, &Map.put(&1, statement, %{named | optional?: statement == :complete}))
  end

  @doc "Ends the innermost resource."
  @spec close!(module) :: :ok
  def close!(module) do
    resource = Scope.close(module)

    if resource.read == nil do
      Refusal.refuse!(
        resource.place,
        "#{resource.what} has no function that reads it. Write in its do block: read MyApp.Notes, :read"
      )
    end

    resource = with_media_type(resource)

    Scope.declare(module, :resource, %{
      name: resource.name,
      what: resource.what,
      uri: resource.uri,
      template?: resource.variables != [],
      place: resource.place,
      ignored: Map.get(resource.statements, :lint, []),
      struct: wire_struct(resource),
      entry: entry(resource),
      handlers: handlers(resource)
    })
  end

  defp handlers(resource) do
    Enum.reject([resource.read, resource.complete], &is_nil/1) ++
      Access.handlers(resource.access, resource.what, resource.place)
  end

  defp with_media_type(resource) do
    if View.uri?(resource.uri), do: put_in(resource.statements[:mimeType], @view), else: resource
  end

  defp wire_struct(%{variables: [], statements: statements} = resource) do
    struct!(Resource, Map.merge(common(resource), %{uri: resource.uri, size: statements[:size]}))
  end

  defp wire_struct(resource), do: struct!(ResourceTemplate, Map.put(common(resource), :uriTemplate, resource.uri))

  defp common(%{statements: statements} = resource) do
    statements
    |> Map.take([:description, :mimeType, :title, :icons, :annotations])
    |> Map.merge(%{name: resource.name, _meta: meta(statements)})
  end

  defp meta(statements) do
    case {ui(statements), statements[:meta]} do
      {nil, meta} -> meta
      {ui, nil} -> %App.Meta{ui: ui}
      {ui, meta} -> Map.put(meta, "ui", ui)
    end
  end

  defp ui(statements) do
    if Enum.any?(@view_only, &is_map_key(statements, &1)) do
      %App.UIResourceMeta{
        csp: statements[:csp],
        permissions: statements[:permissions],
        domain: statements[:app_domain],
        prefers_border: statements[:prefers_border]
      }
    end
  end

  defp entry(resource) do
    entry = resource |> target() |> Access.put(resource.access)

    if View.uri?(resource.uri),
      do: Map.put(entry, :view, %{mime_type: @view, meta: ui(resource.statements)}),
      else: entry
  end

  defp target(%{variables: []} = resource) do
    %{name: resource.name, uri: resource.uri, read: resource.read.handler}
  end

  defp target(resource) do
    %{
      name: resource.name,
      uri_template: resource.uri,
      read: resource.read.handler,
      complete: resource.complete && resource.complete.handler,
      variables: resource.variables
    }
    |> Arguments.put_atoms!(resource, resource.variables)
  end
end
