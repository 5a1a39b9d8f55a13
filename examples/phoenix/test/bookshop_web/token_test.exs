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

  defp order(conn), do: ask(conn, call("order", %{"isbn" => "9781617295027"}))

  defp refused(conn), do: {conn.status, get_resp_header(conn, "www-authenticate")}

  test "who sends no token is asked for one", %{conn: conn} do
    assert {401, ["Bearer"]} = conn |> as(nil) |> order() |> refused()
    assert {401, ["Bearer"]} = conn |> as("Basic YWRhOmFkYQ==") |> order() |> refused()
  end

  test "a token that is nobody's is refused", %{conn: conn} do
    for value <- ["Bearer wrong", "Bearer secret-of-ad", "Bearer secret-of-ada "] do
      assert {401, [~s(Bearer error="invalid_token")]} = conn |> as(value) |> order() |> refused()
    end
  end

  test "the tool sees whose token it is", %{conn: conn} do
    token = Accounts.create_user_api_token("grace")

    for {scheme, count} <- [{"Bearer", 1}, {"bearer", 2}] do
      assert %{"result" => result} = conn |> as("#{scheme} #{token}") |> order() |> json_response(200)
      text = "Elixir in Action is on its way to grace. Orders so far: #{count}"
      assert %{"isError" => false, "content" => [%{"type" => "text", "text" => ^text}]} = result
    end
  end

  test "a revoked token is refused, and other tokens of the customer are not", %{conn: conn} do
    [lost, other] = for _each <- 1..2, do: Accounts.create_user_api_token("joan")
    assert %{"result" => _result} = conn |> as("Bearer " <> lost) |> order() |> json_response(200)
    Accounts.delete_user_api_token(lost)
    assert {401, [~s(Bearer error="invalid_token")]} = conn |> as("Bearer " <> lost) |> order() |> refused()
    assert %{"result" => _result} = conn |> as("Bearer " <> other) |> order() |> json_response(200)
  end

  test "the store has digests only" do
    token = Accounts.create_user_api_token("lin")
    tokens = Agent.get(Accounts, & &1)
    assert tokens[:crypto.hash(:sha256, token)] == "lin"
    refute Enum.any?(Map.keys(tokens), &(byte_size(&1) != 32))
  end

  describe "an open session" do
    setup %{conn: conn} do
      token = Accounts.create_user_api_token("vera")
      {headers, body} = initialize()
      opened = conn |> as("Bearer " <> token) |> ask({headers, body})
      [id] = get_resp_header(opened, "mcp-session-id")
      {:ok, token: token, id: id}
    end

    test "is closed to a revoked token, and open to another of the customer", %{conn: conn, token: token, id: id} do
      assert %{"result" => %{"tools" => [_ | _]}} =
               conn |> as("Bearer " <> token) |> ask(list(id)) |> json_response(200)

      Accounts.delete_user_api_token(token)
      assert {401, [~s(Bearer error="invalid_token")]} = conn |> as("Bearer " <> token) |> ask(list(id)) |> refused()
      next = Accounts.create_user_api_token("vera")
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
      {:ok, url: ~c"http://127.0.0.1:#{port}/mcp", token: Accounts.create_user_api_token("ken")}
    end

    test "of a session ends, and is not opened again with a revoked token", %{url: url, token: token} do
      {200, answered, _body} = request(:post, url, token, initialize())
      {_name, id} = List.keyfind(answered, ~c"mcp-session-id", 0)
      headers = [{"accept", "text/event-stream"}, {"mcp-session-id", "#{id}"}, {"mcp-protocol-version", "2025-11-25"}]
      assert_ends_with_its_token(:get, url, token, {headers, ""})
    end

    test "of revision 2026-07-28 ends, and is not opened again with a revoked token", %{url: url, token: token} do
      listen = message("subscriptions/listen", %{"notifications" => %{"toolsListChanged" => true}})
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
    headers = [{"authorization", "Bearer " <> token} | List.keydelete(headers, "content-type", 0)]
    headers = for {name, value} <- headers, do: {to_charlist(name), to_charlist(value)}
    if method == :get, do: {url, headers}, else: {url, headers, ~c"application/json", body}
  end

  defp list(id) do
    body = Jason.encode!(%{"jsonrpc" => "2.0", "id" => 2, "method" => "tools/list"})
    {headers, _body} = initialize()
    {headers ++ [{"mcp-session-id", id}, {"mcp-protocol-version", "2025-11-25"}], body}
  end
end
