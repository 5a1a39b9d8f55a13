defmodule McpServer.Schema.RelationTest do
  use ExUnit.Case, async: true

  alias McpServer.Schema
  alias McpServer.Schema.Relation

  doctest McpServer.Schema.Relation

  test "schemas are maps in either kind of keys, structs and booleans" do
    assert Relation.contains(%{type: :string}, %Schema{type: "string", description: "A text"}) == {:ok, {:yes, nil}}
    assert Relation.contains(true, %{}) == {:ok, {:yes, nil}}
    assert Relation.satisfiable(false) == {:ok, :no}
  end

  test "what is not found out is unknown" do
    assert Relation.contains(%{pattern: "^a"}, %{pattern: "^ab"}) == {:ok, {:unknown, nil}}
  end

  test "what is no schema is an error" do
    assert {:error, %Schema.Error{kind: :schema, problems: [%{pointer: "/type", keyword: "anyOf"}]}} =
             Relation.satisfiable(%{type: "strin"})

    assert {:error, %Schema.Error{kind: :schema}} = Relation.contains(%{}, %{"default" => self()})
    deep = Enum.reduce(1..300, %{}, fn _level, inner -> %{"items" => inner} end)
    assert {:error, %Schema.Error{kind: :schema}} = Relation.satisfiable(deep)
  end
end
