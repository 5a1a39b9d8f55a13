if McpServer.Installed.here?(:proper) do
  defmodule McpServer.Presentation.PropertyTest do
    # Properties checked with the optional PropEr (Debian's `erlang-proper`).
    use ExUnit.Case, async: true
    use McpServer.Properties

    alias McpServer.{JSON, Presentation, PresentationView}
    alias McpServer.Presentation.Markdown

    @moduletag McpServer.Installed.tags(:proper)

    @view PresentationView

    defp oneof(values), do: :proper_types.oneof(values)

    # Texts with pieces that could break a table, a card or a count.
    defp text do
      pieces = [
        "<!-- kind:thing-card:v1 -->",
        "<!-- kind:thing-index:v1 -->",
        "<!--kind:",
        "\n",
        "\r\n",
        "```",
        "~~~",
        "````",
        "|",
        "\\",
        "`",
        "    ",
        "# ",
        "- ",
        "\u2028"
      ]

      :proper_types.bind(:proper_types.list(oneof(pieces ++ [:proper_unicode.utf8(4)])), &IO.iodata_to_binary/1, false)
    end

    defp thing do
      fields = {text(), text(), oneof(["round", "flat", "a|b"]), oneof(["small", "large"]), text()}

      :proper_types.bind(
        fields,
        fn {id, title, group, size, about} ->
          %{"id" => id, "title" => title, "group" => group, "size" => size, "about" => about}
        end,
        false
      )
    end

    defp format, do: oneof(["markdown", "json", "both"])

    defp search(things, arguments, cards) do
      options = PresentationView.options(things, cards: cards, too_broad: :infinity)
      {:ok, result} = Presentation.search(@view, Map.put(arguments, "q", "x"), options)
      result
    end

    defp kind_of(%{text: text}) do
      case JSON.decode(text) do
        {:ok, %{"kind" => kind}} -> kind
        _other -> nil
      end
    end

    @tag req: ["S0-06", "S0-07", "S0-08"]
    test "blocks are gated by the format, whatever the data" do
      holds(
        forall({:proper_types.list(thing()), format(), text()}, fn {things, format, query} ->
          options = PresentationView.options(things)
          {:ok, result} = Presentation.search(@view, %{"q" => query, "format" => format}, options)
          kinds = Enum.map(result.content, &kind_of/1)
          kind = result.structured_content["kind"]

          case format do
            "markdown" -> kinds == [nil]
            "json" -> kinds == [kind]
            "both" -> kinds == [nil, kind]
          end
        end),
        100
      )
    end

    @tag req: ["S0-28", "S0-29", "RES-60"]
    test "the cards are the first K, and what is counted is what is there" do
      type = {:proper_types.list(thing()), format(), :proper_types.range(1, 10), oneof([nil, 1, 3, 100])}

      holds(
        forall(type, fn {things, format, cards, limit} ->
          result = search(things, %{"format" => format, "limit" => limit}, cards)
          %{"metadata" => metadata, "things" => listed} = result.structured_content
          rendered = metadata["renderedCards"]
          markers = metadata["contractMarkers"]
          markdown = if format == "json", do: "", else: hd(result.content).text

          metadata["renderedCardIds"] == listed |> Enum.take(rendered) |> Enum.map(& &1["id"]) and
            rendered == if(format == "json", do: 0, else: min(cards, length(listed))) and
            markers["cards"] == rendered and
            markers == Presentation.contract_markers(@view, markdown) and
            Enum.sum(Map.values(metadata["groups"])) == metadata["totalCount"] and
            Enum.sum(Map.values(metadata["sizes"])) == length(things)
        end),
        100
      )
    end

    @tag req: "S3-13"
    test "every row of a table has as many cells as its heading" do
      holds(
        forall(:proper_types.list({text(), text(), text(), text()}), fn rows ->
          table = Markdown.table(["a", "b", "c", "d"], Enum.map(rows, &Tuple.to_list/1))
          lines = String.split(table, "\n")
          length(lines) == length(rows) + 2 and Enum.all?(lines, &(bars(&1, 0) == 5))
        end),
        200
      )
    end

    # Counts the unescaped bars.
    defp bars("\\" <> <<_escaped::utf8, rest::binary>>, count), do: bars(rest, count)
    defp bars("|" <> rest, count), do: bars(rest, count + 1)
    defp bars(<<_character::utf8, rest::binary>>, count), do: bars(rest, count)
    defp bars(_end, count), do: count

    @tag req: "S0-04"
    test "JSON block and structured content are the same, with and without a limit" do
      holds(
        forall({:proper_types.list(thing()), oneof(["json", "both"])}, fn {things, format} ->
          options = PresentationView.options(things, too_broad: :infinity)
          arguments = %{"q" => "x", "format" => format}
          {:ok, limited} = Presentation.search(@view, arguments, options)
          unlimited_view = %{Presentation.view!(@view) | max_output_bytes: :infinity}
          {:ok, unlimited} = Presentation.search(unlimited_view, arguments, options)
          limited = JSON.decode!(JSON.encode!(limited))

          limited == JSON.decode!(JSON.encode!(unlimited)) and
            JSON.decode!(List.last(limited["content"])["text"]) == limited["structuredContent"]
        end),
        60
      )
    end

    @tag req: "S0-51"
    test "a summary is short, and the beginning of its text" do
      holds(
        forall(:proper_types.list(text()), fn texts ->
          text = Enum.join(texts)
          summary = Presentation.summary(text)

          String.length(summary) <= 203 and
            (summary == text or
               (String.ends_with?(summary, "...") and String.starts_with?(text, String.slice(summary, 0..-4//1))))
        end),
        200
      )
    end
  end
end
