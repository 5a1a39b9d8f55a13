defmodule BookshopWeb.TokenTest do
  # API tokens: who is let in, as whom, and until when.
  use BookshopWeb.ConnCase, async: true

  alias Bookshop.Accounts

  defp as(conn, nil), do: delete_req_header(conn, "authorization")
  defp as(conn, value), do: put_req_header(conn, "authorization", value)

  defp ask(conn, {headers, body}),
    do:
      headers
      |> Enum.reduce(conn, fn {name, value}, conn -> put_req_header(conn, name, value) end)
      |> post("/mcp", body)

  defp order(conn, isbn \\ "9781617295027"), do: ask(conn, call("order", %{"isbn" => isbn}))

  defp refused(conn), do: {conn.status, get_resp_header(conn, "www-authenticate")}

  test "who sends no token is asked for one", %{conn: conn} do
    assert {401, ["Bearer"]} = conn |> as(nil) |> order() |> refused()
    assert {401, ["Bearer"]} = conn |> as("Basic YWRhOmFkYQ==") |> order() |> refused()
  end

  test "a token that is nobody's is refused", %{conn: conn, token: token} do
    for value <- ["Bearer wrong", "Bearer #{String.slice(token, 0..-2//1)}", "Bearer #{token} "] do
      assert {401, [~s(Bearer error="invalid_token")]} = conn |> as(value) |> order() |> refused()
    end
  end

  test "the tool sees whose token it is", %{conn: conn} do
    token = new_token("grace")
    books = [{"Bearer", "9781617295027", "Elixir in Action"}, {"bearer", "9781937785581", "Programming Erlang"}]

    for {{scheme, isbn, title}, count} <- Enum.with_index(books, 1) do
      assert %{"result" => result} = conn |> as("#{scheme} #{token}") |> order(isbn) |> json_response(200)
      text = "#{title} is on its way to grace. Orders so far: #{count}"
      assert %{"isError" => false, "content" => [%{"type" => "text", "text" => ^text}]} = result
    end
  end

  test "the model reads what is wrong with an order", %{conn: conn} do
    assert %{"result" => %{"isError" => false}} = conn |> order() |> json_response(200)

    for {isbn, problem} <- [{"9781617295027", "has already been ordered"}, {"1", "is no book of the shop"}] do
      assert %{"result" => %{"isError" => true, "content" => [%{"text" => text}]}} =
               conn |> order(isbn) |> json_response(200)

      assert text =~ "/isbn: #{problem}"
    end
  end

  test "a revoked token is refused, and other tokens of the customer are not", %{conn: conn} do
    joan = Accounts.create_customer!("joan")
    [lost, other] = for _each <- 1..2, do: Accounts.create_user_api_token(joan)
    assert %{"result" => _result} = conn |> as("Bearer " <> lost) |> order() |> json_response(200)
    Accounts.delete_user_api_token(lost)
    assert {401, [~s(Bearer error="invalid_token")]} = conn |> as("Bearer " <> lost) |> order() |> refused()
    assert %{"result" => _result} = conn |> as("Bearer " <> other) |> order() |> json_response(200)
  end

  test "the table has digests only", %{token: token} do
    assert [%{digest: digest}] = Bookshop.Repo.all(Accounts.ApiToken)
    assert digest == :crypto.hash(:sha256, token)
  end

  describe "an open session" do
    setup %{conn: conn} do
      vera = Accounts.create_customer!("vera")
      token = Accounts.create_user_api_token(vera)
      opened = conn |> as("Bearer " <> token) |> ask(initialize())
      [id] = get_resp_header(opened, "mcp-session-id")
      {:ok, customer: vera, token: token, id: id}
    end

    test "is closed to a revoked token, and open to another of the customer",
         %{conn: conn, token: token, id: id} = context do
      assert %{"result" => %{"tools" => [_ | _]}} =
               conn |> as("Bearer " <> token) |> ask(list(id)) |> json_response(200)

      Accounts.delete_user_api_token(token)
      assert {401, [~s(Bearer error="invalid_token")]} = conn |> as("Bearer " <> token) |> ask(list(id)) |> refused()
      next = Accounts.create_user_api_token(context.customer)
      assert %{"result" => %{"tools" => [_ | _]}} = conn |> as("Bearer " <> next) |> ask(list(id)) |> json_response(200)
    end

    test "does not exist for another customer", %{conn: conn, id: id} do
      assert conn |> ask(list(id)) |> response(404)
    end
  end

  # Over real connections: a stream's answer does not end before the stream.
  describe "an open stream" do
    setup do
      {:ok, {_ip, port}} = BookshopWeb.Endpoint.server_info(:http)
      {:ok, url: ~c"http://127.0.0.1:#{port}/mcp", token: new_token("ken")}
    end

    test "of a session ends, and is not opened again with a revoked token", %{url: url, token: token} do
      {200, answered, _body} = request(:post, url, token, initialize())
      {_name, id} = List.keyfind(answered, ~c"mcp-session-id", 0)
      headers = [{"accept", "text/event-stream"}, {"mcp-session-id", "#{id}"}, {"mcp-protocol-version", "2025-11-25"}]
      assert_ends_with_its_token(:get, url, token, {headers, ""})
    end

    test "of revision 2026-07-28 ends, and is not opened again with a revoked token", %{url: url, token: token} do
      listen = http_request("subscriptions/listen", %{"notifications" => %{"toolsListChanged" => true}})
      assert_ends_with_its_token(:post, url, token, listen)
    end
  end

  defp assert_ends_with_its_token(method, url, token, message) do
    {:ok, stream} = :httpc.request(method, message(method, url, token, message), [], sync: false, stream: :self)
    assert_receive {:http, {^stream, :stream_start, _headers}}, 5_000
    Accounts.delete_user_api_token(token)
    assert {401, answered, _body} = request(method, url, token, message)
    assert {~c"www-authenticate", ~c"Bearer error=\"invalid_token\""} in answered
    assert_receive {:http, {^stream, :stream_end, _headers}}, 10_000
  end

  defp request(method, url, token, message) do
    {:ok, {{_version, status, _reason}, headers, body}} =
      :httpc.request(method, message(method, url, token, message), [], body_format: :binary)

    {status, headers, body}
  end

  defp message(method, url, token, {headers, body}) do
    headers = [{"authorization", "Bearer " <> token}, sandbox_header() | List.keydelete(headers, "content-type", 0)]
    headers = for {name, value} <- headers, do: {to_charlist(name), to_charlist(value)}
    if method == :get, do: {url, headers}, else: {url, headers, ~c"application/json", body}
  end

  defp list(id) do
    body = Jason.encode!(%{"jsonrpc" => "2.0", "id" => 2, "method" => "tools/list"})
    {headers, _body} = initialize()
    {headers ++ [{"mcp-session-id", id}, {"mcp-protocol-version", "2025-11-25"}], body}
  end
end
