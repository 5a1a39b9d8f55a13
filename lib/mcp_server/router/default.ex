defmodule McpServer.Router.Default do
  @moduledoc false
  # `default:` of a field: what its argument is where the client leaves it out.

  alias McpServer.Router.{Formats, Refusal}
  alias McpServer.Schema.Validator

  @doc "Refuses a default of an argument that is never left out."
  @spec refuse_required!(%{String.t() => term}, String.t(), Refusal.place()) :: :ok
  def refuse_required!(%{"default" => default}, owner, place) do
    Refusal.refuse!(
      place,
      "#{owner} has `required: true` beside `default: #{inspect(default)}`, which is never used. Remove one of them"
    )
  end

  def refuse_required!(_keywords, _owner, _place), do: :ok

  @doc "Refuses a default that the schema of its own field refuses: no client could send it."
  @spec check!(%{String.t() => term}, map) :: :ok
  def check!(%{"default" => default} = schema, field) do
    # A schema that is none is refused as a whole, when the router has been read.
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
