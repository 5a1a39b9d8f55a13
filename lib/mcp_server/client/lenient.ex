defmodule McpServer.Client.Lenient do
  @moduledoc false
  # Reads what a server sends, which may be less strict than what this library sends. A server in JavaScript that cuts a
  # text inside an emoji writes half a surrogate pair: the reader gets the replacement character, like the user of any
  # other client. Of two members with one name the last one counts.

  alias McpServer.JSON

  # The limits protect a client from faulty servers.
  @read [max_bytes: 64 * 1024 * 1024, max_values: 10_000_000, max_digits: 10_000, duplicate_keys: :last]

  @doc "Decodes a message. The error says what cannot be read."
  @spec decode(binary()) :: {:ok, term()} | {:error, JSON.DecodeError.t()}
  def decode(text) do
    with {:error, %{kind: :lone_surrogate}} <- JSON.decode(text, @read),
         do: text |> whole([]) |> IO.iodata_to_binary() |> JSON.decode(@read)
  end

  # Replaces the escapes of single surrogates. Other escapes stay as they are.
  defp whole(text, done) do
    case :binary.split(text, "\\") do
      [rest] -> [done, rest]
      [plain, escape] -> escape(escape, [done, plain])
    end
  end

  defp escape(<<"u", high::binary-size(4), "\\u", low::binary-size(4), rest::binary>>, done) do
    if unit(high) == :high and unit(low) == :low,
      do: whole(rest, [done, "\\u", high, "\\u", low]),
      else: whole("\\u" <> low <> rest, [done, single(high)])
  end

  defp escape(<<"u", unit::binary-size(4), rest::binary>>, done), do: whole(rest, [done, single(unit)])
  defp escape(<<letter, rest::binary>>, done), do: whole(rest, [done, ?\\, letter])
  defp escape("", done), do: [done, "\\"]

  defp single(unit), do: if(unit(unit) == :other, do: ["\\u", unit], else: "\\ufffd")

  defp unit(<<d, high, _third, _fourth>>) when d in [?d, ?D] and high in [?8, ?9, ?a, ?b, ?A, ?B], do: :high
  defp unit(<<d, low, _third, _fourth>>) when d in [?d, ?D] and low in [?c, ?d, ?e, ?f, ?C, ?D, ?E, ?F], do: :low
  defp unit(_other), do: :other
end
