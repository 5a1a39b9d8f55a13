defmodule McpServer.DualResponse.Client.ServerTest do
  # The client against this library's endpoint, over HTTP: two implementations of the same document.
  use ExUnit.Case, async: true

  alias McpServer.{DualResponse, HttpRequest, HttpServer}
  alias McpServer.DualResponse.{Client, Error}
  alias McpServer.DualResponse.Client.Parsed
  alias McpServer.JSON

  defmodule Router do
    use McpServer.Router

    tool "echo", "Gives the text back", McpServer.Handlers, :echo do
      input_field "text", "Any text", :string, required: true
    end
  end

  # Compared with == before the assertion: ExUnit takes minutes for the difference of two long lists.
  @rows for id <- 1..1_250, do: %{"id" => id, "name" => "é#{rem(id, 7)}", "more" => nil}
  @columns [%{"name" => "id", "type" => "number"}, %{"name" => "name", "type" => "string"}]

  # The URLs contain the port, which is known after the endpoint has started.
  defp serve(test, rest \\ [], options \\ []) do
    name = Module.concat(__MODULE__, test)
    routes = [{"/resources", {DualResponse.Rest, [server: name] ++ rest}}]
    http = start_supervised!({HttpServer, router: Router, port: 0, routes: routes})
    origin = "http://127.0.0.1:#{HttpServer.port(http)}"
    start_supervised!({DualResponse, [name: name, base_url: origin <> "/resources"] ++ options})
    {:ok, response} = DualResponse.create_response(name, name: "Rows", rows: @rows, columns: @columns)
    # The result as a host receives it.
    result = response |> DualResponse.Response.to_mcp_tool_result() |> JSON.encode!() |> JSON.decode!()
    {origin, result}
  end

  @tag req: ["S1-65", "S1-66", "S1-67", "S1-68", "S1-69"]
  test "every request of the document" do
    {origin, result} = serve("Requests")
    parsed = Client.parse(Client.new(allowed_origins: [origin]), result)
    assert {parsed.total_count, length(parsed.sample), parsed.columns} == {1_250, 15, @columns}
    assert DateTime.diff(parsed.expires_at, parsed.executed_at) == 900

    assert {:ok, page} = Parsed.fetch(parsed, offset: 1_200)
    assert whole?({:ok, page.data}, Enum.drop(@rows, 1_200))
    assert {page.has_next, page.has_previous} == {false, true}
    assert whole?(Parsed.fetch_all(parsed))
    assert whole?(Parsed.fetch_all(parsed, mode: :ndjson))
    # More than the server's maximum page.
    assert whole?(Parsed.fetch_all(parsed, batch_size: 5_000))

    sort = [%{field: "name", order: :desc}, %{field: "id"}]
    sorted = Enum.sort_by(@rows, &{-rem(&1["id"], 7), &1["id"]})
    assert whole?(Parsed.fetch_all(parsed, sort: sort), sorted)
    assert whole?(Parsed.fetch_all(parsed, sort: sort, mode: :ndjson), sorted)

    assert {:error, %Error{status: 400, cause: %{"error" => "invalid_sort"}}} =
             Parsed.fetch(parsed, sort: %{field: "more"})

    assert {:ok, %{status: "ready", expires_at: %DateTime{}}} = Parsed.metadata(parsed)
    assert Parsed.pin(parsed) == {:ok, true}
    assert {:ok, %{expires_at: nil}} = Parsed.metadata(parsed)
    assert Parsed.delete(parsed) == {:ok, true}
    assert Parsed.delete(parsed) == {:ok, false}
    assert {:error, %Error{code: :resource_not_found}} = Parsed.fetch(parsed)
    assert {:error, %Error{code: :resource_not_found}} = Parsed.fetch_all(parsed, mode: :ndjson)
  end

  @tag req: "Q1"
  test "the server asks who it is, and the client says so at the server's origin only" do
    authorize = fn request, _resource, _action ->
      if HttpRequest.get_req_header(request, "authorization") == ["Bearer hush"], do: :ok, else: {:error, :unauthorized}
    end

    {origin, result} = serve("Authorized", authorize: authorize)
    headers = %{"authorization" => "Bearer hush"}
    assert [allowed_origins: [origin], headers: headers] |> Client.new() |> all(result) |> whole?()
    assert [base_url: origin <> "/resources", headers: headers] |> Client.new() |> all(result) |> whole?()

    assert {:error, %Error{code: :fetch_error, status: 401}} =
             [allowed_origins: [origin]] |> Client.new() |> all(result)
  end

  @tag req: "Q1"
  test "a signed URL opens what it was signed for, without a header" do
    signed = [secret: String.duplicate("s", 32), ttl: 600_000, actions: [:metadata, :fetch]]
    nobody = fn _request, _resource, _action -> {:error, :unauthorized} end
    {origin, result} = serve("Signed", [authorize: nobody], signed_urls: signed)
    parsed = Client.parse(Client.new(allowed_origins: [origin]), result)

    assert whole?(Parsed.fetch_all(parsed))
    assert whole?(Parsed.fetch_all(parsed, mode: :ndjson))
    assert {:ok, _metadata} = Parsed.metadata(parsed)
    refute Parsed.delete(parsed) == {:ok, true}
    assert {:ok, _metadata} = Parsed.metadata(parsed)
    # Here the id alone gives no access.
    assert {:error, %Error{status: 401}} = [base_url: origin <> "/resources"] |> Client.new() |> all(result)
  end

  defp all(client, result), do: client |> Client.parse(result) |> Parsed.fetch_all()
  defp whole?(outcome, rows \\ @rows), do: outcome == {:ok, rows}
end
