defmodule McpServer.Tool.Overflow do
  @moduledoc false
  # Handles a tool's result whose response exceeds the tool's `result_budget:`. A router names one module with this
  # behaviour, and a term for its calls.

  alias McpServer.Conn
  alias McpServer.Tool.CallResult

  @typedoc "The stored result, for `c:result/3`."
  @type stored :: term

  @typedoc """
  A result over its budget.

    * `:returned` – the handler's return value, `:result` – its `CallResult`, `:bytes` – the size of its response
    * `:small` – content of up to this many bytes may still be sent
  """
  @type overflow :: %{
          tool: String.t(),
          returned: term,
          result: CallResult.t(),
          bytes: pos_integer,
          small: non_neg_integer
        }

  @doc "Stores a result. `:leave` means that it is sent unchanged."
  @callback store(term, Conn.t(), overflow) :: {:ok, stored} | :leave | {:error, term}

  @doc """
  The result that is sent instead, with at most `room` bytes of its rows in the text and as many in the structured
  content. A tool with `keeps_data?` keeps its structured content, because clients check it with a schema or display it.
  """
  @callback result(stored, room :: non_neg_integer, keeps_data? :: boolean) :: CallResult.t()

  @doc "The description for clients, under `experimental` in the server's capabilities."
  @callback capabilities(term) :: %{String.t() => term}
end
