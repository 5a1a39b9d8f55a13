defmodule McpServer.Client.Events do
  @moduledoc false
  # Parses server-sent events of any server: with all three line ends, in pieces of any size.

  defstruct rest: "", id: nil, retry: nil, data: []

  @typedoc "`id` and `retry` (milliseconds) are the last received values."
  @type t :: %__MODULE__{rest: binary(), id: String.t() | nil, retry: non_neg_integer() | nil, data: [binary()]}

  @doc "The data of the events that these bytes complete."
  @spec take(t(), binary()) :: {[binary()], t()}
  def take(events, bytes) do
    lines = String.split(events.rest <> bytes, ["\r\n", "\n", "\r"])
    {complete, rest} = complete(lines, bytes)
    {found, events} = Enum.reduce(complete, {[], %{events | rest: rest}}, &line/2)
    {Enum.reverse(found), events}
  end

  # A final CR may be the first half of a CRLF.
  defp complete(lines, bytes) do
    {complete, [rest]} = Enum.split(lines, -1)

    if rest == "" and String.ends_with?(bytes, "\r") do
      {complete, [last]} = Enum.split(complete, -1)
      {complete, last <> "\r"}
    else
      {complete, rest}
    end
  end

  defp line("", {found, %{data: []} = events}), do: {found, events}

  defp line("", {found, events}),
    do: {[events.data |> Enum.reverse() |> Enum.join("\n") | found], %{events | data: []}}

  defp line("data:" <> value, {found, events}), do: {found, %{events | data: [trimmed(value) | events.data]}}
  defp line("id:" <> value, {found, events}), do: {found, %{events | id: trimmed(value)}}

  defp line("retry:" <> value, {found, events}) do
    case Integer.parse(trimmed(value)) do
      {ms, ""} when ms >= 0 -> {found, %{events | retry: ms}}
      _no_number -> {found, events}
    end
  end

  # MCP clients ignore event names and comments.
  defp line(_other, {found, events}), do: {found, events}

  defp trimmed(" " <> value), do: value
  defp trimmed(value), do: value
end
