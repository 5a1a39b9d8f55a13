defmodule McpServer.Protocol.AccessTest do
  # Lists and calls follow one rule: a hidden entry is not listed, and its call gets the response for an unknown name.
  use ExUnit.Case, async: true

  import McpServer.Test, only: [connect: 2, request: 3]

  alias McpServer.AccessRouter
  alias McpServer.AccessRouter.Bare
  alias McpServer.Conn

  @eras ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
  @lists [
    {"tools/list", "tools", ~w(open delete shown role inline capture named)},
    {"prompts/list", "prompts", ~w(staff)},
    {"resources/list", "resources", ~w(open secret)},
    {"resources/templates/list", "resourceTemplates", ~w(staff_note note)}
  ]

  defp as(user, revision), do: [assigns: %{user: user}, revision: revision]
  defp ask(router, method, params, options), do: request(router, message(method, params), options)
  defp message(method, params), do: %{"id" => 1, "method" => method, "params" => params}

  defp completion(ref, name),
    do: {"completion/complete", %{"ref" => ref, "argument" => %{"name" => name, "value" => "x"}}}

  # Requests that could reveal hidden entries, compared with a server that has none.
  defp probes do
    [
      {"tools/call", %{"name" => "delete", "arguments" => %{"id" => 1}}},
      {"tools/call", %{"name" => "delete", "arguments" => %{"id" => "one"}}},
      {"tools/call", %{"name" => "delete"}},
      {"tools/call", %{"name" => "delete", "arguments" => []}},
      {"tools/call", %{"name" => "delete", "task" => %{"ttl" => "long"}}},
      {"tools/call", %{"name" => "delete", "inputResponses" => 1}},
      {"tools/call", %{"name" => "delete", "_meta" => 1}},
      {"tools/call", %{"name" => "shown", "task" => %{}}},
      {"tools/call", %{"name" => "shown"}},
      {"tools/call", %{"name" => "role"}},
      {"tools/call", %{"name" => "inline"}},
      {"tools/call", %{"name" => "capture"}},
      {"tools/call", %{"name" => "named"}},
      {"tools/call", %{"name" => "absent"}},
      {"tools/call", %{"name" => "open"}},
      {"prompts/get", %{"name" => "staff"}},
      {"prompts/get", %{"name" => "staff", "arguments" => %{"name" => "x"}}},
      {"resources/read", %{"uri" => "access://notes/secret"}},
      {"resources/read", %{"uri" => "access://staff/1"}},
      {"resources/read", %{"uri" => "access://open"}},
      completion(%{"type" => "ref/resource", "uri" => "access://notes/secret"}, "id"),
      completion(%{"type" => "ref/resource", "uri" => "access://notes/{id}"}, "id")
      | for({method, _member, _names} <- @lists, do: {method, %{}})
    ]
  end

  # The other server completes nothing, so it lacks the method. These are the responses for unknown names.
  defp unknown_completions do
    [
      {completion(%{"type" => "ref/prompt", "name" => "staff"}, "name"), "Prompt 'staff' not found"},
      {completion(%{"type" => "ref/prompt", "name" => "staff"}, "nothing"), "Prompt 'staff' not found"},
      {completion(%{"type" => "ref/resource", "uri" => "access://staff/{id}"}, "id"),
       "Resource 'access://staff/{id}' not found"}
    ]
  end

  for revision <- @eras do
    describe revision do
      @revision revision

      test "what is refused for everything is not listed" do
        for {method, member, names} <- @lists,
            {user, shown} <- [
              {"staff", names -- ["role"]},
              {"admin", names -- names -- ["open", "role", "note"]},
              {nil, names -- names -- ["open", "note"]}
            ] do
          assert %{"result" => %{^member => listed}} = ask(AccessRouter, method, %{}, as(user, @revision))
          assert {method, user, Enum.map(listed, & &1["name"])} == {method, user, shown}
        end
      end

      test "to a stranger the router is the one without" do
        for {method, params} <- probes(), method != "completion/complete" do
          answer = ask(AccessRouter, method, params, as(nil, @revision))
          assert {method, params, answer} == {method, params, ask(Bare, method, params, as(nil, @revision))}
        end

        for {{method, params}, text} <- unknown_completions() do
          assert %{"error" => error} = ask(AccessRouter, method, params, as(nil, @revision))
          assert error == %{"code" => -32602, "message" => text}
        end
      end

      test "whom the functions let, is served" do
        staff = as("staff", @revision)
        calls = [{"open", %{}}, {"shown", %{"region" => "eu"}}, {"inline", %{}}, {"capture", %{}}, {"named", %{}}]

        for {name, arguments} <- [{"delete", %{"id" => 1}} | calls] do
          params = %{"name" => name, "arguments" => arguments}
          assert %{"result" => %{"content" => [%{"text" => text}]}} = ask(AccessRouter, "tools/call", params, staff)
          assert text == inspect(arguments)
        end

        wrong = ask(AccessRouter, "tools/call", %{"name" => "delete", "arguments" => %{"id" => "one"}}, staff)
        assert inspect(wrong) =~ "/id: must be an integer"

        assert %{"result" => %{"contents" => [%{"text" => "%{}"}]}} =
                 ask(AccessRouter, "resources/read", %{"uri" => "access://notes/secret"}, staff)

        assert %{"result" => %{"messages" => [_]}} =
                 ask(AccessRouter, "prompts/get", %{"name" => "staff", "arguments" => %{"name" => "x"}}, staff)

        for {{method, params}, _text} <- unknown_completions(), params["argument"]["name"] != "nothing" do
          assert %{"result" => %{"completion" => %{"values" => [_, "x"]}}} = ask(AccessRouter, method, params, staff)
        end
      end

      test "a hidden resource does not hide the template that its URI matches" do
        assert %{"result" => %{"contents" => [%{"text" => text}]}} =
                 ask(AccessRouter, "resources/read", %{"uri" => "access://notes/secret"}, as(nil, @revision))

        assert text == inspect(%{"id" => "secret"})
      end
    end
  end

  describe "subscriptions of the session era" do
    test "to what is hidden, and their end, are those to nothing" do
      client = connect(AccessRouter, as(nil, "2025-11-25"))
      subscribe = fn verb, uri -> request(AccessRouter, message("resources/#{verb}", %{"uri" => uri}), on: client) end

      for verb <- ["subscribe", "unsubscribe"], uri <- ["access://staff/1", "access://none"] do
        error = %{"code" => -32002, "message" => "Resource not found", "data" => %{"uri" => uri}}
        assert subscribe.(verb, uri)["error"] == error
      end

      for verb <- ["subscribe", "unsubscribe", "unsubscribe"],
          uri <- ["access://open", "access://notes/secret"],
          do: assert(subscribe.(verb, uri)["result"] == %{})
    end
  end

  describe "the generated functions" do
    test "obey the same rule" do
      [stranger, staff] = for user <- [nil, "staff"], do: %Conn{assigns: %{user: user}}
      assert {:ok, [%{name: "open"}]} = AccessRouter.list_tools(stranger)
      assert {:ok, [_, _, _, _, _, _]} = AccessRouter.list_tools(staff)
      assert AccessRouter.list_prompts(stranger) == {:ok, []}
      assert AccessRouter.prompts_list(stranger) == {:ok, []}
      assert {:ok, [%{name: "note"}]} = AccessRouter.list_resource_templates(stranger)
      assert AccessRouter.call_tool(stranger, "inline", %{}) == {:error, "Tool 'inline' not found"}
      assert AccessRouter.call_tool(stranger, "delete", %{"id" => "one"}) == {:error, "Tool 'delete' not found"}

      assert {:error, "Invalid arguments for tool 'delete'" <> _} =
               AccessRouter.call_tool(staff, "delete", %{"id" => "one"})

      assert AccessRouter.get_prompt(stranger, "staff", %{"name" => "x"}) == {:error, "Prompt 'staff' not found"}
      assert AccessRouter.read_resource(stranger, "secret", %{}) == {:error, "Resource 'secret' not found"}
    end
  end
end
