defmodule BookshopWeb.McpTest do
  use BookshopWeb.ConnCase, async: true

  defp send_message(conn, {headers, body}) do
    headers |> Enum.reduce(conn, fn {name, value}, conn -> put_req_header(conn, name, value) end) |> post("/mcp", body)
  end

  test "a tool finds books, as structured content and as text", %{conn: conn} do
    %{"result" => result} = conn |> send_message(call("search", %{"words" => "armstrong"})) |> json_response(200)

    books = [
      %{"author" => "Joe Armstrong", "cents" => 4200, "isbn" => "9781937785581", "title" => "Programming Erlang"}
    ]

    assert result["structuredContent"] == %{"books" => books}
    assert [%{"type" => "text", "text" => text}] = result["content"]
    assert Jason.decode!(text) == %{"books" => books}
    assert result["isError"] == false
  end

  test "arguments that do not fit the schema never reach the tool", %{conn: conn} do
    %{"result" => result} = conn |> send_message(call("search", %{"words" => "x"})) |> json_response(200)
    assert result["isError"] == true
    assert [%{"text" => text}] = result["content"]
    assert text =~ "/words"
  end

  test "a foreign host is refused", %{conn: conn} do
    conn = send_message(%{conn | host: "evil.example"}, http_request("tools/list"))
    assert conn.status == 403
  end

  test "a resource is read by its URI", %{conn: conn} do
    %{"result" => result} =
      conn |> send_message(http_request("resources/read", %{"uri" => "book://9781617295027"})) |> json_response(200)

    assert [%{"text" => "Elixir in Action, by Saša Jurić", "uri" => "book://9781617295027"}] = result["contents"]
  end

  test "the bodies of other requests are parsed as ever", %{conn: conn} do
    conn = conn |> put_req_header("content-type", "application/json") |> post("/other", ~s({"a": 1}))
    assert {404, %{"a" => 1}} == {conn.status, conn.body_params}
  end
end
