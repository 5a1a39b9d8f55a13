defmodule McpServer.AppTest do
  # MCP Apps from the client's side: the declared tools and views, and reading a view, in either era.
  use ExUnit.Case, async: true

  alias McpServer.{App, Conn, Tool}

  doctest McpServer.App
  doctest McpServer.App.View

  defmodule Handlers do
    use McpServer.Controller

    def forecast(conn, _arguments) do
      words = if McpServer.App.renders?(conn), do: "Sunny", else: "Sunny, 21 °C, wind from the west"
      {:ok, %Tool.CallResult{content: [text(words)], structured_content: %{"celsius" => 21}}}
    end

    def refresh(_conn, _arguments), do: {:ok, %{"celsius" => 22}}
    def nobody?(_conn), do: false

    def view(_conn, _variables), do: content("view", "ui://weather/forecast", text: "<!DOCTYPE html>")
    def page(_conn, %{"page" => page}), do: content(page, "ui://pages/" <> page, text: "<!DOCTYPE html>")

    def own(_conn, _variables) do
      [
        content("own", "ui://weather/own",
          text: "<!DOCTYPE html>",
          mimeType: "text/html;profile=mcp-app",
          _meta: %{"ui" => %{"prefersBorder" => true}, "version" => 1}
        ),
        content("picture", "https://example.com/sun.png", blob: "PNG")
      ]
    end

    def maps(_conn, _variables) do
      {:ok,
       [
         %{"uri" => "ui://weather/maps", "text" => "<!DOCTYPE html>", "_meta" => %{"version" => 1}},
         %{uri: "ui://weather/maps", text: "<!DOCTYPE html>", mime_type: "text/html;profile=mcp-app"}
       ]}
    end
  end

  defmodule Server do
    use McpServer.Router

    tool "forecast", "The forecast", Handlers, :forecast, ui: "ui://weather/forecast"
    tool "refresh", "The forecast again", Handlers, :refresh, ui: "ui://weather/forecast", visibility: [:app]
    tool "plain", "Without a view", Handlers, :refresh

    resource "forecast", "ui://weather/forecast" do
      csp connect_domains: ["https://api.example.com"], frame_domains: []
      permissions geolocation: true, camera: false
      app_domain "weather.example"
      prefers_border false
      read Handlers, :view
    end

    resource "page", "ui://pages/{page}" do
      read Handlers, :page
    end

    resource "own", "ui://weather/own" do
      prefers_border false
      read Handlers, :own
    end

    resource "maps", "ui://weather/maps" do
      prefers_border false
      read Handlers, :maps
    end

    resource "text", "file:///text" do
      read Handlers, :view
    end
  end

  defmodule Considerate do
    use McpServer.Router

    tool "forecast", "The forecast", Handlers, :forecast, ui: "ui://weather/forecast"
    tool "refresh", "The forecast again", Handlers, :refresh, visibility: [:app], visible: &McpServer.App.renders?/1
    tool "secret", "For nobody", Handlers, :refresh, authorize: {Handlers, :nobody?}

    resource "forecast", "ui://weather/forecast" do
      read Handlers, :view
    end
  end

  defmodule Pages do
    use McpServer.Router

    resource "page", "ui://pages/{page}" do
      read Handlers, :page
    end
  end

  defmodule Plain do
    use McpServer.Router

    tool "plain", "Without a view", Handlers, :refresh

    resource "text", "file:///text" do
      read Handlers, :view
    end
  end

  @eras ["2025-11-25", "2026-07-28"]
  @html "text/html;profile=mcp-app"
  @declared %{
    "csp" => %{"connectDomains" => ["https://api.example.com"], "frameDomains" => []},
    "permissions" => %{"geolocation" => %{}},
    "domain" => "weather.example",
    "prefersBorder" => false
  }

  defp host(types \\ [@html]), do: %{"extensions" => %{"io.modelcontextprotocol/ui" => %{"mimeTypes" => types}}}

  defp read(uri, revision) do
    {:ok, %{"contents" => contents}} = McpServer.Test.read_resource(Server, uri, revision: revision)
    contents
  end

  defp capabilities(router, "2026-07-28" = revision) do
    meta = %{
      "io.modelcontextprotocol/protocolVersion" => revision,
      "io.modelcontextprotocol/clientCapabilities" => %{}
    }

    told(router, revision, "server/discover", %{"_meta" => meta})
  end

  defp capabilities(router, revision) do
    told(router, revision, "initialize", %{
      "protocolVersion" => revision,
      "capabilities" => %{},
      "clientInfo" => %{"name" => "test", "version" => "1"}
    })
  end

  defp told(router, revision, method, params) do
    message = %{"jsonrpc" => "2.0", "id" => 1, "method" => method, "params" => params}
    answer = McpServer.Test.request(router, message, revision: revision, initialize: false)
    %{"result" => %{"capabilities" => capabilities}} = answer
    capabilities
  end

  describe "capabilities" do
    @tag req: "S4-40"
    test "a server with a view advertises the extension, in both eras" do
      for router <- [Server, Pages], revision <- @eras do
        assert capabilities(router, revision)["extensions"] == %{
                 "io.modelcontextprotocol/ui" => %{"mimeTypes" => [@html]}
               }
      end

      assert App.extension() == "io.modelcontextprotocol/ui"
      assert App.mime_type() == @html
    end

    @tag req: "S4-40"
    test "a server without one does not" do
      for revision <- @eras, do: refute(Map.has_key?(capabilities(Plain, revision), "extensions"))
    end

    @tag req: "S4-40"
    test "a handler knows whether the client renders views, in both eras" do
      for revision <- @eras do
        call = &McpServer.Test.call_tool(Server, "forecast", %{}, revision: revision, client_capabilities: &1)

        assert {:ok, %{"content" => [%{"text" => "Sunny"}]}} = call.(host())
        assert {:ok, %{"content" => [%{"text" => "Sunny, 21 °C, wind from the west"}]}} = call.(%{})
        assert {:ok, %{"content" => [%{"text" => "Sunny, 21" <> _rest}]}} = call.(host(["text/uri-list"]))
      end
    end

    @tag req: "S4-40"
    test "whatever a client says of itself is read without harm" do
      for capabilities <- [
            nil,
            %{"extensions" => nil},
            %{"extensions" => []},
            %{"extensions" => %{"io.modelcontextprotocol/ui" => true}},
            %{"extensions" => %{"io.modelcontextprotocol/ui" => %{}}},
            host("text/html;profile=mcp-app"),
            host([nil, 1, %{}])
          ] do
        assert App.mime_types(%Conn{client_capabilities: capabilities}) == []
        refute App.renders?(%Conn{client_capabilities: capabilities})
      end

      assert App.mime_types(%Conn{client_capabilities: host(["text/uri-list", 7, @html])}) == ["text/uri-list", @html]
    end
  end

  describe "tools" do
    @tag req: ["S4-41", "S4-42", "RES-54"]
    test "say who may call them and what draws them, in both eras" do
      for revision <- @eras do
        {:ok, tools} = McpServer.Test.list_tools(Server, revision: revision)

        assert Enum.map(tools, &{&1["name"], &1["_meta"]}) == [
                 {"forecast", %{"ui" => %{"resourceUri" => "ui://weather/forecast", "visibility" => ["model", "app"]}}},
                 {"refresh", %{"ui" => %{"resourceUri" => "ui://weather/forecast", "visibility" => ["app"]}}},
                 {"plain", nil}
               ]
      end
    end

    @tag req: "S4-42"
    test "one for the view only is called like any other, by those for whom it exists" do
      for revision <- @eras do
        call = fn router, capabilities ->
          McpServer.Test.call_tool(router, "refresh", %{}, revision: revision, client_capabilities: capabilities)
        end

        for {router, capabilities} <- [{Server, %{}}, {Server, host()}, {Considerate, host()}],
            do: assert({:ok, %{"structuredContent" => %{"celsius" => 22}}} = call.(router, capabilities))

        assert {:error, %{"message" => "Tool 'refresh' not found"}} = call.(Considerate, %{})
      end
    end

    @tag req: "S4-42"
    test "a client without views is told of none that the model may not call" do
      for revision <- @eras do
        names = fn capabilities ->
          options = [revision: revision, client_capabilities: capabilities]
          {:ok, tools} = McpServer.Test.list_tools(Considerate, options)
          Enum.map(tools, & &1["name"])
        end

        assert names.(host()) == ["forecast", "refresh"]
        assert names.(%{}) == ["forecast"]
      end
    end

    @tag req: "S4-47"
    test "what the view draws is beside the text, never in its place" do
      for revision <- @eras do
        assert {:ok, %{"content" => [%{"type" => "text"}], "structuredContent" => %{"celsius" => 21}}} =
                 McpServer.Test.call_tool(Server, "forecast", %{}, revision: revision)

        # A result of data alone contains the data as text too.
        assert {:ok, %{"content" => [%{"text" => ~s({"celsius":22})}], "structuredContent" => %{"celsius" => 22}}} =
                 McpServer.Test.call_tool(Server, "refresh", %{}, revision: revision)
      end
    end
  end

  describe "views" do
    @tag req: ["S4-40", "S4-43"]
    test "their media type and what they declare are listed" do
      {:ok, [forecast | _rest]} = McpServer.Test.list_resources(Server)
      assert %{"uri" => "ui://weather/forecast", "mimeType" => @html, "_meta" => %{"ui" => @declared}} = forecast

      {:ok, [page]} = McpServer.Test.list_resource_templates(Server)
      assert page["mimeType"] == @html
      refute Map.has_key?(page, "_meta")
    end

    @tag req: ["S4-43", "S4-44", "S4-45"]
    test "what reading one gives says the same, without the handler's help" do
      for revision <- @eras do
        assert [%{"mimeType" => @html, "text" => "<!DOCTYPE html>", "_meta" => %{"ui" => @declared}}] =
                 read("ui://weather/forecast", revision)

        assert [%{"uri" => "ui://pages/about", "mimeType" => @html} = page] = read("ui://pages/about", revision)
        refute Map.has_key?(page, "_meta")
      end
    end

    @tag req: ["S4-43", "RES-58"]
    test "the domain goes out as it was written, whatever the host takes" do
      {:ok, [%{"_meta" => %{"ui" => %{"domain" => domain}}} | _rest]} = McpServer.Test.list_resources(Server)
      assert domain == "weather.example"
      meta = App.UIResourceMeta.new(domain: "a904794854a047f6.claudemcpcontent.com")
      assert McpServer.JSON.encode!(meta) == ~s({"domain":"a904794854a047f6.claudemcpcontent.com"})
    end

    @tag req: "S4-43"
    test "what the handler says of its own stays, and so does what is no view" do
      assert [own, picture] = read("ui://weather/own", "2026-07-28")
      assert own["_meta"] == %{"ui" => %{"prefersBorder" => true}, "version" => 1}
      assert Map.keys(picture) == ["blob", "name", "uri"]

      assert [text] = read("file:///text", "2026-07-28")
      refute Map.has_key?(text, "mimeType")
    end

    @tag req: "S4-43"
    test "maps of content are completed as well" do
      assert [strings, atoms] = read("ui://weather/maps", "2026-07-28")
      assert %{"mimeType" => @html, "_meta" => %{"ui" => %{"prefersBorder" => false}, "version" => 1}} = strings
      assert %{"mimeType" => @html, "_meta" => %{"ui" => %{"prefersBorder" => false}}} = atoms
    end

    @tag req: "S4-43"
    test "the router's own function gives the same" do
      assert {:ok, %{contents: [content]}} = Server.read_resource(%Conn{}, "forecast", %{})
      assert %{mimeType: @html, _meta: %App.Meta{ui: %App.UIResourceMeta{prefers_border: false}}} = content
    end
  end
end
