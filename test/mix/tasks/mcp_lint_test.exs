defmodule Mix.Tasks.Mcp.LintTest do
  # The shell of Mix belongs to the whole VM.
  use ExUnit.Case, async: false

  alias McpServer.{JSON, Lint}

  # Each of these runs mix in a project of its own.
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
  lib/faulty.ex:10: error: tool "range" /inputSchema/properties/size: no value satisfies this schema: `maximum` and `minimum` contradict each other; no arguments are valid [unsatisfiable]
    Change one of the keywords, or remove it.
  lib/faulty.ex:14: error: tool "closed" /inputSchema/properties/filter: the property "value" is required, but not one of `properties`, and `additionalProperties` is false [required_undeclared]
    Declare "value", or do not require it.
  lib/faulty.ex:29: error: tool "values" /inputSchema/properties/colour/examples/1: the example "blue" is refused by its own schema, which wants a string of at most 3 characters (maxLength) [invalid_example]
    Change the example or the schema.
  lib/faulty.ex:29: error: tool "values" /inputSchema/properties/count/default: the default "ten" is refused by its own schema, which wants an integer (type) [invalid_default]
    Change the default or the schema.
  lib/faulty.ex:29: error: tool "values" /inputSchema/properties/mode/enum/1: the member "gentle" is refused by the rest of its schema, which wants a string of at most 4 characters (maxLength) [invalid_enum]
    Remove the member, or change what stands beside the enum.
  lib/faulty.ex:35: error: tool "list" /inputSchema/properties/items: the array has no `items` [array_items]
    Say what its elements are.
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
    Write what the value is, or `{}` where it may be anything.
  lib/faulty.ex:54: warning: tool "forms" /inputSchema/properties/level: the enum has members that are no strings [enum_type]
    Use strings, or describe the allowed values with `minimum` and `maximum` or in words.
  lib/faulty.ex:54: warning: tool "forms" /inputSchema/properties/link: the format "uri" is one that some clients refuse [format]
    Describe the form in words, or with a `pattern`.
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
  lib/faulty.ex:72: warning: tool "silent" /inputSchema/properties/a: there is no description [missing_description]
    Say in a sentence what it is for.
  lib/faulty.ex:72: warning: tool "silent" /annotations: the tool has no readOnlyHint and no destructiveHint: clients take it for one that destroys [missing_annotations]
    Declare `hints:`, such as `hints: [:read_only]`, `[:non_destructive]` or, for one that destroys, `[]`.
  lib/faulty.ex:76: warning: tool "wordy" /description: the description takes about 300 tokens, over the budget of 256 [description_budget]
    Begin with what matters, and move the rest into a resource or the instructions.
  lib/faulty.ex:78: warning: prompt "greet": there is no description [missing_description]
    Say in a sentence what it is for.
  lib/faulty.ex:78: warning: prompt "greet" /arguments/0: there is no description [missing_description]
    Say in a sentence what it is for.
  lib/faulty.ex:84: warning: resource "me" /uri: the template "user" (users://{id}) matches users://me too; this resource answers it [template_shadowed]
    If that is meant, `lint: [ignore: [:template_shadowed]]` of the router says so; otherwise give one of them another URI.
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

  defp mix(dir, arguments) do
    ebin = :mcp_server |> :code.lib_dir() |> Path.join("ebin")
    System.cmd("elixir", ["-pa", ebin, "-S", "mix" | arguments], cd: dir, env: [{"MIX_ENV", "dev"}])
  end

  test "a router with each fault: warnings while it compiles, findings, exit statuses, JSON", %{tmp_dir: dir} do
    project!(dir)

    ebin = :mcp_server |> :code.lib_dir() |> Path.join("ebin")

    {compiled, 0} =
      System.cmd("elixir", ["-pa", ebin, "-S", "mix", "compile"],
        cd: dir,
        env: [{"MIX_ENV", "dev"}],
        stderr_to_stdout: true
      )

    assert warnings(compiled) == errors(@findings)

    assert {@findings, 1} == mix(dir, ["mcp.lint"])
    assert {"0 errors, 0 warnings in 1 router\n", 0} = mix(dir, ["mcp.lint", "Sound.MCP", "--strict"])

    assert {text, 1} = mix(dir, ["mcp.lint", "Faulty.MCP", "--strict", "--only", "format", "--format", "json"])

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
                 "advice": "Describe the form in words, or with a `pattern`.",
                 "file": "lib/faulty.ex",
                 "line": 54
               }
             ]
           }
           """

    assert {_text, 0} = mix(dir, ["mcp.lint", "Faulty.MCP", "--only", "format"])
  end

  test "every code but those of budgets of many tools is in that router" do
    missing = for code <- Lint.codes(), not String.contains?(@findings, "[#{code}]"), do: code
    assert missing == [:catalogue_budget, :tool_count]
  end

  # `warning: …`, the advice and `file:line: …` of each warning, as the line of the finding and its advice.
  defp warnings(output) do
    for [_all, text, advice, place] <- Regex.scan(~r/^warning: (.*)\n  (.*)\n  (lib\/[^:]+:\d+): .*$/m, output),
        into: "",
        do: "#{place}: error: #{text}\n  #{advice}\n"
  end

  defp errors(findings) do
    for [all, _line] <- Regex.scan(~r/^(.*: error: .*)\n  .*\n/m, findings), into: "", do: all
  end

  describe "in this VM" do
    setup do
      shell = Mix.shell()
      Mix.shell(Mix.Shell.Process)
      on_exit(fn -> Mix.shell(shell) end)
      name = "LintTask#{System.unique_integer([:positive])}"

      Code.compile_string("""
      defmodule #{name} do
        use McpServer.Router
        tool "a.b", "#{String.duplicate("x", 8)}", McpServer.Handlers, :echo, hints: [:read_only]
      end
      """)

      {:ok, name: name}
    end

    defp told do
      assert_received {:mix_shell, :info, [text]}
      text
    end

    test "warnings alone fail with --strict only", %{name: name} do
      assert Mix.Tasks.Mcp.Lint.run([name]) == :ok
      assert told() =~ "0 errors, 1 warning in 1 router"
      assert catch_exit(Mix.Tasks.Mcp.Lint.run([name, "--strict"])) == {:shutdown, 1}
    end

    test "both sides of a budget", %{name: name} do
      Mix.Tasks.Mcp.Lint.run([name, "--description-tokens", "2", "--only", "description_budget"])
      assert told() == "0 errors, 0 warnings in 1 router"
      Mix.Tasks.Mcp.Lint.run([name, "--description-tokens", "1", "--only", "description_budget"])
      assert told() =~ "the description takes about 2 tokens, over the budget of 1 [description_budget]"
    end

    test "--ignore takes codes, with commas between them", %{name: name} do
      Mix.Tasks.Mcp.Lint.run([name, "--strict", "--ignore", "format, tool_name"])
      assert told() == "0 errors, 0 warnings in 1 router"
    end

    test "JSON without findings", %{name: name} do
      Mix.Tasks.Mcp.Lint.run([name, "--only", "format", "--format", "json"])
      assert JSON.decode!(told()) == %{"errors" => 0, "warnings" => 0, "findings" => []}
    end

    test "wrong codes, options, formats, budgets and names", %{name: name} do
      assert_raise Mix.Error, ~r/\Athere is no code formt. The codes are: unsatisfiable, /, fn ->
        Mix.Tasks.Mcp.Lint.run([name, "--only", "formt"])
      end

      for arguments <- [["--formt", "json"], ["--format", "yaml"], ["--max-tools", "0"], ["--max-tools", "many"]] do
        assert_raise Mix.Error, ~r/\Ausage: mix mcp.lint /, fn -> Mix.Tasks.Mcp.Lint.run([name | arguments]) end
      end

      assert_raise Mix.Error, "there is no module No.Router in this project", fn ->
        Mix.Tasks.Mcp.Lint.run(["No.Router"])
      end
    end
  end
end
