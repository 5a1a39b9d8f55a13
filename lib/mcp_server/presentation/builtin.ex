defmodule McpServer.Presentation.Builtin do
  @moduledoc false
  # The kinds of every view. Their keys are written in the order given here.

  alias McpServer.Presentation.{Kind, ToolError}

  @texts [type: "array", items: [type: "string"]]

  @needed [
    type: "object",
    properties: [
      fields: @texts,
      reason: [type: "string"],
      suggestions: [type: "object", additionalProperties: @texts]
    ],
    required: ["fields", "reason"],
    additionalProperties: false
  ]

  @option [
    type: "object",
    properties: [
      label: [type: "string"],
      value: [type: "string"],
      description: [type: "string"],
      field: [type: "string"]
    ],
    required: ["label", "value"],
    additionalProperties: false
  ]

  @needs_input [
    properties: [
      type: [const: "elicitation"],
      message: [type: "string"],
      needsInput: @needed,
      options: [type: "array", items: @option]
    ],
    required: ["type", "message"],
    additionalProperties: false
  ]

  @tool_error [
    properties: [
      code: [enum: ToolError.codes()],
      message: [type: "string"],
      retryable: [type: "boolean"],
      details: [type: "object"]
    ],
    required: ["code", "message"],
    additionalProperties: false
  ]

  @schemas %{"needsInput:v1" => @needs_input, "toolError:v1" => @tool_error}

  @doc "The names of the kinds, sorted."
  @spec names() :: [String.t()]
  def names, do: Enum.sort(Map.keys(@schemas))

  @doc "The kinds. They are compiled at the first call."
  @spec kinds() :: [Kind.t()]
  def kinds do
    with nil <- :persistent_term.get(__MODULE__, nil) do
      kinds = for {name, schema} <- @schemas, do: Kind.new(name, schema)
      :persistent_term.put(__MODULE__, kinds)
      kinds
    end
  end
end
