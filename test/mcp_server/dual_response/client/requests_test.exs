defmodule McpServer.DualResponse.Client.RequestsTest do
  use ExUnit.Case, async: true

  import McpServer.ScriptedResource
  import McpServer.ScriptedServer

  alias McpServer.DualResponse.Client.{Metadata, Parsed}
  alias McpServer.DualResponse.Error

  @columns [%{"name" => "id", "type" => "number"}]

  describe "metadata, pin, delete" do
    @describetag req: ["S1-68", "S1-69"]
    @tag req: "S1-68"
    test "what the server says of the resource" do
      answer = %{
        "status" => "ready",
        "total_count" => 847,
        "columns" => @columns,
        "created_at" => "2025-01-15T10:30:00Z",
        "expires_at" => "2025-01-15T10:45:00Z",
        "access_count" => 3
      }

      server = start_with([json(answer), json(%{answer | "expires_at" => nil})])
      parsed = parsed(server)

      assert Parsed.metadata(parsed) ==
               {:ok,
                %Metadata{
                  status: "ready",
                  total_count: 847,
                  columns: @columns,
                  created_at: ~U[2025-01-15 10:30:00Z],
                  expires_at: ~U[2025-01-15 10:45:00Z],
                  access_count: 3
                }}

      request = requested(server)
      assert {request.method, request.target, request.body} == {"GET", "/resources/abc123", ""}
      assert {:ok, %Metadata{expires_at: nil}} = Parsed.metadata(parsed)
    end

    @tag req: "S1-68"
    test "metadata of another shape is a parse error" do
      for answer <- [[], %{}, %{"status" => "ready"}] do
        assert {:error, %Error{code: :parse_error}} = Parsed.metadata(parsed(start_with([json(answer)])))
      end
    end

    @tag req: "S1-69"
    test "pin is a PUT, delete a DELETE; what is gone is false, what fails is an error" do
      for {call, method} <- [{&Parsed.pin/1, "PUT"}, {&Parsed.delete/1, "DELETE"}] do
        server =
          start_with([
            json(%{"status" => "pinned", "expires_at" => nil}),
            head(204, []),
            json(404, %{"error" => "not_found"}),
            json(410, %{}),
            json(403, %{"error" => "forbidden"})
          ])

        parsed = parsed(server)
        assert call.(parsed) == {:ok, true}
        request = requested(server)
        assert {request.method, request.target, request.body} == {method, "/resources/abc123", ""}
        assert call.(parsed) == {:ok, true}
        assert call.(parsed) == {:ok, false}
        assert call.(parsed) == {:ok, false}
        assert {:error, %Error{code: :fetch_error, status: 403}} = call.(parsed)
      end
    end
  end

  describe "headers" do
    @describetag req: "S1-71"
    @tag req: "S1-71"
    test "they are sent with every request, and replace the client's own" do
      server =
        start(fn
          %{method: "GET"} -> json(%{})
          %{method: "DELETE"} -> head(204, [])
          _request -> json(page([1], 0, 1))
        end)

      headers = %{"Authorization" => "Bearer one", "Accept" => "application/vnd.example+json", "x-trace" => "7"}
      parsed = parsed(server, headers: headers)
      Parsed.fetch(parsed)
      Parsed.metadata(parsed)
      Parsed.pin(parsed)
      Parsed.delete(parsed)
      Parsed.fetch_all(parsed)

      requests = all_requested(server)
      assert Enum.map(requests, & &1.method) == ["POST", "GET", "PUT", "DELETE", "POST"]

      for request <- requests do
        assert header(request, "authorization") == ["Bearer one"]
        assert header(request, "accept") == ["application/vnd.example+json"]
        assert header(request, "x-trace") == ["7"]
      end
    end

    @tag req: ["S1-71", "Q1"]
    test "a function gives them anew for every request, and sees it" do
      server = numbers(2)
      {:ok, counter} = Agent.start_link(fn -> 0 end)

      token = fn %{method: :post, url: url} ->
        assert url == server.url <> "/resources/abc123"
        [{"authorization", "Bearer #{Agent.get_and_update(counter, &{&1, &1 + 1})}"}]
      end

      assert {:ok, [_one, _two]} = Parsed.fetch_all(parsed(server, headers: token), batch_size: 1)
      assert Enum.map(all_requested(server), &header(&1, "authorization")) == [["Bearer 0"], ["Bearer 1"]]
    end
  end
end
