defmodule Bench.Workloads do
  @moduledoc """
  The encoded and decoded data, equal on every machine.

  W1 a call of 250 bytes; W2 the list of 100 tools; W3a 1 MB of plain text; W3b 1 MB of source code, with an escape
  about every 25 bytes; W4 10,000 rows of 5 fields; W5 1.2 MB of text in several scripts with escapes; W6 100,000 rows.
  """

  @type workload :: {name :: String.t(), ours :: term(), plain :: term()}

  @doc "Every workload twice: as input of the library, and as maps and lists for any encoder."
  @spec all() :: [workload()]
  def all do
    [{"W1", call(), call()}, {"W2", tools(), plain_tools()}] ++
      for {name, value} <- values(), do: {name, value, value}
  end

  defp values do
    [
      {"W3a", text(String.duplicate("The quick brown fox jumps over the lazy dog. ", 23_300))},
      {"W3b", text(String.duplicate("  if x == \"a\" do\n    y = 1\n", 37_000))},
      {"W4", rows(10_000)},
      {"W5", text(String.duplicate("Größe café naïve 日本語テキスト 🙂🚀 \"quoted\"\n", 17_000))},
      {"W6", rows(100_000)}
    ]
  end

  defp call do
    %{
      "jsonrpc" => "2.0",
      "id" => 7,
      "method" => "tools/call",
      "params" => %{
        "name" => "search",
        "arguments" => %{"query" => "error handling in streams", "limit" => 20, "exact" => false, "tags" => ["a", "b"]},
        "_meta" => %{"progressToken" => "token-1"}
      }
    }
  end

  defp text(text), do: %{"content" => [%{"type" => "text", "text" => text}], "isError" => false}

  defp rows(count) do
    rows = for i <- 1..count, do: row(i)
    %{"structuredContent" => %{"rows" => rows}, "isError" => false}
  end

  defp row(i) do
    %{
      "id" => i,
      "name" => "customer #{i}",
      "email" => "customer#{i}@example.com",
      "balance" => i * 1.25,
      "active" => rem(i, 2) == 0
    }
  end

  @doc "A hundred tools, as structs."
  @spec tools() :: map()
  def tools do
    tools = for i <- 1..100, do: tool(i)
    %{"tools" => tools}
  end

  defp tool(i) do
    %McpServer.Tool{
      name: "tool_#{i}",
      description: description(i),
      inputSchema: %McpServer.Schema{type: "object", properties: properties(), required: ["query"]},
      annotations: %McpServer.Tool.Annotations{title: "Tool #{i}", readOnlyHint: true, openWorldHint: false}
    }
  end

  defp plain_tools do
    tools =
      for i <- 1..100 do
        %{
          "name" => "tool_#{i}",
          "description" => description(i),
          "inputSchema" => schema(),
          "annotations" => annotations(i)
        }
      end

    %{"tools" => tools}
  end

  # The library sends the struct's defaults too.
  defp annotations(i) do
    hints = %{"readOnlyHint" => true, "destructiveHint" => true, "idempotentHint" => false, "openWorldHint" => false}
    Map.put(hints, "title", "Tool #{i}")
  end

  defp description(i), do: "Searches the collection number #{i} and returns what matches best, most relevant first"

  @doc "The schema of a tool with six fields."
  @spec schema() :: map()
  def schema, do: %{"type" => "object", "properties" => properties(), "required" => ["query"]}

  @doc "Arguments that the schema accepts."
  @spec arguments() :: map()
  def arguments do
    %{"query" => "streams", "limit" => 20, "exact" => false, "category" => "docs", "score" => 0.5, "tags" => ["a", "b"]}
  end

  defp properties do
    %{
      "query" => %{"type" => "string", "description" => "What to look for", "minLength" => 1},
      "limit" => %{"type" => "integer", "description" => "How many at most", "minimum" => 1, "maximum" => 100},
      "exact" => %{"type" => "boolean", "description" => "Whether every word must match"},
      "category" => %{"type" => "string", "enum" => ["docs", "code", "issues"]},
      "score" => %{"type" => "number", "minimum" => 0, "maximum" => 1},
      "tags" => %{"type" => "array", "items" => %{"type" => "string"}}
    }
  end
end
