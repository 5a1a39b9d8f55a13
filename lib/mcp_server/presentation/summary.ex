defmodule McpServer.Presentation.Summary do
  @moduledoc false
  # Shortens a long text. The cut is between graphemes, so that no accent and no part of an emoji is lost.

  # The maximum length in graphemes, and in code points: a grapheme may have any number of them.
  @length 200
  @codepoints 20 * @length
  # A cut at a space is preferred after this position: 80 % of the length.
  @earliest_cut 160

  @doc "A short text unchanged. Else its beginning and `...`, cut at a late space if there is one."
  @spec of(String.t()) :: String.t()
  def of(text) when byte_size(text) <= @length, do: text

  def of(text) do
    case cut(text, 0, {0, 0}, nil) do
      nil -> text
      0 -> first_characters(text) <> "..."
      bytes -> binary_part(text, 0, bytes) <> "..."
    end
  end

  # The number of bytes to keep. `nil` for a short text. `space` is the last good place for a cut.
  defp cut(rest, bytes, {count, codepoints}, space) do
    with {grapheme, rest} <- String.next_grapheme(rest) do
      space = if grapheme == " " and count > @earliest_cut, do: bytes, else: space
      codepoints = codepoints + length(String.codepoints(grapheme))

      if count == @length or codepoints > @codepoints,
        do: space || bytes,
        else: cut(rest, bytes + byte_size(grapheme), {count + 1, codepoints}, space)
    end
  end

  # A single grapheme can be longer than the limit.
  defp first_characters(text), do: text |> Stream.unfold(&String.next_codepoint/1) |> Enum.take(@length) |> Enum.join()
end
