defprotocol McpServer.Tool.Result do
  @moduledoc """
  What makes a tool's result of what its handler returns.

  A handler returns `{:ok, value}`, `{:error, value}` or the bare value, and the value is of a type that implements this
  protocol. The library does so for

  | value | result |
  |---|---|
  | a list | the content: `McpServer.Tool.Content` |
  | a map | structured content, and its JSON as text |
  | `McpServer.Tool.CallResult` | that result |
  | `McpServer.Envelope` | the envelope as structured content, and its JSON as text; `isError` where it is no success |
  | `McpServer.DualResponse.Response` | the sample as structured content, a sentence and the link as content |

  A plain map is a result only in `{:ok, map}`, and a list in `{:ok, list}` or bare. `{:error, "text"}` needs no
  implementation. The same conversion serves clients, `McpServer.Test` and the callbacks of a router.

  ## Structs of your own

  Implement it for a struct, and handlers may return the struct:

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

  Whether the call has failed is the result's own `is_error`, for a value in `{:error, value}` too.
  """

  alias McpServer.Tool.CallResult

  @doc """
  The result of a tool that returned the value, or a sentence that says why it is none.

  The sentence reaches the log and not the client, as what an implementation raises does. It should not quote data.
  """
  @spec to_call_result(t, McpServer.Conn.t()) :: {:ok, CallResult.t()} | {:error, String.t()}
  def to_call_result(value, conn)
end

defimpl McpServer.Tool.Result, for: McpServer.Tool.CallResult do
  def to_call_result(result, _conn), do: {:ok, result}
end

defimpl McpServer.Tool.Result, for: List do
  def to_call_result(content, _conn), do: {:ok, %McpServer.Tool.CallResult{content: content}}
end

defimpl McpServer.Tool.Result, for: Map do
  alias McpServer.Content.{ResourceLink, Text}
  alias McpServer.Tool.CallResult

  # A result as its members. Data of a user's own has no content structs in it.
  def to_call_result(%{"content" => [%module{} | _] = content, "structuredContent" => data} = members, _conn)
      when map_size(members) == 2 and module in [Text, ResourceLink],
      do: {:ok, %CallResult{content: content, structured_content: data}}

  def to_call_result(data, _conn), do: {:ok, CallResult.structured(data)}
end
