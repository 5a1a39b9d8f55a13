defmodule McpServer.Presentation.ExtractionError do
  @moduledoc """
  A result in which no data was found.

  | field | |
  |---|---|
  | `reason` | `:unknown_kind`, `:mismatch` (a known kind that does not satisfy its schema) or `:not_found` |
  | `kind` | the kind that was found, or `nil` |
  | `known` | the known version of that kind, or `nil` |
  """

  defexception [:reason, :kind, :known, :message]

  @type t :: %__MODULE__{
          reason: :unknown_kind | :mismatch | :not_found,
          kind: String.t() | nil,
          known: String.t() | nil,
          message: String.t()
        }
end
