defmodule McpServer.Client.EventsTest do
  use ExUnit.Case, async: true

  alias McpServer.Client.Events

  @stream ": hello\r\nid: 7\r\nretry: 20\r\ndata: a\r\ndata: b\r\n\r\nevent: message\ndata:c\n\nid: 8\rdata: d\r\rdata: e"

  test "events are the same in whatever pieces they come" do
    for size <- 1..byte_size(@stream) do
      pieces = pieces(@stream, size)

      {found, events} =
        Enum.reduce(pieces, {[], %Events{}}, fn piece, {found, events} ->
          {:ok, more, events} = Events.take(events, piece)
          {found ++ more, events}
        end)

      assert {found, events.id, events.retry} == {["a\nb", "c", "d"], "8", 20}
    end
  end

  test "an event has a largest size, however it comes" do
    data = &"data: #{String.duplicate("x", &1)}\n"

    for {bytes, fits} <- [
          {data.(13), true},
          {data.(30), false},
          {data.(3) <> data.(3) <> "\n" <> data.(13), true},
          {data.(8) <> data.(8) <> data.(8), false},
          {String.duplicate("x", 20), true},
          {String.duplicate("x", 21), false},
          # Comments keep a stream open, and are not kept.
          {String.duplicate(": on\n", 10), true}
        ],
        size <- [1, 3, 100] do
      outcome = Enum.reduce_while(pieces(bytes, size), %Events{}, &next/2)
      assert {bytes, size, match?(%Events{}, outcome)} == {bytes, size, fits}
    end
  end

  defp next(piece, events) do
    case Events.take(events, piece, 20) do
      {:ok, _found, events} -> {:cont, events}
      {:error, :too_large} -> {:halt, :too_large}
    end
  end

  # A quadratic parser needs more than a minute for this.
  test "one line in many pieces takes time in proportion to its size" do
    piece = String.duplicate("x", 64)
    begun = {:ok, [], events} = Events.take(%Events{}, "data: ")
    assert {:ok, [], ^events} = begun
    events = Enum.reduce(1..200_000, events, fn _n, events -> events |> Events.take(piece) |> elem(2) end)
    assert {:ok, [data], _events} = Events.take(events, "\n\n")
    assert byte_size(data) == 200_000 * 64
  end

  test "a server cannot make its client wait for more than a minute" do
    for {retry, expected} <- [
          {"0", 0},
          {"60000", 60_000},
          {"60001", 60_000},
          {"99999999999", 60_000},
          {"-1", nil},
          {"1s", nil}
        ] do
      assert {:ok, [], %{retry: ^expected}} = Events.take(%Events{}, "retry: #{retry}\n")
    end
  end

  defp pieces(bytes, size) when byte_size(bytes) <= size, do: [bytes]

  defp pieces(bytes, size) do
    {piece, rest} = :erlang.split_binary(bytes, size)
    [piece | pieces(rest, size)]
  end
end
