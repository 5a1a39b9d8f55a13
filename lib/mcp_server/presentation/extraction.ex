defmodule McpServer.Presentation.Extraction do
  @moduledoc false
  # The structured data in a result: reads the text blocks from the last to the first, until one has a known kind. See
  # `McpServer.Presentation.extract_structured/2`.

  alias McpServer.{Content, JSON, Presentation}
  alias McpServer.Presentation.{Builtin, ExtractionError, Kind}
  alias McpServer.Tool.CallResult

  # The maximum number of blocks read. A result of this library has only a few.
  @max_blocks 100

  @spec run(term, Presentation.t() | nil) :: {:ok, map} | {:error, ExtractionError.t()}
  def run(result, view) do
    result |> blocks() |> Enum.reverse() |> Enum.take(@max_blocks) |> scan(view, nil)
  end

  defp blocks(%CallResult{content: content, structured_content: data}), do: Enum.map(content, &with_text(&1, data))
  defp blocks(%{"content" => content}) when is_list(content), do: content
  defp blocks(_result), do: []

  # The encoder would write the text of this block from the data.
  defp with_text(%Content.Text{text: text}, data) when is_tuple(text), do: {:data, data}
  defp with_text(block, _data), do: block

  # The first block that contains data determines the reason.
  defp scan([block | rest], view, found) do
    case look(block, view) do
      {:ok, data} -> {:ok, data}
      finding -> scan(rest, view, found || finding)
    end
  end

  defp scan([], view, found) do
    {reason, kind} = found || {:not_found, nil}
    {:error, %ExtractionError{reason: reason, kind: kind, known: known(reason, kind, view), message: message(reason)}}
  end

  defp message(:unknown_kind), do: "The structured content is of an unknown kind."
  defp message(_other), do: "No structured JSON content block found (or schema mismatch)."

  defp look({:data, data}, view), do: data |> JSON.encode!() |> read(view)
  defp look(%Content.Text{text: text}, view) when is_binary(text), do: read(text, view)
  defp look(%{"type" => "text", "text" => text}, view) when is_binary(text), do: read(text, view)
  defp look(_block, _view), do: nil

  # Most texts are not JSON, and their first letter shows it.
  defp read(text, view) do
    with "{" <> _rest <- String.trim_leading(text),
         {:ok, %{"kind" => kind} = data} when is_binary(kind) <- JSON.decode(text),
         <<_, _::binary>> <- Kind.base(kind) do
      judge(kind, data, view)
    else
      _no_data -> nil
    end
  end

  defp judge(kind, data, view) do
    case {known_kind(kind, view), view} do
      {%Kind{} = known, _view} -> if Kind.validate(known, data) == :ok, do: {:ok, data}, else: {:mismatch, kind}
      {nil, nil} -> {:ok, data}
      {nil, _view} -> {:unknown_kind, kind}
    end
  end

  defp known_kind(kind, nil), do: Enum.find(Builtin.kinds(), &(&1.name == kind))
  defp known_kind(kind, view), do: Map.get(view.kinds, kind)

  defp known(:unknown_kind, kind, view) do
    base = Kind.base(kind)
    view.kinds |> Map.keys() |> Enum.filter(&(Kind.base(&1) == base)) |> List.last()
  end

  defp known(_reason, _kind, _view), do: nil
end
