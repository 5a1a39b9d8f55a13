defmodule McpServer.HttpPlug.BodyReader do
  @moduledoc """
  Keeps `Plug.Parsers` from reading the bodies of MCP requests.

  A Phoenix endpoint parses every JSON body before its router runs. With this reader `McpServer.HttpPlug` reads the
  bodies of MCP requests, under its own limit and only after the request was accepted. The parsers see an empty body.
  All other requests are read as usual.

      # lib/my_app_web/endpoint.ex
      plug Plug.Parsers,
        parsers: [:urlencoded, :multipart, :json],
        pass: ["*/*"],
        body_reader: {McpServer.HttpPlug.BodyReader, :read_body, []},
        json_decoder: Phoenix.json_library()

  The default path is `/mcp`. List other paths:

      body_reader: {McpServer.HttpPlug.BodyReader, :read_body, [["/api/mcp", "/admin/mcp"]]}

  MCP also works without this reader: the parsed body is then encoded as JSON and decoded again. This costs time and
  hides some mistakes of clients: duplicate keys are lost, and the parsers answer a body that is not JSON with an error
  page of the application.
  """

  @compile {:no_warn_undefined, Plug.Conn}

  alias McpServer.HttpPlug.Body

  @doc """
  The `body_reader:` of `Plug.Parsers`. `paths` are the paths of `McpServer.HttpPlug`.
  """
  @spec read_body(conn, keyword(), [String.t()]) ::
          {:ok, binary(), conn} | {:more, binary(), conn} | {:error, term()}
        when conn: Plug.Conn.t()
  def read_body(conn, options, paths \\ ["/mcp"]) do
    if Enum.any?(paths, &below?(conn.path_info, &1)),
      do: {:ok, "", Body.leave_unread(conn)},
      else: Plug.Conn.read_body(conn, options)
  end

  defp below?(segments, path), do: List.starts_with?(segments, String.split(path, "/", trim: true))
end
