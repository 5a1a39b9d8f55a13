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

  @doc """
  The numbers of the guards of a router's resources and templates, for the core. Unlike a rule, a guard may need the
  arguments of a request. `mix mcp.lint` compares them.
  """
  @spec guards(module()) :: %{String.t() => [non_neg_integer() | nil]}
  def guards(router) do
    of_list =
      for {member, _list, key} <- @lists,
          key in [:resource_handlers, :template_handlers],
          guards = key |> router.__mcp__() |> Tuple.to_list() |> Enum.map(&guard(&1[:access])),
          Enum.any?(guards),
          do: {member, guards}

    distinct = for {_member, guards} <- of_list, guard <- guards, guard != nil, uniq: true, do: guard
    numbers = distinct |> Enum.with_index() |> Map.new()
    for {member, guards} <- of_list, into: %{}, do: {member, Enum.map(guards, &numbers[&1])}
  end

  # Tags select entries, and `listed:` decides only about lists.
  defp guard(nil), do: nil
  defp guard(%{outer: outer} = declared), do: both(guard(outer), guard(Map.delete(declared, :outer)))
  defp guard(declared), do: with(own when own == %{} <- Map.drop(declared, [:listed, :tags]), do: nil)

  defp both(nil, own), do: own
  defp both(outer, nil), do: outer
  defp both(outer, own), do: {outer, own}

  defp rule(%{access: %{rule: rule}}), do: rule
  defp rule(_open), do: nil
end
