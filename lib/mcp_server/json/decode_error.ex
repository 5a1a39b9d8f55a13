defmodule McpServer.JSON.DecodeError do
  @moduledoc """
  A text that is not JSON, or exceeds a limit.

  | field | |
  |---|---|
  | `:kind` | the kind of problem: see `McpServer.JSON.decode/2` |
  | `:offset` | the place, in bytes from the start |

  The error does not contain the text, so it can be logged and sent to a peer.

      iex> {:error, error} = McpServer.JSON.decode(~s({"a":1,"a":2}))
      iex> Exception.message(error)
      "two equal keys in one object, at byte 0"
  """

  @enforce_keys [:kind, :offset]
  defexception [:kind, :offset]

  @faults %{
    syntax: "not JSON",
    unexpected_end: "the text ends inside a value",
    trailing_bytes: "more text after the value",
    invalid_utf8: "not UTF-8",
    control_character: "a control character in a string",
    invalid_escape: "an invalid escape in a string",
    lone_surrogate: "half of a surrogate pair in a string",
    invalid_number: "an invalid number",
    number_out_of_range: "a number beyond the range of floats",
    too_many_digits: "a number with too many digits",
    too_large: "too much text",
    too_deep: "values nested too deeply",
    too_many_values: "too many values",
    duplicate_key: "two equal keys in one object"
  }

  @type kind ::
          :syntax
          | :unexpected_end
          | :trailing_bytes
          | :invalid_utf8
          | :control_character
          | :invalid_escape
          | :lone_surrogate
          | :invalid_number
          | :number_out_of_range
          | :too_many_digits
          | :too_large
          | :too_deep
          | :too_many_values
          | :duplicate_key
  @type t :: %__MODULE__{kind: kind, offset: non_neg_integer}

  @impl true
  def message(%__MODULE__{kind: kind, offset: offset}), do: "#{Map.fetch!(@faults, kind)}, at byte #{offset}"
end
