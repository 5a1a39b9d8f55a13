defmodule McpServer.Presentation.ToolErrorTest do
  use ExUnit.Case, async: true
  doctest McpServer.Presentation.ToolError

  import McpServer.TestLog

  alias McpServer.{JSON, Presentation, PresentationView}
  alias McpServer.Presentation.ToolError

  @view PresentationView

  defp respond(fun, arguments \\ %{}) do
    {:ok, result} = Presentation.respond(@view, arguments, fun)
    result
  end

  @tag req: ["S0-70", "RES-32"]
  test "kind, code, message, retryable, details; and isError" do
    failure = ToolError.new("CLIENT_ERROR", "Bad", details: %{"field" => "q"})
    {:ok, result} = Presentation.tool_error(@view, failure)
    assert result.is_error

    assert result.structured_content ==
             %{
               "kind" => "toolError:v1",
               "code" => "CLIENT_ERROR",
               "message" => "Bad",
               "retryable" => false,
               "details" => %{"field" => "q"}
             }
  end

  @tag req: "S0-70"
  test "the two failures of the documents" do
    {:ok, network} =
      Presentation.tool_error(@view, ToolError.new(:network_error, "Network error: Request timeout"), format: "both")

    auth = ToolError.new(:authentication_error, "Authentication required: Missing or invalid API key", status: 401)

    expected = JSON.decode!(McpServer.Fixtures.read("derived-s0-tool-error-network-both.json"))
    assert JSON.decode!(JSON.encode!(network)) == expected
    # The JSON block is equal too, byte for byte.
    assert List.last(network.content).text == List.last(expected["content"])["text"]

    {:ok, result} = Presentation.tool_error(@view, auth)
    assert result.structured_content == JSON.decode!(McpServer.Fixtures.read("derived-s0-tool-error-auth.json"))
  end

  @tag req: "S0-71"
  test "six codes, and no other" do
    assert ToolError.codes() == ~w(NETWORK_ERROR SERVER_ERROR CLIENT_ERROR NOT_FOUND AUTHENTICATION_ERROR UNKNOWN_ERROR)
    for code <- ToolError.codes(), do: assert(ToolError.new(code, "x").code == code)
    for code <- [:network_error, :unknown_error], do: assert(ToolError.new(code, "x").code in ToolError.codes())

    for code <- ["TIMEOUT", :timeout, "", nil],
        do: assert_raise(ArgumentError, ~r/expected a code of/, fn -> ToolError.new(code, "x") end)

    assert_raise ArgumentError, ~r/:status .* to be a non-negative integer/, fn ->
      ToolError.new(:not_found, "x", status: "404")
    end
  end

  # Reason, code, retryable.
  @table [
    {{:status, 500}, "SERVER_ERROR", true},
    {{:status, 503}, "SERVER_ERROR", true},
    {{:status, 599}, "SERVER_ERROR", true},
    {{:status, 404}, "NOT_FOUND", false},
    {{:status, 401}, "AUTHENTICATION_ERROR", false},
    {{:status, 403}, "AUTHENTICATION_ERROR", false},
    {{:status, 400}, "CLIENT_ERROR", false},
    {{:status, 418}, "CLIENT_ERROR", false},
    {{:status, 499}, "CLIENT_ERROR", false},
    {{:status, 429}, "CLIENT_ERROR", true},
    {{:status, 399}, "UNKNOWN_ERROR", false},
    {{:status, 200}, "UNKNOWN_ERROR", false},
    {:timeout, "NETWORK_ERROR", true},
    {:econnrefused, "NETWORK_ERROR", true},
    {:nxdomain, "NETWORK_ERROR", true},
    {:closed, "NETWORK_ERROR", true},
    {{:tls_alert, {:bad_certificate, ~c"…"}}, "NETWORK_ERROR", false},
    {:tls, "NETWORK_ERROR", false},
    {:whatever, "UNKNOWN_ERROR", false},
    {{:some, :thing, :else}, "UNKNOWN_ERROR", false},
    {"text", "UNKNOWN_ERROR", false},
    {%{}, "UNKNOWN_ERROR", false},
    {nil, "UNKNOWN_ERROR", false},
    {{:failed_connect, [{:to_address, {~c"x", 80}}, {:inet, [:inet], :timeout}]}, "NETWORK_ERROR", true},
    {{:failed_connect, [{:to_address, {~c"x", 80}}, {:inet, [:inet], :nxdomain}]}, "NETWORK_ERROR", true},
    {%{reason: :econnrefused}, "NETWORK_ERROR", true},
    {%{status: 502}, "SERVER_ERROR", true}
  ]

  @tag req: ["S0-72", "RES-65"]
  test "what a failure is, and whether to try again, always said" do
    for {reason, code, retryable} <- @table do
      failure = ToolError.from(reason)
      assert {failure.code, failure.retryable} == {code, retryable}, inspect(reason)
      assert ToolError.payload(failure)["retryable"] == retryable
    end
  end

  test "the toolError column of the error vocabulary" do
    for {situation, code, retryable} <- [
          {:bad_arguments, "CLIENT_ERROR", false},
          {:not_found, "NOT_FOUND", false},
          {:expired, "NOT_FOUND", false},
          {:unauthenticated, "AUTHENTICATION_ERROR", false},
          {:forbidden, "AUTHENTICATION_ERROR", false},
          {:failed, "SERVER_ERROR", false},
          {:store_down, "SERVER_ERROR", true},
          {:timeout, "NETWORK_ERROR", true},
          {:throttled, "CLIENT_ERROR", true},
          {:bug, "UNKNOWN_ERROR", false},
          # Errors of dual responses.
          {%{code: :resource_not_found}, "NOT_FOUND", false},
          {%{code: :resource_expired}, "NOT_FOUND", false},
          {%{code: :query_execution_failed}, "SERVER_ERROR", false},
          {%{code: :count_execution_failed}, "SERVER_ERROR", false},
          {%{code: :storage_error}, "SERVER_ERROR", true}
        ] do
      failure = ToolError.from(situation)
      assert {failure.code, failure.retryable} == {code, retryable}, inspect(situation)
    end
  end

  @tag req: "S0-73"
  test "the status is in the details where it is known" do
    assert ToolError.from({:status, 503}).details == %{"statusCode" => 503}
    assert ToolError.from(%{status: 404}).details == %{"statusCode" => 404}
    assert ToolError.from(:timeout).details == nil
    refute Map.has_key?(ToolError.payload(ToolError.from(:timeout)), "details")
  end

  test "nothing of a reason is shown, but a text that was meant to be" do
    for reason <- [%RuntimeError{message: "password hunter2"}, {:secret, "x", 1}, %{reason: "/etc/passwd"}, <<255>>] do
      message = ToolError.from(reason).message
      refute message =~ "hunter2" or message =~ "secret" or message =~ "/etc" or message == <<255>>
    end

    assert ToolError.from("Nobody is in").message == "Nobody is in"
    assert ToolError.from({:timeout, "Nobody answered"}).message == "Nobody answered"
  end

  describe "a handler's work" do
    @describetag req: "S0-74"
    test "that raises, throws or exits is an UNKNOWN_ERROR; the log has what happened, the client an id" do
      for work <- [fn _ -> raise "the disk at /var/lib is gone" end, fn _ -> throw(:away) end, fn _ -> exit(:now) end] do
        log =
          capture_log(fn ->
            result = respond(work, %{"format" => "both"})
            assert result.is_error
            assert %{"code" => "UNKNOWN_ERROR", "retryable" => false, "message" => message} = result.structured_content
            assert [_all, id] = Regex.run(~r/\AThe tool failed \(error id ([0-9a-f]{16})\)\.\z/, message)
            send(self(), {:id, id})
            assert length(result.content) == 2
          end)

        assert_received {:id, id}
        assert log =~ id
      end
    end

    test "that returns what is no result is one too" do
      assert capture_log(fn -> assert %{"code" => "UNKNOWN_ERROR"} = respond(fn _ -> :what end).structured_content end) =~
               ":what"
    end

    test "that returns an error is classified" do
      assert %{"code" => "SERVER_ERROR"} = respond(fn _ -> {:error, {:status, 500}} end).structured_content
      assert %{"message" => "Nobody is in"} = respond(fn _ -> {:error, "Nobody is in"} end).structured_content
    end

    test "is not begun when the format is none" do
      assert %{"code" => "CLIENT_ERROR"} =
               respond(fn _ -> flunk("called") end, %{"format" => "html"}).structured_content

      assert respond(fn format -> {:error, format} end, %{"format" => "json"}).structured_content["message"] == "json"
    end
  end
end
