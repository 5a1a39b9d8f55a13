defmodule McpServer.JSON.CorporaTest do
  # Public corpora of JSON: valid texts are read, invalid texts are refused, and terms survive a round trip.
  use ExUnit.Case, async: true

  alias McpServer.JSON

  @moduletag timeout: :infinity

  @corpora Path.expand("../../../shared/corpora", __DIR__)

  @moduletag McpServer.Installed.tags(:corpora)

  defp corpus(pattern), do: @corpora |> Path.join(pattern) |> Path.wildcard()

  test "JSONTestSuite: y_ is read, n_ is refused, and what is read comes back the same" do
    files = corpus("JSONTestSuite/test_parsing/*.json")
    assert length(files) == 318

    # These two are valid JSON, but an object with equal keys is refused here (documented).
    duplicates = ["y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"]

    for file <- files, name = Path.basename(file), text = File.read!(file) do
      case {JSON.decode(text), String.first(name)} do
        {{:error, error}, "y"} -> assert {name in duplicates, error.kind} == {true, :duplicate_key}, name
        {{:ok, _term}, "n"} -> flunk("#{name} was read")
        {{:ok, term}, _kind} -> assert JSON.decode!(JSON.encode!(term)) === term
        {{:error, _error}, _kind} -> :ok
      end
    end
  end

  test "JSONTestSuite: the free choices are fixed" do
    accepted =
      for file <- corpus("JSONTestSuite/test_parsing/i_*.json"), {:ok, _term} <- [JSON.decode(File.read!(file))] do
        Path.basename(file, ".json")
      end

    assert accepted == ~w(i_number_double_huge_neg_exp i_number_real_underflow i_number_too_big_neg_int
                          i_number_too_big_pos_int i_number_very_big_negative_int)
  end

  test "JSONTestSuite: what becomes of numbers, keys and strings" do
    transformed = fn name -> JSON.decode(File.read!(Path.join([@corpora, "JSONTestSuite/test_transform", name]))) end
    assert transformed.("number_-9223372036854775809.json") == {:ok, [-9_223_372_036_854_775_809]}
    assert transformed.("number_10000000000000000999.json") == {:ok, [10_000_000_000_000_000_999]}
    assert transformed.("number_1.000000000000000005.json") === {:ok, [1.0]}
    assert transformed.("number_1e6.json") === {:ok, [1.0e6]}
    assert transformed.("number_1e-999.json") === {:ok, [0.0]}
    assert {:ok, nfc_nfd} = transformed.("object_key_nfc_nfd.json")
    assert map_size(nfc_nfd) == 2
    assert {:error, %{kind: :duplicate_key}} = transformed.("object_same_key_different_values.json")
    assert {:ok, ["A\0B"]} = transformed.("string_with_escaped_NULL.json")
    assert {:error, %{kind: :lone_surrogate}} = transformed.("string_1_escaped_invalid_codepoint.json")
  end

  test "naughty strings come back the same, as values and as keys" do
    strings = @corpora |> Path.join("naughty-strings/blns.json") |> File.read!() |> JSON.decode!()
    assert length(strings) == 515

    for string <- strings do
      assert JSON.decode!(JSON.encode!([string])) == [string]
      assert JSON.decode!(JSON.encode!(%{string => string}, pretty: true)) == %{string => string}
    end
  end

  test "utf8tests: what is UTF-8 is written, what is not is refused" do
    %{"cases" => cases} = @corpora |> Path.join("utf8tests/utf8tests.json") |> File.read!() |> JSON.decode!()

    for %{"id" => id, "valid" => valid, "hex" => hex} <- cases do
      bytes = Base.decode16!(hex, case: :mixed)

      case JSON.encode([bytes]) do
        {:ok, text} -> assert {id, JSON.decode!(text)} == {if(valid, do: id), [bytes]}
        {:error, error} -> assert {id, valid, error.kind} == {id, false, :invalid_utf8}
      end
    end
  end

  test "floats are printed so that they read back the same, and no longer than needed" do
    lines = @corpora |> Path.join("jiffy-cases/test/cases/short-doubles.txt") |> File.stream!() |> Enum.take_every(50)

    for line <- lines, {float, _rest} = Float.parse(String.trim_trailing(line, ".\n")) do
      text = JSON.encode!(float)
      assert JSON.decode!(text) === float
      assert digits(text) <= digits(Float.to_string(float))
    end
  end

  @tag req: "S4-60"
  test "pretty JSON is laid out as Jason lays it out" do
    files = corpus("jason-formatter-suite/formatter_test_suite/*.pretty.json")
    assert length(files) == 8

    # One file contains several texts, which `JSON.decode/1` refuses.
    for file <- files, Path.basename(file) != "multiple-objects.pretty.json" do
      pretty = File.read!(file)
      assert JSON.encode!(JSON.decode!(pretty), pretty: true) == String.trim_trailing(pretty)
    end
  end

  # About 6.5 million inputs with `MCP_SCALE=10000`; otherwise only the small files.
  @tag req: "F5"
  test "every file of the corpora, cut at each byte and with each byte flipped, is read or refused" do
    longest = 24 * String.to_integer(System.get_env("MCP_SCALE", "1"))

    files =
      for file <- corpus("**/*.json"), text = File.read!(file), byte_size(text) <= longest do
        assert answers?(text), file
        for at <- 0..(byte_size(text) - 1)//1, do: assert(answers?(text, at), "#{file} at #{at}")
        byte_size(text)
      end

    if longest > 24, do: IO.puts("F5: #{length(files)} files, #{length(files) + 2 * Enum.sum(files)} inputs")
  end

  defp answers?(text, at) do
    {before, <<byte, rest::binary>>} = :erlang.split_binary(text, at)
    flipped = Bitwise.bxor(byte, Bitwise.bsl(1, rem(at, 8)))
    answers?(before) and answers?(<<before::binary, flipped, rest::binary>>)
  end

  # A decoded term is encoded and decoded again. An error has a position inside the text.
  defp answers?(text) do
    case JSON.decode(text) do
      {:ok, term} -> JSON.decode!(JSON.encode!(term)) === term
      {:error, %JSON.DecodeError{offset: offset}} -> offset in 0..byte_size(text)
    end
  end

  defp digits(text) do
    text |> String.split(["e", "E"]) |> hd() |> String.replace(~r/\D/, "") |> String.trim("0") |> byte_size()
  end
end
