defmodule Mix.Tasks.Mcp.GenTest do
  # Generated files in a separate project: they compile without warnings, are formatted, and pass their tests and lint.
  use ExUnit.Case, async: true

  @moduletag slow: "each test starts Mix"

  alias McpServer.Generator

  @moduletag :tmp_dir

  defp mix(dir, arguments, environment \\ "dev") do
    env = [{"ERL_LIBS", Path.join(Mix.Project.app_path(), "..")}, {"MIX_ENV", environment}]
    System.cmd("mix", arguments, cd: dir, env: env, stderr_to_stdout: true)
  end

  defp project(dir) do
    File.write!(Path.join(dir, "mix.exs"), """
    defmodule WordShop.MixProject do
      use Mix.Project
      def project, do: [app: :word_shop, version: "0.1.0"]
      def application, do: [extra_applications: [:logger, :mcp_server]]
    end
    """)

    File.mkdir_p!(Path.join(dir, "test"))
    File.write!(Path.join(dir, "test/test_helper.exs"), "ExUnit.start()\n")
  end

  test "everything, with the statements pasted into the router", %{tmp_dir: dir} do
    project(dir)
    assert {said, 0} = mix(dir, ["mcp.gen", "server"])

    assert said =~
             "wrote lib/word_shop/mcp.ex\nwrote lib/word_shop/mcp/hello.ex\nwrote test/word_shop/mcp_test.exs\n\nTry it:\n"

    statements =
      for {kind, name} <- [
            {"tool", "count_words"},
            {"prompt", "explain"},
            {"resource", "readme"},
            {"app", "word_chart"}
          ] do
        assert {said, 0} = mix(dir, ["mcp.gen", kind, name])
        [_files, next] = String.split(said, "WordShop.MCP:\n\n")
        next |> String.split("\nSee it") |> hd()
      end

    assert {said, 0} = mix(dir, ["mcp.gen", "auth"])
    assert said =~ "auth: {WordShop.MCP.Auth, :options}"

    router = Path.join(dir, "lib/word_shop/mcp.ex")
    File.write!(router, String.replace(File.read!(router), ~r/end\n\z/, "\n#{statements}end\n"))
    assert {_compiled, 0} = mix(dir, ["compile", "--warnings-as-errors"])
    assert {tested, 0} = mix(dir, ["test"], "test")
    # The output of Elixir before 1.20, and since.
    assert tested =~ ~r/^8 tests, 0 failures$|^Result: 8 passed$/m
    assert mix(dir, ["mcp.lint", "--strict"]) == {"0 errors, 0 warnings in 1 router\n", 0}
    assert {"count_words: a b\n", 0} = mix(dir, ["mcp.call", "WordShop.MCP", "count_words", "text=a b"])
    assert {"readme\n", 0} = mix(dir, ["mcp.read", "WordShop.MCP", "word-shop://readme"])

    assert {html, 0} = mix(dir, ["mcp.read", "WordShop.MCP", "ui://word-shop/word_chart"])
    assert html =~ "<title>word_chart</title>"

    {formatter, _binding} = Code.eval_file(".formatter.exs")
    options = [locals_without_parens: formatter[:export][:locals_without_parens]]

    for path <- Path.wildcard(Path.join(dir, "{lib,test}/**/*.{ex,exs}")), path != router do
      text = File.read!(path)
      assert IO.iodata_to_binary([Code.format_string!(text, options), ?\n]) == text
    end
  end

  test "the router is formatted, too" do
    {formatter, _binding} = Code.eval_file(".formatter.exs")
    options = [locals_without_parens: formatter[:export][:locals_without_parens]]

    for {_path, text, _mode} <- Generator.plan("server", nil, Generator.project(:word_shop)).files do
      assert IO.iodata_to_binary([Code.format_string!(text, options), ?\n]) == text
    end
  end

  # `mix phx.new my_crm --module MyCRM`
  test "the modules are named like those of the project" do
    assert Generator.project(:my_crm, MyCRM.MixProject) == %{app: "my_crm", module: "MyCRM"}
    assert Generator.project(:my_crm, Company.MyCRM.MixProject) == %{app: "my_crm", module: "Company.MyCRM"}
    assert Generator.project(:my_crm, MyCRM.Build) == %{app: "my_crm", module: "MyCrm"}
    assert Generator.project(:my_crm) == %{app: "my_crm", module: "MyCrm"}
  end

  # What the generated code calls of Plug and Phoenix.
  @stand_ins """
  defmodule Plug.Conn do
    def get_req_header(conn, name), do: for({^name, value} <- conn.req_headers, do: value)
  end

  defmodule Phoenix.Token do
    def sign(endpoint, salt, data), do: inspect({endpoint, salt, data})
    def verify(endpoint, salt, token, max_age: _), do: if(token == sign(endpoint, salt, "ada"), do: {:ok, "ada"}, else: {:error, :invalid})
  end

  defmodule WordShopWeb.Endpoint do
  end
  """

  test "in a Phoenix application: it is mounted, and compiles without warnings", %{tmp_dir: dir} do
    project(dir)
    assert {said, 1} = mix(dir, ["mcp.gen", "phoenix"])
    assert said =~ "** (Mix) there is no lib/word_shop_web/router.ex, so this is no Phoenix application"
    for folder <- ~w(lib lib/word_shop_web), do: File.mkdir_p!(Path.join(dir, folder))
    File.write!(Path.join(dir, "lib/stand_ins.ex"), @stand_ins)
    router = Path.join(dir, "lib/word_shop_web/router.ex")
    scopes = ~s(defmodule WordShopWeb.Router do\n  def scope(path\), do: path\n\n  def two, do: 2\nend\n)
    File.write!(router, scopes)

    assert {said, 0} = mix(dir, ["mcp.gen", "phoenix"])
    assert said =~ "wrote lib/word_shop/mcp.ex\n"

    assert said =~ """
           lib/word_shop_web/router.ex is not as expected: add to it

               forward "/mcp", McpServer.HttpPlug,
                   router: WordShop.MCP,
                   identify: {WordShopWeb.MCPAuth, :identify}

           """

    assert File.read!(router) == scopes
    assert {_compiled, 0} = mix(dir, ["compile", "--warnings-as-errors"])
    assert {"ada\n", 0} = mix(dir, ["mcp.call", "WordShop.MCP", "whoami", "--as", "ada"])
    assert {"Nobody is signed in\n", 5} = mix(dir, ["mcp.call", "WordShop.MCP", "whoami"])
    assert {said, 1} = mix(dir, ["mcp.gen", "phoenix"])
    assert said =~ "** (Mix) lib/word_shop/mcp.ex exists, and nothing was written"
  end

  test "a file that exists is not overwritten, and the others are not written", %{tmp_dir: dir} do
    project(dir)
    File.mkdir_p!(Path.join(dir, "lib/word_shop"))
    File.write!(Path.join(dir, "lib/word_shop/mcp.ex"), "# mine\n")
    assert {said, 1} = mix(dir, ["mcp.gen", "server"])
    assert said =~ "** (Mix) lib/word_shop/mcp.ex exists, and nothing was written"
    assert File.read!(Path.join(dir, "lib/word_shop/mcp.ex")) == "# mine\n"
    refute File.exists?(Path.join(dir, "test/word_shop"))
  end

  test "the start script of a release runs its program from wherever it is started", %{tmp_dir: dir} do
    [{"rel/overlays/bin/mcp", text, 0o755}] = Generator.plan("release", nil, Generator.project(:word_shop)).files
    script = Path.join(dir, "mcp")
    program = Path.join(dir, "word_shop")
    File.write!(script, text)
    File.write!(program, "#!/bin/sh\necho \"$@\"\n")
    for path <- [script, program], do: File.chmod!(path, 0o755)
    assert System.cmd(script, [], cd: "/") == {"eval McpServer.Stdio.run(WordShop.MCP, app: :word_shop)\n", 0}
  end

  test "wrong words" do
    for {arguments, sentence} <- [
          {[], "usage: mix mcp.gen server"},
          {["tool"], "usage: mix mcp.gen server"},
          {["server", "x"], "usage: mix mcp.gen server"},
          {["toool", "x"], "there is no toool to write, did you mean tool?\n"},
          {["tool", "CountWords"],
           "a name is up to 63 of a-z 0-9 _, and begins with a letter: count_words, got: CountWords\n"},
          {["tool", "../x"], "a name is up to 63 of a-z 0-9 _"},
          {["tool", "a__b"], "a name is up to 63 of a-z 0-9 _"}
        ] do
      error = assert_raise Mix.Error, fn -> Mix.Tasks.Mcp.Gen.run(arguments) end
      assert String.starts_with?(error.message, sentence)
    end
  end
end
