defmodule McpServer.Presentation.ExtractionTest do
  # The parts that a client can extract from an incomplete result.
  use ExUnit.Case, async: true

  alias McpServer.{JSON, Presentation, PresentationView}
  alias McpServer.Presentation.ExtractionError

  @view PresentationView
  @nothing "No structured JSON content block found (or schema mismatch)."
  @thing %{"kind" => "thing:v1", "id" => "t1", "title" => "T"}

  defp text(text), do: %{"type" => "text", "text" => text}
  defp result(blocks), do: %{"content" => blocks}
  defp extract(blocks), do: Presentation.extract_structured(result(blocks), @view)

  @tag req: "S0-12"
  test "neither media types nor structured content are needed" do
    {:ok, whole} =
      Presentation.present(@view, "thing:v1", %{"id" => "t1", "title" => "T"}, format: "both", markdown: "# T")

    stripped = whole |> JSON.encode!() |> JSON.decode!() |> Map.delete("structuredContent")
    stripped = Map.update!(stripped, "content", &Enum.map(&1, fn block -> Map.delete(block, "mimeType") end))
    assert Presentation.extract_structured(stripped, @view) == {:ok, @thing}
    assert Presentation.extract_structured(whole, @view) == {:ok, @thing}
  end

  @tag req: "S0-75"
  test "the last block that holds data is taken" do
    other = JSON.encode!(%{@thing | "id" => "t2"})
    json = JSON.encode!(@thing)

    assert extract([text(other), text(json)]) == {:ok, @thing}

    assert extract([text(json), text("# Trailing"), %{"type" => "image", "data" => "", "mimeType" => "image/png"}]) ==
             {:ok, @thing}

    assert extract([text(json), text("{not json")]) == {:ok, @thing}
    assert extract([text(json), text(~s({"another": "shape"}))]) == {:ok, @thing}
    assert extract([text(json), text(~s({"kind": 1}))]) == {:ok, @thing}
    assert extract([text(json), text(~s([1, 2]))]) == {:ok, @thing}
    assert extract([text(json), %{"type" => "text", "text" => 1}, nil, "x"]) == {:ok, @thing}
    assert extract([%{"type" => "resource", "text" => json}, text("\n  " <> json)]) == {:ok, @thing}
  end

  @tag req: "S0-75"
  test "without one there is an error that says so" do
    for blocks <- [
          [],
          [text("# T")],
          [text("{}")],
          [text(~s({"kind": "thing"}))],
          [%{"type" => "resource", "text" => JSON.encode!(@thing)}]
        ] do
      assert {:error, %ExtractionError{reason: :not_found, kind: nil} = error} = extract(blocks)
      assert Exception.message(error) == @nothing
    end

    for result <- [%{}, %{"content" => nil}, nil, [], "x"] do
      assert {:error, %ExtractionError{reason: :not_found}} = Presentation.extract_structured(result, @view)
    end

    assert {:error, %ExtractionError{reason: :mismatch, kind: "thing:v1", message: @nothing}} =
             extract([text(~s({"kind":"thing:v1","id":1}))])
  end

  @tag req: "S0-16"
  test "a kind, or a version, that is not known is told apart" do
    assert {:error, %ExtractionError{reason: :unknown_kind, kind: "thing:v2", known: "thing:v1"}} =
             extract([text(~s({"kind":"thing:v2"}))])

    assert {:error, %ExtractionError{reason: :unknown_kind, kind: "weather:v1", known: nil}} =
             extract([text(~s({"kind":"weather:v1"}))])

    assert extract([text(JSON.encode!(@thing)), text(~s({"kind":"thing:v2"}))]) == {:ok, @thing}
  end

  @tag req: "S0-15"
  test "questions and failures are known by every view, and checked without one" do
    {:ok, question} = Presentation.needs_input(@view, message: "m", fields: "q", reason: "r", format: "json")
    {:ok, failure} = Presentation.tool_error(@view, :timeout, format: "both")

    for result <- [question, failure], view <- [@view, Presentation.new([]), nil] do
      assert Presentation.extract_structured(result, view) == {:ok, result.structured_content}
    end

    assert {:error, %ExtractionError{reason: :mismatch}} =
             Presentation.extract_structured(result([text(~s({"kind":"toolError:v1","code":"X"}))]))

    assert {:ok, %{"kind" => "weather:v7"}} = Presentation.extract_structured(result([text(~s({"kind":"weather:v7"}))]))
  end

  test "a hundred blocks are looked at" do
    many = List.duplicate(text("x"), 99)
    assert {:ok, _data} = extract([text(JSON.encode!(@thing)) | many])
    assert {:error, _error} = extract([text(JSON.encode!(@thing)), text("x") | many])
  end
end
