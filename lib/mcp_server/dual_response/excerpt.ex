defmodule McpServer.DualResponse.Excerpt do
  @moduledoc false
  # The first rows of a result, as much as there is room for, and as the text that a model reads.

  alias McpServer.JSON

  @doc "As many of the first rows as fit into so many bytes once they are written, as text inside text."
  @spec fitting([map()], bytes :: non_neg_integer()) :: [map()]
  def fitting(rows, bytes) do
    {shown, _left} =
      Enum.flat_map_reduce(rows, bytes, fn row, left ->
        bytes = byte_size(JSON.encode!(JSON.encode!(row))) + 2
        if bytes <= left, do: {[row], left - bytes}, else: {:halt, left}
      end)

    shown
  end

  @doc "A row on a line of its own, behind a sentence."
  @spec text(String.t(), [map()], (map() -> String.t())) :: String.t()
  def text(sentence, rows, line \\ &JSON.encode!/1), do: Enum.join([sentence | Enum.map(rows, line)], "\n")
end
