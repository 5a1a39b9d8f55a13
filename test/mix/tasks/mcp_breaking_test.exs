defmodule Mix.Tasks.Mcp.BreakingTest do
  # Not async: the shell of Mix is global.
  use ExUnit.Case, async: false

  import ExUnit.CaptureIO

  alias McpServer.Breaking
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

  # The output of the task, and its exit status.
  defp run(arguments) do
    {status, printed} =
      with_io(fn ->
        try do
          :ok = Mcp.Breaking.run(arguments)
          0
        catch
          :exit, {:shutdown, status} -> status
        end
      end)

    {printed, status}
  end

  defp write!(arguments, paths) do
    assert capture_io(fn -> assert Mcp.Breaking.run(["--write" | arguments]) == :ok end) == ""
    for path <- paths, do: assert(told() == "wrote #{path}")
  end

  # Compares a router with another router's snapshot.
  defp compared!(old, new, dir) do
    {_name, old} = router!(old)
    {name, _module} = router!(new)
    File.write!(Path.join(dir, name <> ".json"), Breaking.snapshot(old))
    [name, "--path", dir]
  end

  test "tasks, headers and formats", %{tmp_dir: dir} do
    old = """
    tool "book", "Books", McpServer.Handlers, :echo, task_support: :optional, undeclared: :pass do
      input_field "city", "Where", :string
      input_field "on", "When", :string
    end
    """

    new = """
    tool "book", "Books", McpServer.Handlers, :echo, undeclared: :pass do
      input_field "city", "Where", :string, "x-mcp-header": "City"
      input_field "on", "When", :string, format: "date"
      input_field "until", "How long", :string, format: "date"
    end
    """

    arguments = [name | _options] = compared!(old, new, dir)
    assert {printed, 1} = run(arguments)

    assert printed == """
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

           5 breaking, 0 unknown, 0 compatible
           """
  end

  test "types of Elixir, and what is dropped", %{tmp_dir: dir} do
    tool = fn options, type ->
      """
      tool "note", "Notes", McpServer.Handlers, :echo, formats: :annotate, #{options} do
        input_field "on", "When", #{type}
        input_field "place", "Where", :object do
          field "name", "Its name", :string
        end
      end
      """
    end

    arguments =
      [name | _options] = compared!(tool.("undeclared: :pass", ":string"), tool.("undeclared: :drop", ":date"), dir)

    assert {printed, 1} = run(arguments)

    assert printed == """
           #{name} (#{dir}/#{name}.json)
             breaking: tool "note": a string at /inputSchema/properties/on now has to be one of the type :date [cast_added]
             breaking: tool "note": members of /inputSchema that are not declared no longer reach the tool [undeclared_dropped]
             breaking: tool "note": members of /inputSchema/properties/place that are not declared no longer reach the tool [undeclared_dropped]

           3 breaking, 0 unknown, 0 compatible
           """

    # Clients do not notice `arguments:`.
    arguments =
      compared!(tool.("undeclared: :drop", ":date"), tool.("undeclared: :drop, arguments: :atoms", ":date"), dir)

    assert {_nothing_breaks, 0} = run(arguments)
  end

  test "what breaks, what may, and what does not", %{tmp_dir: dir} do
    arguments = [name | _options] = compared!(@old, @new, dir)
    assert {printed, 1} = run(arguments)

    assert printed == """
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

           15 breaking, 0 unknown, 5 compatible
           """
  end

  test "the same as JSON", %{tmp_dir: dir} do
    arguments = [name | _options] = compared!(tool("maximum: 9"), tool("maximum: 5"), dir)
    assert {printed, 1} = run(arguments ++ ["--format", "json"])

    assert printed == """
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
             ],
             "uncompared": []
           }
           """
  end

  defp tool(options) do
    ~s(tool "t", "A tool", McpServer.Handlers, :echo do\ninput_field "n", "A number", :integer, #{options}\nend)
  end

  test "what only adds does not fail", %{tmp_dir: dir} do
    arguments = [name | _options] = compared!(tool("maximum: 5"), tool("maximum: 9"), dir)

    expected = """
    #{name} (#{dir}/#{name}.json)
      compatible: tool "t": the tool accepts what it accepted, and may accept more [input_widened]

    0 breaking, 0 unknown, 1 compatible
    """

    assert run(arguments ++ ["--strict"]) == {expected, 0}
  end

  test "what is unknown fails with --strict only", %{tmp_dir: dir} do
    field = fn pattern ->
      ~s(tool "t", "A tool", McpServer.Handlers, :echo do\ninput_field "c", "C", :string, pattern: "#{pattern}"\nend)
    end

    arguments = compared!(field.("^ab"), field.("^a"), dir)
    assert {printed, 0} = run(arguments)
    assert String.ends_with?(printed, "\n\n0 breaking, 1 unknown, 0 compatible\n")
    assert run(arguments ++ ["--strict"]) == {printed, 1}
  end

  test "a snapshot is written once, and compared with", %{tmp_dir: dir} do
    {name, _module} = router!(tool("maximum: 5"))
    path = Path.join([dir, "mcp", name <> ".json"])
    arguments = [name, "--path", Path.join(dir, "mcp")]

    write!(arguments, [path])

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
                   "additionalProperties": false,
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

    assert run(arguments) == {"#{name} (#{path})\n  nothing changed\n\n0 breaking, 0 unknown, 0 compatible\n", 0}
  end

  test "a router without a snapshot, or with what is none, hides no break of another", %{tmp_dir: dir} do
    [broken, "--path", ^dir] = compared!(tool("maximum: 9"), tool("maximum: 5"), dir)
    [missing, conflict, newer] = for _n <- 1..3, do: "" |> router!() |> elem(0)
    path = &Path.join(dir, &1 <> ".json")
    File.write!(path.(conflict), "<<<<<<< HEAD\n")
    File.write!(path.(newer), ~s({"mcpSnapshot": 2}))
    arguments = [missing, conflict, broken, newer, "--path", dir]

    expected = """
    #{broken} (#{path.(broken)})
      breaking: tool "t": the tool no longer accepts all arguments that it accepted [input_narrowed]
        /inputSchema/properties/n: `maximum` was 9 and is 5
        for example {"n":9}

    1 breaking, 0 unknown, 0 compatible

    there is no snapshot of #{missing} in #{path.(missing)}: write it with mix mcp.breaking #{missing} --write --path #{dir}
    #{path.(conflict)} cannot be compared with: it is not a snapshot: expected value at line 1 column 1
    #{path.(newer)} cannot be compared with: it is not a snapshot of the form 1, which "mcpSnapshot" names
    """

    assert run(arguments) == {expected, 1}

    # The recommended command writes only that snapshot.
    before = File.read!(path.(broken))
    write!([missing, "--path", dir], [path.(missing)])
    assert File.read!(path.(broken)) == before

    assert {printed, 1} = run([missing, conflict, "--path", dir, "--format", "json"])

    assert printed == """
           {
             "breaking": 0,
             "unknown": 0,
             "compatible": 0,
             "routers": [
               {
                 "router": "#{missing}",
                 "snapshot": "#{path.(missing)}",
                 "changes": []
               }
             ],
             "uncompared": [
               {
                 "router": "#{conflict}",
                 "snapshot": "#{path.(conflict)}",
                 "message": "#{path.(conflict)} cannot be compared with: it is not a snapshot: expected value at line 1 column 1"
               }
             ]
           }
           """
  end

  test "without --path the snapshot is one of priv/mcp" do
    {name, _module} = router!("")

    expected = """
    0 breaking, 0 unknown, 0 compatible

    there is no snapshot of #{name} in priv/mcp/#{name}.json: write it with mix mcp.breaking #{name} --write
    """

    assert run([name]) == {expected, 1}
  end

  test "a snapshot without a router is breaking; another file is none", %{tmp_dir: dir} do
    {_name, router} = router!(tool("maximum: 5"))
    # All routers of this project, including those of the test support.
    assert Mcp.Breaking.run(["--write", "--path", dir]) == :ok
    flush_writes()
    File.write!(Path.join(dir, "other.json"), ~s({"name": "x"}))
    File.write!(Path.join(dir, "list.json"), "[]")
    File.write!(Path.join(dir, "text.json"), "mcpSnapshot")
    File.mkdir!(Path.join(dir, "folder.json"))
    assert {printed, 0} = run(["--path", dir])
    assert String.ends_with?(printed, "\n\n0 breaking, 0 unknown, 0 compatible\n")

    gone = Path.join(dir, "Gone.MCP.json")
    File.write!(gone, Breaking.snapshot(router))
    assert {text, 1} = run(["--path", dir])

    assert text ==
             String.replace(printed, "0 breaking, 0 unknown, 0 compatible\n", """
             Gone.MCP (#{gone})
               breaking: router "Gone.MCP": the router is gone; if that is meant, remove its snapshot [router_removed]

             1 breaking, 0 unknown, 0 compatible
             """)
  end

  defp flush_writes do
    receive do
      {:mix_shell, :info, ["wrote " <> _path]} -> flush_writes()
    after
      0 -> :ok
    end
  end

  test "wrong options and names" do
    usage =
      "usage: mix mcp.breaking [ROUTER …] [--write] [--path FOLDER] [--strict] [--format text|json] [--no-compile]"

    for {arguments, sentence} <- [
          {["--writ"], "there is no option --writ, did you mean --write?"},
          {["--format", "yaml"], "expected --format to be text or json, got: yaml"},
          {["--path"], "expected --path to have a value"},
          {["--write=yes"], "expected --write to have no value, got: yes"}
        ] do
      assert_raise Mix.Error, "#{sentence}\n#{usage}", fn -> Mcp.Breaking.run(arguments) end
    end

    assert_raise Mix.Error, "String is not a router: it does not `use McpServer.Router`", fn ->
      Mcp.Breaking.run(["String"])
    end
  end
end
