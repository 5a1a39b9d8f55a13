defmodule McpServer.HttpTable.Front do
  # Checks before the body is read: Host, Origin, method, content type, Accept.
  @moduledoc false

  import McpServer.HttpRequests
  import McpServer.HttpTable, only: [row: 4, row: 5]

  @refused {:error, -32600}
  @json [{"content-type", "application/json"}]
  @fine {:result, 1, %{"content" => [%{"type" => "text", "text" => "x"}]}}

  def rows, do: Enum.concat([hosts(), origins(), methods(), content_types(), accepts(), order(), paths()])

  defp echo(headers \\ []), do: modern_call("echo", %{"text" => "x"}, headers: headers)

  defp hosts do
    foreign =
      ~w(evil.example localhost.evil.com 127.0.0.1.evil.com 0.0.0.0 10.0.0.1 [::2]) ++
        ["evil.example:4040", "127.1"]

    loopback = ~w(localhost localhost:4040 LocalHost localhost. 127.0.0.1 127.0.0.1:1 127.1.2.3 [::1] [::1]:4040)

    for(host <- foreign, do: row({~w(SEC-01 H1), "foreign Host #{host}"}, echo([{"host", host}]), 403, @refused)) ++
      for(host <- loopback, do: row({~w(SEC-01 H1), "loopback Host #{host}"}, echo([{"host", host}]), 200, @fine)) ++
      [
        row({~w(SEC-01 H1), "a Host with a user"}, echo([{"host", "user@localhost"}]), 400, @refused),
        row({~w(SEC-01 H1), "a Host with a loopback user"}, echo([{"host", "127.0.0.1@evil.com"}]), 400, @refused),
        row({"H1", "a Host with a space"}, echo([{"host", "localhost evil.com"}]), 400, @refused),
        row({"H1", "a port that is none"}, echo([{"host", "127.0.0.1:evil"}]), 400, @refused, only: :listener),
        row({"H1", "a port that is no number"}, echo([{"host", "localhost.:1x"}]), 400, @refused, only: :listener),
        row({"H1", "an empty Host"}, echo([{"host", ""}]), 403, @refused),
        row({"H1", "two Hosts"}, two_hosts(), 400, @refused, only: :listener)
      ]
  end

  defp two_hosts do
    request = echo([{"host", "localhost"}])
    %{request | headers: request.headers ++ [{"host", "evil.example"}]}
  end

  defp origins do
    foreign = [
      "https://evil.example",
      "null",
      "http://localhost.evil.com",
      "http://127.0.0.1.evil.com:80",
      "http://127.0.0.1:4040@evil.example",
      "http://localhost:4040/path",
      "localhost",
      "file://",
      "",
      "http://",
      "http://localhost http://localhost",
      "chrome-extension://localhost"
    ]

    loopback = [
      "http://localhost",
      "http://localhost:5173",
      "https://localhost",
      "http://127.0.0.1:4040",
      "http://[::1]:4040",
      "HTTP://LOCALHOST:4040"
    ]

    modern =
      for origin <- foreign,
          do: row({~w(SEC-01 H1), "foreign Origin #{inspect(origin)}"}, echo([{"origin", origin}]), 403, @refused)

    kept =
      for origin <- loopback,
          do: row({~w(SEC-01 H1), "loopback Origin #{origin}"}, echo([{"origin", origin}]), 200, @fine)

    evil = [{"origin", "https://evil.example"}]

    everywhere =
      for method <- ~w(GET DELETE PUT PATCH OPTIONS) do
        row({~w(SEC-01 H1), "foreign Origin on #{method}"}, request(method, evil), 403, @refused, headers: @json)
      end

    modern ++
      kept ++
      everywhere ++
      [
        row({~w(SEC-01 H1), "foreign Origin on HEAD"}, request("HEAD", evil), 403, :empty),
        row({~w(SEC-01 H1), "two Origins"}, two_origins(), 403, @refused),
        row({~w(SEC-01 H1), "foreign Origin in a session"}, legacy("ping", %{}, headers: evil), 403, @refused,
          session: "2025-11-25"
        ),
        row({~w(SEC-01 H1), "foreign Origin on the session's stream"}, get_stream(evil), 403, @refused,
          session: "2025-11-25"
        ),
        row({~w(SEC-01 H1), "foreign Origin on initialize"}, initialize("2025-11-25", headers: evil), 403, @refused,
          headers: [{"mcp-session-id", nil}]
        )
      ]
  end

  defp two_origins do
    request = echo([{"origin", "http://localhost"}])
    %{request | headers: request.headers ++ [{"origin", "https://evil.example"}]}
  end

  # `all` are the methods of the endpoint, `one` those for requests of the newest revision.
  defp methods do
    all = [{"allow", "POST, GET, DELETE"}]
    one = [{"allow", "POST"}]
    modern = [{"mcp-protocol-version", newest()}, {"accept", "text/event-stream"}]
    never = ~w(PUT PATCH OPTIONS TRACE BREW post)

    for(
      method <- never,
      do: row({"H4", "#{method} is not allowed"}, request(method), 405, @refused, headers: all ++ @json)
    ) ++
      for(
        method <- never,
        do: row({"H4", "#{method} on 2026-07-28"}, request(method, modern), 405, @refused, headers: all ++ @json)
      ) ++
      for(
        method <- ~w(GET DELETE),
        do: row({"H4", "#{method} on 2026-07-28"}, request(method, modern), 405, @refused, headers: one ++ @json)
      ) ++
      [
        row({"H4", "HEAD"}, request("HEAD"), 405, :empty, headers: all),
        row({"H4", "HEAD on 2026-07-28"}, request("HEAD", modern), 405, :empty, headers: all),
        row({"H4", "GET on 2026-07-28 with a live session"}, get_stream(modern), 405, @refused,
          headers: one,
          session: "2025-11-25"
        ),
        row({"H4", "DELETE on 2026-07-28 with a live session"}, delete(modern), 405, @refused,
          headers: one,
          session: "2025-11-25"
        )
      ]
  end

  defp content_types do
    refused = [
      "text/plain",
      "text/plain;charset=UTF-8",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/json; charset=utf-16",
      "application/json; charset=latin1",
      "application/jsonx",
      "application/json-rpc",
      "text/json",
      "application/json, text/plain",
      "application/json; foo",
      "application/json; foo=bar, text/plain",
      "application/json; foo=bar; charset=utf-16",
      ~s(application/json; foo="a; charset=utf-16),
      "application",
      ""
    ]

    taken = [
      "application/json; charset=utf-8",
      "application/json;charset=UTF-8",
      ~s(application/json; charset="utf-8"),
      "application/json; foo=bar",
      ~s(application/json; foo="a; charset=utf-16"; charset=utf-8),
      "Application/JSON"
    ]

    for(
      type <- refused,
      do: row({~w(SEC-02 H2), "Content-Type #{inspect(type)}"}, echo([{"content-type", type}]), 415, @refused)
    ) ++
      for(type <- taken, do: row({"H2", "Content-Type #{type}"}, echo([{"content-type", type}]), 200, @fine)) ++
      [
        row({~w(SEC-02 H2), "no Content-Type"}, echo([{"content-type", nil}]), 415, @refused, headers: @json),
        row({~w(SEC-02 H2), "two Content-Types"}, two_content_types(), 415, @refused),
        row({"H6", "Content-Encoding gzip"}, gzipped(), 415, @refused),
        row({"H6", "Content-Encoding br"}, echo([{"content-encoding", "br"}]), 415, @refused),
        row(
          {"H2", "Content-Type in a session"},
          legacy("ping", %{}, headers: [{"content-type", "text/plain"}]),
          415,
          @refused,
          session: "2025-06-18"
        )
      ]
  end

  defp two_content_types do
    request = echo()
    %{request | headers: request.headers ++ [{"content-type", "text/plain"}]}
  end

  defp gzipped do
    request = echo([{"content-encoding", "gzip"}])
    %{request | body: :zlib.gzip(request.body)}
  end

  defp accepts do
    refused = [
      "text/html",
      "text/event-stream",
      "application/xml, text/html;q=0.9",
      "application/json;q=0, text/event-stream",
      "image/*",
      "text/plain, text/event-stream"
    ]

    taken = [
      "application/json",
      "*/*",
      "text/event-stream, application/json",
      "application/*, text/*",
      "APPLICATION/JSON, TEXT/EVENT-STREAM",
      "text/html, application/json;q=0.9, text/event-stream;q=0.1, */*;q=0.01"
    ]

    listen = modern("subscriptions/listen", %{"notifications" => %{}}, headers: [{"accept", "application/json"}])

    for(
      accept <- refused,
      do: row({"H3", "Accept #{accept}"}, echo([{"accept", accept}]), 406, @refused, headers: @json)
    ) ++
      for(
        accept <- taken,
        do: row({"H3", "Accept #{accept}"}, echo([{"accept", accept}]), 200, @fine, headers: @json)
      ) ++
      [
        row({"H3", "a stream for who accepts only JSON"}, listen, 406, {:error, -32600, 1}),
        row({"H3", "GET that accepts no stream"}, get_stream([{"accept", "application/json"}]), 406, @refused,
          session: "2025-11-25"
        ),
        row({"H3", "Accept in a session"}, legacy("ping", %{}, headers: [{"accept", "text/html"}]), 406, @refused,
          session: "2025-03-26"
        )
      ]
  end

  # Each request has two faults. The first check that fails determines the response.
  defp order do
    evil = {"origin", "https://evil.example"}
    plain = {"content-type", "text/plain"}
    html = {"accept", "text/html"}

    [
      row("order: Host before Origin and method", request("PUT", [{"host", "evil.example"}, evil]), 403, @refused),
      row("order: Origin before method", request("PUT", [evil, plain]), 403, @refused),
      row("order: method before content type", request("PUT", [plain, html], "{}"), 405, @refused),
      row("order: content type before accept", post("{", [plain, html]), 415, @refused),
      row("order: accept before the size", post("{", [html, {"content-length", "9999999"}]), 406, @refused),
      row(
        "order: Origin before the session",
        legacy("ping", %{}, headers: [evil, {"mcp-session-id", "none"}]),
        403,
        @refused
      ),
      row(
        "order: content type before the session",
        legacy("ping", %{}, headers: [plain, {"mcp-session-id", "none"}]),
        415,
        @refused
      ),
      row("order: the size before the JSON", post("{", [{"content-length", "9999999"}]), 413, @refused)
    ]
  end

  defp paths do
    [
      row("a query is not looked at", %{echo() | target: "/mcp?token=1"}, 200, @fine),
      row("another path", %{echo() | target: "/other"}, 404, @refused, only: :listener),
      row("a slash behind the path", %{echo() | target: "/mcp/"}, 200, @fine, only: :listener),
      row("a path below", %{echo() | target: "/mcp/x"}, 404, @refused, only: :listener),
      row(
        {"SEC-01", "foreign Host on another path"},
        %{echo([{"host", "evil.example"}]) | target: "/other"},
        403,
        @refused,
        only: :listener
      ),
      row({"SEC-01", "foreign Host in the target"}, %{echo() | target: "http://evil.example/mcp"}, 403, @refused,
        only: :listener
      )
    ]
  end
end
