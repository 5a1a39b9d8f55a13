defmodule McpServer.Router.Rule do
  @moduledoc false
  # What becomes of arguments beside being checked, as a tree of the same form as their schema: strings that are read
  # as Elixir values, members that are dropped, objects that become structs. See `native/mcp_core/src/arguments`.
  # Where nothing becomes of a value there is no rule.

  alias McpServer.Router.Undeclared

  @type t :: %{String.t() => term}

  @doc "The rule of a value that is read as an Elixir value."
  @spec cast(String.t() | nil) :: t
  def cast(nil), do: %{}
  def cast(cast), do: %{"cast" => cast}

  @doc "The rule of an array whose elements have that rule."
  @spec with_items(t, t | nil) :: t
  def with_items(rule, items) when items in [nil, %{}], do: rule
  def with_items(rule, items), do: Map.put(rule, "items", items)

  @doc "The whole rule of a field whose block has ended, or of a tool."
  @spec of(map) :: t
  def of(field) do
    rule = if Undeclared.drops?(field), do: Map.put(field.rule, "undeclared", "drop"), else: field.rule
    if field.struct, do: Map.put(rule, "struct", Atom.to_string(field.struct)), else: rule
  end

  @doc "Adds the rule of the elements to that of the array around them."
  @spec put_items(map, t) :: map
  def put_items(outer, rule), do: %{outer | rule: with_items(outer.rule, rule)}

  @doc "Adds the rule of a field to that of the object around it."
  @spec put_property(map, String.t(), t) :: map
  def put_property(outer, _name, rule) when rule == %{}, do: outer

  def put_property(outer, name, rule) do
    properties = outer.rule |> Map.get("properties", %{}) |> Map.put(name, rule)
    %{outer | rule: Map.put(outer.rule, "properties", properties)}
  end
end
