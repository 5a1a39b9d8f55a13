defmodule McpServer.ProtocolTest do
  use ExUnit.Case, async: true
  @moduletag :capture_log

  import McpServer.TestLog

  alias McpServer.{Catalog, InputRequired, JSON, JsonRpc, Protocol, Request}
  alias McpServer.Prompt.{GetResult, Message}
  alias McpServer.Resource.ReadResult
  alias McpServer.Tool.{CallResult, Content}

  defmodule Handlers do
    def run(_conn, _arguments), do: {:ok, []}
    def get(_conn, _arguments), do: []
  end

  for {name, role} <- [User: :user, Assistant: :assistant, Passthrough: :passthrough, Error: :error] do
    defmodule Module.concat(Role, name) do
      use McpServer.Router, system_role: role

      prompt "talk", "Talks" do
        get Handlers, :get
      end
    end
  end

  defmodule Weather do
    use McpServer.Router, ttl: 5_000, cache_scope: :public

    tool "weather", "Tells the weather", Handlers, :run do
      output_field "degrees", "Celsius", :number, required: true
    end
  end

  @secret String.duplicate("s", 32)

  defp request(fields \\ []) do
    struct!(
      %Request{id: 1, method: "tools/call", revision: "2026-07-28", kind: :tool, index: 0, name: "weather"},
      fields
    )
  end

  defp decode({:ok, reply}), do: JSON.decode!(IO.iodata_to_binary(reply))

  defp talk(router, messages) do
    request = request(method: "prompts/get", kind: :prompt, name: "talk", revision: "2025-11-25")
    Protocol.result(Catalog.fetch(router), request, %GetResult{messages: messages})
  end

  defp system, do: %Message{role: "system", content: %{"type" => "text", "text" => "Be brief."}}

  describe "a message of the role system" do
    @describetag req: "RES-07"
    test "is sent as the user's, with one warning" do
      log = own_log(fn -> assert [%{"role" => "user"}] = decode(talk(Role.User, [system()]))["result"]["messages"] end)

      assert log =~ ~s(has a message of the role "system", which MCP does not have: it is sent as "user")
      assert own_log(fn -> talk(Role.User, [system()]) end) == ""
    end

    test "is sent as the assistant's, where the router says so; plain maps alike" do
      for message <- [system(), Map.from_struct(system()), %{"role" => "system", "content" => system().content}] do
        assert [%{"role" => "assistant"}] = decode(talk(Role.Assistant, [message]))["result"]["messages"]
      end
    end

    test "passes where the router says so" do
      assert [%{"role" => "system"}] = decode(talk(Role.Passthrough, [system()]))["result"]["messages"]
    end

    test "is an error where the router says so" do
      user = %Message{role: "user", content: system().content}
      assert {:error, %JSON.EncodeError{path: ["messages", 1, "role"]}} = talk(Role.Error, [user, system()])
    end
  end

  describe "structured content" do
    test "that fits the output schema goes out" do
      result = %CallResult{content: [Content.text("21")], structured_content: %{degrees: 21}}
      reply = decode(Protocol.result(Catalog.fetch(Weather), request(), result))
      assert reply["result"]["structuredContent"] == %{"degrees" => 21}
    end

    test "that does not fit is named, with the place" do
      for structured <- [%{"degrees" => "warm"}, %{}, nil] do
        result = %CallResult{content: [Content.text("?")], structured_content: structured}

        assert {:error, {:output_schema, [%{pointer: _, keyword: _, message: _} | _]}} =
                 Protocol.result(Catalog.fetch(Weather), request(), result)
      end
    end

    test "is not asked of a failed call" do
      result = %CallResult{content: [Content.text("no")], is_error: true}
      assert decode(Protocol.result(Catalog.fetch(Weather), request(), result))["result"]["isError"] == true
    end
  end

  test "a result that cannot be written says where" do
    result = %CallResult{content: [Content.text(<<255>>)], is_error: true}

    assert {:error, %JSON.EncodeError{kind: :invalid_utf8, path: ["content", 0, "text"]}} =
             Protocol.result(Catalog.fetch(Weather), request(), result)
  end

  test "a large result is written on a dirty scheduler, and whole" do
    text = String.duplicate("x", 1_000_000)
    result = %CallResult{content: [Content.text(text)], is_error: true}
    reply = decode(Protocol.result(Catalog.fetch(Weather), request(), result))
    assert [%{"text" => ^text}] = reply["result"]["content"]
  end

  # Earlier, a read took the caching of the router's lists: a shared cache gave what one user had read to others.
  test "a read is kept by nobody where it says nothing" do
    request = request(kind: :resource, method: "resources/read")

    read = fn fields ->
      decode(Protocol.result(Catalog.fetch(Weather), request, struct!(%ReadResult{contents: []}, fields)))["result"]
    end

    assert %{"ttlMs" => 0, "cacheScope" => "private"} = read.([])
    assert %{"ttlMs" => 7, "cacheScope" => "public"} = read.(ttl_ms: 7, cache_scope: "public")
  end

  test "the end of a subscription names it" do
    request = request(kind: :listen, method: "subscriptions/listen", id: "l-1")
    reply = decode(Protocol.result(Catalog.fetch(Weather), request, :empty))
    assert reply["result"]["resultType"] == "complete"
    assert reply["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "l-1"
  end

  describe "input" do
    defp required,
      do: %InputRequired{
        requests: %{"name" => McpServer.Controller.elicit("Name?", %{"type" => "object", "properties" => %{}})}
      }

    test "is asked of a client that can give it" do
      request = request(client_capabilities: %{"elicitation" => %{}})
      result = decode(Protocol.result(Catalog.fetch(Weather), request, required()))["result"]
      assert result["resultType"] == "input_required"
      assert result["inputRequests"]["name"]["method"] == "elicitation/create"
      assert result["inputRequests"]["name"]["params"]["message"] == "Name?"
    end

    test "is never asked of one that cannot: -32021 names the capability" do
      assert {:error, {:missing_capability, reply}} = Protocol.result(Catalog.fetch(Weather), request(), required())
      error = JSON.decode!(IO.iodata_to_binary(reply))["error"]
      assert error["code"] == -32021
      assert error["data"] == %{"requiredCapabilities" => %{"elicitation" => %{}}}
    end

    test "by URL needs elicitation.url, by form anything but url alone" do
      form = McpServer.Controller.elicit("Name?", %{"type" => "object", "properties" => %{}})
      url = McpServer.Controller.elicit_url("Sign in", "https://example.com", "e-1")

      for {capabilities, form?, url?} <- [
            {%{}, false, false},
            {%{"elicitation" => %{}}, true, false},
            {%{"elicitation" => %{"form" => %{}}}, true, false},
            {%{"elicitation" => %{"url" => %{}}}, false, true},
            {%{"elicitation" => nil}, false, false},
            {%{"elicitation" => true}, false, false},
            {%{"elicitation" => []}, false, false},
            {%{"elicitation" => %{"url" => nil}}, false, false},
            {%{"elicitation" => %{"form" => true, "url" => %{}}}, false, true},
            {%{"elicitation" => %{"form" => %{}, "url" => nil}}, true, false},
            {%{"elicitation" => %{"form" => %{}, "url" => %{}}}, true, true}
          ] do
        supports? = &Protocol.supports?("2026-07-28", capabilities, &1)
        assert {capabilities, supports?.(form), supports?.(url)} == {capabilities, form?, url?}
      end
    end
  end

  describe "sealed state" do
    defp seal(fields \\ []), do: Protocol.seal_state(@secret, "ada", request(fields), %{step: 2}, 60_000)

    defp open(sealed, fields \\ [], now \\ 0),
      do: Protocol.open_state(@secret, "ada", request([request_state: sealed] ++ fields), now)

    test "opens for the same request" do
      assert open(seal()) == {:ok, %{step: 2}}
      assert open(seal(arguments: %{"a" => 1, "b" => 2}), arguments: %{"b" => 2, "a" => 1}) == {:ok, %{step: 2}}
    end

    test "opens for no other" do
      for fields <- [[name: "x"], [method: "prompts/get"], [arguments: %{"a" => 1}]] do
        assert open(seal(), fields) == {:error, :invalid_state}
      end

      assert Protocol.open_state(@secret, "eve", request(request_state: seal()), 0) == {:error, :invalid_state}
      other = String.duplicate("t", 32)
      assert Protocol.open_state(other, "ada", request(request_state: seal()), 0) == {:error, :invalid_state}
    end

    test "that was touched, or is no state at all, is refused" do
      for sealed <- [seal() <> "-TAMPERED", "", "x", String.duplicate("A", 200)] do
        assert open(sealed) == {:error, :invalid_state}
      end
    end

    test "expires" do
      assert open(seal(), [], 59_999) == {:ok, %{step: 2}}
      assert open(seal(), [], 60_000) == {:error, :invalid_state}
    end
  end

  describe "errors" do
    for {revision, code, message, sent} <- [
          {"2025-11-25", :parse_error, nil, {-32_700, "Parse error"}},
          {"2025-11-25", :invalid_params, {:because, "no name"}, {-32_602, "Invalid params: no name"}},
          {"2025-11-25", :internal_error, "Too many tasks", {-32_603, "Too many tasks"}},
          {"2025-11-25", :resource_not_found, nil, {-32_002, "Resource not found"}},
          {"2026-07-28", :resource_not_found, nil, {-32_602, "Resource not found"}},
          # A code that the handler chose is that of the revision, too.
          {"2025-11-25", -32_002, "Gone", {-32_002, "Gone"}},
          {"2026-07-28", -32_002, "Gone", {-32_602, "Gone"}}
        ] do
      test "#{inspect(code)} with #{inspect(message)} in #{revision}" do
        reply = Protocol.error(1, unquote(revision), unquote(code), unquote(message))
        {code, message} = unquote(sent)
        assert %{"error" => error} = JSON.decode!(IO.iodata_to_binary(reply))
        assert error == %{"code" => code, "message" => message}
      end
    end

    test "a name that the core does not know is a mistake of the caller" do
      assert_raise ArgumentError, fn -> Protocol.error(1, "2025-11-25", :no_such_error, "x") end
      assert_raise ArgumentError, fn -> JsonRpc.Error.code(:no_such_error) end
    end
  end

  test "an error's data that cannot be written does not cost the peer its answer" do
    reply = JSON.decode!(IO.iodata_to_binary(Protocol.error(1, "2025-11-25", -32603, "Internal error", self())))
    assert reply == %{"jsonrpc" => "2.0", "id" => 1, "error" => %{"code" => -32603, "message" => "Internal error"}}
  end
end
