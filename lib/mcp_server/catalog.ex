defmodule McpServer.Catalog do
  @moduledoc false
  # A router's definition, compiled once by the core and shared by all connections.
  #
  # It is stored in `:persistent_term`, so reads copy nothing. It is written when a router is first served. It is
  # written again only when the router's code has changed (a development reload), when the store of its larger results
  # has been started or stopped, or when the native library was purged and loaded again. If a list has changed then,
  # subscribed clients of this node are notified.

  alias McpServer.Catalog.Rules
  alias McpServer.{Access, Changes, JSON, Native, Protocol, Router, Schema, Secret}
  alias McpServer.Router.Plugs
  alias McpServer.Tools.Server

  @enforce_keys [:ref, :router, :server, :tools, :prompts, :resources, :templates, :lists]
  defstruct [
    :ref,
    :router,
    :server,
    :tools,
    :prompts,
    :resources,
    :templates,
    :lists,
    rules: {},
    filtered: [],
    guarded?: false,
    run_time_tools?: false
  ]

  @typedoc """
  `:ref` is the core's reference. The tuples hold the router's handlers in declaration order. `:lists` has a digest of
  each list with change notifications. `:rules` and `:filtered` are those of `McpServer.Catalog.Rules`. `:guarded?`
  tells whether any resource or template has an access check.
  """
  @type t :: %__MODULE__{
          ref: reference(),
          router: module(),
          server: map(),
          tools: tuple(),
          prompts: tuple(),
          resources: tuple(),
          templates: tuple(),
          lists: %{Changes.change() => binary()},
          rules: tuple(),
          filtered: [atom()],
          guarded?: boolean(),
          run_time_tools?: boolean()
        }

  @doc """
  The catalogue of a router.

  Raises `ArgumentError` if the module is not a router, or if the core refuses its definition.
  """
  @spec fetch(module()) :: t()
  def fetch(router) do
    with {:outdated, _version, _former} <- usable(router),
         do: :global.trans({{__MODULE__, router}, self()}, fn -> renew(router) end, [node()])
  end

  @doc "Whether the catalogue of a router has been fetched."
  @spec served?(module()) :: boolean()
  def served?(router), do: stored(router) != nil

  @doc "Whether a catalogue is the one that `fetch/1` returned last, in any process."
  @spec current?(t()) :: boolean()
  def current?(%__MODULE__{router: router, ref: ref}), do: match?({_version, %{ref: ^ref}}, stored(router))

  defp stored(router), do: :persistent_term.get({__MODULE__, router}, nil)

  # `nil` if the router or a module that it names is not loaded at this moment.
  defp version(router) do
    with true <- router?(router),
         arities = Enum.map(router.__mcp__(:hooks), &Access.arity/1),
         false <- nil in arities do
      {router.__mcp__(:fingerprint), empty_structs(router), experimental(router), Native.Library.loaded(),
       Server.usage(router), arities}
    else
      _incomplete -> nil
    end
  rescue
    UndefinedFunctionError -> nil
  end

  defp router?(router), do: Code.ensure_loaded?(router) and function_exported?(router, :__mcp__, 1)

  # The store of larger results may start after the router is first served.
  defp experimental(router) do
    case router.__mcp__(:overflow) do
      {module, argument} -> module.capabilities(argument)
      nil -> %{}
    end
  end

  # Serialized, so that a change is announced once.
  defp renew(router) do
    with {:outdated, version, former} <- usable(router), do: put(router, version, former)
  end

  defp usable(router) do
    case {stored(router), version(router)} do
      {{version, catalog}, version} -> catalog
      # While Mix recompiles the router its module is missing: the old catalogue is served.
      {{_version, catalog}, nil} -> catalog
      {former, version} -> {:outdated, version, former}
    end
  end

  defp put(router, version, former) do
    check_router!(router)

    case build(router, Secret.stand_in_key()) do
      {:ok, catalog} ->
        # The build has loaded all modules that the router names, so its version is known now.
        :persistent_term.put({__MODULE__, router}, {version || version(router), catalog})
        with {_version, former} <- former, do: announce(former, catalog)
        catalog

      {:error, message} ->
        raise ArgumentError, "#{inspect(router)} cannot be served: #{message}"
    end
  end

  # Other nodes detect changes of their code themselves.
  defp announce(%{lists: former}, %{router: router, lists: lists}) do
    for {list, digest} <- lists, former[list] != digest, do: Changes.publish_here(router, list)
  end

  defp check_router!(router) do
    router?(router) || raise ArgumentError, "#{inspect(router)} is not a router: #{unlike_router(router)}"
  end

  defp unlike_router(router) do
    if Code.ensure_loaded?(router), do: "it does not `use McpServer.Router`", else: "there is no such module"
  end

  @doc """
  Compiles a router's definition without storing it.

  The error text begins with the faulty entry, such as `tool "add": inputSchema: …`. The router calls this while it
  compiles, without a key for the choice of stand-ins.
  """
  @spec build(module(), stand_in_key :: <<_::256>> | nil) :: {:ok, t()} | {:error, String.t()}
  def build(router, stand_in_key \\ nil) do
    check_router!(router)

    with {:ok, handlers} <- handlers(router),
         rules = Rules.of(handlers, router.__mcp__(:dynamic)),
         {:ok, definition} <- definition(router, rules.numbers),
         server = router.__mcp__(:server),
         limits = {server.schema_limits, server.template_limits},
         {:ok, ref} <- Protocol.compile(definition, structs(router), limits, stand_in_key) do
      %{resource_handlers: resources, template_handlers: templates} = handlers

      {:ok,
       %__MODULE__{
         ref: ref,
         router: router,
         server: server,
         tools: handlers.tool_handlers,
         prompts: handlers.prompt_handlers,
         resources: resources,
         templates: templates,
         lists: lists(router),
         rules: rules.rules,
         filtered: filtered(router, rules.filtered),
         run_time_tools?: Server.used?(router),
         guarded?:
           context?(router) or Enum.any?(Tuple.to_list(resources) ++ Tuple.to_list(templates), &is_map_key(&1, :access))
       }}
    end
  end

  # Resolves the functions of plugs and of `authorize:`. This happens at run time, because a router has no compile-time
  # dependency on their modules.
  defp handlers(router) do
    [:tool_handlers, :prompt_handlers, :resource_handlers, :template_handlers]
    |> Enum.reduce_while({:ok, %{}}, fn key, {:ok, tuples} ->
      case resolved(Tuple.to_list(router.__mcp__(key)), []) do
        {:ok, entries} -> {:cont, {:ok, Map.put(tuples, key, entries |> guarded(router) |> List.to_tuple())}}
        {:error, text} -> {:halt, {:error, text}}
      end
    end)
  end

  # A `context:` may refuse any request, and then tells nothing of its entry. So the core prepares both answers for each,
  # as for an entry with a rule. An empty rule allows all clients.
  defp guarded(entries, router), do: if(context?(router), do: Enum.map(entries, &with_rule/1), else: entries)

  defp with_rule(%{access: %{rule: nil} = access} = entry), do: %{entry | access: %{access | rule: []}}
  defp with_rule(%{access: _with_rule} = entry), do: entry
  defp with_rule(open), do: Map.put(open, :access, %{rule: [], checks: []})

  defp resolved([], resolved), do: {:ok, Enum.reverse(resolved)}

  defp resolved([entry | entries], resolved) do
    with {:ok, entry} <- Plugs.resolve_all(entry),
         do: resolved(entries, [entry |> capture() |> Access.resolve_entry() | resolved])
  end

  @functions [handler: 2, get: 2, read: 2, complete: 3]

  # A call of a captured function needs no lookup by name, which takes a lock.
  defp capture(entry) do
    captured =
      for {key, arity} <- @functions,
          %{^key => {module, function}} <- [entry],
          into: %{},
          do: {key, Function.capture(module, function, arity)}

    Map.merge(entry, captured)
  end

  # Digests of the declared lists. The application announces changes of lists that the router computes.
  defp lists(router) do
    %{
      tools: digest(router.__mcp__(:tools)),
      prompts: digest(router.__mcp__(:prompts)),
      resources: digest([router.__mcp__(:resources), router.__mcp__(:resource_templates)])
    }
  end

  defp digest(objects), do: :erlang.md5(:erlang.term_to_binary(objects, [:deterministic]))

  # A router with a `context:` may refuse any request, and so any list.
  defp filtered(router, lists) do
    more =
      cond do
        context?(router) -> Rules.lists()
        Server.used?(router) -> [:list_tools]
        true -> []
      end

    Enum.uniq((more -- router.__mcp__(:dynamic)) ++ lists)
  end

  defp context?(router), do: router.__mcp__(:server).context != nil

  @doc """
  The catalogue of one tool that was declared at run time, with the settings of its router.

  The error text is the same as for a declared tool.
  """
  @spec of_tool(t(), Server.entry()) :: {:ok, t()} | {:error, String.t()}
  def of_tool(%__MODULE__{router: router, server: server} = catalog, %{text: text, entry: entry, structs: structs}) do
    with {:ok, entry} <- Plugs.resolve_all(entry |> capture() |> Map.merge(router.__mcp__(:run_time))),
         {:ok, info} <- JSON.encode(server(server)),
         {:ok, rule} <- JSON.encode(tool_rule(entry, server)),
         definition =
           IO.iodata_to_binary(["{\"server\":", info, ",\"tools\":[", text, "],\"toolRules\":[", rule, "]}"]),
         empty = for(module <- structs, do: module.__struct__()),
         limits = {server.schema_limits, server.template_limits},
         # Nothing stands in for a single tool.
         {:ok, ref} <- Protocol.compile(definition, terms(empty), limits, nil) do
      own = %{ref: ref, tools: {Access.resolve_entry(entry)}, rules: {}, filtered: [], run_time_tools?: false}
      {:ok, Map.merge(catalog, own)}
    end
  end

  @doc """
  A router's definition, in the form that the core reads.

  Raises `ArgumentError` if the module is not a router.
  """
  @spec definition(module(), %{String.t() => list()}) :: {:ok, String.t()} | {:error, String.t()}
  def definition(router, rules \\ %{}) do
    check_router!(router)
    usage = Server.usage(router)
    run_time = %{"runTimeTools" => usage != :none, "runTimeTasks" => usage == :with_tasks}

    access = %{
      "rules" => rules,
      "guards" => Rules.guards(router),
      "public" => Rules.public(router),
      "context" => context?(router)
    }

    declared = router |> declared() |> Map.merge(access) |> Map.merge(run_time)

    with {:error, error} <- JSON.encode(declared), do: {:error, fault(error, router)}
  end

  # The path to a value that is too deep would have a thousand characters.
  defp fault(%{kind: :too_deep, path: ["tools", index, member | _rest]}, router),
    do: "tool #{inspect(Enum.at(router.__mcp__(:tools), index).name)}: #{member}: #{Schema.Error.too_deep(124)}"

  defp fault(error, _router), do: Exception.message(error)

  # See `native/mcp_core/src/catalog/definition.rs`.
  defp declared(router) do
    %{
      "server" => Map.put(server(router.__mcp__(:server)), "experimental", experimental(router)),
      "tools" => router.__mcp__(:tools),
      "toolRules" => rules(router.__mcp__(:tool_handlers), &tool_rule(&1, router.__mcp__(:server))),
      "prompts" => router.__mcp__(:prompts),
      "promptCompletes" => rules(router.__mcp__(:prompt_handlers), &(&1.complete != nil)),
      "resources" => router.__mcp__(:resources),
      "resourceTemplates" => router.__mcp__(:resource_templates),
      "templateCompletes" => rules(router.__mcp__(:template_handlers), &(&1.complete != nil)),
      "dynamic" => Enum.map(router.__mcp__(:dynamic), &list_member/1)
    }
  end

  defp rules(handlers, fun), do: handlers |> Tuple.to_list() |> Enum.map(fun)

  defp tool_rule(tool, server) do
    %{
      "requires" => tool.requires,
      "formats" => or_else(tool.formats, server.formats),
      "repair" => or_else(tool.repair, server.repair),
      "arguments" => tool.arguments && tool.arguments.rule,
      "asks" => asks(tool)
    }
  end

  # The value that `mix mcp.lint` checks.
  defp asks(%{public?: true}), do: "public"

  defp asks(%{access: declared}) do
    cond do
      Router.Access.scoped?(declared) -> "scopes"
      Map.drop(declared, [:listed, :tags]) == %{} -> "nothing"
      true -> "function"
    end
  end

  defp asks(_open), do: "nothing"

  # The structs for arguments, by their names in the rules.
  defp structs(router), do: terms(empty_structs(router))

  defp terms(empty),
    do: for(%module{} = struct <- empty, do: {Atom.to_string(module), :erlang.term_to_binary(struct)})

  defp empty_structs(router), do: for(module <- router.__mcp__(:structs), do: module.__struct__())

  defp or_else(nil, default), do: default
  defp or_else(own, _default), do: own

  defp server(server) do
    %{
      "info" => %{
        "name" => server.name,
        "version" => server.version,
        "title" => server.title,
        "description" => server.description,
        "websiteUrl" => server.website_url,
        "icons" => server.icons
      },
      "instructions" => server.instructions,
      "ttlMs" => server.ttl,
      "cacheScope" => server.cache_scope,
      "pageSize" => server.page_size
    }
  end

  defp list_member(:list_tools), do: "tools"
  defp list_member(:list_prompts), do: "prompts"
  defp list_member(:list_resources), do: "resources"
  defp list_member(:list_resource_templates), do: "resourceTemplates"
end
