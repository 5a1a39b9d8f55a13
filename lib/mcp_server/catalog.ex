defmodule McpServer.Catalog do
  @moduledoc false
  # A router's definition, compiled by the core once and shared by every connection.
  #
  # It lives in `:persistent_term`: reading it copies nothing. It is written when a router is first
  # served, and again only when the router's code has changed (a development reload), when what
  # keeps its larger results has been started or stopped, or when the native library was purged and loaded again.

  alias McpServer.{JSON, Native, Protocol, Schema}

  @enforce_keys [:ref, :router, :server, :tools, :prompts, :resources, :templates]
  defstruct [:ref, :router, :server, :tools, :prompts, :resources, :templates, guarded?: false]

  @typedoc """
  `:ref` is the core's; the tuples hold the router's handlers in declaration order; `:guarded?` says whether some
  resource or template has an `authorize:` function.
  """
  @type t :: %__MODULE__{
          ref: reference(),
          router: module(),
          server: map(),
          tools: tuple(),
          prompts: tuple(),
          resources: tuple(),
          templates: tuple(),
          guarded?: boolean()
        }

  @doc """
  The catalogue of a router.

  Raises `ArgumentError` when the module is no router, or when the core refuses its definition.
  """
  @spec fetch(module()) :: t()
  def fetch(router) do
    fingerprint = {fingerprint(router), experimental(router), Native.Library.loaded()}

    case :persistent_term.get({__MODULE__, router}, nil) do
      {^fingerprint, catalog} -> catalog
      _missing_or_outdated -> put(router, fingerprint)
    end
  end

  # Known when what keeps larger results runs, which may be later than the router is first served.
  defp experimental(router) do
    case router.__mcp__(:overflow) do
      {module, argument} -> module.capabilities(argument)
      nil -> %{}
    end
  end

  defp put(router, fingerprint) do
    case build(router) do
      {:ok, catalog} ->
        :persistent_term.put({__MODULE__, router}, {fingerprint, catalog})
        catalog

      {:error, message} ->
        raise ArgumentError, "#{inspect(router)} cannot be served: #{message}"
    end
  end

  defp fingerprint(router) do
    if Code.ensure_loaded?(router) and function_exported?(router, :__mcp__, 1),
      do: router.__mcp__(:fingerprint),
      else: raise(ArgumentError, "#{inspect(router)} is not a router: #{unlike_router(router)}")
  end

  defp unlike_router(router) do
    if Code.ensure_loaded?(router), do: "it does not `use McpServer.Router`", else: "there is no such module"
  end

  @doc """
  Compiles a router's definition without keeping it.

  The error text begins with what is at fault, such as `tool "add": inputSchema: …`; the router asks
  while it compiles.
  """
  @spec build(module()) :: {:ok, t()} | {:error, String.t()}
  def build(router) do
    with {:ok, definition} <- definition(router),
         server = router.__mcp__(:server),
         {:ok, ref} <- Protocol.compile(definition, server.schema_limits, server.template_limits) do
      [resources, templates] = for key <- [:resource_handlers, :template_handlers], do: router.__mcp__(key)

      {:ok,
       %__MODULE__{
         ref: ref,
         router: router,
         server: server,
         tools: router.__mcp__(:tool_handlers),
         prompts: router.__mcp__(:prompt_handlers),
         resources: resources,
         templates: templates,
         guarded?: Enum.any?(Tuple.to_list(resources) ++ Tuple.to_list(templates), &is_map_key(&1, :authorize))
       }}
    end
  end

  @doc """
  A router's definition, as the core reads it.

  Raises `ArgumentError` when the module is no router.
  """
  @spec definition(module()) :: {:ok, String.t()} | {:error, String.t()}
  def definition(router) do
    _fingerprint = fingerprint(router)
    with {:error, error} <- JSON.encode(declared(router)), do: {:error, fault(error, router)}
  end

  # The way to what is too deep would be a line of a thousand characters.
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
      "repair" => or_else(tool.repair, server.repair)
    }
  end

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
