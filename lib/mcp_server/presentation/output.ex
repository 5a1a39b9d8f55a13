defmodule McpServer.Presentation.Output do
  @moduledoc false
  # A payload and its Markdown as a tool's result: reduced to the format, checked, and limited in size.

  require Logger

  alias McpServer.{Content, JSON, Presentation}
  alias McpServer.Presentation.{Declaration, Kind, MismatchError, Text, ToolError}
  alias McpServer.Tool.CallResult

  @options [format: nil, markdown: nil, extras: [], mime_type: "text/markdown", cards: nil, is_error: false, meta: nil]

  # The number of list elements that are checked first.
  @sampled 100

  @formats %{
    nil => {"markdown", true, false},
    "markdown" => {"markdown", true, false},
    "json" => {"json", false, true},
    "both" => {"both", true, true}
  }

  @typedoc "The name, and whether the result has Markdown and JSON."
  @type format :: {String.t(), boolean, boolean}

  @spec present(Presentation.t(), String.t(), map, keyword) :: CallResult.t()
  def present(view, name, payload, options) do
    options = Keyword.validate!(options, @options)
    kind = Declaration.kind!(view, name)

    case format(options[:format]) do
      {:ok, format} -> limited(view, kind, payload, format, options)
      {:error, failure} -> ToolError.present(failure, view, [])
    end
  end

  @doc "The requested format, or a failure for an unknown one."
  @spec format(term) :: {:ok, format} | {:error, ToolError.t()}
  def format(given) do
    with :error <- Map.fetch(@formats, given),
         do: {:error, ToolError.new(:client_error, "format has to be one of markdown, json, both")}
  end

  defp limited(view, kind, payload, {_name, markdown?, json?} = format, options) do
    payload = payload |> put_kind(kind.name) |> without_nil(kind.name)
    markdown = if markdown?, do: Enum.flat_map([options[:markdown] | options[:extras]], &markdown/1), else: []
    check(view, kind, payload, markdown, if(markdown?, do: announced(payload, options[:cards])))
    json = if json?, do: [json(view, kind, payload)], else: []

    if fits?(view, markdown ++ json) do
      %CallResult{
        content: blocks(view, markdown, options[:mime_type]) ++ blocks(view, json, "application/json"),
        structured_content: payload,
        is_error: options[:is_error],
        _meta: options[:meta]
      }
    else
      too_large(view, format)
    end
  end

  # The replacement has only a few hundred bytes. It is sent even if it exceeds the limit.
  defp too_large(view, {name, _markdown?, _json?}) do
    message = "Result set too large to render. Please narrow your search query."
    failure = ToolError.new(:server_error, message, retryable: false)
    ToolError.present(failure, %{view | max_output_bytes: :infinity}, format: name)
  end

  defp markdown(nil), do: []
  defp markdown(fun) when is_function(fun, 0), do: markdown(fun.())
  defp markdown(iodata), do: [IO.iodata_to_binary(iodata)]

  # The text is encoded here only if its size is limited. Otherwise the response's encoder writes it from the data.
  defp json(%{max_output_bytes: :infinity}, kind, _payload), do: {:structured_content, :pretty, kind.order}
  defp json(_view, kind, payload), do: JSON.encode!(payload, pretty: true, order: kind.order)

  defp fits?(%{max_output_bytes: :infinity}, _texts), do: true
  defp fits?(view, texts), do: texts |> Enum.map(&byte_size/1) |> Enum.sum() <= view.max_output_bytes

  defp blocks(view, texts, mime_type), do: Enum.map(texts, &block(view.mime_type, &1, mime_type))

  defp block(:block, text, mime_type), do: %Content.Text{text: text, mimeType: mime_type}
  defp block(:meta, text, mime_type), do: %Content.Text{text: text, _meta: %{"mimeType" => mime_type}}
  defp block(:none, text, _mime_type), do: %Content.Text{text: text}

  # The key has the type of the other keys. A map with both types would have to be copied for the check.
  defp put_kind(payload, name) do
    case Map.keys(payload) do
      [key | _] when is_atom(key) -> payload |> Map.delete("kind") |> Map.put(:kind, name)
      _binaries_or_none -> Map.put(payload, "kind", name)
    end
  end

  # The details of a failure come from the user's code, where a null may have a meaning.
  defp without_nil(payload, "toolError:v1"), do: payload
  # Most payloads contain no nil, and are not copied.
  defp without_nil(payload, _kind), do: if(nil_inside?(payload), do: strip(payload), else: payload)

  defp nil_inside?(map) when is_map(map) and not is_struct(map), do: any_nil?(:maps.values(map))
  defp nil_inside?(list) when is_list(list), do: Enum.any?(list, &nil_inside?/1)
  defp nil_inside?(_value), do: false

  defp any_nil?([nil | _values]), do: true
  defp any_nil?([value | values]), do: nil_inside?(value) or any_nil?(values)
  defp any_nil?([]), do: false

  defp strip(map) when is_map(map) and not is_struct(map),
    do: for({key, value} <- map, value != nil, into: %{}, do: {key, strip(value)})

  defp strip(list) when is_list(list), do: Enum.map(list, &strip/1)
  defp strip(value), do: value

  defp check(%{on_mismatch: policy} = view, kind, payload, markdown, announced) do
    policy = policy || Application.get_env(:mcp_server, :presentation_mismatch, :warn)

    unless policy == :ignore do
      for problem <- [misfit(policy, kind, payload), mismatch(view, markdown, announced)], problem != nil do
        report(policy, kind.name, problem)
      end
    end
  end

  # The same code builds all rows, so for a warning the first rows are enough. If they fail, the complete payload is
  # checked, because the sample itself may break a minimum number of elements.
  defp misfit(:warn, kind, payload) do
    if Kind.validate(kind, sample(payload)) != :ok, do: misfit(:raise, kind, payload)
  end

  defp misfit(:raise, kind, payload) do
    with {:error, error} <- Kind.validate(kind, payload) do
      "it does not fit its schema: " <> (error |> Exception.message() |> String.replace("\n", "; "))
    else
      :ok -> nil
    end
  end

  defp sample(payload), do: Map.new(payload, fn {key, value} -> {key, first(value)} end)

  defp first(list) when is_list(list), do: Enum.take(list, @sampled)
  defp first(value), do: value

  defp mismatch(_view, _markdown, nil), do: nil

  defp mismatch(view, markdown, {index, cards}) do
    case contract_markers(view, Enum.join(markdown, "\n")) do
      %{"cards" => counted} when counted != cards -> "#{counted} card markers for #{cards} rendered cards"
      %{"index" => counted} when counted > 1 -> "#{counted} index markers, of which there may be one"
      %{"index" => counted} when index != nil and counted != index -> "#{counted} index markers for #{index} announced"
      _as_meant -> nil
    end
  end

  # The index and card markers that the text should have. `nil` if they are not given.
  defp announced(%{"metadata" => %{"contractMarkers" => %{"index" => index, "cards" => cards}}}, given)
       when is_integer(index) and is_integer(cards),
       do: {index, given || cards}

  defp announced(_payload, nil), do: nil
  defp announced(_payload, cards), do: {nil, cards}

  defp report(:raise, name, problem), do: raise(MismatchError, kind: name, message: "#{name}: #{problem}")
  defp report(_warn, name, problem), do: Logger.warning("MCP presentation of #{name}: #{problem}")

  @doc "The number of each of the view's markers in a text."
  @spec contract_markers(Presentation.t(), String.t()) :: map
  def contract_markers(view, text) do
    [index, cards] = Text.count_markers(text, [marker(view, :index), marker(view, :card)])
    %{"index" => index, "cards" => cards, "version" => view.marker_version}
  end

  # The view has no such marker. A line break never matches, because markers are compared with single lines.
  defp marker(view, which), do: if(Map.fetch!(view, which), do: Declaration.marker!(view, which), else: "\n")
end
