defmodule McpServer.DualResponse.Response do
  @moduledoc """
  A created dual response: a few rows for the model, and a link to all of them for the host.

  A tool's handler returns `{:ok, response}`.

  | field | meaning |
  |---|---|
  | `resource_id` | the id |
  | `resource_uri` | `"resource://" <> id`, or what the server's `uri_scheme:` or `uri_builder:` make of it |
  | `resource_url` | where the REST endpoint has it |
  | `name` | the name it was given |
  | `sample` | the first rows |
  | `total_count` | how many there are |
  | `columns` | the columns, as given |
  | `expires_at` | `DateTime`, or `nil` if it is kept until it is deleted |
  | `created_at` | `DateTime` |
  """

  @enforce_keys [:resource_id, :resource_uri, :resource_url, :name, :sample, :total_count, :columns, :created_at]
  defstruct [
    :resource_id,
    :resource_uri,
    :resource_url,
    :name,
    :sample,
    :total_count,
    :columns,
    :expires_at,
    :created_at
  ]

  @type t :: %__MODULE__{
          resource_id: String.t(),
          resource_uri: String.t(),
          resource_url: String.t(),
          name: String.t(),
          sample: [map],
          total_count: non_neg_integer,
          columns: [map],
          expires_at: DateTime.t() | nil,
          created_at: DateTime.t()
        }
end
