defmodule McpServer.DualResponse.Client.ErrorsTest do
  use ExUnit.Case, async: true

  import McpServer.ScriptedResource
  import McpServer.ScriptedServer

  alias McpServer.DualResponse.Client.Parsed
  alias McpServer.DualResponse.Error
  alias McpServer.JSON

  @hour 3600

  describe "errors" do
    @describetag req: "S1-81"
    @tag req: "S1-81"
    test "404 is RESOURCE_NOT_FOUND" do
      server = start_with([json(404, %{"error" => "not_found", "message" => "Resource not found or expired"})])
      assert {:error, %Error{code: :resource_not_found, status: 404} = error} = Parsed.fetch(parsed(server))
      assert Error.code(error) == "RESOURCE_NOT_FOUND"
    end

    @tag req: ["S1-81", "RES-16"]
    test "410, and 404 after the resource's own time, are RESOURCE_EXPIRED" do
      now = DateTime.utc_now()

      for {status, seconds, code} <- [
            {404, -1, :resource_expired},
            {404, @hour, :resource_not_found},
            {410, @hour, :resource_expired},
            {410, -1, :resource_expired}
          ] do
        expires_at = now |> DateTime.add(seconds, :second) |> DateTime.to_iso8601()
        parsed = parsed(start_with([json(status, %{})]), [], %{"expires_at" => expires_at})
        assert {:error, %Error{code: ^code, status: ^status}} = Parsed.fetch(parsed)
      end
    end

    @tag req: "S1-81"
    test "any other status is FETCH_ERROR with it, and with what the server says as its cause" do
      for status <- [400, 401, 403, 405, 429, 500, 502, 503, 304] do
        server = start_with([json(status, %{"error" => "why"})])
        assert {:error, %Error{code: :fetch_error, status: ^status} = error} = Parsed.fetch(parsed(server))
        assert error.message == "The server answered with status #{status}"
        assert Error.code(error) == "FETCH_ERROR"
        if status != 304, do: assert(error.cause == %{"error" => "why"})
      end
    end

    @tag req: "S1-81"
    test "a connection that is refused is FETCH_ERROR without a status" do
      {:ok, listener} = :gen_tcp.listen(0, ip: {127, 0, 0, 1})
      {:ok, port} = :inet.port(listener)
      :gen_tcp.close(listener)

      assert {:error, %Error{code: :fetch_error, status: nil, cause: :econnrefused}} =
               Parsed.fetch(parsed(%{url: "http://127.0.0.1:#{port}"}))
    end

    @tag req: "S1-81"
    test "no answer in time is TIMEOUT" do
      server = start_with([&wait/1])
      assert {:error, %Error{code: :timeout} = error} = Parsed.fetch(parsed(server, timeout: 100))
      assert Error.code(error) == "TIMEOUT"
      assert {:error, %Error{code: :timeout}} = Parsed.fetch(parsed(start_with([&wait/1])), timeout: 100)
    end

    @tag req: "S1-81"
    test "a body that is not JSON, or not a page, is PARSE_ERROR" do
      good = page([1], 0, 1)

      bodies =
        ["", "<html>", "[1,", "null", "[]", "{}"] ++
          for(
            change <- [
              %{"data" => nil},
              %{"data" => [1]},
              %{"total_count" => -1},
              %{"total_count" => "1"},
              %{"returned_count" => 2},
              %{"has_next" => nil},
              %{"has_next" => true},
              %{"has_next" => true, "next_offset" => "1"},
              %{"next_offset" => 1},
              %{"offset" => nil}
            ],
            do: JSON.encode!(Map.merge(good, change))
          )

      for body <- bodies do
        server = start_with([response(200, [], body)])
        assert {:error, %Error{code: :parse_error} = error} = Parsed.fetch(parsed(server)), body
        assert Error.code(error) == "PARSE_ERROR"
      end
    end

    @tag req: "S1-81"
    test "what a fetch function of the user's returns becomes the same errors" do
      for {returned, code} <- [
            {{:error, :timeout}, :timeout},
            {{:error, %{reason: :timeout}}, :timeout},
            {{:error, :econnrefused}, :fetch_error},
            {{:error, %RuntimeError{message: "no"}}, :fetch_error},
            {{:error, Error.new(:timeout, "x")}, :timeout},
            {:nonsense, :fetch_error},
            {{:ok, %{status: 200}}, :fetch_error},
            {{:ok, %{status: 200, headers: %{}, body: :no}}, :fetch_error},
            {{:ok, %{status: 404, headers: [], body: nil}}, :resource_not_found},
            {{:ok, %{status: 200, headers: [], body: "{"}}, :parse_error}
          ] do
        parsed = parsed(%{url: "https://api.example.com"}, fetch: fn _request -> returned end)
        assert {:error, %Error{code: ^code}} = Parsed.fetch(parsed)
      end
    end
  end
end
