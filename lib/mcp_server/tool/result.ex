defprotocol McpServer.Tool.Result do
  @moduledoc """
  Converts the return value of a handler to the result of the tool.

  A handler may return `{:ok, value}` or the bare value, and a struct also as `{:error, struct}`. The library implements
  the protocol for:

  | value | result |
  |---|---|
  | a string | a text |
  | a struct of `McpServer.Content`, or a list of them | the content: `McpServer.Tool.Content` |
  | a map | structured content, and its JSON as text |
  | a struct that derives `McpServer.JSON.Encoder` | its fields, as those of a map |
  | a string, number, boolean or list, if the tool declares an output schema of another type than `object` | the same |
  | `McpServer.Tool.CallResult` | the same result |
  | `McpServer.Envelope` | the envelope as structured content, and its JSON as text; `isError` unless it is a success |
  | `McpServer.DualResponse.Response` | the sample as structured content, a sentence and the link as content |

  `{:error, "text"}`, `{:error, exception}`, `{:error, changeset}` of Ecto and `{:error, atom}` need no implementation: the
  model reads the text, the message of the exception, the errors of the changeset, or the words of the atom. An
  implementation for `Ecto.Changeset` takes precedence. Clients, `McpServer.Test` and the callbacks of a router get the same conversion.

  ## Structs of your own

  Implement the protocol for a struct, and handlers may return the struct:

      defmodule MyApp.Report do
        defstruct [:title, :rows]

        defimpl McpServer.Tool.Result do
          alias McpServer.Tool.{CallResult, Content}

          def to_call_result(report, _conn) do
            text = Content.text("\#{report.title}: \#{length(report.rows)} rows")
            {:ok, CallResult.new(content: [text], structured_content: %{"rows" => report.rows})}
          end
        end
      end

      def monthly(_conn, %{"month" => month}), do: {:ok, MyApp.Reports.monthly(month)}

  Only `is_error` of the `McpServer.Tool.CallResult` decides whether the call failed. `{:error, struct}` alone does not
  make it an error.
  """

  alias McpServer.Tool.CallResult

  @doc """
  Returns the tool's result for the value, or a text that says why the value is invalid.

  The text is logged and not sent to the client, and so is an exception of an implementation. It should not quote data.
  """
  @spec to_call_result(t, McpServer.Conn.t()) :: {:ok, CallResult.t()} | {:error, String.t()}
  def to_call_result(value, conn)
end

defimpl McpServer.Tool.Result, for: McpServer.Tool.CallResult do
  def to_call_result(result, _conn), do: {:ok, result}
end

defimpl McpServer.Tool.Result, for: BitString do
  alias McpServer.Tool.{CallResult, Content}

  def to_call_result(text, _conn) when is_binary(text), do: {:ok, %CallResult{content: [Content.text(text)]}}
  def to_call_result(_bits, _conn), do: {:error, "bits are no text"}
end

defimpl McpServer.Tool.Result,
  for: [
    McpServer.Content.Audio,
    McpServer.Content.EmbeddedResource,
    McpServer.Content.Image,
    McpServer.Content.ResourceLink,
    McpServer.Content.Text
  ] do
  def to_call_result(content, _conn), do: {:ok, %McpServer.Tool.CallResult{content: [content]}}
end

defimpl McpServer.Tool.Result, for: List do
  def to_call_result(content, _conn), do: {:ok, %McpServer.Tool.CallResult{content: content}}
end

defimpl McpServer.Tool.Result, for: Map do
  alias McpServer.Content.{ResourceLink, Text}
  alias McpServer.Tool.CallResult

  # A result in the form of its members. A user's own data contains no content structs.
  def to_call_result(%{"content" => [%module{} | _] = content, "structuredContent" => data} = members, _conn)
      when map_size(members) == 2 and module in [Text, ResourceLink],
      do: {:ok, %CallResult{content: content, structured_content: data}}

  def to_call_result(data, _conn), do: {:ok, CallResult.structured(data)}
end
