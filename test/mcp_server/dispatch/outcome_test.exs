defmodule McpServer.Dispatch.OutcomeTest do
  use ExUnit.Case, async: true

  alias McpServer.{Completion, Conn, InputRequest, JsonRpc, Request}
  alias McpServer.Dispatch.Outcome
  alias McpServer.Prompt.GetResult
  alias McpServer.Resource.{Content, ReadResult}
  alias McpServer.Tool.CallResult

  defp of(kind, returned),
    do: Outcome.of(%Request{id: 1, method: "m", revision: "r", kind: kind, name: "x:1"}, returned, %Conn{})

  @text McpServer.Tool.Content.text("hi")

  describe "tools" do
    test "content, a result, data" do
      assert of(:tool, {:ok, [@text]}) == {:ok, %CallResult{content: [@text]}}
      assert of(:tool, [@text]) == {:ok, %CallResult{content: [@text]}}
      assert of(:tool, {:ok, %CallResult{content: []}}) == {:ok, %CallResult{content: []}}
      assert of(:tool, %CallResult{content: []}) == {:ok, %CallResult{content: []}}
    end

    test "a map is structured content, and its JSON is the text, which the writer makes" do
      assert {:ok, %CallResult{content: [text], structured_content: %{n: 1}} = result} = of(:tool, {:ok, %{n: 1}})
      assert text.text == {:structured_content, :compact}
      assert McpServer.JSON.encode!(result) =~ ~S("text":"{\"n\":1}")
    end

    test "an error in words" do
      assert of(:tool, {:error, "no"}) == {:error, "no"}
    end

    @tag req: "T4"
    test "everything else is invalid" do
      for garbage <-
            [nil, :ok, {:ok}, {:ok, nil}, {:ok, self()}, {1, 2, 3, 4, 5}, 1, {:error, {:reason}}, {:error, %{a: 1}}] ++
              [{:error, <<255>>}, {:ok, ~D[2020-01-01]}, {:error, nil}] do
        assert of(:tool, garbage) == {:invalid, garbage}
      end
    end
  end

  describe "prompts" do
    test "messages and results, with or without :ok" do
      assert of(:prompt, [:m]) == {:ok, %GetResult{messages: [:m]}}
      assert of(:prompt, {:ok, [:m]}) == {:ok, %GetResult{messages: [:m]}}
      assert of(:prompt, {:ok, %GetResult{messages: []}}) == {:ok, %GetResult{messages: []}}
      assert of(:prompt, {:error, "no"}) == {:error, "no"}
      assert of(:prompt, :m) == {:invalid, :m}
    end
  end

  describe "resources" do
    test "content, contents and results, with or without :ok" do
      content = %Content{uri: "x:1", text: "t"}
      expected = {:ok, %ReadResult{contents: [content]}}

      for returned <- [content, [content]],
          wrap <- [& &1, &{:ok, &1}],
          do: assert(of(:resource, wrap.(returned)) == expected)

      assert of(:resource_template, {:ok, %ReadResult{contents: [content]}}) == expected
    end

    test "content without a URI has the one asked for" do
      assert {:ok, %ReadResult{contents: [%{uri: "x:1"}]}} = of(:resource, %Content{uri: nil, text: "t"})
    end

    test "not found is not an error in words" do
      assert of(:resource, {:error, :not_found}) == {:error, :not_found}
      assert of(:prompt, {:error, :not_found}) == {:error, %JsonRpc.Error{code: -32602, message: "Not found"}}
    end

    @tag req: "T4"
    test "an improper list is invalid" do
      assert of(:resource, {:ok, [1 | 2]}) == {:invalid, [1 | 2]}
    end
  end

  describe "completions" do
    test "up to 100 values go out, and no more" do
      values = Enum.map(1..101, &to_string/1)
      assert of(:complete_prompt, %Completion{values: tl(values)}) == {:ok, %Completion{values: tl(values)}}

      assert of(:complete_resource, {:ok, %Completion{values: values}}) ==
               {:ok, %Completion{values: Enum.take(values, 100), total: 101, hasMore: true}}
    end

    test "a total that was given stays" do
      completion = %Completion{values: Enum.map(1..150, &to_string/1), total: 4_000}
      assert {:ok, %Completion{total: 4_000}} = of(:complete_prompt, completion)
    end
  end

  describe "input" do
    @input %InputRequest{method: "roots/list"}

    test "tools, prompts and resources may ask" do
      for kind <- [:tool, :prompt, :resource, :resource_template] do
        assert of(kind, {:input_required, %{"k" => @input}, 1}) == {:input, %{"k" => @input}, 1}
        assert of(kind, {:input_required, %{}, 1}) == {:input, %{}, 1}
      end
    end

    test "nobody else, and not for nothing or for anything else" do
      assert {:invalid, _} = of(:complete_prompt, {:input_required, %{"k" => @input}, 1})
      assert {:invalid, _} = of(:list_tools, {:input_required, %{"k" => @input}, 1})
      assert {:invalid, _} = of(:tool, {:input_required, %{}, nil})
      assert {:invalid, _} = of(:tool, {:input_required, %{"k" => %{}}, 1})
      # Both questions would have the same name for the client.
      assert {:invalid, _} = of(:tool, {:input_required, %{:k => @input, "k" => @input}, 1})
      assert of(:tool, {:input_required, %{k: @input}, 1}) == {:input, %{"k" => @input}, 1}
      assert {:invalid, _} = of(:tool, {:input_required, %{1 => @input}, 1})
    end
  end
end
