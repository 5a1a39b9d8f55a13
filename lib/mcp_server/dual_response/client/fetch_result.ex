defmodule McpServer.DualResponse.Client.FetchResult do
  @moduledoc """
  A page of rows, as `McpServer.DualResponse.Client.Parsed.fetch/2` gets it.

  | field | |
  |---|---|
  | `data` | the rows, maps with string keys |
  | `total_count` | how many rows there are in all |
  | `returned_count` | how many are in `data` |
  | `offset` | where the page begins |
  | `has_next` | whether there is more |
  | `has_previous` | whether there is something before |
  | `next_offset` | where the next page begins, `nil` on the last |
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
