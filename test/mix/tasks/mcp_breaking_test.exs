defmodule Mix.Tasks.Mcp.BreakingTest do
  # The shell of Mix belongs to the whole VM.
  use ExUnit.Case, async: false

  alias McpServer.{Breaking, JSON}
  alias Mix.Tasks.Mcp

  @moduletag :tmp_dir

  @old """
  tool "gone", "Goes", McpServer.Handlers, :echo

  tool "search", "Searches", McpServer.Handlers, :echo, hints: [:read_only, :closed_world] do
    input_field "query", "What to look for", :string, required: true
    input_field "limit", "How many", :integer, minimum: 1, maximum: 100
    input_field "sort", "In which order", :string, enum: ["date", "name"]
    output_field "hits", "What was found", :array, required: true, items: :string
  end

  tool "code", "Looks a code up", McpServer.Handlers, :echo do
    input_field "code", "The code", :string, pattern: "^[A-Z]+$"
  end

  tool "renamed", "Keeps its schemas", McpServer.Handlers, :echo do
    input_field "id", "Its id", :integer, required: true
  end

  tool "grows", "Accepts more", McpServer.Handlers, :echo, requires: [:roots] do
    input_field "size", "How large", :integer, maximum: 5
    output_field "size", "How large", :integer
  end

  prompt "greet", "Greets" do
    argument "name", "Whom"
    argument "title", "How"
    get McpServer.Handlers, :greet
    complete McpServer.Handlers, :complete
  end

  prompt "part", "Says goodbye" do
    get McpServer.Handlers, :greeting
  end

  resource "readme", "file:///readme" do
    mimeType "text/markdown"
    read McpServer.Handlers, :read
  end

  resource "licence", "file:///licence" do
    read McpServer.Handlers, :read
  end

  resource "user", "users://{id}" do
    read McpServer.Handlers, :read
  end
  """

  @new """
  tool "search", "Searches well", McpServer.Handlers, :echo do
    input_field "query", "What to look for", :string, required: true
    input_field "limit", "How many", :integer, minimum: 1, maximum: 50, required: true
    input_field "sort", "In which order", :string, enum: ["date"]
    output_field "hits", "What was found", :array, items: :string
  end

  tool "code", "Looks a code up", McpServer.Handlers, :echo do
    input_field "code", "The code", :string, pattern: "^[A-Z]{3}$"
  end

  tool "renewed", "Keeps its schemas", McpServer.Handlers, :echo do
    input_field "id", "Its id", :integer, required: true
  end

  tool "grows", "Accepts more", McpServer.Handlers, :echo, requires: [:roots, :sampling], task_support: :required do
    input_field "size", "How large", :integer, maximum: 9
    output_field "size", "How large", :integer, maximum: 9
  end

  prompt "greet", "Greets" do
    argument "name", "Whom", required: true
    argument "language", "In which language"
    get McpServer.Handlers, :greet
    complete McpServer.Handlers, :complete
  end

  resource "readme", "file:///readme" do
    mimeType "text/plain"
    read McpServer.Handlers, :read
  end

  resource "user", "people://{id}" do
    read McpServer.Handlers, :read
  end
  """

  setup do
    shell = Mix.shell()
    Mix.shell(Mix.Shell.Process)
    on_exit(fn -> Mix.shell(shell) end)
  end

  defp router!(statements) do
    name = "BreakingTask#{System.unique_integer([:positive])}"

    [{module, _beam}] =
      Code.compile_string("defmodule #{name} do\nuse McpServer.Router\n#{statements}\nend\n", "router.ex")

    {name, module}
  end

  defp told do
    assert_received {:mix_shell, :info, [text]}
    text
  end

  # The snapshot of one router under the name of another.
  defp compared!(old, new, dir) do
    {_name, old} = router!(old)
    {name, _module} = router!(new)
    File.write!(Path.join(dir, name <> ".json"), Breaking.snapshot(old))
    [name, "--path", dir]
  end

  test "tasks, headers and formats", %{tmp_dir: dir} do
    old = """
    tool "book", "Books", McpServer.Handlers, :echo, task_support: :optional do
      input_field "city", "Where", :string
      input_field "on", "When", :string
    end
    """

    new = """
    tool "book", "Books", McpServer.Handlers, :echo do
      input_field "city", "Where", :string, "x-mcp-header": "City"
      input_field "on", "When", :string, format: "date"
      input_field "until", "How long", :string, format: "date"
    end
    """

    arguments = [name | _options] = compared!(old, new, dir)
    assert catch_exit(Mcp.Breaking.run(arguments)) == {:shutdown, 1}

    assert told() == """
           #{name} (#{dir}/#{name}.json)
             breaking: tool "book": the tool no longer accepts all arguments that it accepted [input_narrowed]
               /inputSchema: the property "until", which could be anything, has a schema now
               for example {"until":1}
             breaking: tool "book": the header Mcp-Param-City now has to repeat /inputSchema/properties/city [header_required]
             breaking: tool "book": a string at /inputSchema/properties/on now has to be of the format "date" [format_asserted]
               for example {"on":"a"}
             breaking: tool "book": a string at /inputSchema/properties/until now has to be of the format "date" [format_asserted]
               for example {"until":"a"}
             breaking: tool "book": calls may no longer run as tasks [task_withdrawn]

           5 breaking, 0 unknown, 0 compatible\
           """
  end

  test "what breaks, what may, and what does not", %{tmp_dir: dir} do
    arguments = [name | _options] = compared!(@old, @new, dir)
    assert catch_exit(Mcp.Breaking.run(arguments)) == {:shutdown, 1}

    assert told() == """
           #{name} (#{dir}/#{name}.json)
             breaking: tool "code": the tool no longer accepts all arguments that it accepted [input_narrowed]
               /inputSchema/properties/code: `pattern` was "^[A-Z]+$" and is "^[A-Z]{3}$"
             breaking: tool "gone": the tool is gone [tool_removed]
             breaking: tool "grows": clients without the capability "sampling" are now refused [capability_required]
             breaking: tool "grows": calls now have to run as tasks [task_required]
             breaking: tool "renamed": the tool is gone; the new tool "renewed" has the same schemas and may be what became of it [tool_removed]
             breaking: tool "search": the tool no longer accepts all arguments that it accepted [input_narrowed]
               /inputSchema: the property "limit" is now required
               /inputSchema/properties/limit: `maximum` was 100 and is 50
               /inputSchema/properties/sort: "name" is no longer one of the values
               for example {"query":"a"}
             breaking: tool "search": the tool may return what it could not return [output_widened]
               /outputSchema: the property "hits" may now be missing
               for example {}
             breaking: tool "search": the tool no longer says that it only reads (`readOnlyHint`), by which clients may have let it run unasked [hint_withdrawn]
             breaking: tool "search": the tool no longer says that it stays inside a closed world (`openWorldHint`), by which clients may have let it run unasked [hint_withdrawn]
             breaking: prompt "greet": the argument "name" is now required [argument_required]
             breaking: prompt "greet": the argument "title" is gone [argument_removed]
             breaking: prompt "part": the prompt is gone [prompt_removed]
             breaking: resource "file:///licence": it is gone [resource_removed]
             breaking: resource "file:///readme": the media type was text/markdown and is text/plain [media_type_changed]
             breaking: resource template "users://{id}": it is gone; "user" is now people://{id} [template_removed]
             compatible: tool "grows": the tool accepts what it accepted, and may accept more [input_widened]
             compatible: tool "grows": the tool returns nothing that it could not return [output_narrowed]
             compatible: tool "renewed": the tool is new [tool_added]
             compatible: prompt "greet": the argument "language" is new [argument_added]
             compatible: resource template "people://{id}": the template is new [template_added]

           15 breaking, 0 unknown, 5 compatible\
           """
  end

  test "the same as JSON", %{tmp_dir: dir} do
    arguments = [name | _options] = compared!(tool("maximum: 9"), tool("maximum: 5"), dir)
    assert catch_exit(Mcp.Breaking.run(arguments ++ ["--format", "json"])) == {:shutdown, 1}

    assert told() == """
           {
             "breaking": 1,
             "unknown": 0,
             "compatible": 0,
             "routers": [
               {
                 "router": "#{name}",
                 "snapshot": "#{dir}/#{name}.json",
                 "changes": [
                   {
                     "level": "breaking",
                     "code": "input_narrowed",
                     "kind": "tool",
                     "name": "t",
                     "message": "the tool no longer accepts all arguments that it accepted",
                     "reasons": [
                       "/inputSchema/properties/n: `maximum` was 9 and is 5"
                     ],
                     "example": "{\\"n\\":9}"
                   }
                 ]
               }
             ]
           }\
           """
  end

  defp tool(options) do
    ~s(tool "t", "A tool", McpServer.Handlers, :echo do\ninput_field "n", "A number", :integer, #{options}\nend)
  end

  test "what only adds does not fail", %{tmp_dir: dir} do
    arguments = compared!(tool("maximum: 5"), tool("maximum: 9"), dir)
    assert Mcp.Breaking.run(arguments ++ ["--strict"]) == :ok
    assert told() =~ "0 breaking, 0 unknown, 1 compatible"
  end

  test "what is unknown fails with --strict only", %{tmp_dir: dir} do
    field = fn pattern ->
      ~s(tool "t", "A tool", McpServer.Handlers, :echo do\ninput_field "c", "C", :string, pattern: "#{pattern}"\nend)
    end

    arguments = compared!(field.("^ab"), field.("^a"), dir)
    assert Mcp.Breaking.run(arguments) == :ok
    assert told() =~ "0 breaking, 1 unknown, 0 compatible"
    assert catch_exit(Mcp.Breaking.run(arguments ++ ["--strict"])) == {:shutdown, 1}
  end

  test "a snapshot is written once, and compared with", %{tmp_dir: dir} do
    {name, _module} = router!(tool("maximum: 5"))
    path = Path.join([dir, "mcp", name <> ".json"])
    arguments = [name, "--path", Path.join(dir, "mcp")]

    assert_raise Mix.Error, "there is no snapshot of #{name} in #{path}: write it with mix mcp.breaking --write", fn ->
      Mcp.Breaking.run(arguments)
    end

    assert Mcp.Breaking.run(["--write" | arguments]) == :ok
    assert told() == "wrote #{path}"

    assert File.read!(path) == """
           {
             "mcpSnapshot": 1,
             "prompts": {},
             "resourceTemplates": {},
             "resources": {},
             "tools": {
               "t": {
                 "description": "A tool",
                 "formats": [
                   "date",
                   "date-time",
                   "email",
                   "ipv4",
                   "ipv6",
                   "uri",
                   "uuid"
                 ],
                 "inputSchema": {
                   "properties": {
                     "n": {
                       "description": "A number",
                       "maximum": 5,
                       "type": "integer"
                     }
                   },
                   "type": "object"
                 },
                 "requires": []
               }
             }
           }
           """

    assert Mcp.Breaking.run(["--write" | arguments]) == :ok
    assert told() == "#{path} is up to date"

    assert Mcp.Breaking.run(arguments) == :ok
    assert told() == "#{name} (#{path})\n  nothing changed\n\n0 breaking, 0 unknown, 0 compatible"
  end

  test "what is no snapshot is said", %{tmp_dir: dir} do
    {name, _module} = router!("")
    path = Path.join(dir, name <> ".json")
    File.write!(path, "<<<<<<< HEAD\n")

    assert_raise Mix.Error,
                 "#{path} cannot be compared with: it is not a snapshot: expected value at line 1 column 1",
                 fn -> Mcp.Breaking.run([name, "--path", dir]) end

    File.write!(path, ~s({"mcpSnapshot": 2}))

    assert_raise Mix.Error,
                 ~s(#{path} cannot be compared with: it is not a snapshot of the form 1, which "mcpSnapshot" names),
                 fn -> Mcp.Breaking.run([name, "--path", dir]) end
  end

  test "a snapshot without a router is breaking", %{tmp_dir: dir} do
    # All routers of this project, which are those of the test support.
    assert Mcp.Breaking.run(["--write", "--path", dir]) == :ok
    File.write!(Path.join(dir, "Gone.MCP.json"), "{}")
    assert catch_exit(Mcp.Breaking.run(["--path", dir, "--format", "json"])) == {:shutdown, 1}
    flush_writes()
    report = JSON.decode!(told())
    assert report["breaking"] == 1

    assert [%{"code" => "router_removed", "kind" => "router", "name" => "Gone.MCP"}] =
             Enum.flat_map(report["routers"], & &1["changes"])
  end

  defp flush_writes do
    receive do
      {:mix_shell, :info, ["wrote " <> _path]} -> flush_writes()
    after
      0 -> :ok
    end
  end

  test "wrong options and names" do
    for arguments <- [["--writ"], ["--format", "yaml"], ["--path"]] do
      assert_raise Mix.Error, ~r/\Ausage: mix mcp.breaking /, fn -> Mcp.Breaking.run(arguments) end
    end

    assert_raise Mix.Error, "String is not a router: it does not `use McpServer.Router`", fn ->
      Mcp.Breaking.run(["String"])
    end
  end
end
