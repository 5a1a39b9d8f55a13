defmodule McpServer.Connection.OutboxTest do
  use ExUnit.Case, async: true

  alias McpServer.Connection.Outbox

  test "messages leave in the order they were put, and once" do
    outbox = %Outbox{} |> Outbox.put({1, :notification, "a"}) |> Outbox.put({2, :request, ["b", ?c]})
    refute Outbox.empty?(outbox)
    assert {[{1, :notification, "a"}, {2, :request, ["b", ?c]}], outbox} = Outbox.take(outbox)
    assert Outbox.empty?(outbox)
    assert Outbox.take(outbox) == {[], %Outbox{}}
  end

  test "it is full at 64 KiB, not a byte earlier" do
    outbox = Outbox.put(%Outbox{}, {:session, :notification, String.duplicate("x", 65_535)})
    refute Outbox.full?(outbox)
    assert Outbox.full?(Outbox.put(outbox, {:session, {:answer, :ok}, "x"}))
  end
end
