defmodule BookshopWeb.ResultsTest do
  # The MCP endpoint and the stored results in one router. A tool's result links to rows that are fetched from
  # the same application.
  use BookshopWeb.ConnCase, async: true

  defp with_headers(conn, headers),
    do: Enum.reduce(headers, conn, fn {name, value}, conn -> put_req_header(conn, name, value) end)

  # What Ada's model is shown, and where her program finds the rest.
  defp catalogue(conn) do
    {headers, body} = call("catalogue", %{})
    conn = conn |> with_headers(headers) |> post("/mcp", body)
    %{"result" => %{"structuredContent" => content}} = json_response(conn, 200)
    %URI{path: "/resources/" <> _id = path} = URI.parse(content["resource"]["url"])
    {content, path}
  end

  defp fetch(conn, path, body, headers \\ [{"content-type", "application/json"}]),
    do: conn |> with_headers(headers) |> post(path, body)

  @tag req: ["M-05", "S1-24"]
  test "the model sees two books, the program fetches all", %{conn: conn} do
    {content, path} = catalogue(conn)
    assert length(content["results"]) == 2
    assert content["metadata"]["total_count"] == 4

    page = conn |> fetch(path, ~s({"offset": 1, "limit": 2})) |> json_response(200)
    assert %{"returned_count" => 2, "has_next" => true, "next_offset" => 3} = page

    # Whatever a client says of its body.
    for type <- ["application/json", "text/plain", "application/x-www-form-urlencoded"] do
      body = ~s({"limit": 9, "sort": {"field": "title", "order": "desc"}})
      page = conn |> fetch(path, body, [{"content-type", type}]) |> json_response(200)
      assert ["Programming Erlang" | _others] = titles = for(book <- page["data"], do: book["title"])
      assert length(titles) == 4
    end
  end

  test "they are Ada's", %{conn: conn} do
    {_content, path} = catalogue(conn)
    grace = with_headers(conn, [{"authorization", "Bearer " <> new_token("grace")}])
    assert %{"error" => "not_found"} = grace |> get(path) |> json_response(404)
    assert %{"error" => "not_found"} = grace |> fetch(path, "{}") |> json_response(404)

    nobody = delete_req_header(conn, "authorization")
    stranger = with_headers(conn, [{"authorization", "Bearer wrong"}])
    for conn <- [nobody, stranger], do: assert(%{"error" => "unauthorized"} = conn |> get(path) |> json_response(401))
    assert %{"status" => "ready", "access_count" => 0} = conn |> get(path) |> json_response(200)
    assert %{"status" => "pinned", "expires_at" => nil} = conn |> put(path) |> json_response(200)
    assert conn |> delete(path) |> response(204) == ""
    assert %{"error" => "not_found"} = conn |> get(path) |> json_response(404)
  end

  test "a body that is no JSON, or too long, is refused in their words", %{conn: conn} do
    {_content, path} = catalogue(conn)
    assert %{"error" => "invalid_request"} = conn |> fetch(path, "{") |> json_response(400)
    assert %{"error" => "payload_too_large"} = conn |> fetch(path, String.duplicate(" ", 70_000)) |> json_response(413)
  end

  test "a foreign host is refused", %{conn: conn} do
    {_content, path} = catalogue(conn)
    assert %{"error" => "forbidden"} = %{conn | host: "evil.example"} |> get(path) |> json_response(403)
  end

  test "rows come one a line over a real connection", %{conn: conn, token: token} do
    {:ok, {_ip, port}} = BookshopWeb.Endpoint.server_info(:http)
    {_content, path} = catalogue(conn)
    headers = [{"authorization", "Bearer " <> token}, {"accept", "application/x-ndjson"}, sandbox_header()]
    headers = for {name, value} <- headers, do: {to_charlist(name), to_charlist(value)}
    request = {~c"http://127.0.0.1:#{port}#{path}", headers, ~c"application/json", "{}"}
    {:ok, {{_version, 200, _reason}, answered, body}} = :httpc.request(:post, request, [], body_format: :binary)
    assert {~c"x-total-count", ~c"4"} in answered
    lines = for line <- String.split(body, "\n", trim: true), do: Jason.decode!(line)
    assert [%{"isbn" => _}, _, _, _, %{"$end" => true, "returned_count" => 4}] = lines
  end
end
