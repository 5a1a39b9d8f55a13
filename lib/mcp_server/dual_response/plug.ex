defmodule McpServer.DualResponse.Plug do
  @moduledoc """
  Serves stored results as a plug: in Phoenix, in a `Plug.Router`, or under Bandit or Cowboy alone.

      # lib/my_app_web/router.ex
      forward "/mcp", McpServer.HttpPlug, router: MyApp.MCP
      forward "/resources", McpServer.DualResponse.Plug, server: MyApp.Results

  The `base_url:` of the `McpServer.DualResponse` is where clients find it, here
  `https://api.example.com/resources`. What is asked for and answered, and the options, are those of
  `McpServer.DualResponse.Rest`; on a listener without Plug, `resources:` of `McpServer.HttpServer` does the same.

  ## Bodies

  In a Phoenix endpoint `Plug.Parsers` comes before the router. Name the path to
  `McpServer.HttpPlug.BodyReader`, and the bodies are read under the limit of this plug, and refused in its words:

      body_reader: {McpServer.HttpPlug.BodyReader, :read_body, [["/mcp", "/resources"]]}

  Without, it works with what the parsers have made of a body of JSON, and refuses one that they took for a form.

  ## Who asks

      forward "/resources", McpServer.DualResponse.Plug,
        server: MyApp.Results,
        allowed_hosts: ["api.example.com"],
        identify: &MyAppWeb.Auth.identity/1,
        authorize: &MyAppWeb.Auth.result/3

  Both hooks get the `Plug.Conn`, after the application's own pipeline. A Phoenix router keeps the options in its
  compiled form, so there they are given as `&Module.function/1` or `{Module, :function}`.
  """

  @compile {:no_warn_undefined, Plug.Conn}

  alias McpServer.DualResponse.Rest
  alias McpServer.Http.{Desk, Desks, Exchange}
  alias McpServer.HttpPlug.{Answer, Body, Head, Sink}
  alias McpServer.DualResponse.Rest.Endpoint

  @doc """
  Checks the options.

  Raises `ArgumentError` that says what was given and what is allowed.
  """
  @spec init(keyword()) :: keyword()
  def init(options) do
    # This may run in the compiler, or before each request: nothing of what is made of them is kept.
    _checked = Rest.new(options)
    options
  end

  @doc "Serves one request, and returns once its response is complete."
  @spec call(conn, keyword()) :: conn when conn: Plug.Conn.t()
  def call(conn, options) do
    {rest, desk} = Desks.ensure(options)

    with {:ok, wanted} <- Endpoint.check_head(rest.endpoint, head(conn)),
         {:ok, selection, conn} <- select(rest, wanted, conn) do
      answer(rest, desk, wanted, selection, conn)
    else
      {:answer, status, headers, body} -> send_whole(conn, {status, headers, body})
      {:refused, answer, conn} -> send_whole(conn, answer)
    end
  end

  # What something before has routed is in `path_info` no longer.
  defp head(conn) do
    query = if conn.query_string == "", do: "", else: "?" <> conn.query_string
    %{Head.of(conn) | target: "/" <> Enum.join(conn.path_info, "/") <> query}
  end

  defp select(rest, {:fetch, _id, _form, _capability} = wanted, conn) do
    case read(conn, rest) do
      {:ok, body, conn} -> with {:ok, selection} <- selected(rest, wanted, body, conn), do: {:ok, selection, conn}
      {:error, reason, conn} -> {:refused, refusal(reason, rest), conn}
    end
  end

  defp select(_rest, _wanted, conn), do: {:ok, nil, conn}

  defp read(conn, rest), do: if(form?(conn), do: {:error, :form, conn}, else: Body.read(conn, rest.max_body_bytes))

  # What the parsers took for a form may have been anything: curl says of everything that it is one.
  defp form?(%{body_params: %{__struct__: _unfetched}}), do: false

  defp form?(conn) do
    type = conn |> Plug.Conn.get_req_header("content-type") |> List.first("") |> String.downcase()
    form? = String.starts_with?(type, ["application/x-www-form-urlencoded", "multipart/form-data"])
    form? and map_size(conn.body_params) > 0
  end

  defp selected(rest, wanted, body, conn) do
    with {:answer, status, headers, body} <- Rest.select(rest, wanted, body),
         do: {:refused, {status, headers, body}, conn}
  end

  defp refusal(:too_large, rest), do: Endpoint.refuse(:payload_too_large, rest.max_body_bytes)
  defp refusal(:form, _rest), do: Endpoint.refuse(:malformed)
  defp refusal(:consumed, _rest), do: Endpoint.refuse(:internal_error)
  defp refusal(_timeout_or_closed, _rest), do: Endpoint.refuse(:request_timeout)

  defp answer(_rest, nil, _wanted, _selection, conn), do: send_whole(conn, Endpoint.refuse(:overloaded, 1))

  defp answer(rest, desk, wanted, selection, conn) do
    exchange = Exchange.new()
    Desk.answer(desk, exchange, wanted, selection, caller(rest, conn))
    sink = Sink.new(conn, %{id: {__MODULE__, rest.server}, usage: Desks.usage()})

    %Sink{conn: conn} =
      Exchange.run(exchange, sink, desk, %{answer: fn -> Endpoint.refuse(:internal_error) end, stream: :cut})

    Plug.Conn.halt(conn)
  end

  defp caller(%{identify: nil, authorize: nil}, _conn), do: nil
  defp caller(_rest, conn), do: conn

  defp send_whole(conn, {status, headers, body}),
    do: conn |> Answer.send_whole(status, headers, body) |> Plug.Conn.halt()
end
