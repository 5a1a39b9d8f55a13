defmodule McpServer.Schema.DocumentsTest do
  use ExUnit.Case, async: true

  alias McpServer.Schema
  alias McpServer.Schema.{Error, Validator}

  @amount "https://example.com/amount"

  defp told(validator, value) do
    {:error, error} = Validator.validate(validator, value)
    Exception.message(error)
  end

  test "a schema refers to documents that are given, and they to each other" do
    documents = %{
      @amount => %{type: "number", minimum: 0},
      "https://example.com/price" => %Schema{
        type: "object",
        properties: %{"net" => %{"$ref" => "amount"}},
        required: ["net"]
      }
    }

    {:ok, validator} = Validator.compile(%{"$ref" => "https://example.com/price"}, documents: documents)
    assert Validator.validate(validator, %{net: 1}) == :ok
    assert told(validator, %{net: -1}) == "/net: must be at least 0 (minimum)"
    assert told(validator, %{}) == ~s[(root): must be an object with the property "net" (required)]
  end

  test "a dialect may be one of them" do
    dialect = %{
      "$schema" => "https://json-schema.org/draft/2020-12/schema",
      "$id" => "https://example.com/dialect",
      "$vocabulary" => %{
        "https://json-schema.org/draft/2020-12/vocab/core" => true,
        "https://json-schema.org/draft/2020-12/vocab/format-assertion" => true
      }
    }

    schema = %{"$schema" => "https://example.com/dialect", "format" => "date"}
    {:ok, validator} = Validator.compile(schema, documents: %{"https://example.com/dialect" => dialect})
    assert Validator.validate(validator, "2026-01-31") == :ok
    assert told(validator, "31.1.2026") == "(root): must be a date such as 2026-01-31 (format)"
    assert {:error, %Error{kind: :schema}} = Validator.compile(schema)
  end

  test "nothing else is found, and nothing is fetched" do
    # For a missing part of another document the error contains only the fragment.
    for {reference, told} <- [
          {"https://example.com/other", "https://example.com/other"},
          {"amount", "amount"},
          {"file:///etc/passwd", "file:///etc/passwd"},
          {"#{@amount}#/nowhere", "#/nowhere"},
          {"#/$defs/x", "#/$defs/x"},
          {"#x", "#x"}
        ] do
      assert {:error, %Error{kind: :schema, problems: [problem]}} =
               Validator.compile(%{"$ref" => reference}, documents: %{@amount => %{}})

      assert problem.keyword == "unknown_reference"
      assert problem.message == ~s(the reference "#{told}" leads nowhere in the schema)
    end
  end

  @tag req: "F1"
  test "limits are for the schema and its documents together" do
    schema = %{"$ref" => @amount}
    documents = %{@amount => %{"items" => %{}}, "https://example.com/b" => true}
    assert {:ok, _validator} = Validator.compile(schema, documents: documents, max_subschemas: 4)
    assert {:error, error} = Validator.compile(schema, documents: documents, max_subschemas: 3)
    assert Exception.message(error) =~ "more than 3 subschemas"
    bytes = byte_size(~s({"$ref":"#{@amount}"}) <> ~s({"items":{}}) <> "true")
    assert {:ok, _validator} = Validator.compile(schema, documents: documents, max_bytes: bytes)
    assert {:error, error} = Validator.compile(schema, documents: documents, max_bytes: bytes - 1)
    assert Exception.message(error) =~ "more than #{bytes - 1} bytes"
  end

  test "what is no document is refused" do
    assert_raise ArgumentError, ~r/a map of URIs and schemas/, fn -> Validator.compile(%{}, documents: [%{}]) end
    assert_raise ArgumentError, ~r/a map of URIs and schemas/, fn -> Validator.compile(%{}, documents: %{a: %{}}) end

    assert {:error, %Error{kind: :schema, problems: [%{pointer: "/https:~1~1example.com~1amount/x"}]}} =
             Validator.compile(%{}, documents: %{@amount => %{x: self()}})

    assert {:error, %Error{kind: :schema}} =
             Validator.compile(%{"$ref" => @amount}, documents: %{@amount => %{"type" => "numbr"}})
  end
end
