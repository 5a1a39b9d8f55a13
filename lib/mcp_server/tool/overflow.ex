defmodule McpServer.Tool.Overflow do
  @moduledoc false
  # What becomes of a tool's result whose answer is larger than the tool's `result_budget:`. A router names one module
  # that implements this, and a term that the module is called with.

  alias McpServer.Conn
  alias McpServer.Tool.CallResult

  @typedoc "What has been stored, for `c:result/3`."
  @type stored :: term

  @typedoc """
  A result over its budget.

    * `:returned` – what the handler returned, `:result` – what was made of it, `:bytes` – how large its answer is
    * `:small` – content of up to so many bytes may be sent all the same
  """
  @type overflow :: %{
          tool: String.t(),
          returned: term,
          result: CallResult.t(),
          bytes: pos_integer,
          small: non_neg_integer
        }

  @doc "Stores a result. `:leave` says that it is to be sent as it is."
  @callback store(term, Conn.t(), overflow) :: {:ok, stored} | :leave | {:error, term}

  @doc """
  What goes out in place of the result, with at most `room` bytes of its rows in the text and as many in the structured
  content. A tool that `keeps_data?` keeps its structured content: clients check it with a schema, or draw it.
  """
  @callback result(stored, room :: non_neg_integer, keeps_data? :: boolean) :: CallResult.t()

  @doc "What clients are told of it, under `experimental` of the server's capabilities."
  @callback capabilities(term) :: %{String.t() => term}
end
