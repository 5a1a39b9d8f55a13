defmodule Mix.McpServer.Principal do
  # The option `--as` of the tasks that serve a router themselves: who asks. Over HTTP `identify:` returns any term, such
  # as the integer id of a user, so a command can name more than texts.
  @moduledoc false

  alias McpServer.JSON

  @doc "The switch for `OptionParser`."
  @spec switch() :: keyword(:string)
  def switch, do: [as: :string]

  @doc "The option for a task's moduledoc."
  @spec option_doc() :: String.t()
  def option_doc do
    """
      * `--as PRINCIPAL` – `conn.principal` of the router's handlers, `context:` and `authorize:`: a text such as `ada`,
        `integer:42` for an integer, or `json:{"id": 42}` for any JSON value, whose objects are maps with text keys;
        `string:integer:42` is a text that begins with such a word
    """
  end

  @doc "The options with the principal in place of its text. Raises if the text does not fit its type."
  @spec parse!(keyword(), String.t()) :: keyword()
  def parse!(options, usage) do
    case Keyword.fetch(options, :as) do
      {:ok, text} -> Keyword.put(options, :as, principal!(text, usage))
      :error -> options
    end
  end

  defp principal!("string:" <> text, _usage), do: text

  defp principal!("integer:" <> text, usage) do
    case Integer.parse(text) do
      {integer, ""} -> integer
      _no_integer -> Mix.McpServer.refuse!("expected --as integer: to be followed by an integer, got: #{text}", usage)
    end
  end

  defp principal!("json:" <> text, usage) do
    case JSON.decode(text) do
      {:ok, value} when value != nil -> value
      {:ok, nil} -> Mix.McpServer.refuse!("--as json:null names nobody: leave --as out", usage)
      {:error, error} -> Mix.McpServer.refuse!("--as json: #{Exception.message(error)}", usage)
    end
  end

  defp principal!(text, _usage), do: text
end
