defmodule McpServer.HttpTable.Limits do
  # Sizes exactly at the limit, and one above it.
  @moduledoc false

  import McpServer.HttpRequests
  import McpServer.HttpTable, only: [row: 4, row: 5]

  @max_body 4 * 1024 * 1024
  @max_uri 8 * 1024

  def rows, do: bodies() ++ names() ++ uris()

  defp bodies do
    over = {:error, -32600}

    [
      row({~w(SEC-12 H5), "a body of 4 MiB"}, fn -> sized(@max_body) end, 200, counted(@max_body)),
      row({~w(SEC-12 H5), "a body of 4 MiB, chunked"}, fn -> chunked(sized(@max_body)) end, 200, counted(@max_body)),
      row({~w(SEC-12 H5), "a body one byte above, announced"}, announced(@max_body + 1), 413, over,
        headers: [{"connection", "close"}, {"content-type", "application/json"}],
        only: :listener
      ),
      row({~w(SEC-12 H5), "a body one byte above, chunked"}, fn -> chunked(sized(@max_body + 1)) end, 413, over),
      row({~w(SEC-12 H5), "an announced length that no machine has"}, announced(1_000_000_000_000_000), 413, over,
        only: :listener
      ),
      row(
        {~w(SEC-12 H5), "a body of 4 MiB in a session"},
        fn -> sized(@max_body, :session) end,
        200,
        counted(@max_body, :session),
        session: "2025-11-25"
      ),
      row({~w(SEC-12 H5), "a body above in a session"}, fn -> chunked(sized(@max_body + 1, :session)) end, 413, over,
        session: "2025-11-25"
      )
    ]
  end

  defp counted(bytes, era \\ :modern) do
    text = bytes - IO.iodata_length(call(era, "").body)
    {:result, 1, %{"content" => [%{"type" => "text", "text" => Integer.to_string(text)}]}}
  end

  # A request with a body of exactly this many bytes.
  defp sized(bytes, era \\ :modern), do: call(era, String.duplicate("x", bytes - IO.iodata_length(call(era, "").body)))

  defp call(:modern, text), do: modern_call("size", %{"text" => text})
  defp call(:session, text), do: legacy_call("size", %{"text" => text})

  defp chunked(request) do
    size = request.body |> IO.iodata_length() |> Integer.to_string(16)
    body = [size, "\r\n", request.body, "\r\n0\r\n\r\n"]
    with_headers(Map.merge(request, %{body: body, message: request.body}), [{"transfer-encoding", "chunked"}])
  end

  # The body is announced, but never sent.
  defp announced(bytes), do: post("{", [{"content-length", Integer.to_string(bytes)}])

  defp names do
    long = &String.duplicate("m", &1)

    [
      row("a method of 256 bytes", legacy(long.(256)), 200, {:error, -32601, 1}, session: "2025-11-25"),
      row("a method of 257 bytes", legacy(long.(257)), 400, {:error, -32600, 1}, session: "2025-11-25"),
      row("a method of 256 bytes, 2026-07-28", modern(long.(256)), 404, {:error, -32601, 1}),
      row("a method of 257 bytes, 2026-07-28", modern(long.(257)), 400, {:error, -32600, 1})
    ]
  end

  defp uris do
    uri = &("http-test://rows/" <> String.duplicate("r", &1 - 17))
    read = &modern("resources/read", %{"uri" => uri.(&1)})

    [
      row({"SEC-09", "a URI of 8 KiB"}, read.(@max_uri), 200, {:result, 1, %{}}),
      row({"SEC-09", "a URI one byte longer"}, read.(@max_uri + 1), 400, {:error, -32602, 1})
    ]
  end
end
