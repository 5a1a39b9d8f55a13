defmodule McpServer.Protocol.HTTPTest do
  # Only the public functions: rust_tests has a test for every rule.
  use ExUnit.Case, async: true

  alias McpServer.{Catalog, JSON, Request}
  alias McpServer.Protocol.HTTP

  defmodule Handlers do
    def run(_conn, _arguments), do: {:ok, []}
  end

  defmodule Server do
    use McpServer.Router

    tool "run", "Runs", Handlers, :run do
      input_field "count", "How often", :integer, required: true
    end
  end

  @meta %{
    "io.modelcontextprotocol/protocolVersion" => "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities" => %{}
  }

  setup_all do
    {:ok, policy} = HTTP.policy(%{})
    %{policy: policy, catalog: Catalog.fetch(Server)}
  end

  defp head(headers \\ []) do
    %{
      method: "POST",
      target: "/mcp",
      headers: [{"host", "localhost:4040"}, {"content-type", "application/json"} | headers]
    }
  end

  defp accepted(policy, headers) do
    {:ok, accepted, _context} = HTTP.check_head(policy, head(headers))
    accepted
  end

  defp message(method, params), do: JSON.encode!(%{jsonrpc: "2.0", id: 7, method: method, params: params})

  defp reply({:reply, status, body}), do: {status, body |> IO.iodata_to_binary() |> JSON.decode!()}

  describe "policy/1" do
    test "takes some options or all of them" do
      assert {:ok, _policy} = HTTP.policy(%{path: nil})

      assert {:ok, policy} =
               HTTP.policy(%{
                 path: "/api/mcp",
                 allowed_hosts: ["api.example.com"],
                 allowed_origins: ["https://app.example.com"],
                 max_body_bytes: 1_000,
                 sessions: false,
                 resource_metadata:
                   ~s({"resource":"https://api.example.com/api/mcp","authorization_servers":["https://as.example"]})
               })

      assert HTTP.metadata_url(policy) == "https://api.example.com/.well-known/oauth-protected-resource/api/mcp"
    end

    test "names the option at fault" do
      assert {:error, "path \"mcp\" must begin with /" <> _rest} = HTTP.policy(%{path: "mcp"})
      assert {:error, "allowed_hosts: \"*\" must be" <> _rest} = HTTP.policy(%{allowed_hosts: ["*"]})
      assert {:error, "allowed_origins: \"null\" must be" <> _rest} = HTTP.policy(%{allowed_origins: ["null"]})
      assert {:error, text} = HTTP.policy(%{max_body_byte: 1})
      assert text =~ "max_body_byte"
      assert {:error, _text} = HTTP.policy(%{max_body_bytes: -1})
      assert {:error, _text} = HTTP.policy(%{allowed_hosts: "localhost"})
    end

    test "without a metadata document there is no URL", %{policy: policy} do
      assert HTTP.metadata_url(policy) == nil
    end
  end

  describe "screen/2" do
    test "says what the head says", %{policy: policy} do
      assert {:ok, accepted, context} =
               HTTP.check_head(policy, head([{"Accept", "application/json"}, {"content-length", "5"}]))

      assert is_reference(accepted)

      assert context == %{
               verb: :post,
               session_id: nil,
               last_event_id: nil,
               content_length: 5,
               stateless: false,
               events: false,
               json: true,
               cors_headers: []
             }

      assert {:ok, _accepted, %{stateless: true}} = HTTP.check_head(policy, head([{"mcp-method", "ping"}]))
    end

    test "reads a session's stream", %{policy: policy} do
      get = fn headers -> HTTP.check_head(policy, %{head([{"mcp-session-id", "s1"} | headers]) | method: "GET"}) end

      assert {:ok, _accepted, %{verb: :get, session_id: "s1", last_event_id: {3, 14}}} =
               get.([{"last-event-id", "3-14"}])

      assert {:ok, _accepted, %{last_event_id: :invalid}} = get.([{"last-event-id", "x"}])
      assert {:ok, _accepted, %{last_event_id: nil}} = get.([])

      assert {:ok, _accepted, %{verb: :delete, session_id: ""}} =
               HTTP.check_head(policy, %{head([{"mcp-session-id", "a b"}]) | method: "DELETE"})
    end

    test "answers what it does not let through", %{policy: policy} do
      assert {:answer, 403, headers, body} = HTTP.check_head(policy, %{head() | headers: [{"host", "evil.example"}]})
      assert headers == [{"content-type", "application/json"}, {"cache-control", "no-store"}]

      assert JSON.decode!(body) == %{
               "jsonrpc" => "2.0",
               "error" => %{"code" => -32_600, "message" => "Forbidden: the Host is not allowed"}
             }

      # The client has to be identified first.
      assert {:unfit, {405, headers, _body}, []} = HTTP.check_head(policy, %{head() | method: "PUT"})
      assert List.keyfind(headers, "allow", 0) == {"allow", "POST, GET, DELETE"}
      assert {:answer, 403, _headers, _body} = HTTP.check_head(policy, Map.put(head(), :authority, "evil.example"))
      assert {:ok, _accepted, _context} = HTTP.check_head(policy, Map.put(head(), :authority, nil))
    end

    test "bytes that are no text are refused and never raise", %{policy: policy} do
      assert {:answer, 404, _headers, _body} = HTTP.check_head(policy, %{head() | target: <<0xFF>>})
      assert {:unfit, {405, _headers, _body}, []} = HTTP.check_head(policy, %{head() | method: <<0xFF>>})
      assert {:answer, 403, _headers, _body} = HTTP.check_head(policy, Map.put(head(), :authority, <<0xFF>>))
      assert {:ok, _accepted, _context} = HTTP.check_head(policy, head([{<<0xFF>>, <<0xFF>>}]))
    end
  end

  describe "admit/4" do
    test "finished answers carry their status", %{policy: policy, catalog: catalog} do
      accepted = accepted(policy, [])
      assert {400, %{"error" => %{"code" => -32_700}}} = reply(HTTP.admit(catalog, accepted, nil, "{"))
      assert {200, %{"id" => 7, "result" => %{}}} = reply(HTTP.admit(catalog, accepted, nil, message("ping", %{})))

      assert {400, %{"id" => 7, "error" => %{"code" => -32_600}}} =
               reply(HTTP.admit(catalog, accepted, nil, message("tools/list", %{})))

      assert {200, %{"result" => %{"tools" => [%{"name" => "run"}]}}} =
               reply(HTTP.admit(catalog, accepted, "2025-11-25", message("tools/list", %{})))

      note = ~s({"jsonrpc":"2.0","method":"notifications/initialized"})
      assert {:notification, :initialized} = HTTP.admit(catalog, accepted, "2025-11-25", note)
      assert :ignore = HTTP.admit(catalog, accepted(policy, [{"mcp-method", "x"}]), nil, note)
      assert {400, %{"error" => %{"code" => -32_600}} = refusal} = reply(HTTP.admit(catalog, accepted, nil, note))
      refute Map.has_key?(refusal, "id")
    end

    test "head and body must agree", %{policy: policy, catalog: catalog} do
      call = message("tools/call", %{"name" => "run", "arguments" => %{"count" => 1}, "_meta" => @meta})
      headers = [{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", "tools/call"}]

      assert {400, %{"id" => 7, "error" => %{"code" => -32_020, "message" => "Header mismatch: Mcp-Name is missing"}}} =
               reply(HTTP.admit(catalog, accepted(policy, headers), nil, call))

      assert {:request, %Request{id: 7, kind: :tool, name: "run", arguments: %{"count" => 1}, revision: "2026-07-28"}} =
               HTTP.admit(catalog, accepted(policy, [{"mcp-name", "run"} | headers]), nil, call)
    end

    test "arguments that do not fit ride on 200", %{policy: policy, catalog: catalog} do
      call = message("tools/call", %{"name" => "run", "arguments" => %{"count" => "x"}})

      assert {200, %{"result" => %{"isError" => true}}} =
               reply(HTTP.admit(catalog, accepted(policy, []), "2025-11-25", call))
    end

    test "a session opens", %{policy: policy, catalog: catalog} do
      initialize =
        message("initialize", %{
          "protocolVersion" => "2025-06-18",
          "capabilities" => %{},
          "clientInfo" => %{"name" => "c", "version" => "1"}
        })

      assert {:open, body, %{id: 7, revision: "2025-06-18", client_info: %{"name" => "c"}}} =
               HTTP.admit(catalog, accepted(policy, []), nil, initialize)

      assert %{"result" => %{"protocolVersion" => "2025-06-18"}} = JSON.decode!(IO.iodata_to_binary(body))
    end

    test "a batch's items carry statuses too", %{policy: policy, catalog: catalog} do
      batch = "[" <> message("ping", %{}) <> ~s(,{"jsonrpc":"2.0","method":"x"}) <> "]"

      assert {:batch, [{:reply, 200, _body}, :ignore]} = HTTP.admit(catalog, accepted(policy, []), "2025-03-26", batch)
    end

    test "a large body goes to a dirty scheduler and comes back the same", %{policy: policy, catalog: catalog} do
      for bytes <- [96 * 1024, 96 * 1024 + 1] do
        empty = message("ping", %{"x" => ""})
        body = message("ping", %{"x" => String.duplicate("a", bytes - byte_size(empty))})
        assert byte_size(body) == bytes
        assert {200, %{"id" => 7}} = reply(HTTP.admit(catalog, accepted(policy, []), nil, body))
      end
    end
  end

  describe "answer/2" do
    test "has a status, headers and a JSON-RPC error for each kind" do
      challenge = %{resource_metadata: "https://a.example/m", error: "invalid_token", scope: ["read", "write"]}

      for {kind, details, status} <- [
            {:resume_gone, nil, 400},
            {:unauthorized, challenge, 401},
            {:invalid_authorization, %{error: "invalid_request"}, 400},
            {:forbidden, %{}, 403},
            {:session_not_found, nil, 404},
            {:resume_unknown, nil, 400},
            {:request_timeout, nil, 408},
            {:stream_taken, nil, 409},
            {:payload_too_large, 4_194_304, 413},
            {:too_many_requests, 1, 429},
            {:head_too_large, nil, 431},
            {:internal_error, nil, 500},
            {:too_many_sessions, 30, 503},
            {:overloaded, 1, 503},
            {:session_interrupted, 1, 503},
            {:authorization_unavailable, 5, 503},
            {:shutting_down, nil, 503}
          ] do
        assert {^status, headers, body} = HTTP.answer(kind, details)
        assert {"content-type", "application/json"} in headers
        assert %{"jsonrpc" => "2.0", "error" => %{"code" => _code, "message" => _message}} = JSON.decode!(body)
      end

      assert {503, headers, _body} = HTTP.answer(:too_many_sessions, 30)
      assert {"retry-after", "30"} in headers

      assert {401, headers, _body} = HTTP.answer(:unauthorized, challenge)

      assert {"www-authenticate",
              ~s(Bearer error="invalid_token", scope="read write", resource_metadata="https://a.example/m")} in headers

      assert HTTP.challenge(challenge) == List.keyfind(headers, "www-authenticate", 0) |> elem(1)
      assert HTTP.challenge(%{error: nil, resource_metadata: nil}) == "Bearer"
    end

    test "knows no other kind" do
      assert_raise ArgumentError, fn -> HTTP.answer(:teapot) end
    end
  end

  describe "events" do
    test "carry one line each" do
      assert IO.iodata_to_binary(HTTP.event({2, 7}, ["{", "}"])) == "id: 2-7\ndata: {}\n\n"
      assert IO.iodata_to_binary(HTTP.event(nil, "{}")) == "data: {}\n\n"
    end

    test "prime, wait and keep alive" do
      assert HTTP.priming_event({1, 0}) == "id: 1-0\ndata: \n\n"
      assert HTTP.priming_event({1, 0}, 500) == "retry: 500\nid: 1-0\ndata: \n\n"
      assert HTTP.keep_alive() == ":\n\n"

      assert HTTP.event_stream_headers() == [
               {"content-type", "text/event-stream"},
               {"cache-control", "no-cache, no-transform"},
               {"x-accel-buffering", "no"}
             ]
    end
  end
end
