defmodule McpServer.DualResponse.Spill do
  @moduledoc false
  # Stores a tool's result that is too large for one response as a dual response. The response has the link and a part
  # of the result.
  #
  # If the structured content has exactly one list of objects and the rest is small, these objects are the rows.
  # Otherwise each line of text, each other content block and the structured content is a row. In a text with very many
  # lines, a row has several lines.

  @behaviour McpServer.Tool.Overflow

  alias McpServer.{DualResponse, JSON}
  alias McpServer.Content.Text
  alias McpServer.DualResponse.{Excerpt, Response, Spill}
  alias McpServer.Tool.CallResult

  @enforce_keys [:response, :result, :bytes, :blocks, :rows, :members, :lines?]
  defstruct [:response, :result, :bytes, :blocks, :rows, :members, :lines?]

  @typedoc "`blocks` are content blocks that are sent unchanged, `members` the members beside the list of rows."
  @type t :: %Spill{
          response: Response.t(),
          result: CallResult.t(),
          bytes: pos_integer,
          blocks: list,
          rows: [map],
          members: map,
          lines?: boolean
        }

  # The columns come from this many rows, and the preview has at most as many.
  @looked_at 100

  @max_lines 100_000

  @impl true
  # The result is already a dual response.
  def store(_server, _conn, %{returned: {:ok, %Response{}}}), do: :leave

  def store(server, conn, %{tool: tool, result: result, bytes: bytes, small: small}) do
    {rows, members, blocks, lines?} = table(result, small) || blocks(result)
    options = [name: "Result of #{tool}", rows: rows, columns: columns(rows), conn: conn]

    with {:ok, response} <- DualResponse.create_response(server, options) do
      {:ok,
       %Spill{
         response: response,
         result: result,
         bytes: bytes,
         blocks: blocks,
         rows: Enum.take(rows, @looked_at),
         members: members,
         lines?: lines?
       }}
    end
  end

  # No data may be lost, so the parts that are not rows must be small enough to be sent.
  defp table(%CallResult{structured_content: %{} = structured} = result, small) when not is_struct(structured) do
    with [{name, rows}] <- Enum.filter(structured, fn {_name, value} -> rows?(value) end),
         members = Map.delete(structured, name),
         blocks = Enum.reject(result.content, &repeats?(&1, structured)),
         true <- size({members, nil}) + Enum.sum(Enum.map(blocks, &size/1)) <= small do
      {rows, members, blocks, false}
    else
      _no_table -> nil
    end
  end

  defp table(_result, _small), do: nil

  defp rows?(value), do: is_list(value) and value != [] and Enum.all?(value, &row?/1)

  # A date is a struct, but not a row.
  defp row?(%module{}), do: module not in [Date, Time, DateTime, NaiveDateTime, Decimal]
  defp row?(value), do: is_map(value)

  # A text that only repeats the structured content.
  defp repeats?(%Text{text: text}, _structured) when not is_binary(text), do: true
  defp repeats?(%Text{text: "{" <> _ = text}, structured), do: JSON.encode(structured) == {:ok, text}
  defp repeats?(_block, _structured), do: false

  defp size({members, nil}) when members == %{}, do: 0
  defp size({members, nil}), do: byte_size(JSON.encode!(members))
  defp size(block), do: byte_size(JSON.encode!(block))

  defp blocks(%CallResult{content: content, structured_content: structured}) do
    content =
      content
      |> Enum.reject(&(structured && repeats?(&1, structured)))
      |> Enum.with_index(1)
      |> Enum.flat_map(&block/1)

    {content ++ if(structured, do: [%{"block" => "structuredContent", "value" => structured}], else: []), %{}, [], true}
  end

  defp block({%Text{text: text}, block}) do
    breaks = :binary.matches(text, "\n")
    lines = div(length(breaks), @max_lines) + 1
    breaks = breaks |> Enum.drop(lines - 1) |> Enum.take_every(lines)

    for {part, number} <- text |> cut(breaks) |> Enum.with_index(),
        do: %{"block" => block, "line" => number * lines + 1, "text" => part}
  end

  # The members of the encoded block.
  defp block({content, block}) do
    [Map.put(wire(content), "block", block)]
  end

  # The text comes from our own encoder, so its size is the only limit.
  defp wire(struct) do
    text = JSON.encode!(struct)
    JSON.decode!(text, max_bytes: byte_size(text), max_values: byte_size(text))
  end

  defp cut(text, breaks) do
    {parts, _end} =
      Enum.map_reduce(breaks ++ [{byte_size(text), 1}], 0, fn {at, 1}, from ->
        {binary_part(text, from, at - from), at + 1}
      end)

    parts
  end

  defp columns(rows) do
    looked_at = rows |> Enum.take(@looked_at) |> Enum.map(&sent/1)
    names = looked_at |> Enum.flat_map(&Map.keys/1) |> Enum.uniq() |> Enum.sort_by(&to_string/1)
    for name <- names, do: column(to_string(name), Enum.find_value(looked_at, &type(Map.get(&1, name))))
  end

  # A struct's encoded members.
  defp sent(%_{} = struct) do
    case wire(struct) do
      %{} = sent -> Map.new(sent, fn {name, value} -> {name, field(struct, name, value)} end)
      _no_object -> %{}
    end
  end

  defp sent(map), do: map

  defp field(struct, name, value) do
    Enum.find_value(Map.from_struct(struct), value, fn {field, given} -> to_string(field) == name && given end)
  end

  defp column(name, nil), do: %{"name" => name}
  defp column(name, type), do: %{"name" => name, "type" => type}

  defp type(value) when is_number(value), do: "number"
  defp type(value) when is_boolean(value), do: "boolean"
  defp type(value) when is_binary(value), do: "string"
  defp type(%module{}) when module in [Date, DateTime, NaiveDateTime], do: "date"
  defp type(_value), do: nil

  @impl true
  def result(%Spill{} = spill, room, keeps_data?) do
    shown = Excerpt.fitting(spill.rows, room)
    text = Excerpt.text(summary(spill, length(shown)), shown, &line(spill, &1))

    %{
      spill.result
      | content: spill.blocks ++ [%Text{text: text}, Response.link(spill.response)],
        structured_content: if(keeps_data?, do: spill.result.structured_content, else: structured(spill, shown, room))
    }
  end

  defp summary(%{response: response} = spill, shown) do
    what = if spill.lines?, do: "parts", else: "rows"
    first = if shown == 0, do: "", else: " The first #{shown} follow."

    "The result has #{response.total_count} #{what} and #{spill.bytes} bytes, which is more than is sent at once. " <>
      "All of it is in #{response.resource_uri}.#{first}"
  end

  defp line(%{lines?: true}, %{"text" => text, "line" => _line}), do: text
  defp line(_spill, row), do: JSON.encode!(row)

  defp structured(spill, shown, room) do
    columns = Excerpt.fitting(spill.response.columns, div(room, 2))
    content = Response.to_structured_content(%{spill.response | sample: shown, columns: columns})
    if spill.members == %{}, do: content, else: Map.put(content, "members", spill.members)
  end

  @impl true
  def capabilities(server) do
    case DualResponse.capability(server) do
      nil -> %{}
      capability -> %{"dualResponse" => capability}
    end
  end
end
