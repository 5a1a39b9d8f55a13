defmodule McpServer.Native.DirtyTest do
  # Long calls run in the order of their arrival, even if callers die. They run in a separate VM with one permit.
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

  test "those who wait are served in the order in which they came" do
    assert alone("in_order(20)") == Enum.to_list(1..20)
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
