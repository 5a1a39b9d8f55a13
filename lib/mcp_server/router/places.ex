defmodule McpServer.Router.Places do
  @moduledoc false
  # Where a declaration stands, and where each of its fields does: a JSON Pointer from the object on the wire, as
  # findings and errors have it, leads to the field that it is in.

  alias McpServer.Router.Refusal

  @type fields :: [{pointer :: String.t(), Refusal.place()}]

  @doc "The place of a field and of those inside it, from the object around it."
  @spec of_field(String.t(), Refusal.place(), fields) :: fields
  def of_field(pointer, place, inner),
    do: [{pointer, place} | for({rest, place} <- inner, do: {pointer <> rest, place})]

  @doc "The pointer to a property of an object."
  @spec property(String.t()) :: String.t()
  def property(name), do: "/properties/" <> (name |> String.replace("~", "~0") |> String.replace("/", "~1"))

  @doc "The place of what a pointer leads to: that of the innermost field, or of the declaration."
  @spec at(%{:place => Refusal.place(), :fields => fields, optional(atom) => term}, String.t()) :: Refusal.place()
  def at(declared, pointer) do
    declared.fields
    |> Enum.filter(fn {field, _place} -> String.starts_with?(pointer <> "/", field <> "/") end)
    |> Enum.max_by(fn {field, _place} -> byte_size(field) end, fn -> {"", declared.place} end)
    |> elem(1)
  end
end
