defmodule McpServer.JSON.PropertyTest do
  # Properties checked with PropEr (Debian's `erlang-proper`), which is there or not.
  use ExUnit.Case, async: true

  alias McpServer.JSON
  alias McpServer.JSON.{DecodeError, EncodeError}

  with {:error, :bad_name} <- :code.lib_dir(:proper) do
    IO.puts(:stderr, "#{inspect(__MODULE__)}: skipped, PropEr is not installed")
  else
    library -> Code.prepend_path(Path.join(library, "ebin"))
  end

  if Code.ensure_loaded?(:proper) do
    @compile {:no_warn_undefined, [:proper, :proper_types, :proper_unicode]}

    defp holds(property, runs) do
      assert :proper.quickcheck(property, [:quiet, :noshrink, max_size: 30, numtests: runs]) == true
    end

    defp forall(type, fun), do: :proper.forall(type, fun)

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

    test "what is written reads back as it was" do
      holds(forall(json(), fn term -> JSON.decode!(JSON.encode!(term)) === term end), 300)
    end

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

    test "no bytes make reading raise" do
      holds(forall(:proper_types.binary(), fn bytes -> decoded?(JSON.decode(bytes)) end), 5_000)
    end

    test "no text cut or with a byte changed makes reading raise" do
      type = {json(), :proper_types.non_neg_integer(), :proper_types.byte()}

      holds(
        forall(type, fn {term, place, byte} ->
          text = JSON.encode!(term)
          at = rem(place, byte_size(text))
          <<before::binary-size(at), _byte, rest::binary>> = text
          decoded?(JSON.decode(before)) and decoded?(JSON.decode(<<before::binary, byte, rest::binary>>))
        end),
        300
      )
    end

    test "no term makes writing raise" do
      holds(
        forall(:proper_types.any(), fn term ->
          match?({:ok, _text}, JSON.encode(term)) or match?({:error, %EncodeError{}}, JSON.encode(term))
        end),
        3_000
      )
    end

    defp decoded?({:ok, _term}), do: true
    defp decoded?({:error, %DecodeError{}}), do: true
  end
end
