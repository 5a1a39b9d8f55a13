defmodule McpServer.Envelope.ErrorsTest do
  # Not async: the log and the configured texts are shared by all tests.
  use ExUnit.Case, async: false

  import McpServer.TestLog

  alias McpServer.Envelope
  alias McpServer.Envelope.Errors
  alias McpServer.Schema.Validator

  doctest McpServer.Envelope.Errors

  # code, message, remediation and the rest of the data
  defp parts(envelope) do
    assert {:ok, []} = Envelope.validate(envelope)
    {code, data} = Map.pop!(envelope.data, "error_code")
    {remediation, data} = Map.pop!(data, "remediation")
    {code, envelope.error, remediation, Map.delete(data, "error_type")}
  end

  describe "the texts and the data of" do
    @describetag req: "S2-57"
    test "not_found/3" do
      assert parts(Errors.not_found("task", 7)) ==
               {"NOT_FOUND", "Task '7' not found", "Verify the task ID exists.",
                %{"resource_type" => "task", "resource_id" => 7}}
    end

    test "rate_limit/4" do
      envelope = Errors.rate_limit(100, "minute", 45)

      assert parts(envelope) ==
               {"RATE_LIMIT_EXCEEDED", "Rate limit exceeded: 100 requests per minute",
                "Wait 45 seconds before retrying.", %{"retry_after_seconds" => 45}}

      state = %{"limit" => 100, "remaining" => 0, "reset_at" => "2025-11-26T12:00:00Z"}
      assert Errors.rate_limit(100, "minute", 45, rate_limit: state).meta["rate_limit"] == state
    end

    test "unauthorized/1" do
      assert parts(Errors.unauthorized()) ==
               {"UNAUTHORIZED", "Authentication required", "Provide valid authentication credentials.", %{}}
    end

    @tag req: "RES-40"
    test "forbidden/2: an envelope may say so, a REST endpoint may not" do
      assert parts(Errors.forbidden("specs:write")) ==
               {"FORBIDDEN", "Insufficient permissions", "Request the permission 'specs:write'.",
                %{"required_permission" => "specs:write"}}
    end

    test "conflict/1" do
      assert {"CONFLICT", "The request conflicts with the current state", _remediation, %{}} = parts(Errors.conflict())
      assert Errors.conflict(message: "Task is done").error == "Task is done"
      assert Errors.conflict(error_code: "DUPLICATE_ENTRY").data["error_code"] == "DUPLICATE_ENTRY"
    end

    test "internal/1" do
      assert {"INTERNAL_ERROR", "An internal error occurred", "Try again later.", %{}} = parts(Errors.internal())
      assert Errors.internal(request_id: "req_1").data["remediation"] == "Try again later. Reference: req_1"
      assert Errors.internal(request_id: "req_1", remediation: "Wait").data["remediation"] == "Wait"
    end

    test "unavailable/2" do
      assert parts(Errors.unavailable(30)) ==
               {"UNAVAILABLE", "Service temporarily unavailable", "Retry after 30 seconds.",
                %{"retry_after_seconds" => 30}}
    end

    test "feature_disabled/2 and missing_required/2" do
      assert parts(Errors.feature_disabled("beta")) ==
               {"FEATURE_DISABLED", "Feature 'beta' is not enabled",
                "Contact support to enable this feature or check feature flag configuration", %{"feature" => "beta"}}

      assert parts(Errors.missing_required("spec_id")) ==
               {"MISSING_REQUIRED", "Validation failed: spec_id is required", "Provide a non-empty spec_id parameter",
                %{"details" => %{"field" => "spec_id", "constraint" => "required"}}}
    end

    test "each, with further options" do
      envelope = Errors.not_found("spec", "x", data: %{"resource_id" => "y", "more" => 1}, request_id: "r")
      assert %{"resource_id" => "y", "resource_type" => "spec", "more" => 1} = envelope.data
      assert envelope.meta["request_id"] == "r"
      assert_raise ArgumentError, ~r/has no option/, fn -> Errors.conflict(texts: 1) end
    end
  end

  @tag req: "S2-57"
  test "the texts can be configured, and what is filled in is filled in once" do
    on_exit(fn -> Application.delete_env(:mcp_server, Errors) end)

    Application.put_env(:mcp_server, Errors,
      not_found: [message: "No %{resource_type} %{resource_id}, %{other}"],
      unauthorized: [message: "Log in", remediation: "Run login."]
    )

    envelope = Errors.not_found("spec", "%{resource_type}")
    assert envelope.error == "No spec %{resource_type}, %{other}"
    assert envelope.data["remediation"] == "Verify the spec ID exists."
    assert {"UNAUTHORIZED", "Log in", "Run login.", %{}} = parts(Errors.unauthorized())
  end

  describe "from_exception/2" do
    @describetag req: "S2-58"
    test "says nothing of the exception; the log does, under the id that the answer refers to" do
      {envelope, log} =
        with_log(fn ->
          try do
            raise "SELECT secret FROM /var/lib"
          rescue
            exception -> Envelope.from_exception(exception, stacktrace: __STACKTRACE__, request_id: "req_1")
          end
        end)

      assert {"INTERNAL_ERROR", "An internal error occurred", remediation, %{}} = parts(envelope)
      assert [_, id] = Regex.run(~r/ Reference: ([0-9a-f]{16})\z/, remediation)
      assert log =~ "error id #{id}"
      assert log =~ "SELECT secret FROM /var/lib"
      assert log =~ "errors_test.exs"
      refute McpServer.JSON.encode!(envelope) =~ "SELECT"
      assert envelope.meta["request_id"] == "req_1"
    end

    test "a code and a remediation of one's own" do
      envelope =
        with_log(fn -> Envelope.from_exception(%RuntimeError{}, error_code: "UPSTREAM", remediation: "Wait.") end)

      assert {%Envelope{data: %{"error_code" => "UPSTREAM", "remediation" => "Wait." <> _reference}}, _log} = envelope
    end

    test "values that do not fit a schema: the problems are for the client" do
      {:error, error} = Validator.validate(%{"required" => ["q"]}, %{})
      envelope = Envelope.from_exception(error, stacktrace: [])
      assert {"VALIDATION_ERROR", "The input is not valid", _remediation, data} = parts(envelope)

      assert data == %{
               "details" => %{
                 "problems" => [
                   %{"pointer" => "", "message" => ~s{(root): must be an object with the property "q" (required)}}
                 ]
               }
             }
    end

    test "the vocabulary of dual responses in that of envelopes" do
      table = %{
        resource_not_found: "NOT_FOUND",
        resource_expired: "NOT_FOUND",
        query_execution_failed: "INTERNAL_ERROR",
        count_execution_failed: "INTERNAL_ERROR",
        storage_error: "UNAVAILABLE",
        timeout: "UNAVAILABLE",
        parse_error: "INTERNAL_ERROR",
        fetch_error: "INTERNAL_ERROR"
      }

      for {code, expected} <- table do
        error = %{__struct__: McpServer.DualResponse.Error, __exception__: true, code: code, message: "secret"}
        {envelope, _log} = with_log(fn -> Envelope.from_exception(error) end)
        assert envelope.data["error_code"] == expected
        refute inspect(envelope) =~ "secret"
      end
    end
  end
end
