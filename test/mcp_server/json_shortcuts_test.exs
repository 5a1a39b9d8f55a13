defmodule McpServer.JSONShortcutsTest do
  # Fast paths of reading and writing give the same results as the general path.
  use ExUnit.Case, async: true

  alias McpServer.JSON
  alias McpServer.JSON.{DecodeError, EncodeError}

  describe "keys that are expected, because they followed the last ones before" do
    # More keys than the reader reads before it caches any.
    @rows Enum.map_join(1..20, ",", &~s({"id":#{&1},"name":"n","email":"e"}))

    defp after_rows(object), do: JSON.decode("[#{@rows},#{object}]")

    test "are read where they stand, in the order and with the spelling of the text" do
      for {object, value} <- [
            {~s({"id":1,"name":2,"email":3}), %{"id" => 1, "name" => 2, "email" => 3}},
            {~s({"name":2,"id":1}), %{"id" => 1, "name" => 2}},
            {~s({ "id" :1 , "name" :2}), %{"id" => 1, "name" => 2}},
            {~s({"i":1,"idd":2,"nam":3,"names":4}), %{"i" => 1, "idd" => 2, "nam" => 3, "names" => 4}},
            {~s({"\\u0069d":1,"name":2}), %{"id" => 1, "name" => 2}},
            {~s({"id\\"":1,"name":2}), %{"id\"" => 1, "name" => 2}},
            {~s({"":1,"name":2}), %{"" => 1, "name" => 2}},
            {~s({"id":{"id":{"name":1},"name":2}}), %{"id" => %{"id" => %{"name" => 1}, "name" => 2}}}
          ] do
        assert {:ok, rows} = after_rows(object)
        assert List.last(rows) == value, object
      end
    end

    test "are refused twice in one object, escaped or not" do
      for object <- [~s({"id":1,"name":2,"id":3}), ~s({"id":1,"\\u0069d":2}), ~s({"\\u0069d":1,"id":2})] do
        assert {:error, %DecodeError{kind: :duplicate_key}} = after_rows(object)
      end
    end

    test "end with the text wherever it is cut off" do
      text = "[#{@rows}]"

      for length <- (byte_size(text) - 40)..(byte_size(text) - 1) do
        assert {:error, %DecodeError{kind: :unexpected_end}} = JSON.decode(binary_part(text, 0, length))
      end
    end
  end

  describe "a text that is short in bytes and long in values" do
    test "is read, whichever scheduler that takes" do
      for count <- [7_998, 7_999, 8_000, 20_000] do
        assert {:ok, values} = JSON.decode("[#{Enum.map_join(1..count, ",", fn _ -> "1" end)}]")
        assert length(values) == count
      end
    end

    test "has the limit it is given, on both sides" do
      for limit <- [10, 7_999, 8_000, 8_001, 9_000] do
        fitting = "[#{Enum.map_join(2..limit, ",", fn _ -> "1" end)}]"
        assert {:ok, _values} = JSON.decode(fitting, max_values: limit)
        more = String.replace_suffix(fitting, "]", ",1]")
        assert {:error, %DecodeError{kind: :too_many_values}} = JSON.decode(more, max_values: limit)
      end
    end

    test "is read up to 96 KiB and beyond" do
      for size <- [96 * 1024 - 1, 96 * 1024, 96 * 1024 + 1] do
        text = String.duplicate("a", size - 2)
        assert JSON.decode(~s("#{text}")) == {:ok, text}
      end
    end
  end

  describe "long text" do
    @budget 96 * 1024

    test "is written the same below, at and above what a normal scheduler writes" do
      for size <- [@budget - 2, @budget, @budget + 1, 16 * @budget - 20, 16 * @budget, 16 * @budget + 20] do
        text = String.duplicate("x", size)
        assert JSON.encode(text) == {:ok, ~s("#{text}")}
        assert JSON.encode([text, 1, text]) == {:ok, ~s(["#{text}",1,"#{text}"])}
      end
    end

    test "is escaped and checked wherever it needs to be" do
      plain = String.duplicate("x", 2 * @budget)

      for {special, written} <- [{"\n", "\\n"}, {"\"", "\\\""}, {"é", "é"}, {<<1>>, "\\u0001"}] do
        assert JSON.encode(special <> plain) == {:ok, ~s("#{written}#{plain}")}
        assert JSON.encode(plain <> special) == {:ok, ~s("#{plain}#{written}")}
      end

      assert {:error, %EncodeError{kind: :invalid_utf8}} = JSON.encode(plain <> <<0xFF>>)
      assert {:error, %EncodeError{kind: :invalid_utf8, path: ["a"]}} = JSON.encode(%{"a" => <<0xFF>> <> plain})
    end
  end
end
