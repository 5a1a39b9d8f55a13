defmodule McpServer.DualResponse.PlugTest do
  # Features of the plug alone: parsers before it. test/http/rest_*.exs has the other tests, for both servers.
  use ExUnit.Case, async: true

  import McpServer.DualResponses

  alias McpServer.{HttpServers, JSON, RestServers}
  alias McpServer.Test.PlugServer

  @compile {:no_warn_undefined, [PlugServer, Plug.Conn]}
  @moduletag :capture_log

  defmodule Parsed do
    # Leaves a conn like `Plug.Parsers`: JSON decoded, a form as form parameters.
    @compile {:no_warn_undefined, Plug.Conn}

    def init(options), do: RestServers.Forward.init(options)

    def call(conn, options) do
      {:ok, body, conn} = Plug.Conn.read_body(conn)
      type = conn |> Plug.Conn.get_req_header("content-type") |> List.first()
      RestServers.Forward.call(%{conn | body_params: params(type, body)}, options)
    end

    defp params("application/json", ""), do: %{}
    defp params("application/json", body), do: JSON.decode!(body)
    defp params("application/x-www-form-urlencoded", body), do: %{body => nil}
    defp params(_other, _body), do: %{}
  end

  setup do
    results = server()
    http = %HttpServers{kind: :plug, port: PlugServer.start_plug({Parsed, server: results})}
    {:ok, http: http, path: "/resources/" <> create!(results, 5).resource_id}
  end

  defp post(http, path, type, body),
    do: RestServers.ask(http, "POST", path, headers: [{"content-type", type}], body: body)

  @tag req: "S1-24"
  test "a body that the parsers have read is as good", %{http: http, path: path} do
    for {body, count} <- [{~s({"limit":2}), 2}, {"{}", 5}, {"", 5}] do
      response = post(http, path, "application/json", body)
      assert response.status == 200
      assert JSON.decode!(response.body)["returned_count"] == count
    end

    assert post(http, path, "application/json", ~s({"limit":0})).status == 400
    assert RestServers.ask(http, "GET", path).status == 200
    assert RestServers.ask(http, "DELETE", path).status == 204
  end

  test "a body that they took for a form is refused, and never read as something else", %{http: http, path: path} do
    assert %{status: 400} = response = post(http, path, "application/x-www-form-urlencoded", ~s({"limit":2}))
    assert response.body == ~s({"error":"invalid_request","message":"The request is malformed"})
  end

  test "a body that is gone is the server's mistake", %{http: http, path: path} do
    assert %{status: 500} = response = post(http, path, "text/plain", ~s({"limit":2}))
    assert response.body == ~s({"error":"internal_error","message":"Internal error"})
  end

  test "options that are wrong are said at once" do
    assert_raise ArgumentError, ~r/server:/, fn -> McpServer.DualResponse.Plug.init([]) end
    options = [server: R, max_limit: 10, default_limit: 5]
    assert McpServer.DualResponse.Plug.init(options) == options
  end
end
