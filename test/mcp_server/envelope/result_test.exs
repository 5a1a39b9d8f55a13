defmodule McpServer.Envelope.ResultTest do
  # RES-41: results of tools that return envelopes, in both eras. Not async: all tests share the feature flag and the
  # log.
  use ExUnit.Case, async: false

  import McpServer.TestLog

  alias McpServer.{Envelope, JSON}

  defmodule Handlers do
    alias McpServer.Envelope

    @rows for n <- 1..10_000, do: %{"n" => n, "quote" => "\"#{n}\"\n"}

    def bare(_conn, _arguments), do: Envelope.success(%{"n" => 1})
    def ok(_conn, _arguments), do: {:ok, Envelope.success(%{n: 1}, warnings: ["w"])}
    def failed(_conn, _arguments), do: Envelope.error("No", error_code: "CONFLICT")
    def ok_failed(_conn, _arguments), do: {:ok, Envelope.error("No")}
    def error(_conn, _arguments), do: {:error, Envelope.error("No")}
    def own_id(_conn, _arguments), do: Envelope.success(%{}, request_id: "req_own")
    def conn_id(conn, _arguments), do: Envelope.success(%{}, conn: conn)
    def rows(_conn, _arguments), do: Envelope.success(%{"rows" => @rows})
    def no_rows(_conn, _arguments), do: Envelope.success(%{"rows" => Enum.map(@rows, &%{"n" => &1["quote"]})})
    def invalid(_conn, _arguments), do: %Envelope{error: "secret"}
    def unwritable(_conn, _arguments), do: Envelope.success(%{"a" => [self()]})
    def map(_conn, _arguments), do: {:ok, %{"n" => 1}}
    def unwritable_map(_conn, _arguments), do: {:ok, %{"a" => [self()]}}
  end

  defmodule Server do
    use McpServer.Router

    alias McpServer.Envelope

    for name <- ~w(bare ok failed ok_failed error own_id conn_id rows invalid unwritable map unwritable_map) do
      tool name, "Returns an envelope", Handlers, String.to_atom(name)
    end

    @row %{"type" => "object", "properties" => %{"n" => %{"type" => "integer"}}, "required" => ["n"]}
    @rows Envelope.schema(%{
            "type" => "object",
            "properties" => %{"rows" => %{"type" => "array", "items" => @row}},
            "required" => ["rows"]
          })

    tool "rows_as_declared", "Rows", Handlers, :rows, output_schema: @rows
    tool "rows_otherwise", "Rows", Handlers, :no_rows, output_schema: @rows
    tool "none_declared", "Fails", Handlers, :failed, output_schema: @rows
  end

  use McpServer.Test, router: Server

  @eras ["2026-07-28", "2025-11-25", "2025-06-18"]
  @before_structured_content ["2025-03-26", "2024-11-05"]

  defp result!(name, revision) do
    assert {:ok, result} = call_tool(name, %{}, revision: revision)
    result
  end

  defp without_id(envelope), do: Map.update!(envelope, "meta", &Map.delete(&1, "request_id"))

  for revision <- @eras do
    describe revision do
      @revision revision

      @tag req: "RES-41"
      test "the envelope is the structured content, its JSON the text; isError says whether it failed" do
        for {name, success?} <- [bare: true, ok: true, failed: false, ok_failed: false, error: false] do
          result = result!("#{name}", @revision)
          assert %{"content" => [%{"type" => "text", "text" => text}], "structuredContent" => envelope} = result
          assert JSON.decode!(text) == envelope
          assert text =~ ~r/\A{"success":#{success?},"data":{.*},"error":.*,"meta":{.*}}\z/
          assert result["isError"] == not success?
          assert envelope["success"] == success?
          assert Envelope.validate(envelope) == {:ok, []}
        end

        assert without_id(result!("ok", @revision)["structuredContent"]) == %{
                 "success" => true,
                 "data" => %{"n" => 1},
                 "error" => nil,
                 "meta" => %{"version" => "response-v2", "warnings" => ["w"]}
               }
      end

      @tag req: "S2-07"
      test "the request id is the call's, unless there is another" do
        assert result!("bare", @revision)["structuredContent"]["meta"]["request_id"] =~ ~r/\A[A-Za-z0-9_-]+\z/
        assert result!("conn_id", @revision)["structuredContent"]["meta"]["request_id"] =~ ~r/\A[A-Za-z0-9_-]+\z/
        assert result!("own_id", @revision)["structuredContent"]["meta"]["request_id"] == "req_own"
      end

      test "10,000 rows, with and without an output schema" do
        for name <- ~w(rows rows_as_declared) do
          assert %{"content" => [%{"text" => text}], "structuredContent" => envelope} = result!(name, @revision)
          assert length(envelope["data"]["rows"]) == 10_000
          assert JSON.decode!(text) == envelope
        end
      end

      test "an envelope that does not fit the output schema is a failed call; a failure need not fit" do
        log = capture_log(fn -> assert %{"isError" => true} = result!("rows_otherwise", @revision) end)
        assert log =~ "does not fit the output schema: /data/rows/0/n: must be an integer (type)"
        assert %{"isError" => true, "structuredContent" => %{"error" => "No"}} = result!("none_declared", @revision)
      end

      test "what is no envelope, or no JSON, is a failed call: the reason goes to the log" do
        log =
          capture_log(fn ->
            for name <- ~w(invalid unwritable unwritable_map) do
              assert %{"content" => [%{"text" => "Tool execution failed" <> _}], "isError" => true} =
                       result = result!(name, @revision)

              refute is_map_key(result, "structuredContent")
            end
          end)

        assert log =~ "no valid envelope: /error: must be null (type)"
        assert log =~ "cannot encode a pid"
        refute log =~ "secret"
      end

      test "structured content of a tool without an envelope is text as well" do
        assert %{"content" => [%{"text" => ~s({"n":1})}], "structuredContent" => %{"n" => 1}} =
                 result!("map", @revision)
      end
    end
  end

  test "clients that know no structured content get the text" do
    for revision <- @before_structured_content do
      result = result!("bare", revision)
      refute is_map_key(result, "structuredContent")
      assert %{"content" => [%{"text" => text}], "isError" => false} = result
      assert %{"success" => true, "data" => %{"n" => 1}} = JSON.decode!(text)
    end
  end

  @tag req: "S2-59"
  test "without the second form of the contract there is no meta" do
    on_exit(fn -> Application.delete_env(:mcp_server, :response_contract_v2) end)
    Application.put_env(:mcp_server, :response_contract_v2, false)

    for revision <- @eras do
      assert %{"content" => [%{"text" => text}], "structuredContent" => content} = result!("bare", revision)
      assert content == %{"success" => true, "data" => %{"n" => 1}, "error" => nil}
      assert JSON.decode!(text) == content
      assert %{"isError" => true, "structuredContent" => %{"error" => "No"}} = result!("failed", revision)
    end

    Application.put_env(:mcp_server, :response_contract_v2, true)
    assert %{"meta" => %{"version" => "response-v2"}} = result!("bare", "2026-07-28")["structuredContent"]
  end

  @tag req: "S2-60"
  test "the result of an envelope, for who is no handler" do
    assert {:ok, result} = Envelope.to_call_result(Envelope.error("No"), "req_1")

    assert %{"isError" => true, "structuredContent" => envelope, "content" => [%{"text" => text}]} =
             result |> JSON.encode!() |> JSON.decode!()

    assert JSON.decode!(text) == envelope
    assert envelope["meta"]["request_id"] == "req_1"
    assert {:ok, _result} = Envelope.to_call_result(Envelope.success(%{a: 1}))

    assert Envelope.to_call_result(%Envelope{data: []}) ==
             {:error, "no valid envelope: /data: must be an object (type)"}
  end

  test "only tools answer with envelopes" do
    request = %McpServer.Request{id: 1, method: "m", revision: "r", kind: :prompt, name: "x"}
    envelope = Envelope.success()
    assert McpServer.Dispatch.Outcome.of(request, envelope, %McpServer.Conn{}) == {:invalid, envelope}

    assert McpServer.Dispatch.Outcome.of(request, {:error, envelope}, %McpServer.Conn{}) ==
             {:invalid, {:error, envelope}}
  end
end
