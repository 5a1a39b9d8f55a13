defmodule McpServer.RestTable do
  # One table of requests for stored results with their responses. It is the same for both servers.
  #
  # A row is `%{name, req, method, target, headers, body, status, answer, answered}`. `:id` in a target is the id of a
  # resource of 250 rows, `%{"n" => 0, "text" => …}` and so on. `answer` is the exact body, a map for a JSON object with
  # exactly these members, or `{:error, code}`. `answered` are headers of the response.
  @moduledoc false

  @not_found ~s({"error":"not_found","message":"Resource not found or expired"})
  # Web servers have their own limits for 10 KiB. See `McpServer.HttpRestTest`.
  @long String.duplicate("a", 1024)
  @methods ["GET", "POST", "PUT", "DELETE"]

  @doc "All rows."
  def rows do
    Enum.concat([metadata(), pages(), sorts(), forms(), changes(), missing(), paths(), methods(), sites(), bodies()])
  end

  @doc "The row with that name."
  def fetch(name), do: Enum.find(rows(), &(&1.name == name)) || raise("there is no row #{inspect(name)}")

  defp row(name, method, target, status, answer, options \\ []) do
    {req, name} = if is_binary(name), do: {[], name}, else: name

    %{
      name: name,
      req: List.wrap(req),
      method: method,
      target: target,
      status: status,
      answer: answer,
      headers: options[:headers] || [],
      body: options[:body],
      answered: options[:answered] || []
    }
  end

  defp post(name, body, status, answer, options \\ []) do
    {req, name} = if is_binary(name), do: {[], name}, else: name
    row({req, "POST: " <> name}, "POST", "/resources/:id", status, answer, [body: body] ++ options)
  end

  defp page(offset, returned, next) do
    %{
      "data" => for(n <- offset..(offset + returned - 1)//1, do: n),
      "total_count" => 250,
      "returned_count" => returned,
      "offset" => offset,
      "has_next" => next != nil,
      "next_offset" => next
    }
  end

  defp metadata do
    json = [{"content-type", "application/json"}]

    [
      row({"S1-50", "GET says what there is"}, "GET", "/resources/:id", 200, :metadata, answered: json),
      row({"S1-50", "HEAD says it without a body"}, "HEAD", "/resources/:id", 200, "", answered: json),
      row({"S1-50", "GET at the path with a slash"}, "GET", "/resources/:id/", 200, :metadata),
      row({"S1-50", "GET with a query that means nothing"}, "GET", "/resources/:id?a=..%2f&b", 200, :metadata),
      row({"R7", "Range is ignored"}, "GET", "/resources/:id", 200, :metadata, headers: [{"range", "bytes=0-1"}]),
      row({"R7", "a Range that is none is ignored"}, "GET", "/resources/:id", 200, :metadata,
        headers: [{"range", "x=-9"}]
      ),
      row({"R7", "If-None-Match is ignored"}, "GET", "/resources/:id", 200, :metadata, headers: [{"if-none-match", "*"}]),
      row({"RES-25", "GET takes no page"}, "GET", "/resources/:id?skip=10&limit=1", 200, :metadata)
    ]
  end

  defp pages do
    [
      post({"S1-52", "without a body"}, nil, 200, page(0, 100, 100)),
      post({"S1-52", "with an empty body"}, "", 200, page(0, 100, 100)),
      post({"S1-52", "with an empty object"}, %{}, 200, page(0, 100, 100)),
      post({"S1-52", "with what the document sends"}, ~s({"offset":0,"limit":100,"sort":null}), 200, page(0, 100, 100)),
      post({"S1-53", "one row before the end"}, %{offset: 249}, 200, page(249, 1, nil)),
      post({"S1-53", "a page that ends one row before the end"}, %{offset: 149}, 200, page(149, 100, 249)),
      post({"S1-53", "a page that ends at the end"}, %{offset: 150}, 200, page(150, 100, nil)),
      post({"S1-53", "at the end"}, %{offset: 250}, 200, page(250, 0, nil)),
      post({"S1-53", "behind the end"}, %{offset: 9_000_000_000}, 200, page(9_000_000_000, 0, nil)),
      post({"RES-19", "the smallest limit"}, %{limit: 1}, 200, page(0, 1, 1)),
      post({"RES-19", "the largest limit of this endpoint"}, %{limit: 200}, 200, page(0, 200, 200)),
      post({"RES-19", "a larger limit is clamped"}, %{limit: 201}, 200, page(0, 200, 200)),
      post({"RES-19", "a huge limit is clamped"}, %{limit: 9_223_372_036_854_775_807}, 200, page(0, 200, 200)),
      post({"RES-19", "no limit of 0"}, %{limit: 0}, 400, {:error, "invalid_request"}),
      post({"RES-19", "no negative offset"}, %{offset: -1}, 400, {:error, "invalid_request"}),
      post({"RES-19", "no float"}, ~s({"limit":1.0}), 400, {:error, "invalid_request"}),
      post({"RES-19", "no text"}, %{offset: "1"}, 400, {:error, "invalid_request"}),
      post({"RES-19", "no null"}, %{limit: nil}, 400, {:error, "invalid_request"})
    ]
  end

  defp sorts do
    sort = &%{sort: &1, limit: 2}
    descending = %{page(0, 2, 2) | "data" => [249, 248]}

    [
      post({"S1-58", "sort is passed to the query"}, sort.(%{field: "n", order: "desc"}), 200, descending),
      post({"S1-58", "the order is in any case"}, sort.(%{field: "n", order: "DESC"}), 200, descending),
      post({"S1-58", "asc is what is left out"}, sort.(%{field: "n"}), 200, page(0, 2, 2)),
      post({"S1-58", "a list of keys"}, sort.([%{field: "n", order: "desc"}]), 200, descending),
      post({"S1-58", "a column that is not there"}, sort.(%{field: "m"}), 400, {:error, "invalid_sort"}),
      post({"S1-58", "a column not to be sorted by"}, sort.(%{field: "text"}), 400, {:error, "invalid_sort"}),
      post({"S1-58", "another order"}, sort.(%{field: "n", order: "up"}), 400, {:error, "invalid_sort"}),
      post({"S1-58", "no sort"}, sort.("n"), 400, {:error, "invalid_sort"}),
      post({"S1-58", "SQL"}, sort.(%{field: "n; DROP TABLE x"}), 400, {:error, "invalid_sort"})
    ]
  end

  defp forms do
    accept = &[headers: [{"accept", &1}]]

    [
      post("a client that takes only HTML", %{}, 406, {:error, "not_acceptable"}, accept.("text/html")),
      post("a client that takes anything", %{limit: 1}, 200, page(0, 1, 1), accept.("*/*")),
      row(
        "GET gives no lines",
        "GET",
        "/resources/:id",
        406,
        {:error, "not_acceptable"},
        accept.("application/x-ndjson")
      )
    ]
  end

  defp changes do
    pinned = ~s({"status":"pinned","expires_at":null})

    [
      row({"S1-54", "PUT pins"}, "PUT", "/resources/:id", 200, pinned, answered: [{"content-type", "application/json"}]),
      row({"S1-54", "PUT with a body"}, "PUT", "/resources/:id", 200, pinned, body: "{}"),
      row({"S1-55", "DELETE deletes"}, "DELETE", "/resources/:id", 204, "", answered: [{"content-type", nil}])
    ]
  end

  defp missing do
    for method <- @methods,
        do:
          row(
            {"S1-51", "#{method} of what is not there"},
            method,
            "/resources/#{String.duplicate("0", 32)}",
            404,
            @not_found
          )
  end

  defp paths do
    targets = [
      "/resources",
      "/resources/",
      "/resources/..",
      "/resources/%2e%2e",
      "/resources/%00",
      "/resources/:id%00",
      "/resources/..%2f..%2fetc%2fpasswd",
      "/resources/:id/rows",
      "/resources/'%20OR%201=1--",
      "/resources/%F0%9F%98%80",
      "/resources/#{@long}"
    ]

    for {target, number} <- Enum.with_index(targets), method <- @methods do
      row({"R6", "#{method} of path #{number}"}, method, target, 404, @not_found)
    end
  end

  defp methods do
    for method <- ["PATCH", "OPTIONS", "FOO"] do
      allow = [{"allow", "GET, HEAD, POST, PUT, DELETE"}]

      row({"S1-57", "#{method} is not allowed"}, method, "/resources/:id", 405, {:error, "method_not_allowed"},
        answered: allow
      )
    end
  end

  defp sites do
    foreign =
      for method <- @methods, {name, value} <- [{"host", "evil.example"}, {"origin", "https://evil.example"}] do
        row({"SEC-01", "#{method} with a foreign #{name}"}, method, "/resources/:id", 403, {:error, "forbidden"},
          headers: [{name, value}]
        )
      end

    local = [headers: [{"origin", "http://localhost:3000"}]]
    foreign ++ [row({"SEC-01", "a page of this machine may ask"}, "GET", "/resources/:id", 200, :metadata, local)]
  end

  defp bodies do
    chunked = [headers: [{"transfer-encoding", "chunked"}]]
    long = "20001\r\n" <> String.duplicate(" ", 0x20001) <> "\r\n0\r\n\r\n"

    [
      post({"S1-57", "no JSON"}, "{", 400, {:error, "invalid_request"}),
      post({"S1-57", "no object"}, "[]", 400, {:error, "invalid_request"}),
      post({"S1-57", "a key twice"}, ~s({"limit":1,"limit":2}), 400, {:error, "invalid_request"}),
      post({"S1-57", "any content type"}, %{limit: 1}, 200, page(0, 1, 1), headers: [{"content-type", "text/plain"}]),
      post(
        {"SEC-12", "a body too long, as it says"},
        String.duplicate(" ", 70_000),
        413,
        {:error, "payload_too_large"}
      ),
      post({"SEC-12", "a body too long, in chunks"}, long, 413, {:error, "payload_too_large"}, chunked),
      post("a body in chunks", "b\r\n{\"limit\":1}\r\n0\r\n\r\n", 200, page(0, 1, 1), chunked)
    ]
  end
end
