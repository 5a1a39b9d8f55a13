defmodule McpServer.Router.Places do
  @moduledoc false
  # The places (file and line) of a declaration and its fields. Findings and errors have a JSON Pointer into the
  # published object, which leads to the field.

  alias McpServer.Router.Refusal

  @type fields :: [{pointer :: String.t(), Refusal.place()}]

  @doc "The places of a field and its inner fields, relative to the enclosing object."
  @spec of_field(String.t(), Refusal.place(), fields) :: fields
  def of_field(pointer, place, inner),
    do: [{pointer, place} | for({rest, place} <- inner, do: {pointer <> rest, place})]

  @doc "The pointer to a property of an object."
  @spec property(String.t()) :: String.t()
  def property(name), do: "/properties/" <> (name |> String.replace("~", "~0") |> String.replace("/", "~1"))

  @doc "The place for a pointer: the innermost field, or else the declaration."
  @spec at(%{:place => Refusal.place(), :fields => fields, optional(atom) => term}, String.t()) :: Refusal.place()
  def at(declared, pointer) do
    declared.fields
    |> Enum.filter(fn {field, _place} -> String.starts_with?(pointer <> "/", field <> "/") end)
    |> Enum.max_by(fn {field, _place} -> byte_size(field) end, fn -> {"", declared.place} end)
    |> elem(1)
  end
end
