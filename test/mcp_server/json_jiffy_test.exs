# Ours against jiffy (Debian's `erlang-jiffy`), text by text; `MCP_SCALE=1000` compares a thousand times as many.
#
# The same texts are JSON, and are the same terms. The differences that are meant:
#
# | text | here | jiffy |
# |---|---|---|
# | an object with a key twice | refused | the last one counts |
# | more than 128 levels or 1,024 digits | refused | read |
# | an exponent without digits, `1E+` | refused, as JSON has it | read |
# | an exponent too small for a float, `5e-324`, `12345678901234567890e-324` | the nearest float | 0.0 |
if McpServer.Installed.here?(:jiffy) and McpServer.Installed.here?(:proper) do
  defmodule McpServer.JSON.JiffyTest do
    use ExUnit.Case, async: true
    use McpServer.Properties

    alias McpServer.JSON

    @moduletag McpServer.Installed.tags([:jiffy, :proper])
    @moduletag timeout: :infinity
    @compile {:no_warn_undefined, :jiffy}

    @small_exponent ~r/[eE]-0*(30[89]|3[1-9]\d|[4-9]\d\d)/
    @meant [:duplicate_key, :too_deep, :too_many_digits]

    @pieces ["{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"a\":", "\"b\":1,", " ", "\n", "true", "false", "null"] ++
              [
                "-",
                "0",
                "1",
                "12",
                ".",
                ".5",
                "e",
                "E+",
                "e-1",
                "1e400",
                "5e-324",
                "1.7976931348623159e308",
                "-0",
                "-0.0"
              ] ++
              ["\\", "\\n", "\\/", "\\u00", "\\u0061", "\\ud83d\\ude00", "\\ud800", "\\udc00", <<1>>, "é", "\uFEFF"] ++
              [
                <<0xC3>>,
                <<0xED, 0xA0, 0x80>>,
                <<0xF4, 0x90, 0x80, 0x80>>,
                "18446744073709551616",
                "-9223372036854775809"
              ] ++
              ["[[", "]]", "{}", "[]", "{\"", "\":", "\",\""]

    # Texts that are sometimes valid JSON, and often almost.
    defp soup do
      pieces = :proper_types.list(:proper_types.oneof(@pieces))
      :proper_types.bind(pieces, &IO.iodata_to_binary/1, false)
    end

    defp json, do: :proper_types.sized(&json/1)

    defp json(size) when size < 2 do
      :proper_types.oneof([
        :proper_types.integer(),
        :proper_types.largeint(),
        :proper_types.float(),
        :proper_unicode.utf8(12),
        :proper_types.boolean(),
        nil
      ])
    end

    defp json(size) do
      inner = :proper_types.resize(div(size, 3), :proper_types.lazy(fn -> json(div(size, 3)) end))
      members = :proper_types.list({:proper_unicode.utf8(12), inner})

      :proper_types.frequency([
        {2, json(1)},
        {1, :proper_types.list(inner)},
        {1, :proper_types.bind(members, &Map.new/1, false)}
      ])
    end

    @tag req: "F3"
    test "bytes and near JSON are judged as jiffy judges them" do
      holds(forall(:proper_types.binary(), &same_verdict?/1), 2_000)
      holds(forall(soup(), &same_verdict?/1), 6_000, 20)
    end

    @tag req: "F3"
    test "text with a byte changed is judged as jiffy judges it" do
      type = {json(), :proper_types.non_neg_integer(), :proper_types.byte()}

      holds(
        forall(type, fn {term, place, byte} ->
          text = JSON.encode!(term)
          at = rem(place, byte_size(text))
          {before, <<_byte, rest::binary>>} = :erlang.split_binary(text, at)
          same_verdict?(<<before::binary, byte, rest::binary>>)
        end),
        300
      )
    end

    @tag req: "F3"
    test "what either writes the other reads" do
      holds(
        forall(json(), fn term ->
          theirs = IO.iodata_to_binary(:jiffy.encode(term, [:use_nil]))
          read(JSON.encode!(term)) === {:ok, term} and JSON.decode!(theirs) === term
        end),
        300
      )
    end

    @tag req: "F3"
    test "an exponent too small for a float may be a zero of both signs there, no other number may" do
      for text <- ["5e-324", "[-5e-324]", "{\"a\": -1e-310}", "-#{String.duplicate("9", 40)}e-324"],
          do: assert(same_verdict?(text))

      for text <- ["1e-307", "[2.5E-299]", "-0.0", "12345678901234567890e-300"], do: assert(same_verdict?(text))
      refute same?(1.0e-307, 0.0, "1e-307" =~ @small_exponent)
    end

    defp same_verdict?(text) do
      case {JSON.decode(text), read(text)} do
        {{:ok, ours}, {:ok, theirs}} -> same?(ours, theirs, text =~ @small_exponent)
        {{:error, %{kind: kind}}, {:ok, _theirs}} -> kind in @meant or text =~ ~r/[eE][+-](?![0-9])/
        {{:error, _error}, :error} -> true
        {{:ok, _ours}, :error} -> false
      end
    end

    defp same?([ours | more], [theirs | others], small?),
      do: same?(ours, theirs, small?) and same?(more, others, small?)

    defp same?(%{} = ours, %{} = theirs, small?) do
      Map.keys(ours) == Map.keys(theirs) and Enum.all?(ours, fn {key, value} -> same?(value, theirs[key], small?) end)
    end

    # The sign of a zero counts since OTP 27: `-5e-324` is -0.0 there.
    defp same?(ours, theirs, true) when is_float(ours) and is_float(theirs) and theirs == 0, do: true
    defp same?(ours, theirs, _small?), do: ours === theirs

    defp read(text) do
      {:ok, :jiffy.decode(text, [:return_maps, :use_nil])}
    catch
      :error, _reason -> :error
    end
  end
end
