defmodule McpServer.Breaking.Change do
  @moduledoc """
  A difference between a router and its snapshot.

  | field | |
  |---|---|
  | `:level` | `:breaking`: what worked may not work any more; `:unknown`: that could not be found out; `:compatible`: what worked still does |
  | `:code` | what kind of change it is, such as `"input_narrowed"`; the codes are stable |
  | `:kind` | `"tool"`, `"prompt"`, `"resource"` or `"resource template"` |
  | `:name` | the name of that; the URI of a resource, the text of a template |
  | `:message` | what has changed |
  | `:reasons` | where two schemas differ, as far as that says something |
  | `:example` | as JSON, arguments that were accepted and no longer are, or a result that may come now and could not; `nil` where none was found |
  """

  @enforce_keys [:level, :code, :kind, :name, :message]
  defstruct [:level, :code, :kind, :name, :message, :example, reasons: []]

  @type level :: :breaking | :unknown | :compatible
  @type t :: %__MODULE__{
          level: level,
          code: String.t(),
          kind: String.t(),
          name: String.t(),
          message: String.t(),
          reasons: [String.t()],
          example: String.t() | nil
        }
end
