defmodule McpServer.VersionsTest do
  # Differences between versions of Elixir and Erlang/OTP, and the library's messages about them.
  use ExUnit.Case, async: true

  alias McpServer.StdioPeer

  @root Path.expand("../..", __DIR__)

  # Elixir 1.18 on Erlang/OTP 28 refuses to compile them.
  test "no module attribute is a regular expression" do
    files = Path.wildcard("#{@root}/{lib,native}/**/*.{ex,exs}")
    assert length(files) > 200
    assert for(file <- files, File.read!(file) =~ ~r/^\s*@\w+\s+~r/m, do: Path.relative_to(file, @root)) == []
  end

  test "the Mnesia store says what to write in mix.exs where Mnesia is not listed" do
    start = ~S"""
    :code.del_path(:mnesia)

    try do
      McpServer.DualResponse.Store.Mnesia.start_link()
    rescue
      error -> IO.write(Exception.message(error))
    end
    """

    assert System.cmd("elixir", ["-pa", StdioPeer.ebin(), "-e", start]) ==
             {"McpServer.DualResponse.Store.Mnesia needs Mnesia, which this project does not list. " <>
                "Write in `application` of mix.exs: extra_applications: [:logger, :mnesia]. " <>
                "On Debian, Mnesia is the package erlang-mnesia", 0}
  end
end
