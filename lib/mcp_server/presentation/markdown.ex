defmodule McpServer.Presentation.Markdown do
  @moduledoc """
  Builds Markdown from untrusted text. The text cannot end a cell, a line or a code block, and cannot add a marker.

      iex> import McpServer.Presentation.Markdown
      iex> table(["Name", "Note"], [["a|b", "one\\ntwo"]])
      "| Name | Note |\\n| :--- | :--- |\\n| a\\\\|b | one two |"
  """

  alias McpServer.Presentation.Text

  @typedoc """
  The content under a label of a card: a text; names, as code; code in a language; or a list. `nil`, `""` and `[]` omit
  the section.
  """
  @type section ::
          String.t()
          | nil
          | {:code, [String.t()] | nil}
          | {:code_block, code :: String.t() | nil, language :: String.t() | nil}
          | {:list, [String.t()] | nil}

  @doc "A table of a heading and rows. Each is a list of texts, which may contain Markdown."
  @spec table([String.t()], [[String.t()]]) :: String.t()
  def table(heading, rows) do
    rule = "|" <> String.duplicate(" :--- |", length(heading))
    Enum.join([row(heading), rule | Enum.map(rows, &row/1)], "\n")
  end

  defp row(cells), do: "|" <> Enum.map_join(cells, &" #{cell(&1)} |")

  @doc """
  A text as part of a line: line breaks become spaces.

      iex> McpServer.Presentation.Markdown.line("one\\ntwo")
      "one two"
  """
  @spec line(String.t()) :: String.t()
  def line(text), do: Text.render(:line, text)

  @doc """
  A text as a cell of a handwritten table. `table/2` calls it.

      iex> McpServer.Presentation.Markdown.cell("a|b")
      "a\\\\|b"
  """
  @spec cell(String.t()) :: String.t()
  def cell(text), do: Text.render(:cell, text)

  @doc """
  A text as code within a line.

      iex> McpServer.Presentation.Markdown.code_span("Enum.map/2")
      "`Enum.map/2`"
  """
  @spec code_span(String.t()) :: String.t()
  def code_span(text), do: Text.render(:code_span, text)

  @doc """
  A code block, with a fence longer than any in it.

      iex> McpServer.Presentation.Markdown.code_block("1 + 1", "elixir")
      "```elixir\\n1 + 1\\n```"
  """
  @spec code_block(String.t(), String.t() | nil) :: String.t()
  def code_block(code, language \\ nil), do: Text.render(:code_block, code, language || "")

  @doc "Untrusted Markdown as a block: an open code block is closed."
  @spec block(String.t()) :: String.t()
  def block(text), do: Text.render(:block, text)

  @doc """
  A card: a title, the marker, labels on a line, and sections with a blank line between them.

      iex> import McpServer.Presentation.Markdown
      iex> card = card("Emma", "<!-- kind:book-card:v1 -->", [{"Author", "Jane Austen"}, {"Year", "1815"}],
      ...>   [{"About", "A matchmaker."}, {"Topics", {:list, ["marriage", "society"]}}])
      iex> String.split(card, "\\n\\n")
      [
        "# Emma",
        "<!-- kind:book-card:v1 -->\\n**Author:** Jane Austen | **Year:** 1815",
        "**About:** A matchmaker.",
        "**Topics:**",
        "- marriage\\n- society"
      ]
  """
  @spec card(String.t(), String.t(), [{String.t(), String.t() | nil}], [{String.t(), section}]) :: String.t()
  def card(title, marker, labels, sections) do
    labels = for {label, text} <- labels, text not in [nil, ""], do: labelled(label, line(text))
    head = if labels == [], do: marker, else: marker <> "\n" <> Enum.join(labels, " | ")
    bodies = Enum.flat_map(sections, &section/1)
    Enum.join(["# " <> line(title), head | bodies], "\n\n")
  end

  defp section({_label, empty}) when empty in [nil, "", []], do: []
  defp section({_label, {_form, empty}}) when empty in [nil, "", []], do: []
  defp section({_label, {:code_block, empty, _language}}) when empty in [nil, ""], do: []
  defp section({label, {:code, names}}), do: [labelled(label, Enum.map_join(names, ", ", &code_span/1))]
  defp section({label, {:code_block, code, language}}), do: [labelled(label), code_block(code, language)]
  defp section({label, {:list, items}}), do: [labelled(label), Enum.map_join(items, "\n", &("- " <> line(&1)))]
  defp section({label, text}), do: [labelled(label, line(text))]

  defp labelled(label), do: "**#{label}:**"
  defp labelled(label, text), do: "**#{label}:** #{text}"

  @doc """
  A text as a sentence: with a full stop, unless it ends with a punctuation mark.

      iex> McpServer.Presentation.Markdown.sentence("You need it")
      "You need it."
      iex> McpServer.Presentation.Markdown.sentence("You need it!")
      "You need it!"
  """
  @spec sentence(String.t() | nil) :: String.t() | nil
  def sentence(nil), do: nil
  def sentence(text), do: if(text =~ ~r/[.!?…:]\s*\z/u, do: text, else: text <> ".")
end
