defmodule McpServer.DualResponse.Client.FetchResult do
  @moduledoc """
  A page of rows, the result of `McpServer.DualResponse.Client.Parsed.fetch/2`.

  | field | |
  |---|---|
  | `data` | the rows, maps with string keys |
  | `total_count` | number of all rows |
  | `returned_count` | number of rows in `data` |
  | `offset` | offset of the page |
  | `has_next` | whether there is a next page |
  | `has_previous` | whether there is a previous page |
  | `next_offset` | offset of the next page, `nil` on the last page |
  """

  @enforce_keys [:data, :total_count, :returned_count, :offset, :has_next, :has_previous, :next_offset]
  defstruct @enforce_keys

  @type t :: %__MODULE__{
          data: [map()],
          total_count: non_neg_integer(),
          returned_count: non_neg_integer(),
          offset: non_neg_integer(),
          has_next: boolean(),
          has_previous: boolean(),
          next_offset: non_neg_integer() | nil
        }
end
