defmodule McpServer.Router.Elsewhere do
  @moduledoc false
  # Fields that are declared elsewhere: `input_schema: {McpServer.Ecto, MyApp.Note, only: [:title]}` and
  # `input_schema: {NimbleOptions, schema}`. They become the fields that `input` would declare.

  alias McpServer.Router.{NimbleFields, Refusal}

  @type field :: {atom, {type :: term, description :: String.t() | nil, options :: keyword}}

  @doc "The fields of a declaration elsewhere, `nil` for a schema in the router."
  @spec fields!(term, :input | :output, String.t(), Refusal.place()) :: [field] | nil
  def fields!({source, declared}, side, what, place), do: read!(source, declared, [], side, what, place)
  def fields!({source, declared, options}, side, what, place), do: read!(source, declared, options, side, what, place)
  def fields!(_schema, _side, _what, _place), do: nil

  defp read!(McpServer.Ecto, schema, options, side, _what, place),
    do: Refusal.checked!(place, fn -> McpServer.Ecto.fields!(schema, side, options) end)

  defp read!(NimbleOptions, schema, [], _side, _what, place),
    do: Refusal.checked!(place, fn -> NimbleFields.fields!(schema) end)

  defp read!(source, _declared, _options, _side, what, place) do
    Refusal.refuse!(
      place,
      "#{what} is declared elsewhere, by #{inspect(source)}, which cannot be read. Write a JSON Schema, " <>
        "{McpServer.Ecto, MyApp.Note, only: [:title]} or {NimbleOptions, [title: [type: :string]]}"
    )
  end
end
