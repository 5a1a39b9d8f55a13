defmodule McpServer.Dispatch.FailureTest do
  use ExUnit.Case, async: true
  @moduletag :capture_log

  import McpServer.TestLog

  alias McpServer.Dispatch.Failure

  defmodule Unprintable do
    defexception [:message]
    @impl true
    def message(_exception), do: raise("no message either")
  end

  defp caught(fun) do
    fun.()
  catch
    kind, reason -> Failure.new(kind, reason, __STACKTRACE__)
  end

  defp line(failure), do: own_log(fn -> Failure.log(failure, "tools/call \"t\"") end)

  test "ids are 64 random bits" do
    assert Failure.killed(:killed).id =~ ~r/\A[0-9a-f]{16}\z/
    assert Failure.killed(:killed).id != Failure.killed(:killed).id
  end

  @tag req: "T1"
  test "an exception is logged with its id and where it was raised" do
    failure = caught(fn -> raise ArgumentError, "boom" end)
    line = line(failure)
    assert line =~ "MCP tools/call \"t\" failed (error id #{failure.id}): ** (ArgumentError) boom"
    assert line =~ "failure_test.exs"
  end

  @tag req: "T1"
  test "throws, exits and Erlang errors" do
    assert Failure.banner(caught(fn -> throw(:ball) end)) == "** (throw) :ball"
    assert Failure.banner(caught(fn -> exit(:shutdown) end)) == "** (exit) :shutdown"
    assert Failure.banner(caught(fn -> :erlang.error(:custom) end)) == "** (error) :custom"
    assert Failure.banner(caught(fn -> String.to_integer("x") end)) =~ "** (ArgumentError)"
  end

  @tag req: "T1"
  test "10 MB in an exception, a term or an argument stay below 8 KiB of log" do
    big = String.duplicate("é", 5_000_000)
    list = Enum.to_list(1..1_000_000)

    for fun <- [
          fn -> raise big end,
          fn -> :erlang.error({:big, big, list}) end,
          fn -> exit(list) end,
          fn -> throw(big) end,
          fn -> apply(List, :first, [big]) end
        ] do
      line = line(caught(fun))
      assert byte_size(line) <= 8_192
      assert String.valid?(line)
    end
  end

  test "bytes that are no text do not reach the log as they are" do
    assert String.valid?(line(caught(fn -> raise <<255, 254>> end)))
    assert String.valid?(line(Failure.invalid(<<255>>)))
  end

  # An exception may quote what a client has sent.
  test "a text with newlines and escapes of a terminal stays one line of the log" do
    line = line(caught(fn -> raise "done\n[error] root logged in\e[2J\r" end))
    assert line =~ ~S|** (RuntimeError) done\n[error] root logged in\e[2J\r|
    refute line =~ "\e[2J"
    refute line =~ "\n[error] root"
  end

  test "an exception whose message raises is still logged" do
    assert Failure.banner(caught(fn -> raise Unprintable end)) =~ "Unprintable"
  end

  test "kills and timeouts say what they were" do
    assert Failure.banner(Failure.timeout(60_000)) == "timed out after 60000 ms"
    assert Failure.banner(Failure.killed(:killed)) =~ "the process was killed"
    assert Failure.banner(Failure.killed({:shutdown, 1})) == "the process was ended: {:shutdown, 1}"
  end

  @tag req: "T4"
  test "an invalid result is named as such" do
    assert Failure.banner(Failure.invalid({:ok})) == "invalid handler result: {:ok}"
  end
end
