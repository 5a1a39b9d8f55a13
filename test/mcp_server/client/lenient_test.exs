defmodule McpServer.Client.LenientTest do
  # What a server sends is read if it can be, and otherwise the error says why.
  use ExUnit.Case, async: true

  alias McpServer.Client.Lenient

  test "half a surrogate pair is the replacement character" do
    for {text, expected} <- [
          {~S("\ud83d"), "\uFFFD"},
          {~S("a\uDE00b"), "a\uFFFDb"},
          {~S("\ude00\ud83d"), "\uFFFD\uFFFD"},
          {~S("\ud83d\ud83d\ude00"), "\uFFFD😀"},
          {~S("\ud83d\u0041"), "\uFFFDA"},
          {~S("\ud83d\n"), "\uFFFD\n"},
          {~S("\\ud83d \ud83d"), ~S(\ud83d ) <> "\uFFFD"},
          {~S("\\\ud83d"), "\\\uFFFD"}
        ] do
      assert {text, Lenient.decode(text)} == {text, {:ok, expected}}
    end

    assert Lenient.decode(~S({"\ud83d":["\ud83d"]})) == {:ok, %{"\uFFFD" => ["\uFFFD"]}}
  end

  test "the last of two members of one name counts, and large integers are exact" do
    assert Lenient.decode(~S({"a":1,"a":2})) == {:ok, %{"a" => 2}}
    digits = String.duplicate("7", 2_000)
    assert Lenient.decode(digits) == {:ok, String.to_integer(digits)}
  end

  test "what has no value here is an error that says so" do
    for {text, kind} <- [
          {"1e400", :number_out_of_range},
          {String.duplicate("[", 200) <> String.duplicate("]", 200), :too_deep},
          {String.duplicate("7", 10_001), :too_many_digits},
          {~S("\ud83d), :unexpected_end},
          {~S("\ud8), :unexpected_end},
          {~S("\ud83d\x"), :invalid_escape},
          {"{", :unexpected_end}
        ] do
      assert {:error, %{kind: found}} = Lenient.decode(text)
      assert {text, found} == {text, kind}
    end
  end
end
