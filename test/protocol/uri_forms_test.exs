defmodule McpServer.Protocol.UriFormsTest.Handlers do
  @moduledoc false
  use McpServer.Controller

  alias McpServer.Conn

  def open(_conn, variables), do: content("open", "file:///x", text: "open: #{inspect(variables)}")
  def guarded(_conn, variables), do: content("guarded", "file:///x", text: "guarded: #{inspect(variables)}")
  # The default URI is that of the request.
  def home(conn, _variables),
    do: %McpServer.Resource.Content{name: "home", uri: nil, text: Conn.get_private(conn, :called_uri)}

  def admin?(conn, _variables) do
    if test = conn.assigns[:test], do: send(test, {:asked, Conn.get_private(conn, :uri)})
    conn.assigns[:user] == "admin"
  end
end

defmodule McpServer.Protocol.UriFormsTest.Router do
  @moduledoc false
  use McpServer.Router, name: "forms"

  alias McpServer.Protocol.UriFormsTest.Handlers

  defmodule Passing do
    @moduledoc false
    @behaviour McpServer.Plug

    @impl true
    def call(conn, next), do: next.(McpServer.Conn.put_private(conn, :called_uri, conn.called.uri))
  end

  resource "key", "file:///key2.pem", authorize: &Handlers.admin?/2 do
    read Handlers, :guarded
  end

  resource "home", "file:///%7euser/a%2fb" do
    plug Passing
    read Handlers, :home
  end

  resource "private", "file:///private/{name}", authorize: &Handlers.admin?/2 do
    read Handlers, :guarded
  end

  resource "all", "file:///{+path}" do
    read Handlers, :open
  end
end

defmodule McpServer.Protocol.UriFormsTest do
  # Equivalent URIs (RFC 3986, section 6.2.2) name one resource. Not async: changes reach every client of a router.
  use ExUnit.Case, async: false
  use McpServer.Test, router: McpServer.Protocol.UriFormsTest.Router

  import McpServer.Wire, only: [ask: 4, next: 1, settled: 1]

  alias McpServer.Changes
  alias McpServer.Protocol.UriFormsTest.Router

  @updated "notifications/resources/updated"
  @acknowledged "notifications/subscriptions/acknowledged"

  defp as(user, revision), do: [assigns: %{user: user, test: self()}, revision: revision]

  defp text({:ok, %{"contents" => [%{"text" => text}]}}), do: text
  defp text({:error, %{"message" => message}}), do: message

  # The URIs of the notifications after a change.
  defp heard(client, uri) do
    Changes.resource_updated(Router, uri)
    settled(client)
    received([])
  end

  defp received(uris) do
    receive do
      {:mcp_notification, @updated, %{"uri" => uri}} -> received([uri | uris])
    after
      0 -> Enum.reverse(uris)
    end
  end

  for revision <- ["2025-06-18", "2025-11-25", "2026-07-28"] do
    @revision revision

    # Earlier, another form of the URI reached the open template, past the guard.
    test "#{revision}: another form of a guarded URI is guarded" do
      for uri <- ["file:///private/x", "file:///%70rivate/x", "file:///privat%65/%78", "file:///private/%2e%2E%2e"] do
        assert {uri, text(read_resource(uri, as("eve", @revision)))} == {uri, "Forbidden"}
        normal = uri |> URI.decode()
        assert_received {:asked, ^normal}
        assert text(read_resource(uri, as("admin", @revision))) == ~s(guarded: %{"name" => "#{Path.basename(normal)}"})
      end

      for uri <- ["file:///key2.pem", "file:///%6Bey2.pem", "file:///%6bey2%2Epem"] do
        assert {uri, text(read_resource(uri, as("eve", @revision)))} == {uri, "Forbidden"}
        assert text(read_resource(uri, as("admin", @revision))) == "guarded: %{}"
      end
    end

    # Earlier, the handler got "private/x", which is the guarded resource.
    test "#{revision}: an encoded slash is no slash for the open template" do
      assert text(read_resource("file:///private%2fx", as("eve", @revision))) == ~s(open: %{"path" => "private%2Fx"})
      assert text(read_resource("file:///a%20b", as("eve", @revision))) == ~s(open: %{"path" => "a b"})
    end

    test "#{revision}: a segment of one dot matches no template" do
      for uri <- ["file:///./private/x", "file:///private/./x", "file:///private/%2e", "file:///a/."] do
        assert {:error, %{"data" => %{"uri" => ^uri}}} = read_resource(uri, as("admin", @revision))
      end

      assert text(read_resource("file:///.hidden/...", as("eve", @revision))) == ~s(open: %{"path" => ".hidden/..."})
    end

    test "#{revision}: a declared URI has other forms too, and the answer has the client's" do
      for uri <- ["file:///%7euser/a%2fb", "file:///~user/a%2Fb", "file:///%7Euser/%61%2Fb"] do
        assert {:ok, %{"contents" => [content]}} = read_resource(uri, as("eve", @revision))
        assert content["uri"] == uri
        assert content["text"] == "file:///~user/a%2Fb"
      end
    end
  end

  test "a session hears of the URI that it has subscribed to, in its own form" do
    client = connect(as("eve", "2025-11-25"))
    assert %{"result" => %{}} = subscription(client, "subscribe", "file:///%61%2fb")
    # Repeating a subscription adds nothing, whatever the form of the URI.
    assert %{"result" => %{}} = subscription(client, "subscribe", "file:///a%2Fb")

    for uri <- ["file:///a%2Fb", "file:///%61%2fb", "file:///%61%2Fb"],
        do: assert(heard(client, uri) == ["file:///%61%2fb"])

    for uri <- ["file:///a/b", "file:///A%2Fb"], do: assert(heard(client, uri) == [])

    assert %{"result" => %{}} = subscription(client, "unsubscribe", "file:///a%2fb")
    assert heard(client, "file:///%61%2fb") == []
    assert settled(client).session.subscription.uris == %{}
  end

  # Earlier, another form was read with the permission of the open template.
  test "a session does not subscribe to another form of a guarded URI" do
    client = connect(as("eve", "2025-11-25"))

    for uri <- ["file:///private/x", "file:///%70rivate/x", "file:///%6Bey2.pem", "file:///./private/x"] do
      assert %{"error" => %{"message" => "Resource not found", "data" => %{"uri" => ^uri}}} =
               subscription(client, "subscribe", uri)
    end

    for uri <- ["file:///private/x", "file:///key2.pem"], do: assert(heard(client, uri) == [])
  end

  test "a stream leaves out another form of a guarded URI, and tells its own form of others" do
    client = connect(as("eve", "2026-07-28"))
    uris = ["file:///%70rivate/x", "file:///%61", "file:///%6Bey2.pem"]
    ask(client, 1, "subscriptions/listen", %{"notifications" => %{"resourceSubscriptions" => uris}})
    assert_receive {:mcp_notification, @acknowledged, params}
    assert params["notifications"] == %{"resourceSubscriptions" => ["file:///%61"]}
    assert heard(client, "file:///a") == ["file:///%61"]
    for uri <- ["file:///private/x", "file:///key2.pem"], do: assert(heard(client, uri) == [])
  end

  test "a completion of a static resource takes any form of its URI" do
    client = connect(as("eve", "2025-11-25"))

    complete = fn uri ->
      params = %{"ref" => %{"type" => "ref/resource", "uri" => uri}, "argument" => %{"name" => "a", "value" => ""}}
      ask(client, 1, "completion/complete", params)
      next(client)
    end

    assert complete.("file:///%7euser/a%2fb") == complete.("file:///~user/a%2Fb")
  end

  defp subscription(client, verb, uri),
    do: request(%{"id" => 1, "method" => "resources/#{verb}", "params" => %{"uri" => uri}}, on: client)
end
