defmodule Mix.Tasks.Mcp.LintTest do
  # Not async: the shell of Mix is global.
  use ExUnit.Case, async: false

  import ExUnit.CaptureIO

  alias McpServer.{JSON, Lint}

  # Each of these tests runs mix in a separate project.
  @moduletag timeout: 300_000
  @moduletag :tmp_dir

  @project """
  defmodule Faulty.MixProject do
    use Mix.Project
    def project, do: [app: :faulty, version: "0.1.0"]
    def application, do: [extra_applications: [:mcp_server]]
  end
  """

  @handlers "McpServer.Handlers"

  @sound """
  defmodule Sound.MCP do
    use McpServer.Router

    tool "sound", "Nothing is wrong with it", Faulty.Handlers, :echo, hints: [:read_only]
  end
  """

  @findings ~S'''
  lib/faulty.ex:2: warning: server "faulty" /instructions: the instructions take about 550 tokens, over the budget of 512 [instructions_budget]
    Begin with what matters, and move the rest into a resource.
  lib/faulty.ex:11: error: tool "range" /inputSchema/properties/size: no value satisfies this schema: `maximum` and `minimum` contradict each other; no arguments are valid [unsatisfiable]
    Change one of the keywords, or remove it.
  lib/faulty.ex:14: error: tool "closed" /inputSchema/properties/filter: the property "value" is required, but not one of `properties`, and `additionalProperties` is false [required_undeclared]
    Declare "value", or do not require it.
  lib/faulty.ex:31: error: tool "values" /inputSchema/properties/colour/examples/1: the example "blue" is refused by its own schema, which wants a string of at most 3 characters (maxLength) [invalid_example]
    Change the example or the schema.
  lib/faulty.ex:30: error: tool "values" /inputSchema/properties/count/items/default: the default "ten" is refused by its own schema, which wants an integer (type) [invalid_default]
    Change the default or the schema.
  lib/faulty.ex:32: error: tool "values" /inputSchema/properties/mode/enum/1: the member "gentle" is refused by the rest of its schema, which wants a string of at most 4 characters (maxLength) [invalid_enum]
    Remove the member, or change what stands beside the enum.
  lib/faulty.ex:36: error: tool "list" /inputSchema/properties/items: the array has no `items` [array_items]
    Say what its elements are, such as `items: :string`.
  lib/faulty.ex:39: error: tool "either" /inputSchema/oneOf: `oneOf` stands at the root of the input schema [root_combinator]
    Declare all properties at the root, say in their descriptions which go together, and check it in the handler.
  lib/faulty.ex:39: error: tool "either" /inputSchema/properties/name[]: the argument "name[]" is not named by 1 to 64 characters of A-Z a-z 0-9 _ . - [property_name]
    Rename it, and map the name in the handler.
  lib/faulty.ex:50: warning: tool "admin.users/list" /name: the name has a '.' in it; some clients take 1 to 64 characters of A-Z a-z 0-9 _ - only [tool_name]
    Rename the tool.
  lib/faulty.ex:52: warning: tool "getUser" /name: the name differs from "get_user" in case and separators only [alike_names]
    Give them names that say what is different.
  lib/faulty.ex:54: warning: tool "forms" /inputSchema/properties/anything: there is no description [missing_description]
    Say in a sentence what it is for.
  lib/faulty.ex:54: warning: tool "forms" /inputSchema/properties/anything: the schema is `true`, which is no object [boolean_schema]
    Say which type it has, in an object.
  lib/faulty.ex:54: warning: tool "forms" /inputSchema/properties/level: the enum has members that are no strings [enum_type]
    Use strings, or describe the allowed values with `minimum` and `maximum` or in words.
  lib/faulty.ex:54: warning: tool "forms" /inputSchema/properties/link: the format "uri" is one that some clients refuse [format]
    Describe the form in words beside it, and ignore this where every client takes it; calls are checked either way.
  lib/faulty.ex:54: warning: tool "forms" /inputSchema/properties/note: the type is a list: string, null [type_union]
    Choose one type; what may be null can be left out of `required` instead.
  lib/faulty.ex:54: warning: tool "forms" /inputSchema/properties/order: the enum has no `type` beside it [enum_type]
    Add `"type": "string"`.
  lib/faulty.ex:54: warning: tool "forms" /inputSchema/properties/tag/$ref: `$ref` is not followed by every client [reference]
    Write the schema where it is used.
  lib/faulty.ex:54: warning: tool "forms" /inputSchema/properties/text: the property has no `type` [missing_type]
    Say which type it has.
  lib/faulty.ex:54: warning: tool "forms" /inputSchema/properties/when/not: `not` is not known to every client [combinator]
    Use `anyOf`, or one plain schema and a description.
  lib/faulty.ex:54: warning: tool "forms" /outputSchema: the output schema does not say `"type": "object"`: clients of revisions before 2026-07-28 do not get it [output_root]
    Return an object that holds the value, or accept that older clients know no output schema.
  lib/faulty.ex:72: warning: tool "silent": there is no description [missing_description]
    Say in a sentence what it is for.
  lib/faulty.ex:73: warning: tool "silent" /inputSchema/properties/a: there is no description [missing_description]
    Say in a sentence what it is for.
  lib/faulty.ex:72: warning: tool "silent" /annotations: the tool has no readOnlyHint and no destructiveHint: clients take it for one that destroys [missing_annotations]
    Declare `hints:`, such as `hints: [:read_only]`, `[:non_destructive]` or, for one that destroys, `[]`.
  lib/faulty.ex:76: warning: tool "wordy" /description: the description takes about 300 tokens, over the budget of 256 [description_budget]
    Begin with what matters, and move the rest into a resource or the instructions.
  lib/faulty.ex:78: warning: prompt "greet": there is no description [missing_description]
    Say in a sentence what it is for.
  lib/faulty.ex:79: warning: prompt "greet" /arguments/0: there is no description [missing_description]
    Say in a sentence what it is for.
  lib/faulty.ex:84: warning: resource "me" /uri: the template "user" (users://{id}) matches users://me too; this resource answers it [template_shadowed]
    If that is meant, `lint ignore: [:template_shadowed]` in the resource says so; otherwise give one of them another URI.
  lib/faulty.ex:94: error: resource template "person" /uriTemplate: users://{name} matches what "user" (users://{id}) matches, and never answers [same_template]
    Remove one of the two.
  lib/faulty.ex:104: warning: resource template "post": there is no description [missing_description]
    Say in a sentence what it is for.
  lib/faulty.ex:104: warning: resource template "post" /uriTemplate: "posts" (posts://{user}/latest) matches posts://news/latest too; it was declared first and answers it [template_overlap]
    Declare the more special template first, or give one of them another URI.

  9 errors, 22 warnings in 2 routers
  '''

  defp project!(dir) do
    write!(dir, "mix.exs", @project)
    write!(dir, "lib/faulty.ex", String.replace(McpServer.FaultyRouter.source(), @handlers, "Faulty.Handlers"))
    write!(dir, "lib/sound.ex", @sound)

    write!(dir, "lib/handlers.ex", """
    defmodule Faulty.Handlers do
      def echo(_conn, _arguments), do: {:ok, []}
      def greet(_conn, _arguments), do: []
      def complete(_conn, _name, _prefix), do: []
      def read(_conn, _variables), do: {:error, :not_found}
    end
    """)
  end

  defp write!(dir, path, text) do
    path = Path.join(dir, path)
    File.mkdir_p!(Path.dirname(path))
    File.write!(path, text)
  end

  defp mix(dir, arguments, options \\ []) do
    ebin = :mcp_server |> :code.lib_dir() |> Path.join("ebin")
    {env, options} = Keyword.pop(options, :env, [])
    System.cmd("elixir", ["-pa", ebin, "-S", "mix" | arguments], [cd: dir, env: [{"MIX_ENV", "dev"} | env]] ++ options)
  end

  @tag slow: "each test starts Mix"
  test "a router with each fault: warnings while it compiles, findings, exit statuses, JSON", %{tmp_dir: dir} do
    project!(dir)

    for arguments <- [["mcp.lint"], ["mcp.lint", "Faulty.MCP"], ["mcp.breaking"]] do
      assert mix(dir, arguments ++ ["--no-compile"], stderr_to_stdout: true) ==
               {"** (Mix) nothing is compiled yet: run mix compile first\n", 1}
    end

    {compiled, 0} = mix(dir, ["compile"], stderr_to_stdout: true)
    assert warnings(compiled) == errors(@findings)

    assert {@findings, 1} == mix(dir, ["mcp.lint"])
    assert {"0 errors, 0 warnings in 1 router\n", 0} = mix(dir, ["mcp.lint", "Sound.MCP", "--strict"])

    arguments = ["mcp.lint", "Faulty.MCP", "--strict", "--only", "format", "--format", "json"]
    # Even with MIX_QUIET the requested result is printed.
    assert {text, 1} = mix(dir, arguments, env: [{"MIX_QUIET", "1"}])

    assert text == """
           {
             "errors": 0,
             "warnings": 1,
             "findings": [
               {
                 "severity": "warning",
                 "code": "format",
                 "router": "Faulty.MCP",
                 "kind": "tool",
                 "name": "forms",
                 "pointer": "/inputSchema/properties/link",
                 "message": "the format \\"uri\\" is one that some clients refuse",
                 "advice": "Describe the form in words beside it, and ignore this where every client takes it; calls are checked either way.",
                 "file": "lib/faulty.ex",
                 "line": 54
               }
             ]
           }
           """

    assert {_text, 0} = mix(dir, ["mcp.lint", "Faulty.MCP", "--only", "format"])
  end

  @tag slow: "each test starts Mix"
  test "in an umbrella: files and snapshots of each application, from the root and from its folder", %{tmp_dir: dir} do
    write!(dir, "mix.exs", """
    defmodule Shops.MixProject do
      use Mix.Project
      def project, do: [apps_path: "apps", version: "0.1.0", deps: []]
    end
    """)

    for name <- ["one", "two"], do: application!(dir, name)
    assert {_printed, 0} = mix(dir, ["compile"], stderr_to_stdout: true)

    assert mix(dir, ["mcp.lint"]) ==
             {"""
              apps/one/lib/one.ex:5: error: tool "t" /inputSchema/properties/items: the array has no `items` [array_items]
                Say what its elements are, such as `items: :string`.
              apps/two/lib/two.ex:5: error: tool "t" /inputSchema/properties/items: the array has no `items` [array_items]
                Say what its elements are, such as `items: :string`.

              2 errors, 0 warnings in 2 routers
              """, 1}

    assert {json, 1} = mix(dir, ["mcp.lint", "Two.MCP", "--format", "json"])
    assert [%{"file" => "apps/two/lib/two.ex", "line" => 5}] = JSON.decode!(json)["findings"]

    two = Path.join(dir, "apps/two")
    assert {"lib/two.ex:5: error: " <> _rest, 1} = mix(two, ["mcp.lint"])

    assert {"wrote apps/two/priv/mcp/Two.MCP.json\n", 0} = mix(dir, ["mcp.breaking", "Two.MCP", "--write"])

    assert mix(two, ["mcp.breaking"]) ==
             {"Two.MCP (priv/mcp/Two.MCP.json)\n  nothing changed\n\n0 breaking, 0 unknown, 0 compatible\n", 0}

    assert mix(dir, ["mcp.breaking"]) ==
             {"""
              Two.MCP (apps/two/priv/mcp/Two.MCP.json)
                nothing changed

              0 breaking, 0 unknown, 0 compatible

              there is no snapshot of One.MCP in apps/one/priv/mcp/One.MCP.json: write it with mix mcp.breaking One.MCP --write
              """, 1}

    # The snapshot in the application's folder reveals the removed router.
    File.rename!(Path.join(two, "priv/mcp/Two.MCP.json"), Path.join(two, "priv/mcp/Gone.MCP.json"))
    assert {printed, 1} = mix(dir, ["mcp.breaking", "--no-compile"])
    assert printed =~ "Gone.MCP (apps/two/priv/mcp/Gone.MCP.json)\n  breaking: router \"Gone.MCP\": the router is gone"
  end

  defp application!(dir, name) do
    module = Macro.camelize(name)

    write!(dir, "apps/#{name}/mix.exs", """
    defmodule #{module}.MixProject do
      use Mix.Project

      def project do
        [app: :#{name}, version: "0.1.0", build_path: "../../_build", deps_path: "../../deps", lockfile: "../../mix.lock"]
      end

      def application, do: [extra_applications: [:mcp_server]]
    end
    """)

    write!(dir, "apps/#{name}/lib/#{name}.ex", """
    defmodule #{module}.MCP do
      use McpServer.Router

      tool "t", "A tool", #{module}.Handlers, :echo, hints: [:read_only] do
        input_field "items", "The items", :array
      end
    end

    defmodule #{module}.Handlers do
      def echo(_conn, _arguments), do: {:ok, []}
    end
    """)
  end

  test "every code but those of scopes, of guards and of budgets of many tools is in that router" do
    missing = for code <- Lint.codes(), not String.contains?(@findings, "[#{code}]"), do: code
    assert missing == [:missing_scopes, :catalogue_budget, :tool_count, :guard_overlap]
  end

  # `warning: …`, the advice and `file:line: …` of each warning, as the line of the finding and its advice.
  # Elixir 1.14 prints the place below the text; later versions show the line of the source before it.
  @warning ~S"^ *warning: (.*)\n +(.*)\n(?: *\d* │.*\n)* *(?:└─ )?(lib/[^:]+:\d+): .*$"

  defp warnings(output) do
    for [_all, text, advice, place] <- @warning |> Regex.compile!("mu") |> Regex.scan(output),
        into: "",
        do: "#{place}: error: #{text}\n  #{advice}\n"
  end

  defp errors(findings) do
    for [all, _line] <- Regex.scan(~r/^(.*: error: .*)\n  .*\n/m, findings), into: "", do: all
  end

  describe "in this VM" do
    setup do
      name = "LintTask#{System.unique_integer([:positive])}"

      Code.compile_string("""
      defmodule #{name} do
        use McpServer.Router
        tool "a.b", "#{String.duplicate("x", 8)}", McpServer.Handlers, :echo, hints: [:read_only]
      end
      """)

      {:ok, name: name}
    end

    # The output of the task, and its exit status.
    defp run(arguments) do
      {status, printed} =
        with_io(fn ->
          try do
            :ok = Mix.Tasks.Mcp.Lint.run(arguments)
            0
          catch
            :exit, {:shutdown, status} -> status
          end
        end)

      {printed, status}
    end

    @nothing "0 errors, 0 warnings in 1 router\n"

    defp finding(message),
      do: ~r/\Anofile:3: warning: tool "a\.b" #{Regex.escape(message)}\n  .*\n\n0 errors, 1 warning in 1 router\n\z/

    test "warnings alone fail with --strict only", %{name: name} do
      assert {printed, 0} = run([name])

      assert printed =~
               finding(
                 "/name: the name has a '.' in it; some clients take 1 to 64 characters of A-Z a-z 0-9 _ - only [tool_name]"
               )

      assert run([name, "--strict"]) == {printed, 1}
    end

    test "both sides of a budget", %{name: name} do
      assert run([name, "--description-tokens", "2", "--only", "description_budget"]) == {@nothing, 0}
      assert {printed, 0} = run([name, "--description-tokens", "1", "--only", "description_budget"])

      assert printed =~
               finding("/description: the description takes about 2 tokens, over the budget of 1 [description_budget]")
    end

    test "--ignore and --only take codes, with commas between them, and may be given again", %{name: name} do
      assert run([name, "--strict", "--ignore", "format, tool_name"]) == {@nothing, 0}
      assert run([name, "--strict", "--ignore", "tool_name", "--ignore", "format"]) == {@nothing, 0}
      assert run([name, "--strict", "--ignore", "format", "--ignore", "tool_name"]) == {@nothing, 0}
      assert run([name, "--strict", "--only", "format"]) == {@nothing, 0}
      assert {printed, 1} = run([name, "--strict", "--only", "tool_name", "--only", "format"])
      assert run([name, "--strict", "--only", "format", "--only", "tool_name"]) == {printed, 1}
      assert String.ends_with?(printed, "\n\n0 errors, 1 warning in 1 router\n")
    end

    test "an empty list of codes is refused: nothing would be looked for", %{name: name} do
      for option <- ["--only", "--ignore"], {text, shown} <- [{"", ~s("")}, {" , ", ~s(" , ")}] do
        sentence = "expected #{option} to name at least one code, got: #{shown}\n"
        refused(sentence, [name, option, text])
        refused(sentence, [name, option, "format", option, text])
      end
    end

    test "JSON without findings", %{name: name} do
      assert run([name, "--only", "format", "--format", "json"]) ==
               {~s({\n  "errors": 0,\n  "warnings": 0,\n  "findings": []\n}\n), 0}
    end

    test "both sides of the largest budget", %{name: name} do
      assert run([name, "--only", "tool_count", "--max-tools", "10000000"]) == {@nothing, 0}

      refused("expected --max-tools to be an integer from 1 to 10_000_000, got: 10000001\n", [
        name,
        "--max-tools",
        "10000001"
      ])
    end

    test "wrong codes, options, formats, budgets and names", %{name: name} do
      assert_raise Mix.Error, "there is no code formt. The codes are: #{Enum.join(Lint.codes(), ", ")}", fn ->
        Mix.Tasks.Mcp.Lint.run([name, "--only", "formt"])
      end

      for {arguments, sentence} <- [
            {["--strickt"], "there is no option --strickt, did you mean --strict?"},
            {["--formt", "json"], "there is no option --formt, did you mean --format?"},
            {["--no-only"], "there is no option --no-only"},
            {["-x"], "there is no option -x"},
            {["--strict=yes"], "expected --strict to have no value, got: yes"},
            {["--only"], "expected --only to have a value"},
            {["--format", "yaml"], "expected --format to be text or json, got: yaml"},
            {["--max-tools", "0"], "expected --max-tools to be an integer from 1 to 10_000_000, got: 0"},
            {["--max-tools", "many"], "expected --max-tools to be an integer, got: many"},
            {["--description-tokens", "99999999999999999999"],
             "expected --description-tokens to be an integer from 1 to 10_000_000, got: 99999999999999999999"}
          ],
          do: refused(sentence <> "\n", [name | arguments])

      assert_raise Mix.Error, "there is no module No.Router in this project", fn ->
        Mix.Tasks.Mcp.Lint.run(["No.Router"])
      end
    end

    defp refused(sentence, arguments) do
      usage =
        "usage: mix mcp.lint [ROUTER …] [--strict] [--only CODES] [--ignore CODES] [--format text|json] " <>
          "[--description-tokens N] [--instructions-tokens N] [--catalogue-tokens N] [--max-tools N] [--no-compile]"

      assert_raise Mix.Error, sentence <> usage, fn -> Mix.Tasks.Mcp.Lint.run(arguments) end
    end
  end
end
