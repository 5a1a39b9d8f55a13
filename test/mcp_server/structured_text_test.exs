defmodule McpServer.StructuredTextTest do
  # Structured content that is sent as text too: the writer makes the text from the bytes that it has written.
  use ExUnit.Case, async: true

  alias McpServer.Content.{Image, Text}
  alias McpServer.{Catalog, JSON, Protocol, Request}
  alias McpServer.JSON.EncodeError
  alias McpServer.Tool.CallResult

  defmodule Server do
    use McpServer.Router
    tool "run", "Runs", McpServer.Handlers, :structured
  end

  defp result(term, revision) do
    request = %Request{id: 1, method: "tools/call", kind: :tool, index: 0, revision: revision, name: "run"}
    Protocol.result(Catalog.fetch(Server), request, term)
  end

  defp sent(term, revision \\ "2025-11-25") do
    assert {:ok, reply} = result(term, revision)
    JSON.decode!(IO.iodata_to_binary(reply))["result"]
  end

  defp marked(form, data, more \\ []),
    do: %CallResult{content: [%Text{text: {:structured_content, form}} | more], structured_content: data}

  @data %{"quote" => "\"\\\n\t\u0001é🙂", "list" => [1, %{"a" => nil}, []], "empty" => %{}}

  test "compact and pretty, of any data" do
    assert %{"content" => [%{"type" => "text", "text" => text}], "structuredContent" => @data} =
             sent(marked(:compact, @data))

    assert text == JSON.encode!(@data)
    assert %{"content" => [%{"text" => pretty}], "structuredContent" => @data} = sent(marked(:pretty, @data))
    assert pretty == JSON.encode!(@data, pretty: true)
  end

  test "with an order of keys, which the structured content has too" do
    order = [{"list", ["a"]}, "quote"]
    content = [%Text{text: {:structured_content, :compact, order}}]
    assert {:ok, reply} = result(%CallResult{content: content, structured_content: @data}, "2025-11-25")
    ordered = JSON.encode!(@data, order: order)
    assert ordered =~ ~r/\A{"list":.*"quote":.*"empty":{}}\z/
    reply = IO.iodata_to_binary(reply)
    assert reply =~ ~s("structuredContent":#{ordered})
    assert [%{"text" => ^ordered}] = JSON.decode!(reply)["result"]["content"]
  end

  test "the other fields of the block, and other blocks, are as they always are" do
    block = %Text{text: {:structured_content, :compact}, mimeType: "application/json", _meta: %{"m" => 1}}
    content = [%Text{text: "first"}, block, %Image{data: "PNG", mimeType: "image/png"}, block]
    result = sent(%CallResult{content: content, structured_content: %{"n" => 1}, _meta: %{"t" => 1}})
    json = %{"type" => "text", "text" => ~s({"n":1}), "mimeType" => "application/json", "_meta" => %{"m" => 1}}
    assert [%{"text" => "first"}, ^json, %{"type" => "image"}, ^json] = result["content"]
    assert %{"structuredContent" => %{"n" => 1}, "_meta" => %{"t" => 1}, "isError" => false} = result
  end

  test "revisions without structured content get the text alone; no revision, both" do
    for revision <- ["2024-11-05", "2025-03-26"] do
      result = sent(marked(:compact, %{"n" => 1}), revision)
      assert result == %{"content" => [%{"type" => "text", "text" => ~s({"n":1})}], "isError" => false}
    end

    # Only the newest revision allows structured content that is not an object.
    assert %{"content" => [%{"text" => "[1]"}], "structuredContent" => [1]} = sent(marked(:compact, [1]), "2026-07-28")
    assert sent(marked(:compact, [1])) == %{"content" => [%{"type" => "text", "text" => "[1]"}], "isError" => false}

    assert JSON.encode!(marked(:compact, %{n: 1})) ==
             ~S({"content":[{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"n":1},"isError":false})
  end

  test "of every size, on a normal scheduler and on a dirty one" do
    for size <- [0, 1, 500, 1_000, 1_500, 2_000, 4_000, 20_000], form <- [:compact, :pretty] do
      data = %{"rows" => for(n <- 1..size//1, do: %{"id" => n, "name" => "\"row\" #{n}"})}
      assert %{"content" => [%{"text" => text}], "structuredContent" => ^data} = sent(marked(form, data))
      assert text == JSON.encode!(data, pretty: form == :pretty)
    end
  end

  test "a result in a result has a text of its own" do
    inner = marked(:compact, %{"inner" => 1})
    assert %{"content" => [%{"text" => text}], "structuredContent" => content} = sent(marked(:compact, %{"r" => inner}))
    assert JSON.decode!(text) == content
    assert %{"r" => %{"content" => [%{"text" => ~s({"inner":1})}], "structuredContent" => %{"inner" => 1}}} = content
  end

  test "what cannot be written, and what is no marker" do
    assert {:error, %EncodeError{kind: :unsupported, path: path}} =
             result(marked(:compact, %{"a" => self()}), "2025-11-25")

    assert path == ["structuredContent", "a"]
    assert {:error, %EncodeError{kind: :missing_field}} = result(marked(:compact, nil), "2025-11-25")
    assert {:error, %EncodeError{kind: :too_deep}} = result(marked(:compact, deep(200)), "2025-11-25")

    for text <- [
          {:structured_content},
          {:structured_content, :yaml},
          {:other, :compact},
          {},
          {:structured_content, :compact, 1, 2}
        ] do
      result = %CallResult{content: [%Text{text: text}], structured_content: %{}}
      assert {:error, %EncodeError{kind: :invalid_field, path: ["content", 0, "text"]}} = result(result, "2025-11-25")
    end
  end

  defp deep(0), do: %{}
  defp deep(n), do: %{"a" => deep(n - 1)}
end
