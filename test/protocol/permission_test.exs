defmodule McpServer.Protocol.PermissionTest do
  # `authorize:` functions of prompts, resources and templates. Not async: changes reach every client of a router.
  use ExUnit.Case, async: false
  use McpServer.Test, router: McpServer.PermissionRouter

  import McpServer.TestLog
  import McpServer.Wire, only: [ask: 4, next: 1, settled: 1, silent?: 1, tell: 3]

  alias McpServer.{Changes, PermissionRouter}

  @eras ["2025-06-18", "2025-11-25", "2026-07-28"]
  @forbidden %{"code" => -32600, "message" => "Forbidden"}
  @uris "resourceSubscriptions"

  defp as(user, revision \\ "2026-07-28"), do: [assigns: %{user: user, test: self()}, revision: revision]

  defp listen(client, id, filter) do
    ask(client, id, "subscriptions/listen", %{"notifications" => filter})
    assert_receive {:mcp_notification, "notifications/subscriptions/acknowledged", params}
    params["notifications"]
  end

  # A change goes directly to the connection, which has handled it when it is settled.
  defp heard(client, uri) do
    Changes.resource_updated(PermissionRouter, uri)
    settled(client)

    receive do
      {:mcp_notification, "notifications/resources/updated", %{"uri" => ^uri}} -> true
    after
      0 -> false
    end
  end

  for revision <- @eras do
    describe revision do
      @revision revision

      test "a resource is read by whom its function lets" do
        assert {:ok, %{"contents" => [_]}} = read_resource("perm://open", as("ada", @revision))
        assert {:ok, %{"contents" => [_]}} = read_resource("perm://staff", as("staff", @revision))
        assert {:error, @forbidden} = read_resource("perm://staff", as("ada", @revision))
        assert {:error, error} = read_resource("perm://scoped", as("staff", @revision))
        assert error == Map.put(@forbidden, "data", %{"requiredScopes" => ["more"]})
      end

      test "a template's function knows the URI and its variables" do
        variables = %{"id" => "ada", "part" => "mail"}

        assert {:ok, %{"contents" => [%{"text" => text}]}} =
                 read_resource("perm://users/ada/mail", as("ada", @revision))

        assert text == inspect({"ada", variables})
        assert_received {:asked, {"perm://users/ada/mail", ^variables}, _call}
        assert {:error, @forbidden} = read_resource("perm://users/bob/mail", as("ada", @revision))
      end

      test "a prompt is got and completed by whom its function lets" do
        assert {:ok, %{"messages" => [_]}} = get_prompt("greet", %{"name" => "x"}, as("staff", @revision))
        assert {:error, @forbidden} = get_prompt("greet", %{"name" => "x"}, as("ada", @revision))
        assert {:ok, %{"values" => ["name", "x"]}} = complete_prompt("greet", "name", "x", as("staff", @revision))
        assert {:error, @forbidden} = complete_prompt("greet", "name", "x", as("ada", @revision))

        assert {:error, %{"data" => %{"requiredScopes" => ["more"]}}} =
                 get_prompt("scoped", %{}, as("staff", @revision))
      end

      test "a variable is completed with what the client has filled in" do
        complete = fn context ->
          params = %{
            "ref" => %{"type" => "ref/resource", "uri" => "perm://users/{id}/{part}"},
            "argument" => %{"name" => "part", "value" => "m"},
            "context" => %{"arguments" => context}
          }

          request(%{"id" => 1, "method" => "completion/complete", "params" => params}, as("ada", @revision))
        end

        assert %{"result" => %{"completion" => %{"values" => ["part", "m"]}}} = complete.(%{"id" => "ada"})
        assert_received {:asked, {nil, %{"id" => "ada"}}, _call}
        assert %{"error" => @forbidden} = complete.(%{"id" => "bob"})
        assert %{"error" => @forbidden} = complete.(%{})
      end

      test "what the function raises fails the call, and tells nothing" do
        log =
          capture_log(fn ->
            assert {:error, %{"code" => -32603, "message" => "Internal error", "data" => data}} =
                     read_resource("perm://broken", as("staff", @revision))

            assert ["errorId"] = Map.keys(data)
          end)

        assert log =~ "the hook's own fault"
      end
    end
  end

  describe "resources/subscribe" do
    for revision <- Enum.drop(@eras, -1) do
      test "#{revision}: what the client may not read does not exist" do
        client = connect(as("ada", unquote(revision)))

        for {uri, code} <- [
              {"perm://open", nil},
              {"perm://users/ada/mail", nil},
              {"perm://users/bob/mail", -32002},
              {"perm://staff", -32002},
              {"perm://scoped", -32002},
              {"perm://none", -32002}
            ] do
          answer = request(%{"id" => 1, "method" => "resources/subscribe", "params" => %{"uri" => uri}}, on: client)

          if code,
            do:
              assert(answer["error"] == %{"code" => code, "message" => "Resource not found", "data" => %{"uri" => uri}}),
            else: assert(answer["result"] == %{})
        end

        for uri <- ["perm://open", "perm://users/ada/mail"], do: assert(heard(client, uri))
        for uri <- ["perm://users/bob/mail", "perm://staff", "perm://scoped"], do: refute(heard(client, uri))
      end
    end

    test "is asked in a process of the call's own, and answers when it is done" do
      client = connect(as("staff", "2025-11-25"))
      request(%{"id" => 1, "method" => "resources/subscribe", "params" => %{"uri" => "perm://staff"}}, on: client)
      assert_received {:asked, :staff, call}
      refute call == client.connection
      refute Process.alive?(call)
    end

    test "a function that fails costs the answer, and subscribes to nothing" do
      client = connect(as("staff", "2025-11-25"))
      subscribe = %{"id" => 1, "method" => "resources/subscribe", "params" => %{"uri" => "perm://broken"}}
      capture_log(fn -> assert %{"error" => %{"code" => -32603}} = request(subscribe, on: client) end)
      refute heard(client, "perm://broken")
    end
  end

  describe "subscriptions/listen" do
    test "what the client may not read is left out" do
      client = connect(as("ada"))

      uris = [
        "perm://staff",
        "perm://users/ada/b",
        "perm://open",
        "perm://users/bob/b",
        "perm://scoped",
        "perm://users/ada/a"
      ]

      filter = %{@uris => uris, "resourcesListChanged" => true}
      allowed = ["perm://users/ada/b", "perm://open", "perm://users/ada/a"]
      assert listen(client, 1, filter) == %{filter | @uris => allowed}
      for uri <- uris, do: assert({uri, heard(client, uri)} == {uri, uri in allowed})
      assert listen(client, 2, %{@uris => ["perm://staff", "perm://none"]}) == %{}
    end

    test "of lists alone asks nobody" do
      client = connect(as("ada"))
      assert listen(client, 1, %{"toolsListChanged" => true}) == %{"toolsListChanged" => true}
      refute_received {:asked, _what, _call}
      assert settled(client).calls == %{}
    end

    test "that fails opens no stream, and its id is free again" do
      client = connect(as("staff"))

      capture_log(fn ->
        ask(client, 1, "subscriptions/listen", %{"notifications" => %{@uris => ["perm://open", "perm://broken"]}})
        assert %{"id" => 1, "error" => %{"code" => -32603}} = next(client)
      end)

      assert settled(client).session.listens == %{}
      assert listen(client, 1, %{@uris => ["perm://open"]}) == %{@uris => ["perm://open"]}
      ask(client, 1, "subscriptions/listen", %{"notifications" => %{@uris => ["perm://open"]}})
      assert %{"id" => 1, "error" => %{"code" => -32600}} = next(client)
      tell(client, "notifications/cancelled", %{"requestId" => 1})
      assert settled(client).session.listens == %{}
      assert silent?(client)
    end
  end
end
