defmodule McpServer.Console.QuestionsTest do
  use ExUnit.Case, async: true

  alias McpServer.Console.Questions

  # Answers each prompt with the next line, and sends the prompts to the test.
  defp answer(method, params, lines) do
    {:ok, agent} = Agent.start_link(fn -> {lines, []} end)

    gets = fn prompt ->
      Agent.get_and_update(agent, fn
        {[], prompts} -> {nil, {[], [IO.iodata_to_binary(prompt) | prompts]}}
        {[line | lines], prompts} -> {line, {lines, [IO.iodata_to_binary(prompt) | prompts]}}
      end)
    end

    answer = Questions.answers(gets).(method, params)
    {answer, agent |> Agent.get(&elem(&1, 1)) |> Enum.reverse()}
  end

  defp form(properties, required \\ []),
    do: %{"message" => "Well?", "requestedSchema" => %{"properties" => properties, "required" => required}}

  @head "The server asks: Well?\n(!decline or !cancel as an answer refuses)\n"

  test "each kind of field, the required ones first" do
    properties = %{
      "age" => %{"type" => "integer", "minimum" => 18, "default" => 30},
      "name" => %{"type" => "string", "title" => "Your name"},
      "sure" => %{"type" => "boolean"},
      "colour" => %{
        "type" => "string",
        "oneOf" => [%{"const" => "r", "title" => "Red"}, %{"const" => "g", "title" => "Green"}]
      },
      "days" => %{"type" => "array", "items" => %{"type" => "string", "enum" => ["mon", "tue"]}}
    }

    lines = ["Ada", "", "b", "r", "mon, tue", "yes", "true"]

    assert answer("elicitation/create", form(properties, ["name"]), lines) ==
             {%{
                "action" => "accept",
                "content" => %{"name" => "Ada", "age" => 30, "colour" => "r", "days" => ["mon", "tue"], "sure" => true}
              },
              [
                @head <> "  name – Your name (string, required): ",
                "  age (integer) [30]: ",
                "  colour (r = Red, g = Green): ",
                "  expected one of \"r\", \"g\"\n  colour (r = Red, g = Green): ",
                "  days (any of mon, tue): ",
                "  sure (boolean): ",
                "  expected true or false\n  sure (boolean): "
              ]}
  end

  test "a default controls no terminal" do
    days = %{"type" => "array", "items" => %{"type" => "string"}, "default" => ["\u009B2J", "\u202E"]}
    {_answer, [prompt | _more]} = answer("elicitation/create", form(%{"days" => days}), [""])
    assert prompt =~ ~S(["\u009B2J","\u202E"])
    refute prompt =~ ~r/[\x{80}-\x{9F}\x{202A}-\x{202E}]/u
  end

  test "an empty line leaves out what may be left out, and is asked again for what may not" do
    properties = %{"name" => %{"type" => "string"}, "note" => %{"type" => "string"}}

    assert {%{"action" => "accept", "content" => %{"name" => "Ada"}}, [_first, again, _note]} =
             answer("elicitation/create", form(properties, ["name"]), ["", "Ada", ""])

    assert again == "  a value is needed\n  name (string, required): "
  end

  test "declining, cancelling, and the end of input" do
    for {lines, action} <- [{["!decline"], "decline"}, {["!cancel"], "cancel"}, {[], "cancel"}] do
      assert {%{"action" => ^action} = answer, [_prompt]} =
               answer("elicitation/create", form(%{"a" => %{"type" => "string"}}), lines)

      assert map_size(answer) == 1
    end
  end

  test "a question without fields, and a page to open" do
    assert {%{"action" => "accept", "content" => %{}}, [@head <> "Accept? (y/n): "]} =
             answer("elicitation/create", form(%{}), ["y"])

    assert {%{"action" => "decline"}, _prompts} = answer("elicitation/create", form(%{}), ["n"])
    page = %{"mode" => "url", "message" => "Pay", "url" => "https://example.com/\e[31mpay"}

    assert answer("elicitation/create", page, ["y"]) ==
             {%{"action" => "accept"},
              ["The server asks you to open a page: Pay\n  https://example.com/[31mpay\nDone? (y/n): "]}

    assert {%{"action" => "decline"}, _prompts} = answer("elicitation/create", page, [""])
  end

  test "the model, and what nobody answers" do
    params = %{
      "systemPrompt" => "Be brief",
      "messages" => [%{"role" => "user", "content" => %{"type" => "text", "text" => "2+2?"}}]
    }

    assert answer("sampling/createMessage", params, ["4"]) ==
             {%{
                "role" => "assistant",
                "content" => %{"type" => "text", "text" => "4"},
                "model" => "person",
                "stopReason" => "endTurn"
              }, ["The server asks the model:\nsystem: Be brief\nuser: 2+2?\nYour answer, or nothing to refuse: "]}

    assert {{:error, %{"code" => -1}}, [_prompt]} = answer("sampling/createMessage", params, [""])
    assert {{:error, %{"code" => -32_601}}, []} = answer("roots/list", %{}, [])
  end
end
