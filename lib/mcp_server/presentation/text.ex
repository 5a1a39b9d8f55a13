defmodule McpServer.Presentation.Text do
  @moduledoc false
  # Long texts, which the native library reads and writes: text of users as a part of Markdown, and the markers in it.

  alias McpServer.Native

  @type form :: :line | :cell | :code_span | :code_block | :block

  @doc "A text in another form; `language` is a code block's."
  @spec render(form, String.t(), String.t()) :: String.t()
  def render(form, text, language \\ "") do
    with :over_budget <- Native.presentation_text(form, text, language),
         do: Native.Dirty.call(fn -> Native.presentation_text_dirty(form, text, language) end)
  end

  @doc "How often each marker counts in a text."
  @spec count_markers(String.t(), [String.t()]) :: [non_neg_integer]
  def count_markers(text, markers) do
    with :over_budget <- Native.presentation_count(text, markers),
         do: Native.Dirty.call(fn -> Native.presentation_count_dirty(text, markers) end)
  end
end
