defmodule McpServer.EnvelopeTest do
  # Document 002: the parts of an envelope. `envelope/result_test.exs` tests the results of tools that return one.
  use ExUnit.Case, async: true

  import McpServer.Fixtures

  alias McpServer.{Conn, Envelope, JSON}

  doctest McpServer.Envelope

  @version %{"version" => "response-v2"}

  defp wire(envelope), do: envelope |> JSON.encode!() |> JSON.decode!()

  # The only problem of an invalid envelope.
  defp refusal(envelope) do
    assert {:error, [problem]} = Envelope.validate(envelope)
    assert problem.level == :error
    {problem.pointer, problem.reason}
  end

  defp advice(envelope) do
    assert {:ok, warnings} = Envelope.validate(envelope)
    assert Enum.all?(warnings, &(&1.level == :warning))
    for warning <- warnings, do: {warning.pointer, warning.reason}
  end

  defp refused(message, fun), do: assert_raise(ArgumentError, message, fun)

  describe "golden files" do
    test "derived-s2-success-empty" do
      assert_encodes(Envelope.success(), "derived-s2-success-empty.json")
    end

    @tag req: ["S2-30", "S2-31", "S2-32", "S2-33", "S2-34"]
    test "s2-03-content-fidelity-example" do
      findings = [
        %{"id" => "finding-001", "title" => "Primary result", "content" => "..."},
        %{"id" => "finding-002", "title" => "Secondary result", "content" => "..."}
      ]

      %{"research_id" => "research-001", "findings" => findings, "total_findings" => 5}
      |> Envelope.success(
        content_fidelity: :partial,
        dropped_content_ids: ["finding-003", "finding-004", "finding-005"],
        content_archive_hashes: %{"findings-archive" => "sha256:e3b0c44298fc1c149afbf4c8996fb924..."},
        warnings: ["3 findings omitted due to token limits"]
      )
      |> assert_encodes("s2-03-content-fidelity-example.json")
    end

    @tag req: ["S2-40", "S2-41", "S2-42", "S2-43"]
    test "s2-04-warning-details-schema" do
      envelope =
        Envelope.success(%{},
          warnings: ["3 findings omitted due to token limits"],
          warning_details: [
            [
              code: :content_truncated,
              message: "3 findings omitted due to token limits",
              context: %{dropped_count: 3, total_count: 5, reason: "token_limit_exceeded"}
            ]
          ]
        )

      assert_encodes(%{"meta" => envelope.meta}, "s2-04-warning-details-schema.json")
    end

    @tag req: ["S2-40", "S2-41", "S2-42", "S2-43"]
    test "s2-05-warning-details-example" do
      envelope =
        Envelope.success(%{"results" => [%{"$elided" => true}]},
          warnings: ["3 sources failed to respond", "Cache data is 2 hours old"],
          warning_details: [
            %{
              code: "PARTIAL_FAILURE",
              message: "3 sources failed to respond",
              context: %{
                failed_sources: ["source-a", "source-b", "source-c"],
                successful_sources: 7,
                total_sources: 10
              }
            },
            %{
              "code" => "STALE_CACHE",
              "message" => "Cache data is 2 hours old",
              "context" => %{"cache_age_seconds" => 7200, "max_freshness_seconds" => 3600}
            }
          ]
        )

      assert_encodes(envelope, "s2-05-warning-details-example.json")
    end

    @tag req: ["S2-50", "S2-56"]
    test "s2-06-error-response-example" do
      "Validation failed: spec_id is required"
      |> Envelope.error(
        error_code: "VALIDATION_ERROR",
        error_type: "validation",
        remediation: "Provide a non-empty spec_id parameter",
        details: %{"field" => "spec_id", "constraint" => "required", "received" => nil},
        request_id: "req_abc123"
      )
      |> assert_encodes("s2-06-error-response-example.json")
    end

    @tag req: "S2-54"
    test "derived-s2-helper-missing-required, the request id from the call's context" do
      "Validation failed: spec_id is required"
      |> Envelope.error(
        error_code: "MISSING_REQUIRED",
        error_type: "validation",
        remediation: "Provide a non-empty spec_id parameter",
        details: %{"field" => "spec_id", "constraint" => "required"},
        conn: %Conn{request_id: "req_abc123"}
      )
      |> assert_encodes("derived-s2-helper-missing-required.json")
    end

    @tag req: "S2-54"
    test "derived-s2-helper-not-found" do
      "Spec 'my-spec' not found"
      |> Envelope.error(
        error_code: "SPEC_NOT_FOUND",
        error_type: "not_found",
        remediation: ~s{Verify the spec ID exists using spec(action="list")},
        request_id: "req_abc123"
      )
      |> assert_encodes("derived-s2-helper-not-found.json")
    end

    @tag req: "S2-54"
    test "derived-s2-helper-feature-flag" do
      "Feature 'beta' is not enabled"
      |> Envelope.error(
        error_code: "FEATURE_DISABLED",
        error_type: "feature_flag",
        data: %{"feature" => "beta"},
        remediation: "Contact support to enable this feature or check feature flag configuration"
      )
      |> assert_encodes("derived-s2-helper-feature-flag.json")
    end

    @tag req: "S2-54"
    test "derived-s2-helper-rate-limit" do
      "Rate limit exceeded: 100 requests per minute"
      |> Envelope.error(
        error_code: "RATE_LIMIT_EXCEEDED",
        error_type: "rate_limit",
        data: %{"retry_after_seconds" => 45},
        remediation: "Wait 45 seconds before retrying. Consider batching requests.",
        rate_limit: %{"limit" => 100, "remaining" => 0, "reset_at" => ~U[2025-11-26 12:00:00Z]}
      )
      |> assert_encodes("derived-s2-helper-rate-limit.json")
    end

    test "inline-s2: the meta without options, the data without a payload" do
      assert_encodes(Envelope.success().meta, "inline-s2-meta-version.json")
      assert_encodes(Envelope.success().data, "inline-s2-empty-data.json")
    end

    test "each is valid, and nothing about it is to be said" do
      for name <- ~w(s2-03-content-fidelity-example s2-06-error-response-example derived-s2-success-empty
                     derived-s2-helper-feature-flag derived-s2-helper-missing-required derived-s2-helper-not-found
                     derived-s2-helper-rate-limit),
          {:ok, text} <- [read("#{name}.json")] do
        assert Envelope.validate(JSON.decode!(text)) == {:ok, []}, name
      end
    end
  end

  describe "the envelope" do
    @tag req: ["S2-01", "S2-14"]
    test "exactly four keys in this order, in snake_case, whoever writes it" do
      envelope = Envelope.success(%{"hasMore" => 1, "has_more" => 2}, request_id: "r", pagination: [has_more: true])

      assert JSON.encode!(envelope) ==
               ~s({"success":true,"data":{"hasMore":1,"has_more":2},"error":null,) <>
                 ~s("meta":{"pagination":{"has_more":true},"request_id":"r","version":"response-v2"}})

      assert Map.keys(wire(%Envelope{})) == ~w(data error meta success)
      valid = wire(Envelope.success())
      for key <- Map.keys(valid), do: assert(refusal(Map.delete(valid, key)) == {"", "required"})
      assert refusal(Map.put(valid, "warnings", [])) == {"/warnings", "additionalProperties"}
    end

    @tag req: "S2-02"
    test "success is a boolean" do
      for other <- [nil, 1, "true"], do: assert({:error, [_ | _]} = Envelope.validate(%Envelope{success: other}))
      assert {:error, error} = JSON.encode(%Envelope{success: "true"})
      assert {error.kind, error.path} == {:invalid_field, ["success"]}
    end

    @tag req: "S2-03"
    test "nil data is {}, and data is a map" do
      assert Envelope.success(nil).data == %{}
      assert Envelope.success(%{a: 1}).data == %{a: 1}

      for other <- [[], [a: 1], "x", 1, ~D[2026-01-01]] do
        refused(~r/expected the data of an envelope to be a map/, fn -> Envelope.success(other) end)
      end

      assert refusal(%Envelope{data: nil}) == {"/data", "type"}
      assert refusal(%Envelope{data: []}) == {"/data", "type"}
      assert refusal(%Envelope{data: ~D[2026-01-01]}) == {"/data", "type"}
    end

    @tag req: "S2-04"
    test "the error is null on success, and says something on failure" do
      assert Envelope.success().error == nil
      assert Envelope.error("No").error == "No"
      refused(~r"/error: must be a string", fn -> Envelope.error(nil) end)
      refused(~r"/error: must be", fn -> Envelope.error("") end)
      refused(~r"/error: must be", fn -> Envelope.error(" \n") end)
      assert refusal(%Envelope{error: "No"}) == {"/error", "type"}
      assert refusal(%Envelope{success: false}) == {"/error", "type"}
    end

    @tag req: ["S2-05", "RES-39"]
    test "the version is always there and never another" do
      for meta <- [%{version: "response-v1"}, %{"version" => nil}, %{}] do
        assert Envelope.success(%{}, meta: meta).meta == @version
        assert Envelope.error("No", meta: meta).meta == @version
      end

      assert refusal(%Envelope{meta: %{}}) == {"/meta", "required"}
      assert refusal(%Envelope{meta: %{"version" => "response-v1"}}) == {"/meta/version", "const"}
    end

    @tag req: ["S2-06", "RES-36"]
    test "what is not given is left out, and so is what is empty" do
      empty = [
        request_id: nil,
        warnings: [],
        warning_details: [],
        pagination: nil,
        rate_limit: %{},
        telemetry: [],
        dropped_content_ids: [],
        content_archive_hashes: %{}
      ]

      assert Envelope.success(%{}, empty).meta == @version
      assert Envelope.success(%{}, meta: Map.new(empty)).meta == @version
      assert Envelope.error("No", rate_limit: %{}, telemetry: nil, request_id: nil).meta == @version
      assert advice(%Envelope{meta: Map.put(@version, "warnings", [])}) == [{"/meta/warnings", "empty"}]
    end

    @tag req: "S2-07"
    test "the request id: given, or the call's, or none" do
      conn = %Conn{request_id: 7}
      assert Envelope.success(%{}, request_id: "req_1").meta["request_id"] == "req_1"
      assert Envelope.success(%{}, conn: conn).meta["request_id"] == "7"
      assert Envelope.success(%{}, conn: %Conn{request_id: "a-b_c"}).meta["request_id"] == "a-b_c"
      assert Envelope.success(%{}, conn: conn, request_id: "req_1").meta["request_id"] == "req_1"
      assert Envelope.success(%{}, conn: conn, meta: %{request_id: "req_2"}).meta["request_id"] == "req_2"
      # A client may choose an id that is invalid in a log line.
      assert Envelope.success(%{}, conn: %Conn{request_id: "a b"}).meta == @version
      refused(~r"/meta/request_id: must be a string that matches", fn -> Envelope.success(%{}, request_id: "a b") end)
    end

    @tag req: "S2-08"
    test "warnings are texts, and an error has none" do
      assert Envelope.success(%{}, warnings: ["w"]).meta["warnings"] == ["w"]

      refused(~r/:warnings of success\/2 to be a list, each element a string/, fn ->
        Envelope.success(%{}, warnings: [1])
      end)

      refused(~r/error\/2 has no option warnings/, fn -> Envelope.error("No", warnings: ["w"]) end)
      envelope = %{Envelope.error("No") | meta: Map.put(@version, "warnings", ["w"])}
      assert advice(envelope) == [{"/meta/warnings", "unexpected"}]
    end

    @tag req: "S2-09"
    test "pagination, of keys of one's own as well" do
      page = %{"cursor" => nil, "has_more" => false, "total_count" => 0, "page_size" => 1, "page" => 1, "own" => nil}
      assert wire(Envelope.success(%{}, pagination: page))["meta"]["pagination"] == page
      assert wire(Envelope.success(%{}, pagination: [cursor: "abc"]))["meta"]["pagination"] == %{"cursor" => "abc"}

      for {key, value} <- [cursor: 1, has_more: "yes", total_count: -1, page_size: 0, page: 0] do
        refused(~r"/meta/pagination/#{key}: must be", fn -> Envelope.success(%{}, pagination: [{key, value}]) end)
      end

      assert advice(Envelope.success(%{}, pagination: [page_size: 1000])) == []
      large = Envelope.success(%{}, pagination: [page_size: 1001])
      assert advice(large) == [{"/meta/pagination/page_size", "large_page"}]
    end

    @tag req: "S2-10"
    test "rate limits" do
      state = %{
        "limit" => 10,
        "remaining" => 0,
        "reset_at" => "2026-01-01T00:00:00Z",
        "period" => "m",
        "retry_after" => 1
      }

      assert wire(Envelope.success(%{}, rate_limit: state))["meta"]["rate_limit"] == state
      dated = Envelope.success(%{}, rate_limit: [reset_at: ~U[2026-01-01 00:00:00Z]])
      assert wire(dated)["meta"]["rate_limit"] == %{"reset_at" => "2026-01-01T00:00:00Z"}

      for {key, value} <- [limit: -1, remaining: 0.5, reset_at: "soon", reset_at: 1, retry_after: -1] do
        refused(~r"/meta/rate_limit/#{key}: must be", fn -> Envelope.success(%{}, rate_limit: [{key, value}]) end)
      end
    end

    @tag req: "S2-11"
    test "telemetry" do
      telemetry = %{"duration_ms" => 1.5, "downstream_calls" => 2, "cache_hit" => true}
      assert wire(Envelope.error("No", telemetry: telemetry))["meta"]["telemetry"] == telemetry

      for {key, value} <- [duration_ms: -1, downstream_calls: -1, cache_hit: 1] do
        refused(~r"/meta/telemetry/#{key}: must be", fn -> Envelope.success(%{}, telemetry: [{key, value}]) end)
      end
    end

    @tag req: "S2-12"
    test "what belongs in meta is noticed at the top of data" do
      for key <- ~w(pagination warnings request_id telemetry rate_limit) do
        assert advice(Envelope.success(%{key => %{}})) == [{"/data/#{key}", "reserved_key"}]
        assert advice(Envelope.success(%{String.to_atom(key) => %{}})) == [{"/data/#{key}", "reserved_key"}]
      end

      assert advice(Envelope.success(%{"inner" => %{"warnings" => []}})) == []
    end

    @tag req: ["S2-13", "RES-39"]
    test "further meta is kept as it is; an option wins over the same key in it" do
      meta = %{"span_id" => nil, trace_id: "t", warnings: ["meta"], telemetry: %{a: 1}}

      assert Envelope.success(%{}, meta: meta, warnings: ["option"]).meta == %{
               "span_id" => nil,
               "telemetry" => %{a: 1},
               "trace_id" => "t",
               "version" => "response-v2",
               "warnings" => ["option"]
             }
    end

    @tag req: "RES-14"
    test "keys of the user's maps are sent as they are" do
      data = %{"snake_case" => %{"camelCase" => 1}, :"kebab-case" => [%{UPPER: 2}]}

      assert wire(Envelope.success(data))["data"] == %{
               "kebab-case" => [%{"UPPER" => 2}],
               "snake_case" => %{"camelCase" => 1}
             }
    end

    test "an option that there is not, and one that is no JSON" do
      refused(~r/success\/2 has no option warning, did you mean warnings?/, fn ->
        Envelope.success(%{}, warning: ["w"])
      end)

      refused(~r"cannot encode a pid, at /meta/own", fn -> Envelope.success(%{}, meta: %{own: self()}) end)
    end
  end

  describe "edge cases" do
    @tag req: "S2-20"
    test "an empty but successful query keeps its empty lists and zeros" do
      assert wire(Envelope.success(%{"items" => [], "count" => 0})) == %{
               "success" => true,
               "data" => %{"items" => [], "count" => 0},
               "error" => nil,
               "meta" => @version
             }
    end

    @tag req: "S2-21"
    test "a missing resource and an invalid input are failures with structured data" do
      for code <- ["NOT_FOUND", "VALIDATION_ERROR"] do
        assert %Envelope{success: false, data: %{"error_code" => ^code}, error: "No"} =
                 Envelope.error("No", error_code: code)
      end
    end

    @tag req: "S2-22"
    test "partial work is a success with its state in data and a warning" do
      envelope = Envelope.success(%{"state" => "blocked"}, warnings: ["1 of 2 done"])
      assert %{"success" => true, "meta" => %{"warnings" => ["1 of 2 done"]}} = wire(envelope)
      assert advice(envelope) == []
    end

    @tag req: "S2-23"
    test "several payloads, each under its name" do
      payloads = %{"spec" => %{"$elided" => true}, "tasks" => [%{"$elided" => true}]}
      assert_encodes(Envelope.success(payloads).data, "inline-s2-multi-payload.json")
    end
  end

  describe "content fidelity" do
    @tag req: "S2-30"
    test "four levels, as atoms or texts" do
      for level <- ~w(full partial summary reference_only)a do
        assert Envelope.success(%{}, content_fidelity: level).meta["content_fidelity"] == Atom.to_string(level)
        assert Envelope.success(%{}, content_fidelity: Atom.to_string(level)).meta["content_fidelity"] == "#{level}"
      end

      refused(~r"/meta/content_fidelity: must be one of \"full\"", fn ->
        Envelope.success(%{}, content_fidelity: :most)
      end)
    end

    @tag req: "S2-31"
    test "the version of the schema comes with it" do
      assert Envelope.success(%{}, content_fidelity: :full).meta["content_fidelity_schema_version"] == "1.0"
      refute is_map_key(Envelope.success().meta, "content_fidelity_schema_version")
      without = %Envelope{meta: Map.put(@version, "content_fidelity", "summary")}
      assert advice(without) == [{"/meta/content_fidelity_schema_version", "missing"}]
    end

    @tag req: "S2-32"
    test "dropped ids are texts, archive hashes a map of texts" do
      options = [content_fidelity: :partial, dropped_content_ids: ["a"], content_archive_hashes: %{x: "sha256:00"}]

      assert %{"dropped_content_ids" => ["a"], "content_archive_hashes" => %{"x" => "sha256:00"}} =
               wire(Envelope.success(%{}, options))["meta"]

      refused(~r/:dropped_content_ids/, fn -> Envelope.success(%{}, dropped_content_ids: [1]) end)
      refused(~r"/meta/content_archive_hashes/x", fn -> Envelope.success(%{}, content_archive_hashes: %{x: 1}) end)
    end

    @tag req: "S2-33"
    test "dropped content and a full fidelity do not go together" do
      dropped = [dropped_content_ids: ["a"]]
      place = [{"/meta/content_fidelity", "dropped_content"}]
      assert advice(Envelope.success(%{}, dropped)) == place
      assert advice(Envelope.success(%{}, [content_fidelity: :full] ++ dropped)) == place
      assert advice(Envelope.success(%{}, [content_fidelity: :reference_only] ++ dropped)) == []
    end

    @tag req: "S2-34"
    test "what was dropped, with the archives that may have it" do
      of = fn archives ->
        options = [content_fidelity: :partial, dropped_content_ids: ["a", "b"], content_archive_hashes: archives]
        envelope = Envelope.success(%{}, options)
        assert Envelope.dropped_content(wire(envelope)) == Envelope.dropped_content(envelope)
        Envelope.dropped_content(envelope)
      end

      assert of.(%{}) == [{"a", %{}}, {"b", %{}}]
      assert of.(%{"all" => "sha256:00"}) == [{"a", %{"all" => "sha256:00"}}, {"b", %{"all" => "sha256:00"}}]
      both = %{"a" => "sha256:0a", "all" => "sha256:00"}
      assert of.(both) == [{"a", %{"a" => "sha256:0a"}}, {"b", both}]
      assert Envelope.dropped_content(Envelope.success()) == []
    end
  end

  describe "warning details" do
    defp detail(detail), do: hd(Envelope.success(%{}, warning_details: [detail]).meta["warning_details"])

    @tag req: "S2-40"
    test "the message is needed" do
      assert detail(message: "m") == %{"message" => "m"}
      refused(~r"/meta/warning_details/0: must be an object with the property \"message\"", fn -> detail(code: "X") end)
      refused(~r"/meta/warning_details/0/message", fn -> detail(message: "") end)
      refused(~r"/meta/warning_details/0/context", fn -> detail(message: "m", context: "c") end)
      refused(~r/expected a map or a keyword list/, fn -> detail("m") end)
      places = for key <- ~w(code severity), do: {"/meta/warning_details/0/#{key}", "missing"}
      assert advice(Envelope.success(%{}, warning_details: [%{message: "m"}])) == places
    end

    @tag req: "S2-41"
    test "three severities" do
      for severity <- ~w(info warning error),
          do: assert(detail(message: "m", severity: severity)["severity"] == severity)

      assert wire(%{w: detail(message: "m", severity: :info)})["w"]["severity"] == "info"
      refused(~r"/meta/warning_details/0/severity: must be one of", fn -> detail(message: "m", severity: "fatal") end)
    end

    @tag req: "S2-42"
    test "the standard codes have a severity; a given one wins, and other codes have none" do
      standard = %{
        "CONTENT_TRUNCATED" => "info",
        "STALE_CACHE" => "warning",
        "PARTIAL_FAILURE" => "warning",
        "DEPRECATED_FIELD" => "info",
        "RATE_LIMIT_APPROACHING" => "warning",
        "FALLBACK_USED" => "info"
      }

      assert Envelope.warning_codes() == standard

      for {code, severity} <- standard do
        assert detail(code: code, message: "m") == %{"code" => code, "message" => "m", "severity" => severity}
      end

      assert detail(code: :stale_cache, message: "m", severity: "error")["severity"] == "error"
      assert detail(code: :OWN, message: "m") == %{"code" => "OWN", "message" => "m"}
    end

    @tag req: "S2-43"
    test "neither kind of warning implies the other" do
      refute is_map_key(Envelope.success(%{}, warning_details: [[message: "m"]]).meta, "warnings")
      refute is_map_key(Envelope.success(%{}, warnings: ["w"]).meta, "warning_details")
    end
  end

  describe "errors" do
    @tag req: "S2-50"
    test "code, type, remediation and details" do
      assert Envelope.error("No", error_code: "CONFLICT", remediation: "Wait", details: %{a: 1}).data == %{
               "error_code" => "CONFLICT",
               "error_type" => "conflict",
               "remediation" => "Wait",
               "details" => %{a: 1}
             }

      for code <- ["not_found", "NotFound", "A__B", "_A", "A_", "1A", "", "A B"] do
        refused(~r/expected :error_code to be in capitals/, fn -> Envelope.error("No", error_code: code) end)
      end

      bare = %Envelope{success: false, error: "No"}
      assert advice(bare) == for(key <- ~w(error_code error_type remediation), do: {"/data/#{key}", "missing"})
      assert refusal(%{bare | data: %{"error_code" => "no"}}) == {"/data/error_code", "pattern"}
      assert refusal(%{bare | data: %{details: []}}) == {"/data/details", "type"}
    end

    @tag req: "S2-51"
    test "each type has a status and says whether to try again" do
      table = [
        {"validation", 400, :no},
        {"authentication", 401, :no},
        {"authorization", 403, :no},
        {"not_found", 404, :no},
        {"conflict", 409, :maybe},
        {"rate_limit", 429, :after_delay},
        {"feature_flag", 403, :no},
        {"internal", 500, :backoff},
        {"unavailable", 503, :backoff}
      ]

      assert Envelope.error_types() == for({type, _status, _retry} <- table, do: type)

      for {type, status, retry} <- table do
        atom = String.to_atom(type)
        assert {Envelope.http_status(type), Envelope.retry(type)} == {status, retry}
        assert {Envelope.http_status(atom), Envelope.retry(atom)} == {status, retry}
        failure = Envelope.error("No", error_type: type)
        assert {Envelope.http_status(failure), Envelope.retry(failure)} == {status, retry}
        assert Envelope.validate(failure) == {:ok, []}
      end

      assert {Envelope.http_status(Envelope.success()), Envelope.retry(Envelope.success())} == {200, :no}
      refused(~r/expected one of validation, .*got: "ai_provider"/, fn -> Envelope.http_status("ai_provider") end)
      refused(~r/expected one of/, fn -> Envelope.retry(:other) end)
      refused(~r/expected :error_type to be one of/, fn -> Envelope.error("No", error_type: "ai_provider") end)
    end

    @tag req: "S2-52"
    test "fourteen codes, and the type of each" do
      table = %{
        "VALIDATION_ERROR" => "validation",
        "INVALID_FORMAT" => "validation",
        "MISSING_REQUIRED" => "validation",
        "NOT_FOUND" => "not_found",
        "SPEC_NOT_FOUND" => "not_found",
        "TASK_NOT_FOUND" => "not_found",
        "DUPLICATE_ENTRY" => "conflict",
        "CONFLICT" => "conflict",
        "UNAUTHORIZED" => "authentication",
        "FORBIDDEN" => "authorization",
        "FEATURE_DISABLED" => "feature_flag",
        "RATE_LIMIT_EXCEEDED" => "rate_limit",
        "INTERNAL_ERROR" => "internal",
        "UNAVAILABLE" => "unavailable"
      }

      assert Envelope.error_codes() == table

      for {code, type} <- table do
        assert Envelope.error("No", error_code: code).data["error_type"] == type

        other =
          Envelope.error("No", error_code: code, error_type: if(type == "internal", do: "conflict", else: "internal"))

        assert advice(other) == [{"/data/error_type", "other_type"}]
      end
    end

    @tag req: "S2-53"
    test "a code of one's own" do
      assert Envelope.error("No", error_code: "OUT_OF_STOCK").data["error_type"] == "internal"
      assert Envelope.error("No", error_code: :e_404, error_type: :not_found).data["error_code"] == "E_404"
      assert advice(Envelope.error("No", error_code: "OUT_OF_STOCK")) == []
    end

    @tag req: ["S2-55", "RES-38"]
    test "INTERNAL_ERROR by default; data wins over the options; empty details are left out" do
      assert %{"error_code" => "INTERNAL_ERROR", "error_type" => "internal"} = Envelope.error("No").data
      refute is_map_key(Envelope.error("No", details: %{}).data, "details")

      for data <- [%{"error_code" => "MINE", "remediation" => "r"}, %{error_code: "MINE", remediation: "r"}] do
        envelope = Envelope.error("No", error_code: "CONFLICT", data: data)
        assert %{"error_code" => "MINE", "error_type" => "conflict", "remediation" => "r"} = wire(envelope)["data"]
      end
    end

    @tag req: "S2-55"
    test "of an error of which only the type is known, the code is the type's" do
      assert Envelope.error("No", error_type: :not_found).data["error_code"] == "NOT_FOUND"
    end

    @tag req: "S2-56"
    test "null inside of details is sent" do
      assert JSON.encode!(Envelope.error("No", details: %{"received" => nil})) =~ ~s("details":{"received":null})
    end

    @tag req: "RES-37"
    test "the data of a failure is structured, and kept" do
      assert %{"feature" => "beta", "error_code" => _} = Envelope.error("No", data: %{"feature" => "beta"}).data
    end
  end

  describe "validate/1" do
    test "takes a decoded map as well as the struct" do
      envelope = Envelope.error("No", details: %{"a" => nil})
      assert Envelope.validate(wire(envelope)) == {:ok, []}
      assert Envelope.validate(envelope) == {:ok, []}
    end

    test "anything else is no envelope" do
      for other <- [nil, [], "x", 1, :a], do: assert(refusal(other) == {"", "type"})
      assert refusal(self()) == {"", "unsupported"}
      assert refusal(%Envelope{meta: %{"version" => {1}}}) == {"/meta/version", "unsupported"}
    end

    test "at most 20 problems, and no value in any" do
      details = for _ <- 1..50, do: %{"severity" => "secret", "message" => "secret"}
      assert {:error, problems} = Envelope.validate(%Envelope{meta: Map.put(@version, "warning_details", details)})
      assert length(problems) == 20
      refute inspect(problems) =~ "secret"
    end

    test "does not look into the data, however much there is" do
      rows = for n <- 1..100_000, do: %{"n" => n}
      envelope = Envelope.success(%{"rows" => rows})
      assert Envelope.validate(envelope) == {:ok, []}
      assert {:error, [_]} = Envelope.validate(%{envelope | error: "No"})
    end

    test "a meta that is too large for a normal scheduler" do
      ids = for n <- 1..50_000, do: "id-#{n}"
      envelope = Envelope.success(%{}, content_fidelity: :partial, dropped_content_ids: ids)
      assert Envelope.validate(envelope) == {:ok, []}
    end
  end

  describe "the schema" do
    alias McpServer.Schema.Validator

    test "accepts what is made here and refuses what validate/1 refuses" do
      {:ok, validator} = Validator.compile(Envelope.schema())
      assert Validator.validate(validator, Envelope.success(%{"rows" => []}, warnings: ["w"])) == :ok
      assert Validator.validate(validator, Envelope.error("No")) == :ok
      assert {:error, _} = Validator.validate(validator, %Envelope{error: "No"})
    end

    test "with a schema for the data of a success" do
      data = %McpServer.Schema{type: "object", required: ["n"]}
      {:ok, validator} = Validator.compile(Envelope.schema(data))
      assert Validator.validate(validator, Envelope.success(%{"n" => 1})) == :ok
      assert {:error, error} = Validator.validate(validator, Envelope.success())
      assert Exception.message(error) == ~s{/data: must be an object with the property "n" (required)}
      assert Validator.validate(validator, Envelope.error("No")) == :ok
    end
  end

  test "error vocabulary map: every situation has one of the common codes" do
    codes = %{
      bad_arguments: "VALIDATION_ERROR",
      missing_argument: "MISSING_REQUIRED",
      bad_format: "INVALID_FORMAT",
      not_found: "NOT_FOUND",
      expired: "NOT_FOUND",
      unauthenticated: "UNAUTHORIZED",
      forbidden: "FORBIDDEN",
      failed: "INTERNAL_ERROR",
      store_down: "UNAVAILABLE",
      timeout: "UNAVAILABLE",
      throttled: "RATE_LIMIT_EXCEEDED",
      bug: "INTERNAL_ERROR"
    }

    for {situation, code} <- codes do
      assert Envelope.Codes.code_for(situation) == code
      assert is_map_key(Envelope.error_codes(), code)
    end
  end
end
