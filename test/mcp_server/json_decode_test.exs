defmodule McpServer.JSON.DecodeTest do
  use ExUnit.Case, async: true

  alias McpServer.JSON
  alias McpServer.JSON.DecodeError

  defp refused(text, options \\ []) do
    assert {:error, %DecodeError{kind: kind, offset: offset} = error} = JSON.decode(text, options)
    assert offset in 0..byte_size(text)
    assert is_binary(Exception.message(error))
    kind
  end

  describe "terms" do
    test "each JSON value has one" do
      for {text, term} <- [
            {"null", nil},
            {"true", true},
            {"false", false},
            {"0", 0},
            {"-0", 0},
            {"-12", -12},
            {"1.0", 1.0},
            {"1e2", 100.0},
            {"1E-2", 0.01},
            {~s(""), ""},
            {~s("\\u00e9\\n\\/\\ud83d\\ude00"), "é\n/😀"},
            {"[]", []},
            {" [ 1 , 2 ] ", [1, 2]},
            {"{}", %{}},
            {~s({"a":{"b":[null]}}), %{"a" => %{"b" => [nil]}}}
          ] do
        assert JSON.decode!(text) === term
      end
    end

    test "strings with escapes, long and short by turns, are each read by themselves" do
      long = String.duplicate("é\n\"🙂\" \\ plain text, ", 500)
      strings = [long, "", "\n", long <> "\t", "x\"", "/\b\f\r", "plain"]
      text = IO.iodata_to_binary(JSON.encode!(%{"a" => strings, long => "\n"}))
      assert JSON.decode!(text) == %{"a" => strings, long => "\n"}
      assert JSON.decode!(~S(["\u00e9\ud83d\ude42\/","a\u0000"])) == ["é🙂/", <<"a", 0>>]
    end

    test "-0 is the integer, -0.0 the float with its sign" do
      assert JSON.decode!("-0") === 0
      assert <<1::1, 0::63>> = <<JSON.decode!("-0.0")::float>>
    end

    test "integers are exact up to 1,024 digits" do
      for integer <- [2 ** 53 + 1, 2 ** 63, -(2 ** 63) - 1, 2 ** 64, 123_456_789_012_345_678_901_234_567_890] do
        assert JSON.decode!(Integer.to_string(integer)) === integer
      end

      digits = String.duplicate("9", 1_024)
      assert JSON.decode!(digits) === String.to_integer(digits)
      assert refused(digits <> "9") == :too_many_digits
      assert refused("-" <> digits <> "9") == :too_many_digits
    end

    test "floats out of range are refused above and zero below" do
      assert refused("1e400") == :number_out_of_range
      assert refused("-1e400") == :number_out_of_range
      assert JSON.decode!("1e-400") === 0.0
    end

    test "keys are binaries and no atom is ever made" do
      unknown = "no_such_atom_#{System.unique_integer([:positive])}"
      assert %{^unknown => [^unknown]} = JSON.decode!(~s({"#{unknown}":["#{unknown}"]}))
      assert_raise ArgumentError, fn -> String.to_existing_atom(unknown) end

      for key <- ["__struct__", "__proto__", "Elixir.File"] do
        assert JSON.decode!(~s({"#{key}":"Elixir.File"})) == %{key => "Elixir.File"}
      end
    end

    test "maps of any size" do
      for size <- [1, 31, 32, 33, 100, 5_000] do
        map = Map.new(1..size, &{"key #{&1}", &1})
        assert JSON.decode!(JSON.encode!(map)) == map
      end
    end

    test "keys that look alike are told apart" do
      keys = for length <- 0..40, letter <- ["a", "b"], do: String.duplicate("k", length) <> letter
      objects = for _n <- 1..3, do: Map.new(keys, &{&1, &1})
      assert JSON.decode!(JSON.encode!(objects)) == objects
    end
  end

  describe "what is refused" do
    test "equal keys, also when one is spelt with an escape" do
      assert refused(~s({"a":1,"a":2})) == :duplicate_key
      assert refused(~S({"method":1,"\u006dethod":1})) == :duplicate_key
      assert refused(~S([{"x":{"b":1,"c":2,"b":1}}])) == :duplicate_key
      many = Enum.map_join(1..100, ",", &~s("k#{&1}":1))
      assert refused(~s({#{many},"k7":1})) == :duplicate_key
      assert JSON.decode!(~s({"a":1,"A":2})) == %{"a" => 1, "A" => 2}
    end

    test "of equal keys the last one counts where that is asked for" do
      last = fn text -> JSON.decode!(text, duplicate_keys: :last) end
      assert last.(~s({"a":1,"b":2,"a":3})) == %{"a" => 3, "b" => 2}
      assert last.(~S({"method":1,"\u006dethod":2})) == %{"method" => 2}
      assert last.(~s([{"x":{"b":1,"c":2,"b":{"d":1,"d":[]}}}])) == [%{"x" => %{"b" => %{"d" => []}, "c" => 2}}]
      many = for n <- 1..100, into: "", do: ~s("k#{n}":#{n},)
      large = last.(~s({#{many}"k7":"last"}))
      assert {map_size(large), large["k7"], large["k8"]} == {100, "last", 8}
      assert refused(~s({"a":1,"a":}), duplicate_keys: :last) == :syntax
      assert refused(~s({"a":1,"a":2}), duplicate_keys: :refuse) == :duplicate_key
      assert_raise ArgumentError, ~r/:refuse or :last/, fn -> JSON.decode("1", duplicate_keys: :first) end
    end

    test "by kind" do
      for {text, kind} <- [
            {"", :unexpected_end},
            {"[1", :unexpected_end},
            {~s("abc), :unexpected_end},
            {"[1,]", :syntax},
            {"{'a':1}", :syntax},
            {"NaN", :syntax},
            {"\uFEFF{}", :syntax},
            {"1 2", :trailing_bytes},
            {"{} x", :trailing_bytes},
            {"\"a\nb\"", :control_character},
            {~S("\x"), :invalid_escape},
            {~S("\ud800"), :lone_surrogate},
            {~S("\udc00\ud800"), :lone_surrogate},
            {"01", :invalid_number},
            {"[1.]", :invalid_number},
            {"\"" <> <<0xFF>> <> "\"", :invalid_utf8},
            {<<0xFF, 0xFE>>, :invalid_utf8}
          ] do
        assert {text, refused(text)} == {text, kind}
      end
    end

    test "the message and the error do not show the text" do
      {:error, error} = JSON.decode(~s({"password": "hunter2" oops}))
      refute inspect(error) =~ "hunter2"
      refute Exception.message(error) =~ "oops"
      assert_raise DecodeError, ~r/at byte 1/, fn -> JSON.decode!("[}") end
    end
  end

  describe "limits" do
    test "128 levels are read, 129 are not" do
      text = String.duplicate("[", 128) <> String.duplicate("]", 128)
      assert {:ok, [[_inner]]} = JSON.decode(text)
      assert refused("[" <> text <> "]") == :too_deep
      assert refused(String.duplicate("[", 100_000)) == :too_deep
      assert refused(String.duplicate(~s({"a":), 10_000)) == :too_deep
      assert refused("[[1]]", max_depth: 1) == :too_deep
      assert JSON.decode!("[1]", max_depth: 1) == [1]
    end

    test "values" do
      zeros = fn count -> "[" <> Enum.map_join(1..count, ",", fn _n -> "0" end) <> "]" end
      assert length(JSON.decode!(zeros.(199_999))) == 199_999
      assert refused(zeros.(200_000)) == :too_many_values
      assert JSON.decode!("[0,0]", max_values: 3) == [0, 0]
      assert refused("[0,0]", max_values: 2) == :too_many_values
    end

    test "bytes and digits" do
      assert JSON.decode!("[1]", max_bytes: 3) == [1]
      assert refused("[1] ", max_bytes: 3) == :too_large
      assert JSON.decode!("12", max_digits: 2) == 12
      assert refused("123", max_digits: 2) == :too_many_digits
    end

    test "none can be switched off by accident" do
      for bad <- [0, -1, :infinity, nil, 1.5] do
        assert_raise ArgumentError, fn -> JSON.decode("1", max_depth: bad) end
      end

      assert_raise ArgumentError, fn -> JSON.decode("1", max_dept: 1) end
    end
  end

  describe "memory" do
    test "a short string does not keep the text alive" do
      filler = String.duplicate("x", 1_000_000)
      text = JSON.encode!(["a string that is longer than a heap binary may be, so it is a binary of its own", filler])
      assert [short, _filler] = JSON.decode!(text)
      assert :binary.referenced_byte_size(short) == byte_size(short)
    end

    test "a string shares the text only from 4 KiB and a quarter of it on" do
      shared? = fn length, padding ->
        [string, _padding] = JSON.decode!(JSON.encode!([String.duplicate("s", length), String.duplicate("p", padding)]))
        :binary.referenced_byte_size(string) > length
      end

      refute shared?.(4_095, 0)
      assert shared?.(4_096, 0)
      assert shared?.(10_000, 29_000)
      refute shared?.(10_000, 31_000)
    end

    test "a string with escapes is its own binary" do
      [string] = JSON.decode!(JSON.encode!([String.duplicate("a\n", 10_000)]))
      assert :binary.referenced_byte_size(string) == 20_000
    end
  end

  describe "large texts" do
    test "on both sides of the limit of the schedulers" do
      for size <- [32_764, 32_766, 32_767, 40_000] do
        text = String.duplicate("é", div(size, 2))
        assert JSON.decode!("\"" <> text <> "\"") == text
      end
    end

    test "errors at the far end" do
      text = "[" <> Enum.map_join(1..50_000, ",", &Integer.to_string/1)
      assert {:error, %DecodeError{kind: :unexpected_end, offset: offset}} = JSON.decode(text)
      assert offset == byte_size(text)
    end

    test "a part of a larger binary is read as what it is" do
      <<_skipped::binary-size(3), part::binary-size(5), _rest::binary>> = "xxx[1,2]yyy"
      assert JSON.decode!(part) == [1, 2]
    end
  end
end
