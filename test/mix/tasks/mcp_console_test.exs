defmodule Mix.Tasks.Mcp.ConsoleTest do
  # The commands from outside: a separate project and VM, with its stdout, stderr, terminal and exit status.
  use ExUnit.Case, async: true

  @moduletag slow: "each test starts Mix"

  alias McpServer.{ClientServer, HttpServer, Terminal}

  @moduletag :tmp_dir

  setup_all do
    folder = Path.join(System.tmp_dir!(), "mcp_console_#{System.unique_integer([:positive])}_#{System.pid()}")
    on_exit(fn -> File.rm_rf!(folder) end)
    {_compiling, 0} = System.cmd("mix", ["compile"], cd: project(folder), env: env(), stderr_to_stdout: true)
    {:ok, project: folder}
  end

  # Standard output, standard error and status.
  defp mix(context, arguments) do
    errors = Path.join(context.tmp_dir, "stderr")
    script = "exec mix \"$@\" 2>'#{errors}' </dev/null"
    {output, status} = System.cmd("sh", ["-c", script, "sh" | arguments], cd: context.project, env: env())
    {output, File.read!(errors), status}
  end

  # The compiled application is on the code path. As a dependency it would be compiled again.
  defp env, do: [{"ERL_LIBS", Path.join(Mix.Project.app_path(), "..")}, {"MIX_ENV", "dev"}]

  test "stdout carries the result and nothing else; each mistake has its status", context do
    assert mix(context, ["mcp.list", "Shop.MCP"]) == {
             """
             shop 1.0.0 (MCP 2026-07-28)

             Tools
               add a=integer [b=integer]
                 Adds
               fail
                 Fails
               name
                 Asks

             Prompts
               greet name=text
                 Greets

             Resources
               shop://secret (secret, text/plain)
                 For ada only
             """,
             "",
             0
           }

    assert mix(context, ["mcp.call", "Shop.MCP", "add", "a=1", "b=2"]) == {"3\n", "printed by the handler\n", 0}
    assert mix(context, ["mcp.call", "Shop.MCP", "fail"]) == {"no luck\n", "", 5}

    for {arguments, sentence, status} <- [
          {["add", "a=x"], "expected a to be an integer, got: x\n", 2},
          {["ad", "a=1"], "there is no tool ad, did you mean add?\n", 2},
          {["add", "--input-json", "[1]"], "** (Mix) --input-json: expected an object\nusage: mix mcp.call ", 2},
          {["add", "--revision", "2020-01-01"], "** (Mix) expected --revision to be one of 2026-07-28, 2025-11-25, ",
           2},
          {["add", "--header", "A: b"], "** (Mix) --header is for --url\n", 2},
          {["add", "--url", "http://127.0.0.1:1/mcp", "--as", "ada"], "** (Mix) --as is for a router: ", 2},
          {["add", "--url", "ftp://a"], "** (Mix) expected --url to be an http or https URL, got: ftp://a\n", 2},
          {[], "** (Mix) usage: mix mcp.call ROUTER", 2}
        ] do
      assert {"", said, ^status} = mix(context, ["mcp.call", "Shop.MCP" | arguments])
      assert String.starts_with?(said, sentence)
    end

    assert {"", "** (Mix) there is no module Shop.MPC in this project\n", 2} = mix(context, ["mcp.list", "Shop.MPC"])
    assert mix(context, ["mcp.get", "Shop.MCP", "greet", "name=Ada"]) == {"user: Greet Ada\n", "", 0}
    assert mix(context, ["mcp.read", "Shop.MCP", "shop://secret", "--as", "ada"]) == {"for ada\n", "", 0}
    assert mix(context, ["mcp.read", "Shop.MCP", "shop://secret", "--as", "integer:42"]) == {"for 42\n", "", 0}
    assert {"", "error " <> refused, 1} = mix(context, ["mcp.read", "Shop.MCP", "shop://secret"])
    # The name exists, so there is no suggestion.
    refute refused =~ "did you mean"
  end

  test "a server over HTTP, and one that a command starts", context do
    server = start_supervised!({HttpServer, router: ClientServer, port: 0, identify: &__MODULE__.identify/1})
    url = "http://127.0.0.1:#{HttpServer.port(server)}/mcp"
    call = ["region", "region=r", "place={\"zone\": 1}"]

    assert mix(context, ["mcp.call", "--url", url, "--header", "Authorization: Bearer ada" | call]) ==
             {"r/1 for \"ada\"\n", "", 0}

    assert mix(context, ["mcp.call", "--url", url | call]) ==
             {"", "#{url} answers 401: it wants other credentials\n", 3}

    assert {"3\n", said, 0} = mix(context, ["mcp.call", "--stdio", "mix mcp.stdio Shop.MCP", "add", "a=1", "b=2"])
    # While the VM stops, its logger may report that the device is gone.
    assert "printed by the handler\n" <> _logger = said
  end

  def identify(request) do
    if McpServer.HttpRequest.get_req_header(request, "authorization") == ["Bearer ada"],
      do: {:ok, "ada"},
      else: {:error, :unauthorized}
  end

  test "what a server asks is asked at the terminal; without one it hears that nobody can be asked", context do
    assert {"", "error -32021: " <> said, 1} = mix(context, ["mcp.call", "Shop.MCP", "name"])
    assert said =~ "The server has to ask, and there is no terminal to ask at."
    typed = [{"(string, required): ", "Ada"}]
    assert {shown, 0} = Terminal.run("mix mcp.call Shop.MCP name", context.project, env(), typed)

    assert shown == """
           The server asks: Who?
           (!decline or !cancel as an answer refuses)
             name (string, required): Ada
           Hello, Ada!
           """
  end

  defp project(folder) do
    File.mkdir_p!(Path.join(folder, "lib"))

    File.write!(Path.join(folder, "mix.exs"), """
    defmodule Shop.MixProject do
      use Mix.Project
      def project, do: [app: :shop, version: "0.1.0"]
      def application, do: [extra_applications: [:logger, :mcp_server]]
    end
    """)

    File.write!(Path.join(folder, "lib/shop.ex"), """
    defmodule Shop.MCP do
      use McpServer.Router, name: "shop", version: "1.0.0"

      tool "add", "Adds", Shop, :add do
        input_field "a", "A number", :integer, required: true
        input_field "b", "Another", :integer
      end

      tool "fail", "Fails", Shop, :fail
      tool "name", "Asks", Shop, :name, requires: [:elicitation]

      prompt "greet", "Greets", completion: false do
        argument "name", "Whom", required: true
        get Shop, :greet
      end

      resource "secret", "shop://secret" do
        description "For ada only"
        mimeType "text/plain"
        read Shop, :secret
      end
    end

    defmodule Shop do
      use McpServer.Controller

      def add(_conn, %{"a" => a} = arguments) do
        IO.puts("printed by the handler")
        {:ok, [text("\#{a + Map.get(arguments, "b", 0)}")]}
      end

      def fail(_conn, _arguments), do: {:error, "no luck"}

      def name(conn, _arguments) do
        case input(conn, "name") do
          %{"content" => %{"name" => name}} -> {:ok, [text("Hello, \#{name}!")]}
          nil -> input_required(name: elicit("Who?", %{"type" => "object", "properties" => %{"name" => %{"type" => "string"}}, "required" => ["name"]}))
        end
      end

      def greet(_conn, %{"name" => name}), do: [message("user", "Greet " <> name)]

      def secret(%{principal: who}, _variables) when who in ["ada", 42],
        do: content("secret", "shop://secret", text: "for " <> to_string(who))
      def secret(_conn, _variables), do: {:error, :not_found}
    end
    """)

    folder
  end
end
