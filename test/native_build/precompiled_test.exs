Code.require_file("../../native/build.exs", __DIR__)

defmodule McpServer.NativeBuild.PrecompiledTest do
  # The code that mix.exs loads before compilation. Each test has its own release host on loopback, cache and package.
  use ExUnit.Case, async: true

  import ExUnit.CaptureIO

  alias McpServer.NativeBuild.{Checksums, Precompiled}
  alias McpServer.ReleaseHost

  @moduletag :tmp_dir

  @file_name "libmcp_nif-v1.2.3-nif-2.15-x86_64-unknown-linux-gnu.so"
  @archive @file_name <> ".tar.gz"

  # A package with the archive's checksum. The archive has these entries, unless its bytes are given.
  defp package(context, archive) do
    root = Path.join(context.tmp_dir, "package")
    released = Path.join(context.tmp_dir, "released")
    for folder <- [Path.join(root, "native"), released], do: File.mkdir_p!(folder)
    File.write!(Path.join(released, @archive), archive)
    Checksums.write!(Checksums.path(root), [Path.join(released, @archive)])
    %{root: root, released: released, sum: Checksums.of(archive)}
  end

  defp options(context, package, address, env \\ %{}) do
    target = %{"TARGET_ARCH" => "x86_64", "TARGET_OS" => "linux", "TARGET_ABI" => "gnu"}
    places = %{"MCP_SERVER_NIF_CACHE" => cache(context), "MCP_SERVER_NIF_URL" => address}
    env = target |> Map.merge(places) |> Map.merge(env)
    %{root: package.root, version: "1.2.3", source_url: nil, env: env, profile: "release", folder: "unused"}
  end

  defp cache(context), do: Path.join(context.tmp_dir, "cache")
  defp kept(context), do: Path.join([cache(context), "precompiled", @archive])

  defp tar(entries, options \\ []) do
    file = Path.join(System.tmp_dir!(), "archive-#{System.unique_integer([:positive])}-#{System.pid()}.tar.gz")
    :ok = :erl_tar.create(to_charlist(file), entries, [:compressed | options])
    bytes = File.read!(file)
    File.rm!(file)
    bytes
  end

  defp whole(bytes \\ "a library"), do: tar([{to_charlist(@file_name), bytes}])

  defp reason(context, archive, answer, env \\ %{}) do
    address = ReleaseHost.start(answer)
    assert {:error, reason} = Precompiled.library(options(context, package(context, archive), address, env))
    refute File.exists?(kept(context))
    {reason, "#{address}/#{@archive}"}
  end

  describe "a released library" do
    test "comes from its address, and then from the cache", context do
      package = package(context, whole())
      address = ReleaseHost.start(ReleaseHost.folder(package.released))

      assert Precompiled.library(options(context, package, address)) ==
               {:ok,
                %{
                  bytes: "a library",
                  target: "x86_64-unknown-linux-gnu",
                  origin: "precompiled #{@archive} from #{address}/#{@archive}, #{package.sum}",
                  stamp: "precompiled #{package.sum}"
                }}

      assert Checksums.of(File.read!(kept(context))) == package.sum
      File.rm_rf!(package.released)
      assert {:ok, %{bytes: "a library", origin: origin}} = Precompiled.library(options(context, package, address))
      assert origin == "precompiled #{@archive} from the cache, #{package.sum}"
    end

    test "may be put into the cache by hand", context do
      package = package(context, whole())
      File.mkdir_p!(Path.dirname(kept(context)))
      File.cp!(Path.join(package.released, @archive), kept(context))
      assert {:ok, %{bytes: "a library"}} = Precompiled.library(options(context, package, ""))
    end

    test "replaces another file of its name in the cache", context do
      package = package(context, whole())
      address = ReleaseHost.start(ReleaseHost.folder(package.released))
      File.mkdir_p!(Path.dirname(kept(context)))
      File.write!(kept(context), "another")
      assert {:ok, %{bytes: "a library"}} = Precompiled.library(options(context, package, address))
      assert Checksums.of(File.read!(kept(context))) == package.sum
    end

    test "comes through redirects of its host", context do
      package = package(context, whole())
      files = ReleaseHost.start(ReleaseHost.folder(package.released))

      address =
        ReleaseHost.start(fn
          "/old/" <> name -> {302, [{"location", "/new/#{name}"}], ""}
          "/new/" <> name -> {307, [{"location", "#{files}/#{name}"}], ""}
        end)

      assert {:ok, %{bytes: "a library"}} = Precompiled.library(options(context, package, address <> "/old"))
    end

    test "is used though the cache cannot be written, and a line says so", context do
      package = package(context, whole())
      address = ReleaseHost.start(ReleaseHost.folder(package.released))
      # Even root cannot create a folder below a file.
      File.write!(cache(context), "in the way")

      line =
        capture_io(fn ->
          assert {:ok, %{bytes: "a library"}} = Precompiled.library(options(context, package, address))
        end)

      assert line ==
               "mcp_server: the native library is not kept in #{Path.dirname(kept(context))} (not a directory); " <>
                 "MCP_SERVER_NIF_CACHE names another folder\n"
    end
  end

  describe "cargo builds" do
    test "when it is told to", context do
      options = options(context, package(context, whole()), "", %{"MCP_SERVER_BUILD" => "1"})
      assert Precompiled.library(options) == :build
      assert Precompiled.stamp(options) == nil
    end

    test "a pre-release", context do
      options = %{options(context, package(context, whole()), "") | version: "1.2.3-rc.1"}
      assert Precompiled.library(options) == :build
    end

    test "a package without checksums", context do
      package = package(context, whole())
      File.rm!(Checksums.path(package.root))
      assert Precompiled.library(options(context, package, "")) == :build
    end
  end

  describe "a library is refused, with a sentence:" do
    test "another checksum", context do
      {reason, url} = reason(context, whole(), fn _path -> {200, [], "another"} end)
      assert reason == "#{url} is not the released file: it has #{Checksums.of("another")}"
    end

    test "another checksum in the cache, and no address", context do
      package = package(context, whole())
      File.mkdir_p!(Path.dirname(kept(context)))
      File.write!(kept(context), "another")

      assert Precompiled.library(options(context, package, "")) ==
               {:error,
                "#{kept(context)} is not the released file: it has #{Checksums.of("another")}, and " <>
                  "this version has no address of releases (MCP_SERVER_NIF_URL can name one)"}
    end

    test "an archive that is cut short", context do
      archive = whole(String.duplicate("x", 10_000))

      for {part, n} <- Enum.with_index([binary_part(archive, 0, byte_size(archive) - 9), "no archive", ""]) do
        context = %{context | tmp_dir: Path.join(context.tmp_dir, "#{n}")}
        package = package(context, part)
        address = ReleaseHost.start(ReleaseHost.folder(package.released))

        assert Precompiled.library(options(context, package, address)) ==
                 {:error, "#{@archive} is not a whole tar.gz archive"}
      end
    end

    test "an archive that ends with the connection", context do
      archive = whole()
      head = "HTTP/1.1 200 OK\r\ncontent-length: #{byte_size(archive)}\r\n\r\n"
      {reason, url} = reason(context, archive, fn _path -> {:bytes, [head, binary_part(archive, 0, 20)]} end)
      assert reason == "#{url} ends the connection before the whole file came"
    end

    test "an archive of more than 128 MiB", context do
      package = package(context, whole(:binary.copy(<<0>>, 129 * 1024 * 1024)))
      address = ReleaseHost.start(ReleaseHost.folder(package.released))

      assert Precompiled.library(options(context, package, address)) ==
               {:error, "#{@archive} unpacks to more than 134217728 bytes"}
    end

    test "an archive with a path, a link, another file or two", context do
      link = Path.join(context.tmp_dir, "link")
      File.ln_s!("/etc/passwd", link)

      archives = [
        tar([{~c"../#{@file_name}", "x"}]),
        tar([{~c"/tmp/#{@file_name}", "x"}]),
        tar([{~c"folder/#{@file_name}", "x"}]),
        tar([{to_charlist(@file_name), to_charlist(link)}]),
        tar([{~c"other.so", "x"}]),
        tar([{to_charlist(@file_name), "x"}, {~c"../other", "x"}]),
        tar([])
      ]

      for {archive, n} <- Enum.with_index(archives) do
        context = %{context | tmp_dir: Path.join(context.tmp_dir, "#{n}")}
        package = package(context, archive)
        address = ReleaseHost.start(ReleaseHost.folder(package.released))

        assert {n, Precompiled.library(options(context, package, address))} ==
                 {n, {:error, "#{@archive} holds something else than the one file #{@file_name}"}}

        assert Path.wildcard(Path.join(context.tmp_dir, "**/*.so")) == []
      end
    end

    test "no such file", context do
      {reason, url} = reason(context, whole(), fn _path -> {404, [], "not here"} end)
      assert reason == "#{url} answers with status 404"
    end

    test "a host that hangs", context do
      {reason, url} = reason(context, whole(), fn _path -> :hang end, %{"MCP_SERVER_NIF_TIMEOUT" => "300"})
      assert reason == "#{url} did not send the file within 300 ms"
    end

    test "a host that hangs within the file", context do
      head = ["HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n", "beginning"]
      endless = Stream.concat(head, Stream.repeatedly(fn -> Process.sleep(:infinity) end))
      {reason, url} = reason(context, whole(), fn _path -> {:bytes, endless} end, %{"MCP_SERVER_NIF_TIMEOUT" => "300"})
      assert reason == "#{url} did not send the file within 300 ms"
    end

    test "a file without end", context do
      part = :binary.copy("x", 1024 * 1024)
      endless = Stream.concat(["HTTP/1.1 200 OK\r\n\r\n"], Stream.repeatedly(fn -> part end))
      {reason, url} = reason(context, whole(), fn _path -> {:bytes, endless} end)
      assert reason == "#{url} sends more than 33554432 bytes"
    end

    test "a redirect to another host", context do
      {reason, url} = reason(context, whole(), fn _path -> {302, [{"location", "http://example.invalid/x"}], ""} end)
      assert reason == "#{url} redirects to http://example.invalid, which does not keep its releases"
    end

    test "redirects without end", context do
      {reason, url} = reason(context, whole(), fn path -> {302, [{"location", path}], ""} end)
      assert reason == "#{url} redirects more than 5 times"
    end

    test "nobody listens", context do
      {:ok, listener} = :gen_tcp.listen(0, ip: {127, 0, 0, 1})
      {:ok, port} = :inet.port(listener)
      :gen_tcp.close(listener)
      options = options(context, package(context, whole()), "http://127.0.0.1:#{port}")

      assert Precompiled.library(options) ==
               {:error, "http://127.0.0.1:#{port}/#{@archive} cannot be reached (econnrefused)"}
    end

    test "an address in the clear, of which user and password are not printed", context do
      options = options(context, package(context, whole()), "http://user:secret@example.invalid/files")

      assert Precompiled.library(options) ==
               {:error,
                "http://example.invalid/files/#{@archive} is neither an https:// address nor an http:// one of this machine"}
    end

    test "a target that has none", context do
      options = options(context, package(context, whole()), "", %{"TARGET_ARCH" => "riscv64"})
      assert Precompiled.library(options) == {:error, "none is released for riscv64-unknown-linux-gnu"}
    end

    test "checksums of another form", context do
      package = package(context, whole())
      File.write!(Checksums.path(package.root), "#{@archive} md5:00\n")

      assert Precompiled.library(options(context, package, "")) ==
               {:error, "#{Checksums.path(package.root)} has a line that is not a file name and its sha256"}
    end
  end
end
