defmodule McpServer.Router.HostileSchemaTest do
  # Schemas that would crash the VM if compiled on a scheduler's stack, or exhaust its memory. They are refused at
  # compile time, with their line.
  use McpServer.RouterCase, async: true

  alias McpServer.JSON
  alias McpServer.Schema.Validator

  defp refused(message, schema) do
    assert_refused(3, message, """
    tool "hostile", "Has this schema", McpServer.Handlers, :echo,
      input_schema: #{inspect(schema, limit: :infinity, printable_limit: :infinity)}
    """)
  end

  defp nested(keyword, levels), do: Enum.reduce(1..levels, true, fn _n, schema -> %{keyword => schema} end)

  @tag req: ["F1", "Y3"]
  test "120 levels, which ended the VM on a dirty scheduler" do
    for keyword <- ~w(items not additionalProperties) do
      refused(~r/the schema nests more than 64 subschemas/, Map.put(nested(keyword, 120), "type", "object"))
    end
  end

  @tag req: ["F1", "Y3"]
  @tag slow: "compiles a schema of 5,000 levels"
  test "as JSON a tool's schema is no deeper than a list of tools may hold it" do
    nested =
      &Enum.reduce(2..&1, %{"type" => "object"}, fn _n, inner ->
        %{"type" => "object", "properties" => %{"p" => inner}}
      end)

    for levels <- [63, 64, 65, 120, 5_000] do
      refused(
        ~s(tool "hostile": inputSchema: the schema nests more than 124 arrays and objects; ) <>
          "`properties` takes two for each subschema",
        nested.(levels)
      )
    end

    assert router!("""
           tool "deep", "Has this schema", McpServer.Handlers, :echo,
             input_schema: #{inspect(nested.(62), limit: :infinity)}
           """)
  end

  @tag req: ["F1", "Y3"]
  test "63 levels are compiled" do
    assert router!("""
           tool "deep", "Has this schema", McpServer.Handlers, :echo,
             input_schema: #{inspect(Map.put(nested("items", 62), "type", "object"), limit: :infinity)}
           """)
  end

  @tag req: ["F1", "Y3"]
  test "5,000 levels, which no text of ours may have" do
    assert {:error, %{kind: :schema}} = Validator.compile(nested("items", 5_000))
    text = String.duplicate(~s({"items":), 5_000) <> "true" <> String.duplicate("}", 5_000)
    assert {:error, %{kind: :too_deep}} = JSON.decode(text)
  end

  @tag req: ["F1", "Y3"]
  test "expressions that take a gigabyte, look around or refer back" do
    for pattern <- ["(\\p{L}{100}){100}", "((a{1000}){1000}){1000}", "(?=a)b", "(a)\\1"] do
      refused(~r/must be a valid regular expression of limited size/, %{
        "type" => "object",
        "properties" => %{"a" => %{"pattern" => pattern}}
      })
    end
  end

  @tag req: ["F1", "Y3"]
  test "2,000 subschemas are too many, and so are 256 KiB" do
    many = for n <- 1..2_000, into: %{}, do: {"p#{n}", %{"type" => "string"}}
    refused(~r/more than 2000 subschemas/, %{"type" => "object", "properties" => many})
    long = String.duplicate("x", 256 * 1024)
    refused(~r/more than 262144 bytes/, %{"type" => "object", "description" => long})
  end
end
