defmodule McpServer.Router.Undeclared do
  @moduledoc false
  # `undeclared:` of routers, tools and objects: the treatment of arguments without a declared field. "refuse" is
  # published as `additionalProperties: false`, "drop" is a rule beside the schema.

  alias McpServer.Router.{Arguments, Refusal, Scope}

  @names ~w(refuse drop pass)

  @typedoc "The option's value. Inner objects inherit it."
  @type t :: String.t()

  @doc "The allowed values of the option."
  @spec names() :: [t]
  def names, do: @names

  @doc "The tool's value, or else the router's."
  @spec of_tool(module, map) :: t
  def of_tool(module, options), do: options[:undeclared] || Scope.server(module).undeclared

  @doc "The value inside a field, and the struct for its object."
  @spec of_field!(map, map, map, Refusal.place()) :: %{undeclared: t, struct: module | nil, own_undeclared?: boolean}
  def of_field!(special, field, outer, place) do
    for option <- [:undeclared, :struct], is_map_key(special, option), do: check!(option, field, place)
    Arguments.check_struct!(special[:struct], field.what, place)

    %{
      undeclared: special[:undeclared] || outer.undeclared,
      own_undeclared?: is_map_key(special, :undeclared),
      struct: special[:struct]
    }
  end

  defp check!(option, %{root: :output, what: what}, place),
    do: Refusal.refuse!(place, "`#{option}:` is for arguments, but #{what} is part of a result. Remove it")

  defp check!(option, %{schema: schema, what: what}, place) do
    if "object" not in List.wrap(schema["type"]),
      do:
        Refusal.refuse!(
          place,
          "`#{option}:` is for the fields of an :object, but #{what} is of type #{inspect(schema["type"])}. Remove it"
        )

    if option == :undeclared and is_map_key(schema, "additionalProperties"),
      do: refuse_both!(what, place)
  end

  @doc "Refuses `undeclared:` beside `additional_properties:`."
  @spec refuse_both!(String.t(), Refusal.place()) :: no_return
  def refuse_both!(what, place) do
    Refusal.refuse!(
      place,
      "#{what} has both `undeclared:` and `additional_properties:`, which say the same: keep `undeclared:`"
    )
  end

  @doc "The schema of a field, closed if undeclared members are refused."
  @spec close(%{String.t() => term}, map) :: %{String.t() => term}
  def close(schema, %{root: :output}), do: schema

  def close(schema, field) do
    closed? = field.undeclared == "refuse" and declares?(field)
    if closed?, do: Map.put_new(schema, "additionalProperties", false), else: schema
  end

  @doc "Whether undeclared members are dropped."
  @spec drops?(map) :: boolean
  def drops?(field), do: field.undeclared == "drop" and declares?(field)

  # An object without fields accepts any members, unless it has `undeclared:`.
  defp declares?(field), do: field.properties != [] or field.own_undeclared?
end
