defmodule McpServer.Client.EventsTest do
  use ExUnit.Case, async: true

  alias McpServer.Client.Events

  @stream ": hello\r\nid: 7\r\nretry: 20\r\ndata: a\r\ndata: b\r\n\r\nevent: message\ndata:c\n\nid: 8\rdata: d\r\rdata: e"

  test "events are the same in whatever pieces they come" do
    for size <- 1..byte_size(@stream) do
      pieces = pieces(@stream, size)

      {found, events} =
        Enum.reduce(pieces, {[], %Events{}}, fn piece, {found, events} ->
          {more, events} = Events.take(events, piece)
          {found ++ more, events}
        end)

      assert {found, events.id, events.retry} == {["a\nb", "c", "d"], "8", 20}
    end
  end

  defp pieces(bytes, size) when byte_size(bytes) <= size, do: [bytes]

  defp pieces(bytes, size) do
    {piece, rest} = :erlang.split_binary(bytes, size)
    [piece | pieces(rest, size)]
  end
end
