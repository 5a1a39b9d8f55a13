Code.require_file("../../native/build.exs", __DIR__)

defmodule McpServer.NativeBuild.TargetTest do
  use ExUnit.Case, async: true

  alias McpServer.NativeBuild.{Cache, Precompiled, Target}

  test "the names that builds of Erlang give themselves" do
    names = %{
      "x86_64-pc-linux-gnu" => "x86_64-unknown-linux-gnu",
      "x86_64-redhat-linux-gnu" => "x86_64-unknown-linux-gnu",
      "amd64-linux-gnu" => "x86_64-unknown-linux-gnu",
      "aarch64-unknown-linux-gnu" => "aarch64-unknown-linux-gnu",
      "x86_64-alpine-linux-musl" => "x86_64-unknown-linux-musl",
      "aarch64-pc-linux-musl" => "aarch64-unknown-linux-musl",
      "x86_64-apple-darwin22.6.0" => "x86_64-apple-darwin",
      "aarch64-apple-darwin24.1.0" => "aarch64-apple-darwin",
      "arm-apple-darwin22.6.0" => "aarch64-apple-darwin",
      "riscv64-unknown-linux-gnu" => "riscv64-unknown-linux-gnu",
      "arm-unknown-linux-gnueabihf" => "arm-unknown-linux-gnueabihf",
      "x86_64-unknown-freebsd14.0" => "x86_64-unknown-freebsd14.0",
      "win32" => "win32"
    }

    for {given, name} <- names, do: assert({given, Target.host(given)} == {given, name})
  end

  test "musl is known by its loader" do
    musl = &(&1 == "/lib/ld-musl-x86_64.so.1")
    both = &(&1 in ["/lib/ld-musl-x86_64.so.1", "/lib64/ld-linux-x86-64.so.2"])
    assert Target.musl("x86_64-unknown-linux-gnu", musl) == "x86_64-unknown-linux-musl"
    assert Target.musl("x86_64-unknown-linux-gnu", both) == "x86_64-unknown-linux-gnu"
    assert Target.musl("x86_64-unknown-linux-gnu", fn _path -> false end) == "x86_64-unknown-linux-gnu"
    musl = &(&1 == "/lib/ld-musl-aarch64.so.1")
    assert Target.musl("aarch64-unknown-linux-gnu", musl) == "aarch64-unknown-linux-musl"
    assert Target.musl("riscv64-unknown-linux-gnu", musl) == "riscv64-unknown-linux-gnu"
  end

  test "the environment names another machine" do
    nerves = %{"TARGET_ARCH" => "aarch64", "TARGET_OS" => "linux", "TARGET_ABI" => "gnu", "TARGET_VENDOR" => "nerves"}
    assert Target.triple(nerves) == "aarch64-unknown-linux-gnu"
    assert Target.triple(%{nerves | "TARGET_ABI" => "musl"}) == "aarch64-unknown-linux-musl"
    assert Target.triple(Map.drop(nerves, ["TARGET_ABI", "TARGET_VENDOR"])) == "aarch64-unknown-linux-gnu"
    assert Target.triple(Map.put(nerves, "CARGO_BUILD_TARGET", "x86_64-apple-darwin")) == "aarch64-unknown-linux-gnu"
    assert Target.triple(%{"CARGO_BUILD_TARGET" => "x86_64-apple-darwin"}) == "x86_64-apple-darwin"
    assert Target.triple(%{"TARGET_ARCH" => "aarch64"}) == Target.host()
    assert Target.triple(%{}) == Target.host()
  end

  test "a library's name has the version of the NIF interface that the crate is built for" do
    assert Precompiled.name("1.2.3", "x86_64-unknown-linux-gnu") ==
             "libmcp_nif-v1.2.3-nif-2.15-x86_64-unknown-linux-gnu.so"

    assert File.read!("Cargo.toml") =~ ~s("nif_version_2_15")
  end

  describe "the cache" do
    @describetag :tmp_dir

    test "keeps the newest eight builds, of which a used one is new", context do
      env = %{"MCP_SERVER_NIF_CACHE" => context.tmp_dir}
      file = &Path.join([context.tmp_dir, "built", "#{&1}"])

      for n <- 1..8 do
        Cache.store(env, "built", "#{n}", "#{n}")
        File.touch!(file.(n), 1_000_000_000 + n)
      end

      assert Cache.read(env, "built", "1") == {:ok, "1"}
      Cache.store(env, "built", "9", "9")
      assert File.ls!(Path.join(context.tmp_dir, "built")) |> Enum.sort() == ~w(1 3 4 5 6 7 8 9)
      assert Cache.read(env, "built", "2") == :error
    end

    test "is private unless others can write the file or a folder above it", context do
      env = %{"MCP_SERVER_NIF_CACHE" => Path.join(context.tmp_dir, "cache")}
      private? = fn -> Cache.private?(env, "built", "1") end
      assert private?.()
      Cache.store(env, "built", "1", "1")
      assert private?.()

      for path <- ["cache", "cache/built", "cache/built/1"], mode <- [0o777, 0o775, 0o757] do
        path = Path.join(context.tmp_dir, path)
        File.chmod!(path, mode)
        refute private?.()
        File.chmod!(path, 0o755)
        assert private?.()
      end
    end

    test "is not private if a part of it belongs to another user", context do
      cache = Path.join(context.tmp_dir, "cache")
      env = %{"MCP_SERVER_NIF_CACHE" => cache}
      Cache.store(env, "built", "1", "1")

      # Only root can give a file away. For everybody else, these belong to root.
      case System.cmd("id", ["-u"]) do
        {"0\n", 0} ->
          for path <- [cache, Path.join(cache, "built"), Path.join(cache, "built/1")] do
            File.chown!(path, 1)
            refute Cache.private?(env, "built", "1")
            File.chown!(path, 0)
            assert Cache.private?(env, "built", "1")
          end

        {_user, 0} ->
          assert Cache.private?(env, "built", "1")
          refute Cache.private?(%{"MCP_SERVER_NIF_CACHE" => "/usr"}, "bin", "env")
      end
    end

    test "is below the user's caches, or where MCP_SERVER_NIF_CACHE says", context do
      assert Cache.folder(%{}) == to_string(:filename.basedir(:user_cache, "mcp_server"))
      assert Cache.folder(%{"MCP_SERVER_NIF_CACHE" => ""}) == Cache.folder(%{})
      assert Cache.folder(%{"MCP_SERVER_NIF_CACHE" => context.tmp_dir}) == context.tmp_dir
    end
  end
end
