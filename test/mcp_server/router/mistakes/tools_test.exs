defmodule McpServer.Router.Mistakes.ToolsTest do
  # Compile-time checks of tools. In every router the statements begin on line 3.
  use McpServer.RouterCase, async: true

  @tag req: "S4-70"
  test "the same name twice" do
    assert_refused(5, ~s(Tool "add" is already defined, at router.ex:3. Rename or remove one), """
    tool "add", "Adds", McpServer.Handlers, :echo

    tool "add", "Adds again", McpServer.Handlers, :bare
    """)
  end

  for {name, shown} <- [
        {~s("with space"), ~s("with space")},
        {~s(""), ~s("")},
        {":add", ":add"},
        {~s("größe"), ~s("größe")}
      ] do
    @tag req: "S4-70"
    test "#{name} is no name for a tool" do
      assert_refused(
        3,
        "a tool's name is 1 to 128 characters of A-Z a-z 0-9 _ . / -, got: #{unquote(shown)}",
        "tool #{unquote(name)}, nil, McpServer.Handlers, :echo"
      )
    end
  end

  @tag req: "S4-70"
  test "a name has 128 characters, and not 129" do
    assert [%{name: name}] =
             router!("tool \"#{String.duplicate("a", 128)}\", nil, McpServer.Handlers, :echo").__mcp__(:tools)

    assert byte_size(name) == 128

    assert_refused(
      3,
      ~r/1 to 128 characters/,
      "tool \"#{String.duplicate("a", 129)}\", nil, McpServer.Handlers, :echo"
    )
  end

  @tag req: "S4-81"
  test "a tool option that does not exist" do
    assert_refused(
      3,
      ~s(tool "add" has no option zzz. Its options are: title, hints, annotations, ui, visibility, ) <>
        "timeout, cancel_grace, max_concurrent, requires, input_schema, output_schema, additional_properties, icons, execution, task_support, " <>
        "task_start, meta, tags, result_budget, formats, repair, undeclared, arguments, struct, lint, authorize, visible, scopes, listed",
      ~s(tool "add", "Adds", McpServer.Handlers, :echo, zzz: [:read_only])
    )

    assert_refused(
      3,
      ~s(tool "add" has no option hint, did you mean hints?),
      ~s(tool "add", "Adds", McpServer.Handlers, :echo, hint: [:read_only])
    )
  end

  test "an authorize that is no function" do
    for {statement, what} <- [
          {~s(tool "add", "Adds", McpServer.Handlers, :echo, authorize: :me), ~s(tool "add")},
          {~s(prompt "p", "A prompt", authorize: :me do get McpServer.Handlers, :greeting end), ~s(prompt "p")},
          {~s(resource "r", "x://r", authorize: :me do read McpServer.Handlers, :read end), ~s(resource "r")},
          {~s(resource "t", "x://{t}", authorize: :me do read McpServer.Handlers, :read end), ~s(resource "t")}
        ] do
      message =
        "authorize of #{what} must be {module, function}, {module, function, arguments} or a function, got: :me. " <>
          "Write: authorize: {MyApp.Auth, :me}"

      assert_refused(3, message, statement)
      missing = String.replace(statement, ":me", "{McpServer.Handlers, :nobody}")
      assert_refused(3, ~r/^authorize of #{what} names McpServer.Handlers.nobody\/1, which is not a public/, missing)
    end
  end

  @tag req: "S4-81"
  test "a hint that does not exist" do
    assert_refused(
      3,
      ~s(tool "add" has no hint :readonly, did you mean :read_only? The hints are: :read_only, :non_destructive, ) <>
        ":idempotent, :closed_world",
      ~s(tool "add", "Adds", McpServer.Handlers, :echo, hints: [:readonly])
    )
  end

  @tag req: "S4-81"
  test "hints and annotations together" do
    assert_refused(
      3,
      ~s(tool "add" has both `hints:` and `annotations:`, which say the same: keep one),
      ~s(tool "add", "Adds", McpServer.Handlers, :echo, hints: [], annotations: [title: "Add"])
    )
  end

  test "a tool that may never run" do
    assert_refused(
      3,
      ~s(the max_concurrent of tool "add" is at least 1, got: 0),
      ~s(tool "add", "Adds", McpServer.Handlers, :echo, max_concurrent: 0)
    )
  end

  test "a grace that is too long" do
    assert_refused(
      3,
      ~s(the cancel_grace of tool "add" is at most 60000 milliseconds, got: 60001),
      ~s(tool "add", "Adds", McpServer.Handlers, :echo, cancel_grace: 60_001)
    )
  end

  @tag req: "S4-81"
  test "a timeout of nothing" do
    assert_refused(
      3,
      ~s(timeout of tool "add" must be a number of milliseconds above 0, such as 5_000, got: 0),
      ~s(tool "add", "Adds", McpServer.Handlers, :echo, timeout: 0)
    )
  end

  @tag req: "S4-81"
  test "a capability that clients do not have" do
    assert_refused(
      3,
      ~s(expected :requires of tool "add" to be a list, each element one of :sampling, :elicitation, :roots, got: [:tools]),
      ~s(tool "add", "Adds", McpServer.Handlers, :echo, requires: [:tools])
    )
  end

  @tag req: "S4-81"
  test "an icon without its source" do
    assert_refused(
      3,
      "McpServer.Icon needs :src",
      ~s(tool "add", "Adds", McpServer.Handlers, :echo, icons: [[mime_type: "image/png"]])
    )
  end

  @tag req: "S4-81"
  test "a description that is no text" do
    assert_refused(
      3,
      ~s(the description of tool "add" is a string, got: :adds),
      ~s(tool "add", :adds, McpServer.Handlers, :echo)
    )
  end

  @tag req: "S4-42"
  test "a visibility there is not" do
    assert_refused(
      3,
      ~s(expected :visibility of tool "add" to be a list, each element one of :model, :app, got: [:user]),
      ~s(tool "add", "Adds", McpServer.Handlers, :echo, visibility: [:user])
    )
  end

  @tag req: "S4-42"
  test "a visibility for nobody" do
    assert_refused(
      3,
      ~s(the visibility of tool "add" is :model, :app or both, got: [], with which nobody may call it. Write: visibility: [:model]),
      ~s(tool "add", "Adds", McpServer.Handlers, :echo, visibility: [])
    )
  end

  @tag req: "S4-81"
  test "a handler that is no module and function" do
    assert_refused(3, ~s(tool "add" needs a module, got: "Calc"), ~s(tool "add", "Adds", "Calc", :echo))

    assert_refused(
      3,
      ~s(tool "add" needs a function's name, got: nil),
      ~s(tool "add", "Adds", McpServer.Handlers, nil)
    )
  end
end
