defmodule McpServer.BundleTest do
  use ExUnit.Case, async: true

  alias McpServer.{Bundle, JSON}
  alias McpServer.Bundle.Zip

  @moduletag :tmp_dir

  defmodule Handlers do
    def run(_conn, _arguments), do: {:ok, []}
    def get(_conn, _arguments), do: []
  end

  defmodule Server do
    use McpServer.Router, name: "shop", title: "The shop", version: "9.9.9"

    tool "run", "Runs", Handlers, :run

    prompt "ask", "Asks", completion: false do
      argument "topic", "About", required: true
      get Handlers, :get
    end
  end

  # A release in the layout of `mix release`, with the parts that a bundle changes.
  defp release(tmp_dir) do
    folder = Path.join(tmp_dir, "rel")

    for {name, mode} <- [
          {"bin/shop", 0o755},
          {"releases/COOKIE", 0o644},
          {"tmp/pipe", 0o644},
          {"lib/a/ebin/.hidden", 0o600}
        ] do
      path = Path.join(folder, name)
      File.mkdir_p!(Path.dirname(path))
      File.write!(path, name)
      File.chmod!(path, mode)
    end

    File.ln_s!("shop", Path.join(folder, "bin/link"))
    folder
  end

  defp options(folder) do
    %{
      router: Server,
      app: "shop",
      version: "1.2.3",
      description: "Sells",
      author: "Ada",
      release: folder,
      environment: ["API_KEY"],
      icon: nil
    }
  end

  test "holds the manifest, the launcher and the release, and no cookie", %{tmp_dir: tmp_dir} do
    {:ok, bytes, manifest} = tmp_dir |> release() |> options() |> Bundle.build()
    {:ok, files} = :zip.unzip(IO.iodata_to_binary(bytes), [:memory])
    files = Map.new(files, fn {name, content} -> {to_string(name), content} end)

    assert files |> Map.keys() |> Enum.sort() ==
             ["launch.sh", "manifest.json", "server/bin/link", "server/bin/shop", "server/lib/a/ebin/.hidden"]

    assert files["server/bin/link"] == "bin/shop"
    assert JSON.decode!(files["manifest.json"]) == manifest

    assert files["launch.sh"] =~
             ~s(exec "$here/server/bin/shop" eval "McpServer.Stdio.run(McpServer.BundleTest.Server, app: :shop\)")

    assert Map.drop(manifest, ["user_config", "compatibility"]) == %{
             "manifest_version" => "0.3",
             "name" => "shop",
             "display_name" => "The shop",
             "version" => "1.2.3",
             "description" => "Sells",
             "author" => %{"name" => "Ada"},
             "server" => %{
               "type" => "binary",
               "entry_point" => "launch.sh",
               "mcp_config" => %{
                 "command" => "/bin/sh",
                 "args" => ["${__dirname}/launch.sh"],
                 "env" => %{"API_KEY" => "${user_config.api_key}"}
               }
             },
             "tools" => [%{"name" => "run", "description" => "Runs"}],
             "tools_generated" => true,
             "prompts" => [%{"name" => "ask", "arguments" => ["topic"], "text" => "Asks"}],
             "prompts_generated" => true
           }

    assert %{"api_key" => %{"sensitive" => true, "required" => true}} = manifest["user_config"]
  end

  test "an icon lies beside the manifest", %{tmp_dir: tmp_dir} do
    icon = Path.join(tmp_dir, "icon.png")
    File.write!(icon, <<0x89, "PNG">>)
    {:ok, bytes, manifest} = Bundle.build(%{options(release(tmp_dir)) | icon: icon})
    assert manifest["icon"] == "icon.png"
    {:ok, files} = :zip.unzip(IO.iodata_to_binary(bytes), [:memory])
    assert {~c"icon.png", <<0x89, "PNG">>} in files
  end

  test "a folder without a release", %{tmp_dir: tmp_dir} do
    assert Bundle.build(options(tmp_dir)) ==
             {:error,
              "there is no release in #{tmp_dir}: run MIX_ENV=prod mix release, or give its folder with --release"}
  end

  @entries [{"run", 0o755, String.duplicate("a", 10_000)}, {"a b/é", 0o644, ""}]

  test "the same files give the same compressed bytes" do
    {:ok, bytes} = Zip.build(@entries)
    assert IO.iodata_to_binary(bytes) == @entries |> Zip.build() |> elem(1) |> IO.iodata_to_binary()
    assert IO.iodata_length(bytes) < 500
  end

  @tag McpServer.Installed.tags(:python)
  test "files keep their modes", %{tmp_dir: tmp_dir} do
    {:ok, bytes} = Zip.build(@entries)
    path = Path.join(tmp_dir, "a.zip")
    File.write!(path, bytes)

    script =
      "import zipfile,sys; z = zipfile.ZipFile(sys.argv[1]); print(z.testzip(), " <>
        "[(i.filename, oct(i.external_attr >> 16), i.create_system) for i in z.infolist()])"

    assert System.cmd("python3", ["-c", script, path]) ==
             {"None [('run', '0o100755', 3), ('a b/é', '0o100644', 3)]\n", 0}
  end
end
