defmodule McpServer.Presentation.ExtractionError do
  @moduledoc """
  A result in which no data was found.

  | field | |
  |---|---|
  | `reason` | `:unknown_kind`, `:mismatch` (a known kind, not as its schema has it) or `:not_found` |
  | `kind` | the kind that was found, if one was |
  | `known` | the version of that kind that is known, if there is one |
  """

  defexception [:reason, :kind, :known, :message]

  @type t :: %__MODULE__{
          reason: :unknown_kind | :mismatch | :not_found,
          kind: String.t() | nil,
          known: String.t() | nil,
          message: String.t()
        }
end
