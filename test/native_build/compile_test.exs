Code.require_file("../../native/build.exs", __DIR__)

defmodule McpServer.NativeBuild.CompileTest do
  # The Mix compiler, in a separate VM and a copy of the package, with a cargo that records its calls.
  use ExUnit.Case, async: true

  @moduletag slow: "each test starts Mix"

  alias McpServer.NativeBuild.{Checksums, Precompiled, Target}
  alias McpServer.{PackageCopy, ReleaseHost}

  @moduletag :tmp_dir

  @version Mix.Project.config()[:version]

  defp package(context, name \\ "package"), do: PackageCopy.create(Path.join(context.tmp_dir, name))

  # Returns the output of mix, and its status. Mix compiles the packages of a user in the environment prod.
  defp compile(context, package, env \\ %{}, bin \\ nil, task \\ "compile.mcp_native") do
    user = Map.put(PackageCopy.environment(context.tmp_dir, bin), "MIX_ENV", "prod")
    PackageCopy.mix(package, [task], Map.merge(user, env))
  end

  # Stand-ins for cargo and rustc. The library contains the number of the call.
  defp rust(context, version \\ "rustc 1.99.0 (stands for it)") do
    bin = Path.join(context.tmp_dir, "rust")
    File.mkdir_p!(bin)
    calls = calls(context)

    program(Path.join(bin, "cargo"), """
    echo "$*" >> '#{calls}'
    folder=${CARGO_TARGET_DIR:-$PWD/target}
    mkdir -p "$folder"
    printf 'library %s' "$(wc -l < '#{calls}')" > "$folder/it.so"
    echo '{"reason":"compiler-artifact","target":{"name":"mcp_nif"},"filenames":["'"$folder"'/it.so"]}'
    """)

    program(Path.join(bin, "rustc"), "echo '#{version}'")
    bin
  end

  defp program(file, script) do
    File.write!(file, "#!/bin/sh\n" <> script)
    File.chmod!(file, 0o755)
  end

  defp calls(context), do: Path.join(context.tmp_dir, "calls")
  defp count(context), do: context |> calls() |> File.stream!() |> Enum.count()

  defp installed(package, name \\ "mcp_nif.so", environment \\ "prod"),
    do: File.read!(Path.join(package, "_build/#{environment}/lib/mcp_server/priv/native/#{name}"))

  defp archive, do: Precompiled.name(@version, Target.host()) <> ".tar.gz"

  # A release of that library, and its checksums in the package.
  defp release(context, package, library) do
    file = Path.join(context.tmp_dir, archive())
    name = to_charlist(Precompiled.name(@version, Target.host()))
    :ok = :erl_tar.create(to_charlist(file), [{name, library}], [:compressed])
    Checksums.write!(Checksums.path(package), [file])
    ReleaseHost.start(ReleaseHost.folder(context.tmp_dir))
  end

  describe "with checksums" do
    test "the released library is installed without cargo, and asked for once", context do
      package = package(context)
      address = release(context, package, "released")
      env = %{"MCP_SERVER_NIF_URL" => address}
      assert {"", 0} = compile(context, package, env)
      assert installed(package) == "released"
      sum = Base.encode16(:crypto.hash(:sha256, "released"), case: :lower)

      assert installed(package, "origin.txt") ==
               "target: #{Target.host()}\n" <>
                 "from: precompiled #{archive()} from #{address}/#{archive()}, " <>
                 "#{Checksums.of(File.read!(Path.join(context.tmp_dir, archive())))}\nsha256: #{sum}\n"

      File.rm!(Path.join(context.tmp_dir, archive()))
      assert {"", 0} = compile(context, package, env)

      assert {"", 0} = compile(context, package, env, nil, "clean")
      assert {"", 0} = compile(context, package, env)
      assert installed(package, "origin.txt") =~ "#{archive()} from the cache, sha256:"
    end

    test "a library that fails to come is built by cargo, with one line, once", context do
      package = package(context)
      address = release(context, package, "released")
      File.rm!(Path.join(context.tmp_dir, archive()))
      bin = rust(context)
      line = "mcp_server: #{address}/#{archive()} answers with status 404; cargo builds the native library instead\n"

      assert compile(context, package, %{"MCP_SERVER_NIF_URL" => address}, bin) == {line, 0}
      assert installed(package) == "library 1"
      assert compile(context, package, %{"MCP_SERVER_NIF_URL" => address}, bin) == {"", 0}
      assert count(context) == 1
    end

    test "without cargo the error says what to do", context do
      package = package(context)
      address = release(context, package, "released")
      File.rm!(Path.join(context.tmp_dir, archive()))
      cache = :filename.basedir(:user_cache, "mcp_server", %{}) |> to_string()
      cache = String.replace(cache, System.user_home!(), context.tmp_dir)

      assert compile(context, package, %{"MCP_SERVER_NIF_URL" => address}) ==
               {"""
                ** (Mix) mcp_server has no native library: #{address}/#{archive()} answers with status 404.
                  target   #{Target.host()}
                  file     #{address}/#{archive()}
                  by hand  put that file into #{cache}/precompiled and run mix again
                  or       install Rust 1.88 or later (https://rustup.rs) and run mix again: cargo builds the library
                """, 1}
    end

    test "MCP_SERVER_BUILD=1 builds all the same", context do
      package = package(context)
      address = release(context, package, "released")
      env = %{"MCP_SERVER_NIF_URL" => address, "MCP_SERVER_BUILD" => "1"}
      assert compile(context, package, env, rust(context)) == {"", 0}
      assert installed(package) == "library 1"
      assert {"", 0} = compile(context, package, %{env | "MCP_SERVER_BUILD" => ""}, rust(context))
      assert installed(package) == "library 1"
    end
  end

  describe "without checksums" do
    test "cargo builds, once for all projects of a user", context do
      bin = rust(context)
      [first, second] = for name <- ["first", "second"], do: package(context, name)
      assert compile(context, first, %{}, bin) == {"", 0}

      assert File.read!(calls(context)) =~
               ~r/\Abuild --profile release --locked -p mcp_nif --message-format=\S+( --config \S+)?\n\z/

      assert installed(first, "origin.txt") =~ "from: cargo (rustc 1.99.0 (stands for it))\n"

      File.rm!(Path.join(bin, "cargo"))
      assert compile(context, second, %{}, bin) == {"", 0}
      assert installed(second) == "library 1"
      assert installed(second, "origin.txt") =~ "from: the cache of cargo's builds (rustc 1.99.0 (stands for it))\n"
    end

    test "another compiler, another configuration and other settings are another library", context do
      package = package(context)
      compile(context, package, %{}, rust(context))
      compile(context, package, %{}, rust(context, "rustc 2.0.0"))
      assert installed(package) == "library 2"

      compile(context, package, %{"CARGO_PROFILE_RELEASE_LTO" => "off"}, rust(context, "rustc 2.0.0"))
      assert installed(package) == "library 3"

      File.mkdir_p!(Path.join(context.tmp_dir, ".cargo"))
      File.write!(Path.join(context.tmp_dir, ".cargo/config.toml"), "[profile.release]\nlto = false\n")
      compile(context, package, %{}, rust(context, "rustc 2.0.0"))
      assert installed(package) == "library 4"

      compile(context, package, %{"CARGO_BUILD_JOBS" => "1"}, rust(context, "rustc 2.0.0"))
      assert installed(package) == "library 4"

      File.rm_rf!(Path.join(context.tmp_dir, ".cargo"))
      compile(context, package, %{}, rust(context))
      assert installed(package) == "library 1"
      assert count(context) == 4
    end

    test "a damaged file of the cache is built again", context do
      package = package(context)
      cache = Path.join(context.tmp_dir, "cache")
      env = %{"MCP_SERVER_NIF_CACHE" => cache}
      bin = rust(context)
      compile(context, package, env, bin)
      [kept] = Path.wildcard(Path.join(cache, "built/*"))
      File.write!(kept, "damaged", [:append])

      compile(context, package, env, bin, "clean")
      assert compile(context, package, env, bin) == {"", 0}
      assert installed(package) == "library 2"
    end

    # The file's own checksum says nothing: whoever writes the library also writes its checksum.
    test "a library that others can write is built again", context do
      package = package(context)
      cache = Path.join(context.tmp_dir, "cache")
      env = %{"MCP_SERVER_NIF_CACHE" => cache}
      bin = rust(context)
      compile(context, package, env, bin)
      [kept] = Path.wildcard(Path.join(cache, "built/*"))
      File.write!(kept, [:crypto.hash(:sha256, "foreign"), "foreign"])
      File.chmod!(Path.dirname(kept), 0o777)

      compile(context, package, env, bin, "clean")
      assert {said, 0} = compile(context, package, env, bin)
      assert said =~ "mcp_server: the library in #{cache}/built is not used, because others can write there"
      assert installed(package) == "library 2"
    end

    test "a cache that cannot be written is said, and is no error", context do
      package = package(context)
      cache = Path.join(context.tmp_dir, "cache")
      File.write!(cache, "in the way")

      assert compile(context, package, %{"MCP_SERVER_NIF_CACHE" => cache}, rust(context)) ==
               {"mcp_server: the native library is not kept in #{cache}/built (not a directory); " <>
                  "MCP_SERVER_NIF_CACHE names another folder\n", 0}

      assert installed(package) == "library 1"
    end

    test "without cargo the error says what to install", context do
      assert compile(context, package(context)) ==
               {"** (Mix) mcp_server needs Rust to build its native library: install cargo (https://rustup.rs) " <>
                  "and run mix again\n", 1}
    end

    test "cargo builds for the target of Nerves", context do
      env = %{"TARGET_ARCH" => "aarch64", "TARGET_OS" => "linux", "TARGET_ABI" => "musl"}
      bin = rust(context)
      program(Path.join(bin, "rustc"), "echo a compiler")
      cargo = Path.join(bin, "cargo")
      File.write!(cargo, String.replace(File.read!(cargo), "echo \"$*\"", "echo \"$CARGO_BUILD_TARGET\" \"$*\""))
      package = package(context)
      assert compile(context, package, env, bin) == {"", 0}

      assert File.read!(calls(context)) ==
               "aarch64-unknown-linux-musl build --profile release --locked -p mcp_nif " <>
                 "--message-format=json-render-diagnostics --config " <>
                 "target.'cfg(target_env = \"musl\")'.rustflags=[\"-C\",\"target-feature=-crt-static\"]\n"

      assert installed(package, "origin.txt") =~ "target: aarch64-unknown-linux-musl\n"
    end
  end

  describe "in the project itself" do
    test "cargo builds its dev profile beside its tests, and the cache stays for users", context do
      package = package(context)
      bin = rust(context)

      for {environment, library} <- [{"dev", "library 1"}, {"test", "library 2"}] do
        assert compile(context, package, %{"MIX_ENV" => environment}, bin) == {"", 0}
        assert installed(package, "mcp_nif.so", environment) == library
      end

      assert File.read!(calls(context)) =~
               ~r/\A(build --profile dev --locked -p mcp_nif --message-format=\S+( --config \S+)?\n){2}\z/

      assert File.exists?(Path.join(package, "target/it.so"))
      assert Path.wildcard(Path.join(context.tmp_dir, "**/built/*"), match_dot: true) == []
    end

    test "MCP_SERVER_PROFILE chooses the profile, and refuses any other", context do
      package = package(context)
      bin = rust(context)
      env = fn profile -> %{"MIX_ENV" => "dev", "MCP_SERVER_PROFILE" => profile} end

      for {profile, library} <- [{"release", "library 1"}, {"dev", "library 2"}, {"", "library 2"}] do
        assert compile(context, package, env.(profile), bin) == {"", 0}
        assert installed(package, "mcp_nif.so", "dev") == library
      end

      assert compile(context, package, env.("debug"), bin) ==
               {"** (Mix) MCP_SERVER_PROFILE must be dev or release, not \"debug\"\n", 1}
    end
  end
end
