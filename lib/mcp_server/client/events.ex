defmodule McpServer.Client.Events do
  @moduledoc false
  # Parses server-sent events of any server: with all three line ends, in pieces of any size. Each byte is looked at
  # once, and an event has a maximum size, so that a faulty server cannot occupy the client.

  defstruct rest: [], rest_bytes: 0, after_cr?: false, id: nil, retry: nil, data: [], data_bytes: 0

  @typedoc """
  `:rest` is the incomplete line, `:data` the lines of the incomplete event. `:id` and `:retry` (milliseconds) are the
  last received values.
  """
  @type t :: %__MODULE__{
          rest: iodata(),
          rest_bytes: non_neg_integer(),
          after_cr?: boolean(),
          id: String.t() | nil,
          retry: non_neg_integer() | nil,
          data: [binary()],
          data_bytes: non_neg_integer()
        }

  # As large as a whole answer may be.
  @max_bytes 64 * 1024 * 1024
  # The longest pause that a server may ask for, in milliseconds.
  @max_retry_ms 60_000

  @doc "The data of the events that these bytes complete. `:too_large` if one has more than `max_bytes`."
  @spec take(t(), binary(), max_bytes :: pos_integer()) :: {:ok, [binary()], t()} | {:error, :too_large}
  def take(events, bytes, max_bytes \\ @max_bytes)
  def take(events, "", _max_bytes), do: {:ok, [], events}
  # The second half of a CRLF.
  def take(%{after_cr?: true} = events, "\n" <> bytes, max_bytes),
    do: take(%{events | after_cr?: false}, bytes, max_bytes)

  def take(events, bytes, max_bytes) do
    {complete, rest} = lines(events, bytes)
    {found, events} = Enum.reduce(complete, {[], events}, &line/2)
    events = rest(%{events | after_cr?: String.ends_with?(bytes, "\r")}, rest, complete)

    if events.rest_bytes + events.data_bytes <= max_bytes,
      do: {:ok, Enum.reverse(found), events},
      else: {:error, :too_large}
  end

  defp lines(events, bytes) do
    case Enum.split(String.split(bytes, ["\r\n", "\n", "\r"]), -1) do
      {[], [rest]} -> {[], rest}
      {[first | complete], [rest]} -> {[IO.iodata_to_binary([events.rest, first]) | complete], rest}
    end
  end

  defp rest(events, rest, []),
    do: %{events | rest: [events.rest, rest], rest_bytes: events.rest_bytes + byte_size(rest)}

  defp rest(events, rest, _complete), do: %{events | rest: [rest], rest_bytes: byte_size(rest)}

  defp line("", {found, %{data: []} = events}), do: {found, events}

  defp line("", {found, events}),
    do: {[events.data |> Enum.reverse() |> Enum.join("\n") | found], %{events | data: [], data_bytes: 0}}

  defp line("data:" <> value, {found, events}) do
    value = trimmed(value)
    {found, %{events | data: [value | events.data], data_bytes: events.data_bytes + byte_size(value) + 1}}
  end

  defp line("id:" <> value, {found, events}), do: {found, %{events | id: trimmed(value)}}

  defp line("retry:" <> value, {found, events}) do
    case Integer.parse(trimmed(value)) do
      {ms, ""} when ms >= 0 -> {found, %{events | retry: min(ms, @max_retry_ms)}}
      _no_number -> {found, events}
    end
  end

  # MCP clients ignore event names and comments.
  defp line(_other, {found, events}), do: {found, events}

  defp trimmed(" " <> value), do: value
  defp trimmed(value), do: value
end
