defmodule McpServer.ControllerTest do
  use ExUnit.Case, async: true
  use McpServer.Controller

  alias McpServer.{Completion, Conn, Content, InputRequest, Resource}
  alias McpServer.Prompt.{Message, MessageContent}
  alias McpServer.Schema.Validator

  doctest McpServer.Controller

  describe "message" do
    @tag req: "S4-24"
    test "from role, type and text" do
      assert message("user", "text", "hi") == %Message{role: "user", content: %MessageContent{type: "text", text: "hi"}}
    end

    @tag req: ["S4-23", "RES-50"]
    test "the text is under text, whatever the type" do
      assert message("user", "image", "hi").content == %MessageContent{type: "image", text: "hi"}
    end

    @tag req: "S4-24"
    test "from role and content" do
      assert message(:assistant, text("hi")).content == %Content.Text{text: "hi"}

      assert message("user", "image", image("d", "image/png")).content == %Content.Image{
               data: "d",
               mimeType: "image/png"
             }

      assert message("user", "audio", %{data: "d", mime_type: "audio/wav"}).content.mimeType == "audio/wav"
      assert message("user", %{"type" => "text", "text" => "hi"}).content == %{"type" => "text", "text" => "hi"}
    end

    @tag req: "S4-22"
    test "a role that is none" do
      assert_raise ArgumentError, ~r/expected :role .* got: "tool"/, fn -> message("tool", "text", "hi") end
    end
  end

  describe "completion" do
    @tag req: "S4-24"
    test "with and without what is known of the rest" do
      assert completion(["a"], total: 3, has_more: true) == %Completion{values: ["a"], total: 3, hasMore: true}
      assert completion(["a"], []) == %Completion{values: ["a"]}
      assert completion([]) == %Completion{values: []}
    end

    @tag req: "S4-25"
    test "100 values go out, of 101 the first 100" do
      values = Enum.map(1..101, &to_string/1)
      assert completion(Enum.take(values, 100)) == %Completion{values: Enum.take(values, 100)}
      assert completion(values) == %Completion{values: Enum.take(values, 100), total: 101, hasMore: true}
      assert completion(values, total: 500).total == 500
    end

    @tag req: "S4-24"
    test "an option that does not exist" do
      assert_raise ArgumentError, ~r/has no field more/, fn -> completion([], more: true) end
    end
  end

  describe "content" do
    @tag req: "S4-24"
    test "text, and bytes as base64" do
      assert content("n", "a:b", mimeType: "text/plain", text: "t", title: "T") ==
               %Resource.Content{name: "n", uri: "a:b", mimeType: "text/plain", text: "t", title: "T"}

      assert content("n", "a:b", mime_type: "image/png", blob: <<255>>).blob == "/w=="
    end

    @tag req: "S4-33"
    test "neither text nor bytes, or both" do
      assert_raise ArgumentError, ~r/needs :text or :blob/, fn -> content("n", "a:b", []) end
      assert_raise ArgumentError, ~r/:text and :blob/, fn -> content("n", "a:b", text: "", blob: "") end
    end
  end

  describe "questions to the client" do
    test "a form" do
      schema = %{"type" => "object"}

      assert elicit("Name?", schema) ==
               %InputRequest{method: "elicitation/create", params: %{"message" => "Name?", "requestedSchema" => schema}}
    end

    test "a page" do
      assert elicit_url("Pay", "https://pay.example", "1").params ==
               %{"mode" => "url", "message" => "Pay", "url" => "https://pay.example", "elicitationId" => "1"}
    end

    test "a model" do
      assert %InputRequest{method: "sampling/createMessage", params: params} =
               sample([message("user", "hi"), %{"role" => "assistant"}], max_tokens: 5, include_context: "thisServer")

      assert params == %{
               "messages" => [
                 %{"role" => "user", "content" => %MessageContent{type: "text", text: "hi"}},
                 %{"role" => "assistant"}
               ],
               "maxTokens" => 5,
               "includeContext" => "thisServer"
             }

      assert sample("hi").params["maxTokens"] == 1_000
      assert [%{"role" => "user"}] = sample("hi").params["messages"]
      assert_raise ArgumentError, ~r/sample\/2 has no option tokens/, fn -> sample("hi", tokens: 1) end
    end

    test "the folders" do
      assert list_roots() == %InputRequest{method: "roots/list", params: %{}}
    end

    test "several at once, and what to remember" do
      assert input_required(%{"a" => list_roots(), b: list_roots()}, state: {1, 2}) ==
               {:input_required, %{"a" => list_roots(), "b" => list_roots()}, {1, 2}}

      assert input_required([]) == {:input_required, %{}, nil}
      assert_raise ArgumentError, ~r/unknown keys \[:stat\]/, fn -> input_required([], stat: 1) end
    end

    test "the answers, as far as they are answers" do
      conn = %Conn{
        state: 7,
        input_responses: %{
          "name" => %{"action" => "accept", "content" => %{"name" => "Ada"}},
          "declined" => %{"action" => "decline"},
          "odd" => %{"action" => "accept", "content" => 1},
          "number" => 1
        }
      }

      assert input(conn, "declined") == %{"action" => "decline"}
      assert input(conn, :declined) == %{"action" => "decline"}
      assert input(conn, "number") == nil
      assert input(conn, "nothing") == nil
      assert input(%Conn{input_responses: nil}, "name") == nil
      assert accepted(conn, "name") == %{"name" => "Ada"}
      for key <- ~w(declined odd number nothing), do: assert(accepted(conn, key) == nil)
      assert declined?(conn, "declined")
      assert declined?(%{conn | input_errors: %{"nothing" => %{"code" => -1, "message" => "no"}}}, :nothing)
      for key <- ~w(name odd number nothing), do: refute(declined?(conn, key))
      assert state(conn) == 7
    end

    test "the answers, checked against the schema of the form" do
      accept = &%{"action" => "accept", "content" => &1}

      conn = %Conn{
        input_responses: %{
          "right" => accept.(%{"email" => "ada@example.com"}),
          "wrong" => accept.(%{"email" => "Ada"}),
          "empty" => %{"action" => "accept"},
          "odd" => accept.(1),
          "declined" => %{"action" => "decline"}
        }
      }

      form = %{type: "object", properties: %{email: %{type: "string", format: "email"}}, required: ["email"]}
      {:ok, annotating} = Validator.compile(form)

      assert accepted(conn, "right", form) == {:ok, %{"email" => "ada@example.com"}}
      assert accepted(conn, :right, annotating) == {:ok, %{"email" => "ada@example.com"}}
      assert accepted(conn, "wrong", annotating) == {:ok, %{"email" => "Ada"}}
      for key <- ["declined", "nothing"], do: assert(accepted(conn, key, form) == nil)

      for answer <- [%{"action" => "accept"}, %{"action" => "accept", "content" => nil}] do
        conn = %{conn | input_responses: %{"empty" => answer}}
        assert accepted(conn, "empty", %{"type" => "object"}) == {:ok, %{}}
      end

      for {key, form, problem} <- [
            {"wrong", form, {:value, "/email", "format"}},
            {"empty", form, {:value, "", "required"}},
            {"odd", form, {:value, "", "type"}},
            {"right", %{minimum: "low"}, {:schema, "/minimum", "type"}}
          ] do
        assert {:error, %{kind: kind, problems: [%{pointer: pointer, keyword: keyword}]}} = accepted(conn, key, form)
        assert {key, {kind, pointer, keyword}} == {key, problem}
      end
    end

    test "what the client can do" do
      conn = %Conn{client_capabilities: %{"sampling" => %{}}}
      assert supports?(conn, :sampling)
      refute supports?(conn, :elicitation)
      refute supports?(%Conn{client_capabilities: nil}, :roots)
      for no <- [nil, true, 1, "yes", []], do: refute(supports?(%Conn{client_capabilities: %{"roots" => no}}, :roots))

      for {revision, supported?} <- [{"2024-11-05", false}, {"2025-03-26", false}, {"2025-06-18", true}] do
        conn = %Conn{client_capabilities: %{"elicitation" => %{}, "roots" => %{}}, protocol_version: revision}
        assert {revision, supports?(conn, :elicitation), supports?(conn, :roots)} == {revision, supported?, true}
      end

      assert_raise FunctionClauseError, fn -> apply(McpServer.Controller, :supports?, [conn, :tools]) end
    end
  end

  describe "notifications" do
    test "go nowhere without a running call" do
      assert progress(%Conn{progress_token: 1}, 1, 2, "half") == :ok
      assert log(%Conn{log_level: "debug"}, :info, "hi", logger: "test") == :ok
    end

    test "a level that does not exist" do
      assert_raise ArgumentError, ~r/unknown keys \[:loger\]/, fn -> log(%Conn{}, :info, "hi", loger: "test") end
      assert_raise ArgumentError, ~r/\Aexpected a level of debug, info, /, fn -> log(%Conn{}, :warn, "hi") end
    end
  end
end
