defmodule McpServer.NativeBuild.ReleaseTest do
  # `bin/release` without its first step, which takes minutes: the library of this build replaces a released one.
  use ExUnit.Case, async: true

  @moduletag slow: "packs and links whole libraries"

  alias McpServer.Native.Library
  alias McpServer.NativeBuild.{Checksums, Precompiled, Target}

  @moduletag :tmp_dir

  @version Mix.Project.config()[:version]

  Code.require_file("../../native/build.exs", __DIR__)

  # Returns the output and the exit status. Any glibc suffices, unless the test is about glibc.
  defp release(arguments, env \\ %{"GLIBC_FLOOR" => "2.99"}) do
    System.cmd(Path.expand("bin/release"), arguments, env: Map.put(env, "MIX_ENV", "test"), stderr_to_stdout: true)
  end

  defp library, do: "#{Library.path()}.so"
  # A smaller library, from Erlang itself.
  defp other_library, do: "#{:code.priv_dir(:crypto)}/lib/crypto.so"
  defp name(target \\ Target.host()), do: Precompiled.name(@version, target)
  defp archive(context, target \\ Target.host()), do: Path.join(context.tmp_dir, name(target) <> ".tar.gz")

  defp pack(context, library \\ library(), target \\ Target.host()) do
    assert release(["pack", target, library, context.tmp_dir]) == {archive(context, target) <> "\n", 0}
    archive(context, target)
  end

  defp refusal(context) do
    assert {output, 1} = release(["verify", context.tmp_dir, Path.join(context.tmp_dir, "checksums.txt")])
    String.trim_trailing(output)
  end

  test "packs the one file under the name that users ask for, always in the same bytes", context do
    first = File.read!(pack(context))
    assert File.read!(pack(context)) == first
    {:ok, [{file, bytes}]} = :erl_tar.extract({:binary, first}, [:memory, :compressed])
    assert to_string(file) == name()
    assert bytes == File.read!(library())
  end

  test "writes the checksums, and verifies the archives by them", context do
    archive = pack(context)
    checksums = Path.join(context.tmp_dir, "checksums.txt")
    line = "#{name()}.tar.gz #{Checksums.of(File.read!(archive))}\n"
    assert release(["checksums", context.tmp_dir, checksums]) == {line <> "written to #{checksums}\n", 0}
    assert File.read!(checksums) == line

    assert {output, 0} = release(["verify", context.tmp_dir, checksums])
    assert output =~ ~r/^#{Target.host()}: wants GLIBC_2\.\d+; loads\n1 verified\n\z/m

    File.write!(checksums, String.replace(line, "sha256:", "sha256:0"))
    assert refusal(context) == "#{name()}.tar.gz is not the file whose checksum is in #{checksums}"
  end

  test "refuses a library that needs a newer glibc than the oldest that is served", context do
    pack(context)
    assert {output, 1} = release(["verify", context.tmp_dir], %{})

    assert output =~
             ~r/\Athe library for #{Target.host()} wants GLIBC_2\.\d+, and may want GLIBC_2\.17 at most\n\z/
  end

  test "refuses a library of another machine", context do
    pack(context, other_library(), "riscv64-unknown-linux-gnu")
    assert refusal(context) == "libraries are released for x86_64 and aarch64, not for riscv64-unknown-linux-gnu"
    File.rm!(archive(context, "riscv64-unknown-linux-gnu"))

    other = if Target.host() =~ "x86_64", do: "aarch64-unknown-linux-gnu", else: "x86_64-unknown-linux-gnu"
    pack(context, other_library(), other)
    assert refusal(context) == "the library for #{other} is for another machine"
    File.rm!(archive(context, other))

    pack(context, other_library(), "aarch64-apple-darwin")
    assert refusal(context) == "the library for aarch64-apple-darwin is for another machine"
  end

  test "refuses what is no NIF library, a library for another C library, and one that does not load", context do
    broken = Path.join(context.tmp_dir, "broken.so")
    # Replaces the name of the init function everywhere.
    File.write!(broken, String.replace(File.read!(other_library()), "nif_init", "nif_unit"))
    pack(context, broken)
    assert refusal(context) == "the library for #{Target.host()} does not export nif_init"

    # Erlang notices that the library belongs to another module.
    pack(context, other_library())
    assert refusal(context) =~ ~r/the library for #{Target.host()} does not load here\z/

    File.rm!(archive(context))
    musl = String.replace(Target.host(), "-gnu", "-musl")
    pack(context, other_library(), musl)
    assert refusal(context) =~ ~r/\Athe library for #{musl} wants GLIBC_2\.\d+\z/
  end

  test "refuses an archive of another version, and one with another file", context do
    File.cp!(
      pack(context, other_library()),
      Path.join(context.tmp_dir, "libmcp_nif-v0.0.9-nif-2.15-x86_64-apple-darwin.so.tar.gz")
    )

    assert refusal(context) ==
             "libmcp_nif-v0.0.9-nif-2.15-x86_64-apple-darwin.so is no library of this version: " <>
               "its name must begin with libmcp_nif-v#{@version}-nif-2.15-"

    File.rm!(Path.join(context.tmp_dir, "libmcp_nif-v0.0.9-nif-2.15-x86_64-apple-darwin.so.tar.gz"))
    :ok = :erl_tar.create(to_charlist(archive(context)), [{~c"../#{name()}", "x"}], [:compressed])
    assert refusal(context) == "#{name()}.tar.gz must hold the one file #{name()}"
  end

  test "says what is missing, and how it is called", context do
    assert release(["verify", context.tmp_dir]) ==
             {"there is no archive in #{context.tmp_dir}: run bin/release pack first\n", 1}

    missing = Path.join(context.tmp_dir, "missing.so")

    assert release(["pack", "aarch64-apple-darwin", missing]) ==
             {"there is no library #{missing}: run bin/release build aarch64-apple-darwin first\n", 1}

    assert release(["build", "wasm32-wasip1"]) ==
             {"libraries are released for linux-gnu, linux-musl and apple-darwin on x86_64 and aarch64, " <>
                "not for wasm32-wasip1\n", 1}

    assert release(["try", context.tmp_dir]) ==
             {"there is no archive for #{Target.host()} in #{context.tmp_dir}\n", 1}

    assert release([]) ==
             {"usage: bin/release build|pack|checksums|verify|try|ready; its first lines say what each does\n", 1}
  end

  test "a tag that is not the version's, or packages without an address, are not ready" do
    assert release(["ready", "v0.0.9"]) == {"the tag v0.0.9 is not that of version #{@version} in mix.exs\n", 1}
    address? = Mix.Project.config()[:source_url] != nil
    sentence = "@source_url in mix.exs must name the repository: its packages look there for the libraries\n"
    assert release(["ready", "v#{@version}"]) == if(address?, do: {"", 0}, else: {sentence, 1})
  end
end
