defmodule McpServer.App do
  @moduledoc """
  MCP Apps: tools whose results a host draws as an interactive view (the extension
  `io.modelcontextprotocol/ui`, revision 2026-01-26).

  A view is an HTML document that a `ui://` resource serves. A tool names it, and a host that renders
  views reads it, frames it in a sandbox and hands it the tool's result.

      tool "forecast", "The forecast for a city", MyApp.Weather, :forecast, ui: "ui://weather/forecast" do
        input_field "city", "Name of the city", :string, required: true
      end

      resource "forecast view", "ui://weather/forecast" do
        csp connect_domains: ["https://tiles.example.com"]
        read MyApp.Weather, :view
      end

  The router fills in what every view needs: its media type (`mime_type/0`) in lists and in what
  reading it gives, and the declared `csp`, `permissions`, `app_domain` and `prefers_border` as
  `_meta.ui` of both. A server with a view advertises the extension, to clients of revision
  2025-06-18 and later.

  | module | what it is |
  |---|---|
  | `McpServer.App.UI` | what a tool says of its view: `_meta.ui` on tools |
  | `McpServer.App.UIResourceMeta` | what a view asks of the host: `_meta.ui` on resources |
  | `McpServer.App.CSP` | the `Content-Security-Policy` that follows from it |

  ## What the model reads, and what the view gets

  The `content` of a result goes to the model, and to clients that draw nothing; `structured_content` is for the view
  and stays out of the model's context. So every result needs `content` that says what the view shows.

  ## Who calls what

  A tool with `visibility: [:app]` is for the view's own controls. `tools/list` contains it like any other tool, and the
  host hides it from the model. A client without Apps does not hide it, so a router should leave such tools out for
  these clients, with `visible_tools/2`.
  """

  alias McpServer.{App, Conn, Tool}

  @extension "io.modelcontextprotocol/ui"
  @mime_type "text/html;profile=mcp-app"

  @doc """
  The extension's key among the capabilities.

      iex> McpServer.App.extension()
      "io.modelcontextprotocol/ui"
  """
  @spec extension() :: String.t()
  def extension, do: @extension

  @doc """
  The media type of every view.

      iex> McpServer.App.mime_type()
      "text/html;profile=mcp-app"
  """
  @spec mime_type() :: String.t()
  def mime_type, do: @mime_type

  @doc """
  The media types of views that the client renders; `[]` for a client without the extension.

      iex> capabilities = %{"extensions" => %{"io.modelcontextprotocol/ui" => %{"mimeTypes" => ["text/html;profile=mcp-app"]}}}
      iex> McpServer.App.mime_types(%McpServer.Conn{client_capabilities: capabilities})
      ["text/html;profile=mcp-app"]
      iex> McpServer.App.mime_types(%McpServer.Conn{})
      []
  """
  @spec mime_types(Conn.t()) :: [String.t()]
  def mime_types(%Conn{client_capabilities: capabilities}) do
    case capabilities do
      %{"extensions" => %{@extension => %{"mimeTypes" => types}}} when is_list(types) ->
        Enum.filter(types, &is_binary/1)

      _none ->
        []
    end
  end

  @doc """
  Whether the client renders views, so that a handler can say less in words, or more.

      def forecast(conn, %{"city" => city}) do
        forecast = MyApp.Forecasts.get(city)
        words = if McpServer.App.renders?(conn), do: summary(forecast), else: table(forecast)
        {:ok, %McpServer.Tool.CallResult{content: [text(words)], structured_content: forecast}}
      end

      iex> McpServer.App.renders?(%McpServer.Conn{})
      false
  """
  @spec renders?(Conn.t()) :: boolean
  def renders?(%Conn{} = conn), do: @mime_type in mime_types(conn)

  @doc """
  The tools that a client should be told of: all of them when it renders views, else those that
  the model may call. For the `list_tools/1` of a router:

      def list_tools(conn), do: {:ok, McpServer.App.visible_tools(conn, __mcp__(:tools))}

  Whoever calls a tool that was left out is answered as ever: visibility is no access control, for that
  there is `authorize:`.
  """
  @spec visible_tools(Conn.t(), [Tool.t()]) :: [Tool.t()]
  def visible_tools(%Conn{} = conn, tools) do
    if renders?(conn), do: tools, else: Enum.filter(tools, &for_model?/1)
  end

  defp for_model?(%Tool{_meta: meta}) do
    case meta do
      %App.Meta{ui: %App.UI{visibility: visibility}} -> "model" in visibility
      %{"ui" => %App.UI{visibility: visibility}} -> "model" in visibility
      %{"ui" => %{"visibility" => visibility}} when is_list(visibility) -> "model" in visibility
      _meta -> true
    end
  end
end
