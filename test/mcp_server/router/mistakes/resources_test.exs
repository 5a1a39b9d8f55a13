defmodule McpServer.Router.Mistakes.ResourcesTest do
  # Compile-time checks of resources. In every router the statements begin on line 3.
  use McpServer.RouterCase, async: true

  test "an option that a resource does not have" do
    assert_refused(
      3,
      ~s(resource "r" has no option autorize, did you mean authorize?),
      ~s(resource "r", "x://r", autorize: {McpServer.Handlers, :echo} do read McpServer.Handlers, :read end)
    )
  end

  @tag req: "S4-77"
  test "the same name twice" do
    assert_refused(7, ~s(Resource "a" is already defined, at router.ex:3. Rename or remove one), """
    resource "a", "file:///a" do
      read McpServer.Handlers, :read
    end

    resource "a", "file:///b/{id}" do
      read McpServer.Handlers, :read
    end
    """)
  end

  @tag req: "S4-77"
  test "the same URI twice" do
    assert_refused(7, ~s(the URI of resource "b" is already that of resource "a". Change or remove one), """
    resource "a", "file:///a" do
      read McpServer.Handlers, :read
    end

    resource "b", "file:///a" do
      read McpServer.Handlers, :read
    end
    """)
  end

  for {uri, reason} <- [
        {"not a uri", "it does not begin with a scheme, like https:"},
        {"/app/config.json", "it does not begin with a scheme, like https:"},
        {"file:///with space", "it has a character that must be percent-encoded"},
        {"file:///größe", "it has a character that must be percent-encoded"},
        {"file:///100%", "it has a % that is no percent-encoding"},
        {"users://{id", "its braces do not match"},
        {"users://id}", "its braces do not match"},
        {"users://{}", "{} is no expression of RFC 6570"},
        {"users://{a b}", "{a b} is no expression of RFC 6570"},
        {"users://{id}/{id}", "it has the variable id twice"}
      ] do
    @tag req: "S4-77"
    test "#{uri} is no URI" do
      assert_refused(
        3,
        ~s(the URI of resource "a" is not valid, #{unquote(reason)}; got: "#{unquote(uri)}"),
        """
        resource "a", "#{unquote(uri)}" do
          read McpServer.Handlers, :read
        end
        """
      )
    end
  end

  @tag req: "S4-77"
  test "a URI that is no text" do
    assert_refused(3, ~s(the URI of resource "a" is a string, got: :uri), """
    resource "a", :uri do
      read McpServer.Handlers, :read
    end
    """)
  end

  @tag req: "S4-79"
  test "without read" do
    assert_refused(
      3,
      ~s(resource "a" has no function that reads it. Write in its do block: read MyApp.Notes, :read),
      """
      resource "a", "file:///a" do
        description "A"
      end
      """
    )
  end

  @tag req: "S4-79"
  test "complete of a resource without variables" do
    assert_refused(
      5,
      ~s(`complete` of resource "a" has nothing to complete: "file:///a" has no variables. ) <>
        "Remove `complete`, or write a variable in the URI: {id}",
      """
      resource "a", "file:///a" do
        read McpServer.Handlers, :read
        complete McpServer.Handlers, :complete
      end
      """
    )
  end

  @tag req: "S4-81"
  test "a statement twice" do
    assert_refused(5, ~s(`title` of resource "a" is already defined. Remove one), """
    resource "a", "file:///a" do
      title "A"
      title "B"
      read McpServer.Handlers, :read
    end
    """)
  end

  @tag req: "S4-81"
  test "a size of what is many" do
    assert_refused(4, ~s(resource "a" has variables in its URI, so it has no one size. Remove `size`), """
    resource "a", "file:///{name}" do
      size 12
      read McpServer.Handlers, :read
    end
    """)
  end

  @tag req: "S4-81"
  test "a statement of the wrong type" do
    assert_refused(4, ~s(expected :mimeType of resource "a" to be a string, got: :json), """
    resource "a", "file:///a" do
      mimeType :json
      read McpServer.Handlers, :read
    end
    """)
  end
end
