defmodule McpServer.Native.DirtyTest do
  # Clients take turns with their long calls, even if callers die. They run in a separate VM with one permit.
  use ExUnit.Case, async: true

  @moduletag slow: "work for seconds on every dirty scheduler"

  alias McpServer.StdioPeer

  @work Path.expand("../../support/dirty_work.exs", __DIR__)

  # The result of a function of `McpServer.DirtyWork` in a VM with this many dirty CPU schedulers and no application.
  defp alone(function, schedulers \\ 2) do
    expression = "IO.inspect(McpServer.DirtyWork.#{function}, limit: :infinity, width: 10_000)"
    flags = "+SDcpu #{schedulers}:#{schedulers} +S #{max(schedulers, 2)}:#{max(schedulers, 2)}"

    {output, 0} =
      System.cmd("elixir", ["--erl", flags, "-pa", StdioPeer.ebin(), "-r", @work, "-e", expression],
        stderr_to_stdout: true
      )

    output |> Code.eval_string() |> elem(0)
  end

  test "those who wait for one client are served in the order in which they came" do
    assert alone("in_order(20)") == Enum.to_list(1..20)
  end

  test "a client with many calls delays another by one call" do
    assert alone(~s|in_turns(["eve", "eve", "eve", "eve", "ada", "ada", "bob"])|) == [1, 5, 7, 2, 6, 3, 4]
    assert alone(~s|in_turns([nil, nil, nil, "ada", nil])|) == [1, 4, 2, 3, 5]
  end

  test "over HTTP too: a long message waits for a call of another client's 30 connections, not for all" do
    assert alone("answered_before(30)") < 10
  end

  test "one that is killed while it waits leaves its turn to the next call of its client" do
    assert alone(~s|in_turns(["eve", "eve", "eve", "ada", "ada"], [1, 2])|) == [3, 4, 5]
    assert alone(~s|in_turns(["eve", "ada", "bob", "ada"], [2, 3, 4])|) == [1]
  end

  test "one that is killed while it waits holds up nobody" do
    assert alone("killed_waiting(20)") == Enum.to_list(2..20//2)
  end

  test "one that is killed when it is called holds up nobody" do
    assert alone("killed_called(20)") == Enum.to_list(1..20)
  end

  test "one that is killed while it works hands on to the next" do
    assert alone("killed_working(5)") == Enum.to_list(1..5)
  end

  test "nothing stays behind: no message, no atom, and a permit for each call" do
    assert alone("left_behind(50)") == %{messages: 0, atoms: 0, waiting: 0}
    assert alone("left_behind(50)", 4) == %{messages: 0, atoms: 0, waiting: 0}
  end
end
