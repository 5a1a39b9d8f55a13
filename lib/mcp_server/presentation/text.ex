defmodule McpServer.Presentation.Text do
  @moduledoc false
  # Processes long texts in the native library: it escapes users' text for Markdown, and counts markers.

  alias McpServer.Native

  @type form :: :line | :cell | :code_span | :code_block | :block

  @doc "A text in another form. `language` is for a code block."
  @spec render(form, String.t(), String.t()) :: String.t()
  def render(form, text, language \\ "") do
    with :over_budget <- Native.presentation_text(form, text, language),
         do: Native.Dirty.call(fn -> Native.presentation_text_dirty(form, text, language) end)
  end

  @doc "The number of each marker in a text."
  @spec count_markers(String.t(), [String.t()]) :: [non_neg_integer]
  def count_markers(text, markers) do
    with :over_budget <- Native.presentation_count(text, markers),
         do: Native.Dirty.call(fn -> Native.presentation_count_dirty(text, markers) end)
  end
end
