defmodule McpServer.Schema.Relation do
  @moduledoc """
  Compares schemas: whether any value satisfies a schema, and whether a schema accepts every value of another.

  Neither question can always be answered in reasonable time, so there are three answers: `:yes`, `:no` and `:unknown`.
  `:yes` and `:no` are always correct. Formats are annotations here, as they are by default in
  `McpServer.Schema.Validator.compile/2`.

      iex> McpServer.Schema.Relation.contains(%{"maximum" => 10}, %{"maximum" => 5})
      {:ok, {:yes, nil}}
      iex> McpServer.Schema.Relation.contains(%{"enum" => ["a"]}, %{"enum" => ["a", "b"]})
      {:ok, {:no, "b"}}
      iex> McpServer.Schema.Relation.satisfiable(%{"type" => "integer", "minimum" => 2, "maximum" => 1})
      {:ok, :no}

  Schemas are those of `McpServer.Schema.Validator.compile/2`, within its default limits. Each question compiles its
  schemas, and takes from a tenth of a millisecond to some hundred milliseconds.
  """

  alias McpServer.{JSON, Native}
  alias McpServer.Schema.{Error, Validator}

  @type answer :: :yes | :no | :unknown

  @doc """
  Whether any value satisfies the schema.

  The error has `kind: :schema` and one problem.
  """
  @spec satisfiable(Validator.schema()) :: {:ok, answer} | {:error, Error.t()}
  def satisfiable(schema) do
    with {:ok, text} <- text(schema) do
      text |> Native.schema_satisfiable() |> answered(&answer/1)
    end
  end

  @doc """
  Whether `outer` accepts every value that `inner` accepts.

  The second element with `:no` is a value that `inner` accepts and `outer` refuses, or `nil` if none was found. With
  the other answers it is `nil`. A `nil` can also be the JSON value `null`.

  The error has `kind: :schema` and one problem.
  """
  @spec contains(Validator.schema(), Validator.schema()) :: {:ok, {answer, term}} | {:error, Error.t()}
  def contains(outer, inner) do
    with {:ok, outer} <- text(outer), {:ok, inner} <- text(inner) do
      outer |> Native.schema_contains(inner) |> answered(fn {answer, witness} -> {answer(answer), value(witness)} end)
    end
  end

  defp text(schema) do
    with {:error, error} <- JSON.encode(schema), do: {:error, Error.encoding(error)}
  end

  defp answered({:ok, given}, read), do: {:ok, read.(given)}

  defp answered({:error, {{pointer, keyword}, detail}}, _read),
    do: {:error, Error.new(:schema, pointer, keyword, detail)}

  defp answer("yes"), do: :yes
  defp answer("no"), do: :no
  defp answer("unknown"), do: :unknown

  defp value(nil), do: nil
  defp value(text), do: JSON.decode!(text)
end
