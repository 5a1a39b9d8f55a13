# Erlang/OTP 29 has added native records, a new kind of term. Code without support must refuse them: `enif_term_type`
# aborts the VM for a native record. Older systems have neither these terms nor these tests.
if String.to_integer(System.otp_release()) >= 29 do
  defmodule McpServer.NativeRecordTest do
    # Not async: it reads the log.
    use ExUnit.Case, async: false
    use McpServer.Test, router: McpServer.RuntimeRouter

    import McpServer.TestLog

    alias McpServer.{JSON, Tool}
    alias McpServer.Schema.Validator

    @compile {:no_warn_undefined, :records}
    @detail "a term of a kind without a JSON form, such as a native record"

    # Elixir has no syntax for native records, so this calls the function behind it.
    defp record, do: :records.create(__MODULE__, :user, [name: "ada"], %{is_exported: true})

    defp refused(term, options \\ []) do
      assert {:error, error} = JSON.encode(term, options)
      {error.kind, error.path, error.detail}
    end

    test "a value is refused, and the path says where" do
      assert refused(record()) == {:unsupported, [], @detail}
      assert refused(%{"a" => [1, %{b: record()}]}) == {:unsupported, ["a", 1, "b"], @detail}
      assert refused(%{"a" => record()}, order: ["b", {"a", ["name"]}]) == {:unsupported, ["a"], @detail}
      assert {:error, error} = JSON.encode([record()])
      assert Exception.message(error) == "cannot encode #{@detail}, at /0"
    end

    test "a key is refused" do
      assert refused(%{record() => 1}) == {:invalid_key, [], "a map key that is #{@detail}"}
      assert refused(%{record() => 1, "a" => 2}) == {:invalid_key, [], "a map key that is #{@detail}"}
    end

    test "in fields of known structs" do
      for {struct, kind, path} <- [
            {%Tool{name: record(), inputSchema: %{"type" => "object"}}, :invalid_field, ["name"]},
            {%Tool{name: "t", inputSchema: record()}, :invalid_field, ["inputSchema"]},
            {%Tool.CallResult{content: record()}, :invalid_field, ["content"]},
            {%Tool.CallResult{content: [record()]}, :invalid_field, ["content", 0]},
            {%Tool.CallResult{content: [], structured_content: record()}, :unsupported, ["structuredContent"]},
            {%Tool.CallResult{content: [], _meta: record()}, :invalid_field, ["_meta"]},
            {%McpServer.Annotations{priority: record()}, :invalid_field, ["priority"]},
            {%{~D[2026-07-28] | year: record()}, :unsupported, []},
            {%{__struct__: Decimal, sign: 1, coef: record(), exp: 0}, :unsupported, []},
            {%{__struct__: record(), a: 1}, :unsupported, ["__struct__"]}
          ] do
        assert {^kind, ^path, _detail} = refused(struct)
      end
    end

    test "a schema refuses it" do
      {:ok, schema} = Validator.compile(%{"type" => "object"})

      for term <- [record(), %{"a" => record()}, %{record() => 1}],
          do: assert({:error, _} = Validator.validate(schema, term))
    end

    test "a handler that returns one fails alone" do
      for returned <- [record(), {:ok, record()}, {:ok, [record()]}, {:ok, %{"sum" => record()}}] do
        log =
          capture_log(fn ->
            assert {:ok, %{"isError" => true}} = call_tool("run", %{}, answers(returned))
            assert {:ok, %{"isError" => true}} = call_tool("sum", %{}, answers(returned))
          end)

        assert log =~ "invalid handler result"
      end

      assert {:ok, %{"isError" => false}} = call_tool("run", %{}, answers({:ok, []}))
    end

    defp answers(returned), do: [assigns: %{run: fn _conn, _arguments -> returned end}]
  end
end
