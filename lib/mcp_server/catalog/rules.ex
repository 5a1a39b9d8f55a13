defmodule McpServer.Catalog.Rules do
  @moduledoc false
  # The distinct access rules of a router, numbered. Entries with the same number are visible to the same clients, so
  # one bit per number describes a client's view. The core encodes and stores the lists by these bits.

  @lists [
    {"tools", :list_tools, :tool_handlers},
    {"prompts", :list_prompts, :prompt_handlers},
    {"resources", :list_resources, :resource_handlers},
    {"resourceTemplates", :list_resource_templates, :template_handlers}
  ]

  @typedoc """
  * `:rules` – the rules by number
  * `:filtered` – the lists that differ between clients
  * `:numbers` – the rule number of each entry, for the core
  """
  @type t :: %{rules: tuple(), filtered: [atom()], numbers: %{String.t() => [non_neg_integer() | nil]}}

  @doc "The rules of a router's entries. The router computes the lists in `dynamic` itself."
  @spec of(%{atom() => tuple()}, [atom()]) :: t()
  def of(handlers, dynamic) do
    of_list =
      for {member, list, key} <- @lists, do: {member, list, handlers[key] |> Tuple.to_list() |> Enum.map(&rule/1)}

    rules = for {_member, _list, rules} <- of_list, rule <- rules, rule != nil, uniq: true, do: rule
    numbers = rules |> Enum.with_index() |> Map.new()
    guarded = for {_member, _list, rules} = entry <- of_list, Enum.any?(rules), do: entry

    %{
      rules: List.to_tuple(rules),
      filtered: for({_member, list, _rules} <- guarded, list not in dynamic, do: list),
      numbers: for({member, _list, rules} <- guarded, into: %{}, do: {member, Enum.map(rules, &numbers[&1])})
    }
  end

  @doc "The names of all lists."
  @spec lists() :: [atom()]
  def lists, do: for({_member, list, _key} <- @lists, do: list)

  @doc "Which entries of a router need no token, for the core."
  @spec public(module()) :: %{String.t() => [boolean()]}
  def public(router) do
    for {member, _list, key} <- @lists,
        public = router.__mcp__(key) |> Tuple.to_list() |> Enum.map(&is_map_key(&1, :public?)),
        true in public,
        into: %{},
        do: {member, public}
  end

  defp rule(%{access: %{rule: rule}}), do: rule
  defp rule(_open), do: nil
end
