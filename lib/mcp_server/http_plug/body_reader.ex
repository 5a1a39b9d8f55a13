defmodule McpServer.HttpPlug.BodyReader do
  @moduledoc """
  Lets `Plug.Parsers` leave the bodies of MCP requests alone.

  A Phoenix endpoint parses every JSON body before its router is asked. With this reader the bodies of MCP
  requests stay where they are until `McpServer.HttpPlug` reads them, under its own limit and only once the
  request has been let in; the parsers see an empty one. Every other request is read as usual.

      # lib/my_app_web/endpoint.ex
      plug Plug.Parsers,
        parsers: [:urlencoded, :multipart, :json],
        pass: ["*/*"],
        body_reader: {McpServer.HttpPlug.BodyReader, :read_body, []},
        json_decoder: Phoenix.json_library()

  MCP is expected at `/mcp`. Other paths are named:

      body_reader: {McpServer.HttpPlug.BodyReader, :read_body, [["/api/mcp", "/admin/mcp"]]}

  Without this reader MCP works too: what the parsers made of a body is then written as JSON again and read
  once more. That costs time, and some mistakes of clients no longer show: duplicate keys are gone by then,
  and a body that is no JSON at all is answered by the parsers, with whatever page the application has for it.
  """

  @compile {:no_warn_undefined, Plug.Conn}

  alias McpServer.HttpPlug.Body

  @doc """
  The `body_reader:` of `Plug.Parsers`. `paths` are those that `McpServer.HttpPlug` is mounted at.
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
