defmodule McpServer.Router.Mistakes.ViewsTest do
  # Compile-time checks of views and their options. In every router the statements begin on line 3.
  use McpServer.RouterCase, async: true

  describe "the view of a tool" do
    @tag req: ["S4-42", "S4-81"]
    test "a view that is no ui:// resource" do
      assert_refused(
        3,
        ~s(tool "add": its ui must be the URI of a ui:// resource of this router, such as "ui://app/view", ) <>
          ~s(got: "https://example.com"),
        ~s(tool "add", "Adds", McpServer.Handlers, :echo, ui: "https://example.com")
      )
    end

    @tag req: ["S4-42", "S4-81"]
    test "a view that the router does not declare" do
      assert_refused(
        7,
        ~s(tool "add": its ui is no resource of this router: ui://app/dashbord, did you mean ui://app/dashboard? ) <>
          "Its ui:// resources: ui://app/dashboard",
        """
        resource "dashboard", "ui://app/dashboard" do
          read McpServer.Handlers, :read
        end

        tool "add", "Adds", McpServer.Handlers, :echo, ui: "ui://app/dashbord"
        """
      )
    end

    @tag req: "S4-42"
    test "a view that is like none of the router's, or in a router without" do
      assert_refused(
        8,
        ~s(tool "add": its ui is no resource of this router: ui://other/thing. Its ui:// resources: ui://a/1, ui://b/{c}),
        """
        resource "a", "ui://a/1" do
          read McpServer.Handlers, :read
        end
        resource "b", "ui://b/{c}" do
          read McpServer.Handlers, :read
        end; tool "add", "Adds", McpServer.Handlers, :echo, ui: "ui://other/thing"
        """
      )

      assert_refused(
        3,
        ~s(tool "add": its ui is no resource of this router: ui://a. Its ui:// resources: there is none),
        ~s(tool "add", "Adds", McpServer.Handlers, :echo, ui: "ui://a")
      )
    end

    @tag req: "S4-42"
    test "a view that a template begins like, but does not match" do
      assert_refused(
        7,
        ~r/\Atool "add": its ui is no resource of this router: ui:\/\/app\/a\/b[,.]/,
        """
        resource "views", "ui://app/{view}" do
          read McpServer.Handlers, :read
        end

        tool "add", "Adds", McpServer.Handlers, :echo, ui: "ui://app/a/b"
        """
      )
    end

    # Earlier, lists that a router computes counted as readable: such a tool was accepted, and its view was never found.
    @tag req: "S4-42"
    test "a view that is only in a list the router computes" do
      assert_refused(3, ~r/\Atool "add": its ui is no resource of this router: ui:\/\/a\. /, """
      tool "add", "Adds", McpServer.Handlers, :echo, ui: "ui://a"
      def list_resources(_conn), do: {:ok, [%McpServer.Resource{name: "a", uri: "ui://a"}]}
      """)
    end

    @tag req: ["S4-42", "RES-53"]
    test "a view that is missing though the tool names it in its _meta" do
      assert_refused(3, ~r/\Atool "add": its ui is no resource of this router: ui:\/\/a\. /, """
      tool "add", "Adds", McpServer.Handlers, :echo, meta: %{"ui" => %{"resourceUri" => "ui://a"}}
      """)
    end
  end

  describe "a view" do
    @tag req: "S4-44"
    test "a kind of domain that does not exist" do
      assert_refused(
        4,
        ~s(`csp` of resource "a" has no field conect_domains, did you mean connect_domains?),
        """
        resource "a", "ui://a" do
          csp conect_domains: ["example.com"]
          read McpServer.Handlers, :read
        end
        """
      )
    end

    @tag req: "S4-46"
    test "a domain that is none" do
      assert_refused(
        4,
        ~s(`csp` of resource "a" cannot be a policy: connectDomains[1] has a character at byte 1 that no origin has. ) <>
          "An origin is like https://*.example.com",
        """
        resource "a", "ui://a" do
          csp connect_domains: ["example.com", "a; script-src *"]
          read McpServer.Handlers, :read
        end
        """
      )
    end

    @tag req: "S4-46"
    test "further domains that are none" do
      for {domain, reason} <- [
            {"data:", "is a scheme without a host"},
            {"https://example.com/lib", "has a path; an origin ends with its host or port"},
            {"ftp://example.com", "has another scheme than https, http, wss or ws"},
            {"*", "has a wildcard that is not *. in front of a domain of two labels or more"},
            {"'unsafe-eval'", "has a character at byte 0 that no origin has"},
            {"bücher.example", "has a character at byte 1 that no origin has"}
          ] do
        assert_refused(
          5,
          ~s(`csp` of resource "a" cannot be a policy: resourceDomains[0] #{reason}. ) <>
            "An origin is like https://*.example.com",
          """
          resource "a", "ui://a" do
            read McpServer.Handlers, :read
            csp resource_domains: [#{inspect(domain)}]
          end
          """
        )
      end
    end

    @tag req: "S4-40"
    test "a view of another media type" do
      assert_refused(
        5,
        ~s(the mimeType of resource "a" is text/html;profile=mcp-app, as of every ui:// resource; got: text/html. Remove `mimeType`),
        """
        resource "a", "ui://a" do
          read McpServer.Handlers, :read
          mimeType "text/html"
        end
        """
      )
    end

    @tag req: "S4-40"
    test "the media type of views on what is none" do
      assert_refused(
        4,
        ~s(resource "a" cannot be a view: the URI of a view begins with ui://, got: "https://example.com/a"),
        """
        resource "a", "https://example.com/a" do
          mimeType "text/html;profile=mcp-app"
          read McpServer.Handlers, :read
        end
        """
      )
    end

    @tag req: "S4-43"
    test "what only views have, on what is none" do
      for {statement, value} <- [
            csp: ~s(connect_domains: ["example.com"]),
            permissions: "camera: true",
            app_domain: ~s("a.example"),
            prefers_border: "true"
          ] do
        assert_refused(
          5,
          ~s(`#{statement}` of resource "a" is for views only. ) <>
            "Remove it, or give the resource a URI that begins with ui://",
          """
          resource "a", "file:///a" do
            read McpServer.Handlers, :read
            #{statement} #{value}
          end
          """
        )
      end
    end

    @tag req: "S4-45"
    test "a permission that does not exist" do
      assert_refused(4, ~r/\A`permissions` of resource "a" has no field clipboard/, """
      resource "a", "ui://a" do
        permissions clipboard: true
        read McpServer.Handlers, :read
      end
      """)
    end
  end
end
