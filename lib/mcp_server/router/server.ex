defmodule McpServer.Router.Server do
  @moduledoc false
  # The options of `use McpServer.Router`, which describe the server.

  alias McpServer.{Fields, Icon, Limit}
  alias McpServer.Router.{Access, Formats, Handler, Hints, LintRules, Refusal, Undeclared}
  alias McpServer.Schema.Validator

  @options Fields.table(
             [
               name: :string,
               version: :string,
               title: :string,
               description: :string,
               website_url: :string,
               icons: {:list, {:struct, Icon}},
               instructions: :string,
               ttl: :count,
               cache_scope: {:in, ~w(private public)},
               page_size: :count,
               schema_limits: :list,
               template_limits: :list,
               system_role: {:in, ~w(user assistant passthrough error)},
               formats: :any,
               repair: :boolean,
               debug_errors: :boolean,
               undeclared: {:in, Undeclared.names()},
               arguments: {:in, ~w(strings atoms)},
               scopes: :any,
               hints: {:list, {:in, Hints.names()}},
               context: :any,
               lint: :any
             ],
             "option"
           )

  @defaults %{
    version: "0.1.0",
    title: nil,
    description: nil,
    website_url: nil,
    icons: nil,
    instructions: nil,
    ttl: 0,
    cache_scope: "private",
    page_size: 1_000,
    schema_limits: [],
    template_limits: [],
    system_role: "user",
    formats: Formats.default(),
    repair: false,
    undeclared: "refuse",
    arguments: "strings",
    scopes: nil,
    hints: nil,
    context: nil
  }

  @scopes %{"private" => :private, "public" => :public}
  @roles %{"user" => :user, "assistant" => :assistant, "passthrough" => :passthrough, "error" => :error}

  # The maxima of the limits of URI templates.
  @template_limits [max_bytes: {:bytes, 65_536}, max_variables: {:count, 256}]

  @doc "The checked options, with defaults. The table build handles `:lint` separately."
  @spec new!(module, term, Refusal.place()) :: map
  def new!(router, options, place) do
    owner = "`use McpServer.Router`"
    Hints.check!(options, owner, place)
    given = Refusal.checked!(place, fn -> Fields.gather!(owner, @options, options) end)
    if given[:page_size] == 0, do: Refusal.refuse!(place, "the page_size of #{owner} is at least 1, got: 0")
    Formats.check!(given, owner, place)
    if is_map_key(given, :scopes), do: Access.check_scopes!(given.scopes, owner, place)
    if is_map_key(given, :context), do: check_context!(given.context, owner, place)
    given = Map.put(given, :lint, LintRules.new!(given[:lint], owner, place))
    defaults = Map.merge(@defaults, %{name: inspect(router), debug_errors: {:unless_configured, developing?()}})
    server = Map.merge(defaults, given)

    %{
      server
      | cache_scope: Map.fetch!(@scopes, server.cache_scope),
        system_role: Map.fetch!(@roles, server.system_role),
        schema_limits: limits!(server.schema_limits, Validator.limits(), place),
        template_limits: limits!(server.template_limits, @template_limits, place)
    }
  end

  defp check_context!({module, function}, _owner, _place)
       when is_atom(module) and is_atom(function) and nil not in [module, function],
       do: :ok

  defp check_context!(other, owner, place) do
    Refusal.refuse!(
      place,
      "the context of #{owner} is a module and the name of a function, such as {MyApp.MCP, :context}, got: #{inspect(other)}"
    )
  end

  @doc "The function of the server's `context:`, for the check that it exists."
  @spec handlers(map, Refusal.place()) :: [Handler.named()]
  def handlers(%{context: nil}, _place), do: []

  def handlers(%{context: named}, place),
    do: [%{what: "`context:` of the router", handler: named, arity: 1, place: place, optional?: false}]

  # Evaluated while the router compiles. Without a running Mix, as in a release, the result is `false`.
  defp developing?, do: List.keymember?(Application.started_applications(), :mix, 0) and Mix.env() in [:dev, :test]

  defp limits!(given, units, place),
    do: Refusal.checked!(place, fn -> given |> Limit.check_all!(units) |> Map.new() end)
end
