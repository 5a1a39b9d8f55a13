defmodule McpServer.DualResponse.Page do
  @moduledoc """
  A part of a resource's rows.

  | field | meaning |
  |---|---|
  | `data` | the rows |
  | `total_count` | number of rows of the resource |
  | `returned_count` | number of rows in the page |
  | `offset` | number of rows before the page |
  | `has_next` | whether there are rows after the page |
  | `next_offset` | offset of the next page, or `nil` |

      iex> McpServer.DualResponse.Page.new([%{"id" => 801}], 800, 847).next_offset
      801
      iex> McpServer.DualResponse.Page.new([%{"id" => 847}], 846, 847).next_offset
      nil
  """

  @enforce_keys [:data, :total_count, :returned_count, :offset, :has_next, :next_offset]
  defstruct [:data, :total_count, :returned_count, :offset, :has_next, :next_offset]

  @type t :: %__MODULE__{
          data: [map],
          total_count: non_neg_integer,
          returned_count: non_neg_integer,
          offset: non_neg_integer,
          has_next: boolean,
          next_offset: non_neg_integer | nil
        }

  @doc "Builds a page of rows that begin at `offset`."
  @spec new([map], non_neg_integer, non_neg_integer) :: t
  def new(rows, offset, total_count) do
    returned = length(rows)
    next = offset + returned
    has_next = next < total_count

    %__MODULE__{
      data: rows,
      total_count: total_count,
      returned_count: returned,
      offset: offset,
      has_next: has_next,
      next_offset: if(has_next, do: next)
    }
  end
end
