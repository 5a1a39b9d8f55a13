defmodule McpServer.App do
  @moduledoc """
  MCP Apps: tools whose results a host renders as an interactive view (the extension `io.modelcontextprotocol/ui`,
  revision 2026-01-26).

  A view is an HTML document, served as a `ui://` resource. A tool names its view. The host reads the view, frames it in
  a sandbox and passes it the tool's result.

      tool "forecast", "The forecast for a city", MyApp.Weather, :forecast, ui: "ui://weather/forecast" do
        input_field "city", "Name of the city", :string, required: true
      end

      resource "forecast view", "ui://weather/forecast" do
        csp connect_domains: ["https://tiles.example.com"]
        read MyApp.Weather, :view
      end

  The router adds the fields of a view: the media type (`mime_type/0`) in lists and read results, and the declared
  `csp`, `permissions`, `app_domain` and `prefers_border` as `_meta.ui` of both. A server with a view advertises the
  extension to clients of revision 2025-06-18 and later.

  | module | purpose |
  |---|---|
  | `McpServer.App.UI` | links a tool to its view: `_meta.ui` of tools |
  | `McpServer.App.UIResourceMeta` | requests of a view to the host: `_meta.ui` of resources |
  | `McpServer.App.CSP` | the resulting `Content-Security-Policy` |

  ## Content for the model and data for the view

  The `content` of a result goes to the model, and to clients that render no views; `structured_content` is for the view
  and stays out of the model's context. So every result needs `content` that describes the content of the view.

  ## Tools for the view

  A tool with `visibility: [:app]` is for the controls of the view. `tools/list` contains it like any other tool, and
  the host hides it from the model. A client without Apps does not hide it: `visible: &McpServer.App.renders?/1` of the
  tool leaves it out for these clients.
  """

  alias McpServer.Conn

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
  Whether the client renders views. A handler can adapt its text to this.

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
end
