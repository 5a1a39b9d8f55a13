defmodule McpServer.Router.Rule do
  @moduledoc false
  # Conversions of checked arguments, as a tree of the same form as their schema: strings become Elixir values, members
  # are dropped, objects become structs. See `native/mcp_core/src/arguments`. Unchanged values have no rule.

  alias McpServer.Router.Undeclared

  @type t :: %{String.t() => term}

  @doc "The rule of a string that is converted to an Elixir value."
  @spec cast(String.t() | nil) :: t
  def cast(nil), do: %{}
  def cast(cast), do: %{"cast" => cast}

  @doc "Adds the rule of the elements to the rule of an array."
  @spec with_items(t, t | nil) :: t
  def with_items(rule, items) when items in [nil, %{}], do: rule
  def with_items(rule, items), do: Map.put(rule, "items", items)

  @doc "The complete rule of a tool, or of a field whose block has ended."
  @spec of(map) :: t
  def of(field) do
    rule = if Undeclared.drops?(field), do: Map.put(field.rule, "undeclared", "drop"), else: field.rule
    if field.struct, do: Map.put(rule, "struct", Atom.to_string(field.struct)), else: rule
  end

  @doc "Adds the rule of the elements to the enclosing array."
  @spec put_items(map, t) :: map
  def put_items(outer, rule), do: %{outer | rule: with_items(outer.rule, rule)}

  @doc "Adds the rule of a field to the enclosing object."
  @spec put_property(map, String.t(), t) :: map
  def put_property(outer, _name, rule) when rule == %{}, do: outer

  def put_property(outer, name, rule) do
    properties = outer.rule |> Map.get("properties", %{}) |> Map.put(name, rule)
    %{outer | rule: Map.put(outer.rule, "properties", properties)}
  end
end
