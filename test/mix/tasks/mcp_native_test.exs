defmodule Mix.Tasks.Mcp.NativeTest do
  use ExUnit.Case, async: true

  import ExUnit.CaptureIO

  alias McpServer.Native.Library
  alias Mix.Tasks.Mcp

  @moduletag :tmp_dir

  @usage "usage: mix mcp.native, or mix mcp.native checksums FOLDER|FILE… [--output PATH]"

  defp refused(arguments), do: assert_raise(Mix.Error, fn -> Mcp.Native.run(arguments) end).message

  test "says which library is installed" do
    {:ok, origin} = Library.origin()
    sum = Base.encode16(:crypto.hash(:sha256, File.read!("#{Library.path()}.so")), case: :lower)

    assert capture_io(fn -> Mcp.Native.run([]) end) == """
           target   #{origin["target"]}
           from     #{origin["from"]}
           library  #{Library.path()}.so
           sha256   #{sum}
           """

    assert origin["from"] =~ ~r/\A(cargo|the cache of cargo's builds|precompiled .*)( \(rustc .*\))?\z/
  end

  test "writes the checksums of a folder's archives, sorted", context do
    for {name, text} <- [{"b.tar.gz", "b"}, {"a.tar.gz", "a"}, {"notes.txt", "no archive"}],
        do: File.write!(Path.join(context.tmp_dir, name), text)

    output = Path.join(context.tmp_dir, "checksums.txt")

    lines = """
    a.tar.gz sha256:ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb
    b.tar.gz sha256:3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d
    """

    assert capture_io(fn -> Mcp.Native.run(["checksums", context.tmp_dir, "--output", output]) end) ==
             lines <> "written to #{output}\n"

    assert File.read!(output) == lines

    one = Path.join(context.tmp_dir, "b.tar.gz")
    capture_io(fn -> Mcp.Native.run(["checksums", one, "--output", output]) end)
    assert File.read!(output) == lines |> String.split("\n") |> Enum.at(1) |> Kernel.<>("\n")
  end

  test "says what is wrong", context do
    assert refused(["checksums"]) == @usage
    assert refused(["list"]) == @usage
    assert refused(["--output", "x"]) == @usage

    assert refused(["checksums", context.tmp_dir]) ==
             "there is no archive in #{context.tmp_dir}: their names end with .tar.gz"

    assert refused(["checksums", "nowhere"]) == "there is no file and no folder nowhere"
  end
end
