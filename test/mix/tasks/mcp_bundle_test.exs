defmodule Mix.Tasks.Mcp.BundleTest do
  # The output of `mix mcp.bundle` and `mix mcp.server_json`. In conformance/bundle a client uses their files.
  use ExUnit.Case, async: true

  @moduletag slow: "each test starts Mix"

  @moduletag :tmp_dir

  defp mix(dir, arguments) do
    env = [{"ERL_LIBS", Path.join(Mix.Project.app_path(), "..")}, {"MIX_ENV", "dev"}]
    System.cmd("mix", arguments, cd: dir, env: env, stderr_to_stdout: true)
  end

  defp project(dir) do
    File.mkdir_p!(Path.join(dir, "lib"))

    File.write!(Path.join(dir, "mix.exs"), """
    defmodule WordShop.MixProject do
      use Mix.Project
      def project, do: [app: :word_shop, version: "1.2.3", description: "Sells words"]
      def application, do: [extra_applications: [:logger, :mcp_server]]
    end
    """)

    File.write!(Path.join(dir, "lib/mcp.ex"), """
    defmodule WordShop.MCP do
      use McpServer.Router

      tool "sell", "Sells", hints: [:read_only] do
        run fn _conn, _arguments -> {:ok, "sold"} end
      end
    end
    """)

    dir
  end

  test "a bundle of a release, and its entry for the registry", %{tmp_dir: dir} do
    release = Path.join(project(dir), "_build/prod/rel/word_shop/bin")
    File.mkdir_p!(release)
    File.write!(Path.join(release, "word_shop"), "#!/bin/sh\n")
    assert {said, 0} = mix(dir, ["mcp.bundle", "WordShop.MCP", "--author", "Ada", "--env", "API_KEY"])
    assert [_all, file] = Regex.run(~r/^wrote (word_shop-1\.2\.3-(?:linux|darwin)-\w+\.mcpb) \(0\.0 MiB\)$/m, said)
    address = "#{file}=https://example.com/#{file}"
    name = ["--name", "io.github.ada/word_shop"]
    assert {said, 0} = mix(dir, ["mcp.server_json", "WordShop.MCP", "--mcpb", address] ++ name)
    assert %{"description" => "Sells words", "packages" => [%{"registryType" => "mcpb"}]} = McpServer.JSON.decode!(said)
    url = ["--url", "https://example.com/mcp", "--output", "server.json"]
    assert {"wrote server.json\n", 0} = mix(dir, ["mcp.server_json", "WordShop.MCP"] ++ name ++ url)
    assert %{"version" => "1.2.3"} = McpServer.JSON.decode!(File.read!(Path.join(dir, "server.json")))
  end

  test "mcp.bundle: wrong words", %{tmp_dir: dir} do
    project(dir)

    for {arguments, sentence} <- [
          {[], "usage: mix mcp.bundle ROUTER --author NAME"},
          {["WordShop.MCP"], "every bundle names its author: --author NAME\nusage:"},
          {["WordShop.MCP", "--author", "Ada", "--env", "a b"],
           "expected --env to be the name of a variable, A-Z 0-9 and _, got: a b\nusage:"},
          {["WordShop.MCP", "--author", "Ada", "--icon", "mix.exs"],
           "expected --icon to be a PNG file, got: mix.exs\nusage:"},
          {["WordShop.MCP", "--author", "Ada"],
           "there is no release in _build/prod/rel/word_shop: run MIX_ENV=prod mix release, or give its folder with --release"}
        ] do
      assert {said, 1} = mix(dir, ["mcp.bundle" | arguments])
      assert said =~ "** (Mix) " <> sentence
    end
  end

  test "mcp.server_json: wrong words", %{tmp_dir: dir} do
    project(dir)
    name = ["--name", "io.github.ada/word_shop"]

    for {arguments, sentence} <- [
          {[], "usage: mix mcp.server_json ROUTER --name NAME"},
          {["WordShop.MCP"], "a server has a name in the registry: --name io.github.ada/my_app\nusage:"},
          {["WordShop.MCP", "--mcpb", "none.mcpb"] ++ name,
           "expected --mcpb to be a file and its address, FILE=URL, got: none.mcpb\nusage:"},
          {["WordShop.MCP"] ++ name,
           "the registry would refuse this server:\n  a server is offered with --url, --oci or --mcpb"}
        ] do
      assert {said, 1} = mix(dir, ["mcp.server_json" | arguments])
      assert said =~ "** (Mix) " <> sentence
    end
  end
end
