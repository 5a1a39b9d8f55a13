defmodule McpServer.HttpEvents do
  # Parses server-sent events from pieces of any size.
  @moduledoc false

  @type event :: %{
          id: String.t() | nil,
          retry: non_neg_integer() | nil,
          event: String.t() | nil,
          data: String.t() | nil,
          comments: [String.t()]
        }

  @blank %{id: nil, retry: nil, event: nil, data: nil, comments: []}

  @doc "Takes the first complete event. `:more` if there is none."
  @spec take(binary()) :: {event(), rest :: binary()} | :more
  def take(bytes) do
    case :binary.split(bytes, "\n\n") do
      [block, rest] -> {parse(block), rest}
      [_unfinished] -> :more
    end
  end

  @doc "All complete events, and the remaining bytes."
  @spec take_all(binary()) :: {[event()], rest :: binary()}
  def take_all(bytes) do
    case take(bytes) do
      :more ->
        {[], bytes}

      {event, rest} ->
        {events, rest} = take_all(rest)
        {[event | events], rest}
    end
  end

  defp parse(block) do
    block |> String.split("\n") |> Enum.reduce(@blank, &line/2) |> Map.update!(:comments, &Enum.reverse/1)
  end

  # The server writes events in only one form, and the parser accepts only that form.
  defp line(":" <> comment, event), do: %{event | comments: [String.trim_leading(comment) | event.comments]}
  defp line("id: " <> id, %{id: nil} = event), do: %{event | id: id}
  defp line("retry: " <> time, %{retry: nil} = event), do: %{event | retry: String.to_integer(time)}
  defp line("event: " <> name, %{event: nil} = event), do: %{event | event: name}
  defp line("data:" <> data, %{data: nil} = event), do: %{event | data: String.trim_leading(data, " ")}
  defp line(other, event), do: raise("no line of an event stream: #{inspect(other)} after #{inspect(event)}")
end
