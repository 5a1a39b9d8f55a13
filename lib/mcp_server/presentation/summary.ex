defmodule McpServer.Presentation.Summary do
  @moduledoc false
  # A long text made short. It is cut between graphemes, so that no accent or part of an emoji is lost.

  # Characters as JSON Schema counts them: code points.
  @length 200
  # A space beyond this is a good place to cut: 80 % of the length.
  @earliest_cut 160

  @doc "The text itself where it is short; else its beginning, cut at a space where there is one late enough, and `...`."
  @spec of(String.t()) :: String.t()
  def of(text) when byte_size(text) <= @length, do: text

  def of(text) do
    case cut(text, 0, 0, nil) do
      nil -> text
      0 -> first_characters(text) <> "..."
      bytes -> binary_part(text, 0, bytes) <> "..."
    end
  end

  # How many bytes to keep; `nil` where the text is short. `space` is the last place that was good to cut at.
  defp cut(rest, bytes, count, space) do
    with {grapheme, rest} <- String.next_grapheme(rest) do
      space = if grapheme == " " and count > @earliest_cut, do: bytes, else: space
      count = count + length(String.codepoints(grapheme))
      if count > @length, do: space || bytes, else: cut(rest, bytes + byte_size(grapheme), count, space)
    end
  end

  # One grapheme can be as long as a text.
  defp first_characters(text), do: text |> Stream.unfold(&String.next_codepoint/1) |> Enum.take(@length) |> Enum.join()
end
