defmodule McpServer.JSON.EncodeTest do
  use ExUnit.Case, async: true

  alias McpServer.{JSON, Native}
  alias McpServer.JSON.EncodeError

  doctest McpServer.JSON
  doctest McpServer.JSON.EncodeError
  doctest McpServer.JSON.DecodeError

  defmodule Point do
    defstruct [:y, :x, label: nil]
  end

  Code.require_file("test/support/decimal_stand_in.exs")

  defp refused(term) do
    assert {:error, %EncodeError{kind: kind, path: path} = error} = JSON.encode(term)
    assert is_binary(Exception.message(error))
    {kind, path}
  end

  defp nested(0), do: []
  defp nested(depth), do: [nested(depth - 1)]

  describe "scalars" do
    test "each has one form" do
      for {term, text} <- [
            {nil, "null"},
            {true, "true"},
            {false, "false"},
            {:ok, ~s("ok")},
            {:päth, ~s("päth")},
            {:日本, ~s("日本")},
            {Point, ~s("Elixir.McpServer.JSON.EncodeTest.Point")},
            {"", ~s("")},
            {0, "0"},
            {-1, "-1"},
            {1.0, "1.0"},
            {-0.0, "-0.0"},
            {0.1 + 0.2, "0.30000000000000004"},
            {[], "[]"},
            {%{}, "{}"},
            {~c"ab", "[97,98]"}
          ] do
        assert JSON.encode!(term) == text
      end
    end

    # The largest digit limit of the reader.
    test "integers have at most 100,000 digits" do
      for integer <- [10 ** 99_999, 10 ** 100_000 - 1, -(10 ** 99_999), 1 - 10 ** 100_000] do
        assert {:ok, text} = JSON.encode(integer)
        assert text |> String.trim_leading("-") |> byte_size() == 100_000
        assert JSON.decode(text, max_digits: 100_000) == {:ok, integer}
      end

      for integer <- [10 ** 100_000, -(10 ** 100_000), 10 ** 100_001, Bitwise.bsl(1, 3_321_929)] do
        assert {:error, error} = JSON.encode(%{"rows" => [1, integer]})
        assert {error.kind, error.path} == {:unsupported, ["rows", 1]}
        assert Exception.message(error) == "cannot encode an integer of more than 100,000 digits, at /rows/1"
        assert {:error, %{kind: :unsupported, path: []}} = JSON.encode(%{integer => 1})
      end
    end

    test "keys and decimals have as many" do
      assert JSON.encode(%{(10 ** 99_999) => 1}) == {:ok, ~s({"1#{String.duplicate("0", 99_999)}":1})}
      decimal = %{__struct__: Decimal, sign: -1, coef: 10 ** 99_999, exp: 0}
      assert JSON.encode(decimal) == {:ok, ~s("-1#{String.duplicate("0", 99_999)}")}
      assert {:error, %{kind: :unsupported}} = JSON.encode(%{decimal | coef: 10 ** 100_000})
    end

    test "many digits are written on a dirty scheduler, and none that are too many anywhere" do
      options = {false, nil, []}
      assert {:ok, _text} = Native.json_encode(10 ** 5_000, options)
      assert Native.json_encode(10 ** 10_000, options) == :over_budget
      assert {:ok, _text} = Native.json_encode(List.duplicate(10 ** 1_000, 10), options)
      assert Native.json_encode(List.duplicate(10 ** 1_000, 20), options) == :over_budget
      assert Native.json_encode(%{(10 ** 10_000) => 1}, options) == :over_budget
      assert Native.json_encode(%{__struct__: Decimal, sign: 1, coef: 10 ** 10_000, exp: 0}, options) == :over_budget
      assert {:error, {:unsupported, [], _detail}} = Native.json_encode(Bitwise.bsl(1, 3_321_929), options)
    end

    test "integers keep every digit" do
      limits = [2 ** 63 - 1, 2 ** 63, 2 ** 64 - 1, 2 ** 64, 10 ** 400]

      for integer <- limits ++ Enum.map(limits, &(-&1)) ++ [-(2 ** 63) - 1] do
        assert JSON.encode!(integer) == Integer.to_string(integer)
        assert JSON.decode!(JSON.encode!([integer])) == [integer]
      end
    end

    test "floats read back as they were" do
      for float <- [1.0e16, 1.0e-7, 5.0e-324, 1.7976931348623157e308, -2.5, 123_456_789.123] do
        assert JSON.decode!(JSON.encode!(float)) === float
      end
    end

    test "every control character is escaped, and nothing else is but quote and backslash" do
      for code <- 0..0x1F do
        text = JSON.encode!(<<code>>)
        assert text =~ ~r/\A"\\(u00[01][0-9a-f]|[bfnrt])"\z/
        assert JSON.decode!(text) == <<code>>
      end

      assert JSON.encode!("a\"b\\c/\n\r\t\b\f\u007f\u2028é😀") == ~S("a\"b\\c/\n\r\t\b\f) <> "\u007f\u2028é😀\""
    end

    test "a special character is found wherever it stands" do
      for length <- [0, 1, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 300], special <- ["\"", "\\", "\n", "\u001f", "é"] do
        text = String.duplicate("x", length) <> special <> String.duplicate("y", 300 - length)
        assert JSON.decode!(JSON.encode!(text)) == text
      end
    end
  end

  describe "maps" do
    @tag req: "S4-61"
    test "the user's keys are verbatim, whatever their spelling" do
      term = %{"snake_case" => 1, camelCase: 2, structured_content: 3, is_error: 4}
      assert JSON.encode!(term) == ~s({"camelCase":2,"is_error":4,"snake_case":1,"structured_content":3})
    end

    @tag req: "S4-62"
    test "nil inside a plain map is null" do
      assert JSON.encode!(%{a: nil, b: [nil]}) == ~s({"a":null,"b":[null]})
    end

    test "the same map always has the same text: keys are sorted by their bytes" do
      for size <- [2, 32, 33, 1_000] do
        pairs = for n <- 1..size, do: {"k#{n}", n}
        text = JSON.encode!(Map.new(pairs))
        assert text == JSON.encode!(Map.new(Enum.shuffle(pairs)))
        keys = Regex.scan(~r/"(k\d+)":/, text, capture: :all_but_first) |> List.flatten()
        assert keys == Enum.sort(keys)
        assert length(keys) == size
      end

      assert JSON.encode!(%{:b => 1, "a" => 2, 10 => 3, 9 => 4, "é" => 5, "Z" => 6}) ==
               ~s({"10":3,"9":4,"Z":6,"a":2,"b":1,"é":5})
    end

    test "maps of one kind one after the other, their keys the same terms" do
      for key <- [:a, "a"], other <- [:b, "b", 1] do
        maps = List.duplicate(%{key => 1, other => [%{key => 2}]}, 50)
        one = JSON.encode!(hd(maps))
        assert JSON.encode!(maps) == "[" <> Enum.map_join(maps, ",", fn _map -> one end) <> "]"
        assert refused(maps ++ [%{:a => 1, "a" => 2}]) == {:key_collision, [50, "a"]}
      end

      rows = for n <- 1..40, do: Map.new(1..30, &{"key #{&1} of #{rem(n, 3)}", n})
      assert JSON.decode!(JSON.encode!(rows)) == rows
    end

    test "keys may be integers of any size, and nil, true and false are names" do
      assert JSON.encode!(%{-1 => 0}) == ~s({"-1":0})
      assert JSON.encode!(%{(2 ** 70) => 0}) == ~s({"1180591620717411303424":0})
      assert JSON.encode!(%{nil => 1, true => 2}) == ~s({"nil":1,"true":2})
    end

    test "two keys that are the same text are refused" do
      assert refused(%{:a => 1, "a" => 2}) == {:key_collision, ["a"]}
      assert refused(%{1 => 1, "1" => 2}) == {:key_collision, ["1"]}
      assert refused(%{"x" => [%{nil => 1, "nil" => 2}]}) == {:key_collision, ["x", 0, "nil"]}
      many = Map.new(1..100, &{Integer.to_string(&1), &1})
      assert refused(Map.put(many, :"57", 0)) == {:key_collision, ["57"]}
    end

    test "other keys are refused" do
      assert refused(%{"a" => 1, <<"a", 1::1>> => 2}) == {:invalid_key, []}

      for key <- [1.5, {1}, self(), [1], %{}, <<1::3>>] do
        assert refused(%{"in" => %{key => 1}}) == {:invalid_key, ["in"]}
      end

      assert refused(%{<<255>> => 1}) == {:invalid_utf8, []}
    end
  end

  describe "structs" do
    test "dates and times are ISO 8601" do
      for value <- [
            ~D[2026-07-28],
            ~D[0001-01-01],
            Date.new!(-1, 2, 3),
            ~T[01:02:03],
            ~T[01:02:03.004],
            ~T[23:59:59.000100],
            ~N[2026-07-28 01:02:03],
            ~N[2026-07-28 01:02:03.999999],
            ~U[2026-07-28 01:02:03Z],
            ~U[2026-07-28 01:02:03.50Z]
          ] do
        assert JSON.encode!(value) == inspect(value.__struct__.to_iso8601(value))
      end
    end

    test "a time with an offset" do
      at = %{
        ~U[2026-07-28 01:02:03.5Z]
        | time_zone: "Europe/Vienna",
          zone_abbr: "CEST",
          utc_offset: 3600,
          std_offset: 3600
      }

      assert JSON.encode!(at) == inspect(DateTime.to_iso8601(at))
      west = %{at | time_zone: "America/St_Johns", utc_offset: -12_600, std_offset: 0}
      assert JSON.encode!(west) == inspect(DateTime.to_iso8601(west))
      london = %{at | time_zone: "Europe/London", utc_offset: 0, std_offset: 0}
      assert JSON.encode!(london) == inspect(DateTime.to_iso8601(london))
    end

    test "a date of another calendar is refused" do
      assert refused(%{at: %{~D[2026-07-28] | calendar: Other}}) == {:unsupported, ["at"]}
    end

    test "a decimal is a string" do
      for {sign, coef, exp, text} <- [
            {1, 0, 0, "0"},
            {1, 123, 0, "123"},
            {-1, 123, -2, "-1.23"},
            {1, 5, -3, "0.005"},
            {1, 123, 3, "1.23E+5"},
            {1, 1, -7, "1E-7"},
            {1, 12, -8, "1.2E-7"},
            {1, 1, -6, "0.000001"},
            {-1, 10 ** 30, -30, "-1.000000000000000000000000000000"}
          ] do
        assert JSON.encode!(struct!(Decimal, sign: sign, coef: coef, exp: exp)) == inspect(text)
      end

      assert refused([struct!(Decimal, coef: :NaN)]) == {:unsupported, [0]}
      assert refused([struct!(Decimal, coef: :inf)]) == {:unsupported, [0]}
    end

    @tag req: "S4-50"
    test "a connection is refused" do
      assert refused(%{conn: %McpServer.Conn{}}) == {:unsupported, ["conn"]}
    end
  end

  describe "what JSON has no form for" do
    test "is refused, and the path says where" do
      for term <- [self(), make_ref(), fn -> 1 end, {}, {:ok, 1}, <<1::1>>, hd(Port.list())] do
        assert refused(term) == {:unsupported, []}
        assert refused(%{"a" => [1, %{b: term}]}) == {:unsupported, ["a", 1, "b"]}
      end
    end

    test "improper lists, also deep inside" do
      assert refused([1 | 2]) == {:improper_list, []}
      assert refused(%{rows: [[1, 2 | :end]]}) == {:improper_list, ["rows", 0]}
    end

    test "binaries that are not UTF-8" do
      for bytes <- [
            <<255>>,
            "caf" <> <<0xE9>>,
            <<0xC0, 0x80>>,
            <<0xED, 0xA0, 0x80>>,
            <<0xF4, 0x90, 0x80, 0x80>>,
            <<0xE2, 0x82>>
          ] do
        assert refused([bytes]) == {:invalid_utf8, [0]}
        assert refused([String.duplicate("a", 100) <> bytes]) == {:invalid_utf8, [0]}
      end
    end

    test "128 levels are written, 129 are not" do
      assert {:ok, text} = JSON.encode(nested(127))
      assert text == String.duplicate("[", 128) <> String.duplicate("]", 128)
      assert {:too_deep, path} = refused(nested(128))
      assert path == List.duplicate(0, 128)
      assert {:too_deep, _path} = refused(nested(100_000))

      deep = Enum.reduce(1..128, 0, fn _level, inner -> %{"k" => inner} end)
      assert {:ok, text} = JSON.encode(deep)
      assert JSON.decode!(text) == deep
      assert {:too_deep, _path} = refused(%{"k" => deep})
    end

    test "the message names the place and never the value" do
      secret = "s3cr3t" <> <<255>>
      {:error, error} = JSON.encode(%{"users" => [%{"token" => secret}]})
      assert Exception.message(error) == "cannot encode a binary that is not UTF-8, at /users/0/token"
      refute inspect(error) =~ "s3cr3t"

      assert_raise EncodeError, "cannot encode a pid", fn -> JSON.encode!(self()) end
      assert_raise EncodeError, fn -> JSON.encode_to_iodata!([self()]) end
      {:error, error} = JSON.encode(%{String.duplicate("k", 1_000) => self()})
      assert Exception.message(error) == "cannot encode a pid, at /" <> String.duplicate("k", 64) <> "…"
    end

    test "a raise never crosses the boundary, whatever the term" do
      for term <- [[[] | []], [1 | [2 | %{}]], %{%{} => %{}}, {<<>>, <<0::7>>}, [[[[[self()]]]]], %{__struct__: 1}] do
        assert match?({:ok, _text}, JSON.encode(term)) or match?({:error, %EncodeError{}}, JSON.encode(term))
      end
    end
  end

  describe "large terms" do
    test "are written whole on a dirty scheduler, with the same text" do
      rows = for n <- 1..10_000, do: %{"id" => n, "name" => "row #{n}", "ok" => rem(n, 2) == 0, "v" => n / 7}
      text = JSON.encode!(rows)
      assert byte_size(text) > 500_000
      assert JSON.decode!(text) == rows
      assert "[" <> rest = text
      assert String.starts_with?(rest, JSON.encode!(hd(rows)) <> ",")
    end

    test "sizes around the limits of the schedulers and of the copy" do
      for size <- [511, 512, 65_533, 65_534, 65_535, 98_300, 98_304, 98_305, 400_000] do
        text = String.duplicate("é", div(size, 2))
        assert JSON.encode!(text) == "\"" <> text <> "\""
        assert JSON.encode!([text, [text]]) == "[\"#{text}\",[\"#{text}\"]]"
      end
    end

    test "errors deep in a large term" do
      list = Enum.to_list(1..100_000) ++ [self()]
      assert refused(%{"list" => list}) == {:unsupported, ["list", 100_000]}
      assert refused(Map.new(1..50_000, &{&1, &1}) |> Map.put("50000", 1)) == {:key_collision, ["50000"]}
    end

    test "128 levels, as deep as it goes, on a dirty scheduler's small stack" do
      big = String.duplicate("x", 200_000)
      term = Enum.reduce(1..63, big, fn _level, inner -> %{"k" => [inner]} end)
      assert JSON.decode!(JSON.encode!([term])) == [term]

      tools =
        Enum.reduce(1..60, %{"big" => big}, fn _level, inner -> %McpServer.Tool{name: "t", inputSchema: %{a: inner}} end)

      assert byte_size(JSON.encode!(tools)) > 200_000
    end

    test "more callers than dirty schedulers" do
      term = Enum.to_list(1..60_000)
      text = JSON.encode!(term)

      1..32
      |> Task.async_stream(fn _n -> {JSON.encode!(term), JSON.decode!(text)} end, max_concurrency: 32, timeout: 60_000)
      |> Enum.each(fn {:ok, pair} -> assert pair == {text, term} end)
    end

    test "the text of a large term does not keep memory of others alive" do
      text = JSON.encode!(String.duplicate("x", 1_000_000))
      assert :binary.referenced_byte_size(text) <= 1_000_002
    end
  end

  describe "pretty" do
    test "one member a line, two spaces a level, empty containers closed at once" do
      term = %{"a" => [1, %{"b" => "x: {1, [2]} \"q\" \\"}], "c" => %{}, "d" => [], "e" => [[]]}

      assert JSON.encode!(term, pretty: true) == """
             {
               "a": [
                 1,
                 {
                   "b": "x: {1, [2]} \\"q\\" \\\\"
                 }
               ],
               "c": {},
               "d": [],
               "e": [
                 []
               ]
             }\
             """

      assert JSON.decode!(JSON.encode!(term, pretty: true)) == term
    end

    test "scalars stay as they are" do
      assert JSON.encode!("a,b", pretty: true) == ~s("a,b")
      assert JSON.encode!(nil, pretty: true) == "null"
    end
  end

  test "an unknown option is a mistake of the caller" do
    assert_raise ArgumentError, fn -> JSON.encode(1, prety: true) end
  end
end
