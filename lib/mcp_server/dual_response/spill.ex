defmodule McpServer.DualResponse.Spill do
  @moduledoc false
  # A tool's result that is too large for one answer, as a dual response: everything is stored as rows, and a part
  # of it goes out with the link.
  #
  # Where the structured content has one list of objects, those are the rows. Otherwise there is a row for each
  # line of text and for each other block of content, and one for the structured content. A text of very many
  # lines has several of them in a row.

  @behaviour McpServer.Tool.Overflow

  alias McpServer.{DualResponse, JSON}
  alias McpServer.Content.Text
  alias McpServer.DualResponse.{Excerpt, Response, Spill}
  alias McpServer.Tool.CallResult

  @enforce_keys [:response, :result, :bytes, :blocks, :rows, :members, :lines?]
  defstruct [:response, :result, :bytes, :blocks, :rows, :members, :lines?]

  @typedoc "`blocks` is content that goes out as it is, `members` what stood beside the list of rows."
  @type t :: %Spill{
          response: Response.t(),
          result: CallResult.t(),
          bytes: pos_integer,
          blocks: list,
          rows: [map],
          members: map,
          lines?: boolean
        }

  # Of how many rows the columns are taken, and of how many a preview is made at most.
  @looked_at 100

  @max_lines 100_000

  @impl true
  # This is what the link is for: there is nothing to be spilled a second time.
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

  # Nothing may be lost: what is no row has to be small enough to go out by itself.
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

  # A date is a map, too, but no row.
  defp row?(%module{}), do: module not in [Date, Time, DateTime, NaiveDateTime, Decimal]
  defp row?(value), do: is_map(value)

  # Text that only says again what the structured content says.
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

  # Its members as they would have been sent.
  defp block({content, block}) do
    [Map.put(wire(content), "block", block)]
  end

  # Text of our own needs no limits but its size.
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

  # Of a struct what it sends, by whatever rule.
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
