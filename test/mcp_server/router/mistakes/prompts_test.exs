defmodule McpServer.Router.Mistakes.PromptsTest do
  # Compile-time checks of prompts. In every router the statements begin on line 3.
  use McpServer.RouterCase, async: true

  @tag req: "S4-74"
  test "the same name twice" do
    assert_refused(7, ~s(Prompt "greet" is already defined, at router.ex:3. Rename or remove one), """
    prompt "greet", "Greets", completion: false do
      get McpServer.Handlers, :greeting
    end

    prompt "greet", "Greets again", completion: false do
      get McpServer.Handlers, :greeting
    end
    """)
  end

  @tag req: "S4-74"
  test "the same argument twice" do
    assert_refused(
      5,
      ~s(argument "name" of prompt "greet" is already defined, at router.ex:4. Rename or remove one),
      """
      prompt "greet", "Greets" do
        argument "name", "Who"
        argument "name", "Who again"
        get McpServer.Handlers, :greet
        complete McpServer.Handlers, :complete
      end
      """
    )
  end

  @tag req: "S4-74"
  test "a name that is none" do
    for {name, shown} <- [{~s(""), ~s("")}, {":greet", ":greet"}] do
      assert_refused(3, "a prompt is named by a string of 1 to 128 bytes, got: #{shown}", """
      prompt #{name}, "Greets" do
      end
      """)
    end
  end

  @tag req: "S4-75"
  test "without get" do
    assert_refused(
      3,
      ~s(prompt "greet" has no function that makes its messages. Write in its do block: get MyApp.Prompts, :greet),
      """
      prompt "greet", "Greets" do
        complete McpServer.Handlers, :complete
      end
      """
    )
  end

  @tag req: "S4-75"
  test "without complete" do
    assert_refused(
      3,
      ~s(prompt "greet" needs a function that completes its arguments: `complete Module, :function`, ) <>
        "or the option `completion: false`",
      """
      prompt "greet", "Greets" do
        argument "name", "Who"
        get McpServer.Handlers, :greet
      end
      """
    )
  end

  @tag req: "S4-75"
  test "without arguments there is nothing to complete" do
    router =
      router!("""
      prompt "greet", "Greets" do
        get McpServer.Handlers, :greet
      end
      """)

    assert [%McpServer.Prompt{name: "greet", arguments: []}] = router.__mcp__(:prompts)
  end

  @tag req: "S4-75"
  test "get or complete twice" do
    assert_refused(5, ~s(`get` of prompt "greet" is already defined, at router.ex:4. Remove one), """
    prompt "greet", "Greets", completion: false do
      get McpServer.Handlers, :greet
      get McpServer.Handlers, :greet
    end
    """)
  end

  @tag req: "RES-44"
  test "completion: false and yet complete" do
    assert_refused(5, ~s(prompt "greet" has the option `completion: false`, and yet a `complete`. Remove one), """
    prompt "greet", "Greets", completion: false do
      get McpServer.Handlers, :greet
      complete McpServer.Handlers, :complete
    end
    """)
  end

  @tag req: "S4-81"
  test "options that do not exist" do
    assert_refused(
      3,
      ~s(prompt "greet" has no option complete, did you mean completion?),
      """
      prompt "greet", "Greets", complete: false do
        get McpServer.Handlers, :greet
      end
      """
    )

    assert_refused(
      4,
      ~r/\Aargument "name" of prompt "greet" has no option optional. Its options are: required, title\z/,
      """
      prompt "greet", "Greets", completion: false do
        argument "name", "Who", optional: true
        get McpServer.Handlers, :greet
      end
      """
    )
  end
end
