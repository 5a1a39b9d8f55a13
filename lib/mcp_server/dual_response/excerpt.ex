defmodule McpServer.DualResponse.Excerpt do
  @moduledoc false
  # The first rows of a result that fit into a size, and their text for a model.

  alias McpServer.JSON

  @doc "The first rows that fit into this many bytes as escaped JSON text."
  @spec fitting([map()], bytes :: non_neg_integer()) :: [map()]
  def fitting(rows, bytes) do
    {shown, _left} =
      Enum.flat_map_reduce(rows, bytes, fn row, left ->
        bytes = byte_size(JSON.encode!(JSON.encode!(row))) + 2
        if bytes <= left, do: {[row], left - bytes}, else: {:halt, left}
      end)

    shown
  end

  @doc "A sentence, and each row on a separate line below it."
  @spec text(String.t(), [map()], (map() -> String.t())) :: String.t()
  def text(sentence, rows, line \\ &JSON.encode!/1), do: Enum.join([sentence | Enum.map(rows, line)], "\n")
end
