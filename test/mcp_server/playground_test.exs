defmodule McpServer.PlaygroundTest do
  # Responses of the playground, on both servers. conformance/playground tests the page itself.
  use ExUnit.Case, async: true

  import McpServer.TestLog
  import McpServer.HttpRequests

  alias McpServer.{DualResponse, HttpClient, HttpPeer, HttpResponse, HttpServer, HttpServers, JSON, Playground}
  alias McpServer.Playground.Page
  alias McpServer.Test.PlugServer

  defmodule Handlers do
    def rows(conn, _arguments) do
      rows = for n <- 1..3, do: %{"n" => n}

      DualResponse.create_response(Results,
        name: "Rows",
        rows: rows,
        columns: [%{name: "n", type: "number"}],
        conn: conn
      )
    end
  end

  defmodule Router do
    use McpServer.Router, name: "played"

    tool "rows", "Stores three rows", Handlers, :rows
    dual_responses Results
  end

  defmodule Plain do
    use McpServer.Router
    tool "nothing", "Does nothing", Handlers, :rows
  end

  defmodule Forward do
    # The same as Phoenix's `forward "/dev/mcp", McpServer.Playground`.
    def init({change, options}), do: {change, Playground.init(options)}

    def call(%{path_info: ["dev", "mcp" | rest]} = conn, {change, options}),
      do: Playground.call(change.(%{conn | path_info: rest, script_name: ["dev", "mcp"]}), options)
  end

  @moduletag :capture_log
  @token "a-token-of-this-test_1"
  @kinds [:listener, :plug]

  # The server, and the playground's path.
  defp serve(kind, options \\ [])

  defp serve(:listener, _options) do
    server = start_supervised!({HttpServer, Playground.server_options(Router, @token) ++ [port: 0]})
    {%HttpServers{kind: :listener, port: HttpServer.port(server)}, ""}
  end

  defp serve(:plug, options) do
    {change, options} = Keyword.pop(options, :change, & &1)
    options = Keyword.merge([router: Router, token: @token], options)
    {%HttpServers{kind: :plug, port: PlugServer.start_plug({Forward, {change, options}})}, "/dev/mcp"}
  end

  defp get(server, target, headers \\ []), do: ask(server, %{request("GET", headers) | target: target})

  defp ask(%{port: port}, request), do: port |> HttpPeer.connect() |> HttpPeer.request(request)

  for kind <- @kinds do
    describe "on the #{kind}" do
      test "the page stands below its own path, and needs no token" do
        {server, base} = serve(unquote(kind))
        moved = get(server, base <> "/playground")
        assert {moved.status, HttpResponse.header(moved, "location")} == {308, base <> "/playground/index.html"}

        for {name, {type, bytes}} <- Page.files(), name != "view.html" do
          file = get(server, base <> "/playground/" <> name)
          assert {file.status, HttpResponse.header(file, "content-type"), file.body} == {200, type, bytes}
        end

        for name <- ["none.js", "../page.ex", "%2e%2e/page.ex", "a/b/c"],
            do: assert(get(server, base <> "/playground/" <> name).status in [403, 404])
      end

      test "the page may load only what is its own, and nobody may frame it" do
        {server, base} = serve(unquote(kind))
        page = get(server, base <> "/playground/index.html")

        assert HttpResponse.header(page, "content-security-policy") ==
                 "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src data:; " <>
                   "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; " <>
                   "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

        assert for(
                 name <-
                   ~w(x-content-type-options referrer-policy cross-origin-resource-policy cross-origin-opener-policy),
                 do: HttpResponse.header(page, name)
               ) ==
                 ["nosniff", "no-referrer", "same-origin", "same-origin"]
      end

      test "the token opens what does something" do
        {server, base} = serve(unquote(kind))

        assert %{status: 200, body: body} = get(server, "#{base}/playground/#{@token}/about")

        assert %{"router" => "McpServer.PlaygroundTest.Router", "rows" => true, "mints" => false, "lint" => lint} =
                 JSON.decode!(body)

        assert [%{"severity" => "warning", "code" => "missing_annotations", "kind" => "tool", "name" => "rows"}] = lint
        for wrong <- ["x", @token <> "x"], do: assert(get(server, "#{base}/playground/#{wrong}/about").status == 403)

        list = modern("tools/list")
        assert %{status: 200} = ask(server, %{list | target: "#{base}/#{@token}/mcp"})

        for path <- ["/x/mcp", "/mcp", "/", "/#{@token}"],
            do: assert(ask(server, %{list | target: base <> path}).status in [404, 308])
      end

      test "all rows of a stored result come with the token" do
        start_supervised!({DualResponse, name: Results, base_url: "https://api.example.com/resources"})
        {server, base} = serve(unquote(kind))
        call = %{modern_call("rows") | target: "#{base}/#{@token}/mcp"}
        assert %{"result" => %{"structuredContent" => %{"resource" => resource}}} = HttpClient.answer(server, call)
        "resource://" <> id = resource["uri"]
        rows = &%{post("{}", [{"accept", "application/x-ndjson"}]) | target: "#{base}/#{&1}/rows/#{id}"}
        assert ask(server, rows.(@token)).body =~ ~s({"n":3}\n{"$end":true,"returned_count":3})
        assert ask(server, rows.("x")).status == 404
      end

      test "a request of another host or site gets nothing" do
        {server, base} = serve(unquote(kind))

        for path <- [
              "/playground/index.html",
              "/playground/main.js",
              "/playground/#{@token}/about",
              "/playground/view.html?csp=null"
            ],
            headers <- [[{"host", "evil.example"}], [{"origin", "https://evil.example"}], [{"origin", "null"}]] do
          assert %{status: 403} = get(server, base <> path, headers)
        end
      end

      test "a view's sandbox has the policy that is generated, and can only be framed here" do
        {server, base} = serve(unquote(kind))
        view = &get(server, base <> "/playground/view.html?" <> URI.encode_query(csp: &1))

        assert HttpResponse.header(view.("null"), "content-security-policy") ==
                 McpServer.App.CSP.generate(nil, sandbox: true) <> "; sandbox allow-scripts; frame-ancestors 'self'"

        declared = ~s({"connectDomains":["https://api.example.com"]})

        assert HttpResponse.header(view.(declared), "content-security-policy") =~
                 "connect-src 'self' https://api.example.com;"

        assert %{status: 400, body: "connectDomains[0] has a character at byte 5 that no origin has"} =
                 view.(~s({"connectDomains":["b.com; script-src *"]}))

        for wrong <- ["", "[]", "1", "{"],
            do: assert(%{status: 400, body: "expected csp to be a JSON object or null"} = view.(wrong))

        assert get(server, base <> "/playground/view.html").status == 400
      end
    end
  end

  test "all files of the page together are small, and name no other site" do
    files = for {_name, {_type, bytes}} <- Page.files(), do: bytes
    assert files |> Enum.map(&byte_size/1) |> Enum.sum() < 100 * 1024
    for bytes <- files, do: refute(bytes =~ ~r{(src|href|from)\s*=?\s*"(https?:)?//})
  end

  describe "the plug" do
    test "leads to the page" do
      {server, base} = serve(:plug)
      response = get(server, base)
      assert {response.status, HttpResponse.header(response, "location")} == {308, "/dev/mcp/playground"}
    end

    test "answers this machine only, and no proxy" do
      change = fn change -> [change: fn conn -> change.(conn) end] end
      from = fn address -> change.(&%{&1 | remote_ip: address}) end
      text = "the playground answers requests from this machine only; remote: true lets others in"

      refused = [
        from.({192, 168, 0, 7}),
        from.({0, 0, 0, 0, 0, 0xFFFF, 0xC0A8, 7}),
        from.({0x2001, 0xDB8, 0, 0, 0, 0, 0, 1}),
        change.(&%{&1 | req_headers: [{"x-forwarded-for", "127.0.0.1"} | &1.req_headers]}),
        change.(&%{&1 | req_headers: [{"forwarded", "for=127.0.0.1"} | &1.req_headers]})
      ]

      for options <- refused do
        {server, base} = serve(:plug, options)
        assert %{status: 403, body: ^text} = get(server, base <> "/playground/index.html")
        {server, base} = serve(:plug, [remote: true] ++ options)
        assert %{status: 200} = get(server, base <> "/playground/index.html")
      end

      for address <- [{127, 9, 9, 9}, {0, 0, 0, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 0xFFFF, 0x7F00, 1}] do
        {server, base} = serve(:plug, from.(address))
        assert %{status: 200} = get(server, base <> "/playground/index.html")
      end
    end

    test "makes a token of its own, and says once where the page is" do
      options = [router: Plain]
      port = PlugServer.start_plug({Forward, {& &1, options}})
      server = %HttpServers{kind: :plug, port: port}

      log =
        capture_log(fn -> for _ <- 1..2, do: assert(%{status: 200} = get(server, "/dev/mcp/playground/index.html")) end)

      assert [_line, path, token] =
               Regex.run(~r{The playground of #{inspect(Plain)} is at (/\S+)#(\S+) of this server}, log)

      assert {path, byte_size(token)} == {"/dev/mcp/playground", 32}
      assert length(String.split(log, token)) == 2
      assert %{status: 200, body: body} = get(server, "/dev/mcp/playground/#{token}/about")
      assert %{"rows" => false} = JSON.decode!(body)
      assert get(server, "/dev/mcp/#{token}/rows/x").status == 404
    end

    for {wrong, message} <- [
          {[], "McpServer.HttpPlug needs router: the name of a module or process"},
          {[router: Router, token: "short"],
           "expected :token to be a string of 16 to 256 characters of A-Z a-z 0-9 - _"},
          {[router: Router, path: "/mcp"], "McpServer.Playground has no option :path"},
          {[router: Router, routes: [{"/a", Plain}]], "McpServer.Playground has no option :routes"},
          {[router: Router, remote: 1], "expected :remote to be true or false"}
        ] do
      test "refuses #{inspect(wrong)}" do
        assert_raise ArgumentError, unquote(message), fn -> Playground.init(unquote(wrong)) end
      end
    end
  end
end
