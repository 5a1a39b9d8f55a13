defmodule McpServer.Presentation.NeedsInputTest do
  use ExUnit.Case, async: true
  doctest McpServer.Presentation.NeedsInput

  alias McpServer.{Conn, InputRequest, Presentation, PresentationView}
  alias McpServer.Presentation.NeedsInput

  @view PresentationView
  @question [message: "Which one?", fields: ["id"], reason: "No id"]

  defp ask!(fields) do
    {:ok, result} = Presentation.needs_input(@view, fields)
    result
  end

  defp data(fields), do: ask!(fields).structured_content

  @tag req: "S0-60"
  test "kind, type, message, needsInput; options only where there are some" do
    assert data(@question) == %{
             "kind" => "needsInput:v1",
             "type" => "elicitation",
             "message" => "Which one?",
             "needsInput" => %{"fields" => ["id"], "reason" => "No id"}
           }

    refute Map.has_key?(data(@question ++ [options: []]), "options")
    option = %{"label" => "A", "value" => "a", "description" => "An a", "field" => "id"}
    assert data(@question ++ [options: [option]])["options"] == [option]
    assert data(@question ++ [options: [[value: "a"]]])["options"] == [%{"label" => "a", "value" => "a"}]
  end

  @tag req: "S0-61"
  test "fields are a list, whatever was given" do
    for {given, fields} <- [{"q", ["q"]}, {:q, ["q"]}, {[:a, "b"], ["a", "b"]}, {[], []}] do
      assert data(Keyword.put(@question, :fields, given))["needsInput"]["fields"] == fields
    end
  end

  @tag req: "S0-62"
  test "suggestions are keyed by field" do
    for given <- [%{"id" => ["a"]}, %{id: ["a"]}, [id: ["a"]]] do
      assert data(@question ++ [suggestions: given])["needsInput"]["suggestions"] == %{"id" => ["a"]}
    end

    for given <- [["a", "b"], "a", %{"id" => "a"}, %{"id" => [1]}] do
      assert_raise ArgumentError, ~r/suggestions/, fn -> NeedsInput.new(@question ++ [suggestions: given]) end
    end

    documented = McpServer.JSON.decode!(McpServer.Fixtures.read("inline-s0-suggestions.json"))
    assert Map.keys(documented) == ["category", "difficulty"]
  end

  test "suggestions and options are each offered once" do
    option = %{value: "a", field: "id"}
    data = data(@question ++ [suggestions: %{id: ["a", "b", "a"]}, options: [option, %{option | value: "b"}, option]])
    assert data["needsInput"]["suggestions"] == %{"id" => ["a", "b"]}
    assert Enum.map(data["options"], & &1["value"]) == ["a", "b"]
  end

  @tag req: "S0-63"
  test "options are grouped by field, in the order of the fields, and else as they were" do
    options = for {field, value} <- [b: "1", a: "2", b: "3", c: "4", a: "5"], do: %{value: value, field: field}
    question = [message: "m", fields: ["a", "b"], reason: "r", options: options ++ [%{value: "6"}]]
    assert Enum.map(data(question)["options"], & &1["value"]) == ~w(2 5 1 3 4 6)
  end

  @tag req: ["S0-67", "RES-32"]
  test "it is no error" do
    for format <- ["markdown", "json", "both"], do: refute(ask!(@question ++ [format: format]).is_error)
  end

  @tag req: "S0-68"
  test "who cannot be asked by a form gets the prompt, the JSON block and the structured content" do
    assert [%{text: "Which one?", mimeType: "text/markdown"}] = ask!(@question).content

    assert [%{text: "## Which?"}, %{mimeType: "application/json"}] =
             ask!(@question ++ [format: "both", markdown: "## Which?"]).content

    assert {:ok, _result} = Presentation.needs_input(@view, @question ++ [conn: %Conn{}])
  end

  describe "a form" do
    @describetag req: ["S0-68", "S0-79"]
    @able %Conn{client_capabilities: %{"elicitation" => %{}}}

    test "is shown only where the handler gives its conn and the client can" do
      assert {:ok, _result} = Presentation.needs_input(@view, @question)

      assert {:input_required, %{"id" => %InputRequest{params: params}}, _state} =
               Presentation.needs_input(@view, @question ++ [conn: @able])

      assert params["message"] == "Which one?"

      assert params["requestedSchema"] == %{
               "type" => "object",
               "properties" => %{"id" => %{"type" => "string", "description" => "No id"}}
             }
    end

    test "offers the options of a field to choose from, and names its suggestions" do
      question = [
        message: "m",
        fields: ["a", "b"],
        reason: "r",
        suggestions: %{b: ["x", "y"]},
        options: [%{value: "1", field: "a"}, %{value: "2", field: "a"}]
      ]

      {:input_required, %{"a,b" => request}, _state} = Presentation.needs_input(@view, question ++ [conn: @able])

      assert request.params["requestedSchema"]["properties"] == %{
               "a" => %{"type" => "string", "enum" => ["1", "2"]},
               "b" => %{"type" => "string", "description" => "For example: x, y"}
             }
    end

    defp answered(conn, question, answer) do
      {:input_required, requests, state} = Presentation.needs_input(@view, question ++ [conn: conn])
      [key] = Map.keys(requests)
      %{conn | state: state, input_responses: %{key => answer}}
    end

    test "puts what was filled in beside the arguments, of all questions so far" do
      conn =
        answered(@able, @question, %{
          "action" => "accept",
          "content" => %{"id" => "a", "other" => "x", "format" => "json"}
        })

      assert NeedsInput.answers(conn, %{"q" => 1, "id" => ""}) == %{"q" => 1, "id" => "a"}

      conn =
        answered(conn, [message: "m", fields: "size", reason: "r"], %{
          "action" => "accept",
          "content" => %{"size" => "large"}
        })

      assert NeedsInput.answers(conn, %{}) == %{"id" => "a", "size" => "large"}
    end

    test "is shown once: who fills in nothing gets the data" do
      for answer <- [
            %{"action" => "decline"},
            %{"action" => "accept", "content" => %{"id" => " "}},
            %{"action" => "cancel"}
          ] do
        conn = answered(@able, @question, answer)
        assert NeedsInput.answers(conn, %{"q" => 1}) == %{"q" => 1}
        assert {:ok, result} = Presentation.needs_input(@view, @question ++ [conn: conn])
        assert result.structured_content["kind"] == "needsInput:v1"
      end
    end

    test "a conn without a question, or with a state of the handler's own, is none of its business" do
      for state <- [nil, :mine, {:a, :b}],
          do: assert(NeedsInput.answers(%{@able | state: state}, %{"q" => 1}) == %{"q" => 1})
    end
  end
end
