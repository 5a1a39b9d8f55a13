if McpServer.Installed.here?(:proper) do
  defmodule McpServer.JSON.PropertyTest do
    # Properties checked with the optional PropEr (Debian's `erlang-proper`). `MCP_SCALE=100` runs each 100 times as
    # often.
    use ExUnit.Case, async: true
    use McpServer.Properties

    alias McpServer.JSON
    alias McpServer.JSON.{DecodeError, EncodeError}

    @moduletag timeout: :infinity
    @moduletag McpServer.Installed.tags(:proper)

    defp text, do: :proper_unicode.utf8(12)

    defp scalar do
      :proper_types.oneof([
        :proper_types.integer(),
        :proper_types.largeint(),
        :proper_types.float(),
        text(),
        :proper_types.boolean(),
        nil
      ])
    end

    # JSON-like terms, nested as deep as PropEr's size allows.
    defp json, do: :proper_types.sized(&json/1)

    defp json(size) when size < 2, do: scalar()

    defp json(size) do
      inner = :proper_types.resize(div(size, 3), :proper_types.lazy(fn -> json(div(size, 3)) end))

      :proper_types.frequency([
        {2, scalar()},
        {1, :proper_types.list(inner)},
        {1, :proper_types.bind(:proper_types.list({text(), inner}), &Map.new/1, false)}
      ])
    end

    @tag req: "F4"
    test "what is written reads back as it was" do
      holds(forall(json(), fn term -> JSON.decode!(JSON.encode!(term)) === term end), 300)
    end

    @tag req: "F4"
    test "pretty or not, the text means the same, and has the same text when written again" do
      holds(
        forall(json(), fn term ->
          text = JSON.encode!(term)
          JSON.decode!(JSON.encode!(term, pretty: true)) === term and JSON.encode!(JSON.decode!(text)) == text
        end),
        200
      )
    end

    test "no line of text ever holds a line end" do
      holds(forall(json(), fn term -> not String.contains?(JSON.encode!(term), ["\n", "\r"]) end), 200)
    end

    @tag req: "F4"
    test "no bytes make reading raise" do
      holds(forall(:proper_types.binary(), &decoded?/1), 5_000)
    end

    @tag req: "F4"
    test "no bytes cut anywhere make reading raise" do
      holds(forall(:proper_types.binary(), fn bytes -> each_cut(bytes, &decoded?/1) end), 1_000)
    end

    @tag req: "F4"
    test "no text cut anywhere is read as a text of its own" do
      holds(
        forall(:proper_types.resize(6, json()), fn term ->
          each_cut(JSON.encode!([term]), fn cut -> match?({:error, %DecodeError{}}, JSON.decode(cut)) end)
        end),
        200
      )
    end

    @tag req: "F4"
    test "no text with a byte changed makes reading raise" do
      type = {json(), :proper_types.non_neg_integer(), :proper_types.byte()}

      holds(
        forall(type, fn {term, place, byte} ->
          text = JSON.encode!(term)
          at = rem(place, byte_size(text))
          {before, <<_byte, rest::binary>>} = :erlang.split_binary(text, at)
          decoded?(<<before::binary, byte, rest::binary>>)
        end),
        300
      )
    end

    # All proper prefixes.
    defp each_cut(bytes, fun), do: Enum.all?(0..(byte_size(bytes) - 1)//1, &fun.(binary_part(bytes, 0, &1)))

    @tag req: "F4"
    test "no term makes writing raise" do
      holds(
        forall(:proper_types.any(), fn term ->
          match?({:ok, _text}, JSON.encode(term)) or match?({:error, %EncodeError{}}, JSON.encode(term))
        end),
        3_000
      )
    end

    # The reader handles words and blocks of bytes at once: texts around these sizes, with special bytes anywhere.
    defp block_text do
      piece = :proper_types.oneof([text(), :proper_types.range(0, 80), "\"", "\\", "\n", <<0>>, "é", "🙂"])
      :proper_types.bind(:proper_types.list(piece), fn pieces -> Enum.map_join(pieces, &piece/1) end, false)
    end

    defp piece(length) when is_integer(length), do: String.duplicate("x", length)
    defp piece(text), do: text

    # Maps around the size up to which the VM keeps keys in order, with keys of each kind.
    defp map_of_any_size do
      key = :proper_types.oneof([block_text(), :proper_types.integer(), :proper_types.oneof([:a, :b, :name, :日本])])
      members = :proper_types.resize(60, :proper_types.list({key, :proper_types.oneof([scalar(), block_text()])}))
      :proper_types.bind(members, &Map.new/1, false)
    end

    test "maps and texts are written byte for byte as a plain writer does" do
      holds(forall(map_of_any_size(), fn map -> JSON.encode(map) |> same_as(plainly(map)) end), 1_000)
      holds(forall(block_text(), fn text -> JSON.encode(text) == {:ok, string(text)} end), 2_000)
    end

    @tag slow: "thousands of generated rows"
    test "rows that share keys, and parts that are one term, are written like rows and parts of their own" do
      type = {:proper_types.list(block_text()), map_of_any_size()}

      holds(
        forall(type, fn {keys, part} ->
          rows = for i <- 1..40, do: keys |> Map.new(&{&1, i}) |> Map.put("part", part)
          JSON.encode(rows) |> same_as(plainly(rows))
        end),
        200
      )
    end

    test "a binary that is no text is refused wherever it lies, at any offset of its bits" do
      type = {block_text(), :proper_types.range(128, 255), :proper_types.range(0, 7), block_text()}

      holds(
        forall(type, fn {before, byte, shift, rest} ->
          fine = unaligned(before <> rest, shift)
          broken = unaligned(before <> <<byte>> <> rest, shift)

          JSON.encode([fine]) == {:ok, "[" <> string(before <> rest) <> "]"} and
            String.valid?(broken) == match?({:ok, _text}, JSON.encode(broken)) and
            String.valid?(broken) == match?({:ok, _text}, JSON.encode(%{broken => 1}))
        end),
        1_000
      )
    end

    defp unaligned(bytes, shift) do
      all = <<byte_size(bytes)::32, shift, 0::size(shift), bytes::binary, 0::7>>
      <<length::32, shift, _::size(shift), same::binary-size(length), _::bitstring>> = all
      same
    end

    defp same_as({:ok, text}, {:ok, expected}), do: text == expected
    defp same_as({:error, %EncodeError{kind: kind}}, {:error, expected}), do: kind == expected
    defp same_as(_written, _expected), do: false

    # A minimal implementation of the same encoding, which uses the writer for scalars other than strings.
    defp plainly(term) do
      {:ok, plain(term)}
    catch
      kind -> {:error, kind}
    end

    defp plain(list) when is_list(list), do: "[" <> Enum.map_join(list, ",", &plain/1) <> "]"
    defp plain(text) when is_binary(text), do: string(text)
    defp plain(scalar) when not is_map(scalar), do: JSON.encode!(scalar)

    defp plain(map) do
      members = for {key, value} <- map, do: {to_string(key), value}
      sorted = Enum.sort_by(members, &elem(&1, 0))
      if length(Enum.uniq_by(sorted, &elem(&1, 0))) < length(sorted), do: throw(:key_collision)
      "{" <> Enum.map_join(sorted, ",", fn {key, value} -> string(key) <> ":" <> plain(value) end) <> "}"
    end

    defp string(text), do: "\"" <> Enum.map_join(String.to_charlist(text), &character/1) <> "\""

    defp character(?"), do: "\\\""
    defp character(?\\), do: "\\\\"
    defp character(?\b), do: "\\b"
    defp character(?\t), do: "\\t"
    defp character(?\n), do: "\\n"
    defp character(?\f), do: "\\f"
    defp character(?\r), do: "\\r"
    defp character(code) when code < 32, do: "\\u00" <> String.downcase(Base.encode16(<<code>>))
    defp character(code), do: <<code::utf8>>

    defp decoded?(bytes) do
      case JSON.decode(bytes) do
        {:ok, term} -> JSON.decode!(JSON.encode!(term)) === term
        {:error, %DecodeError{offset: offset}} -> offset in 0..byte_size(bytes)
      end
    end
  end
end
