defmodule McpServer.Router.Default do
  @moduledoc false
  # `default:` of a field: the argument's value if the client omits it.

  alias McpServer.Router.{Formats, Refusal}
  alias McpServer.Schema.Validator

  @doc "Refuses a default of a required argument."
  @spec refuse_required!(%{String.t() => term}, String.t(), Refusal.place()) :: :ok
  def refuse_required!(%{"default" => default}, owner, place) do
    Refusal.refuse!(
      place,
      "#{owner} has `required: true` beside `default: #{inspect(default)}`, which is never used. Remove one of them"
    )
  end

  def refuse_required!(_keywords, _owner, _place), do: :ok

  @doc "Refuses a default that does not fit the schema of its field."
  @spec check!(%{String.t() => term}, map) :: :ok
  def check!(%{"default" => default} = schema, field) do
    # An invalid schema is refused later, when the whole router is checked.
    with {:ok, validator} <- Validator.compile(schema, formats: Formats.default()),
         {:error, error} <- Validator.validate(validator, default) do
      [problem | _others] = error.problems

      Refusal.refuse!(
        field.place,
        "the default of #{field.what} is #{inspect(default)}, which its own schema refuses: #{problem.message}"
      )
    end

    :ok
  end

  def check!(_schema, _field), do: :ok
end
