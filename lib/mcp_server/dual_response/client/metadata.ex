defmodule McpServer.DualResponse.Client.Metadata do
  @moduledoc """
  What the server says of a resource now: `McpServer.DualResponse.Client.Parsed.metadata/1`.

  | field | |
  |---|---|
  | `status` | `"ready"` |
  | `total_count` | how many rows it has |
  | `columns` | what they consist of, maps with string keys |
  | `created_at` | when it was made, a `DateTime` |
  | `expires_at` | until when it is kept, `nil` if it is pinned |
  | `access_count` | how often rows of it were fetched |
  """

  @enforce_keys [:status, :total_count, :columns, :created_at, :expires_at, :access_count]
  defstruct @enforce_keys

  @type t :: %__MODULE__{
          status: String.t(),
          total_count: non_neg_integer(),
          columns: [map()],
          created_at: DateTime.t() | nil,
          expires_at: DateTime.t() | nil,
          access_count: non_neg_integer()
        }
end
