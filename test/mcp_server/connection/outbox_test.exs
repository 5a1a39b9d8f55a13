defmodule McpServer.Connection.OutboxTest do
  use ExUnit.Case, async: true

  alias McpServer.Connection.Outbox

  test "messages leave in the order they were put, and once" do
    outbox = %Outbox{} |> Outbox.put("a") |> Outbox.put(["b", ?c])
    refute Outbox.empty?(outbox)
    assert {["a", ["b", ?c]], outbox} = Outbox.take(outbox)
    assert Outbox.empty?(outbox)
    assert Outbox.take(outbox) == {[], %Outbox{}}
  end

  test "it is full at 64 KiB, not a byte earlier" do
    outbox = Outbox.put(%Outbox{}, String.duplicate("x", 65_535))
    refute Outbox.full?(outbox)
    assert Outbox.full?(Outbox.put(outbox, "x"))
  end
end
