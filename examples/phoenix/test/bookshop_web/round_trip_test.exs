defmodule BookshopWeb.RoundTripTest do
  # Over a real connection, as clients come.
  use BookshopWeb.ConnCase, async: true

  setup_all do
    {:ok, {_ip, port}} = BookshopWeb.Endpoint.server_info(:http)
    {:ok, url: ~c"http://127.0.0.1:#{port}/mcp"}
  end

  defp request(%{url: url, token: token}, {headers, body}) do
    headers = [{"authorization", "Bearer " <> token}, sandbox_header() | List.keydelete(headers, "content-type", 0)]
    headers = for {name, value} <- headers, do: {to_charlist(name), to_charlist(value)}
    request = {url, headers, ~c"application/json", body}
    {:ok, {{_version, status, _reason}, headers, body}} = :httpc.request(:post, request, [], body_format: :binary)
    {status, Map.new(headers, fn {name, value} -> {to_string(name), to_string(value)} end), body}
  end

  defp events(body), do: for("data: " <> data <- String.split(body, "\n"), data != "", do: Jason.decode!(data))

  test "a list comes as JSON", context do
    assert {200, %{"content-type" => "application/json"}, body} = request(context, http_request("tools/list"))
    names = for tool <- Jason.decode!(body)["result"]["tools"], do: tool["name"]
    assert names == ["search", "order", "stocktaking", "catalogue"]
  end

  test "progress comes on a stream, and the result at its end", context do
    message = call("stocktaking", %{"shelves" => 3}, %{"_meta" => %{"progressToken" => "count"}})

    assert {200, %{"content-type" => "text/event-stream", "x-accel-buffering" => "no"}, body} =
             request(context, message)

    {progress, [answer]} = body |> events() |> Enum.split(-1)

    assert [%{"progress" => 1, "progressToken" => "count", "total" => 3}, %{"progress" => 2}, %{"progress" => 3}] =
             Enum.map(progress, & &1["params"])

    assert %{"id" => 1, "result" => %{"content" => [%{"text" => "Counted 3 shelves"}]}} = answer
  end

  test "MCP answers a body that is not JSON, not the application's error page", context do
    headers = [{"accept", "application/json, text/event-stream"}]
    assert {400, _headers, body} = request(context, {headers, "{"})
    assert %{"error" => %{"code" => -32_700}} = Jason.decode!(body)
  end
end
