defmodule McpServer.Client.Http.Batch do
  @moduledoc false
  # A JSON-RPC batch, an array of messages, of revision 2025-03-26. The server decides whether it accepts batches. The
  # answers are delivered in one array, even if the server streams them one by one.

  alias McpServer.Client.Error
  alias McpServer.Client.Http.Exchange
  alias McpServer.JsonRpc

  @type t :: [term(), ...]

  @typedoc "The outcome of an exchange. An error has the answers that arrived before it."
  @type outcome :: {:ok, headers :: [{String.t(), String.t()}]} | {:error, :session_lost} | {:error, Error.t(), [map()]}

  @doc "The ids of the requests in a message or a batch."
  @spec ids(term()) :: [term()]
  def ids(batch) when is_list(batch), do: Enum.flat_map(batch, &ids/1)
  def ids(%{"method" => _method, "id" => id}), do: [id]
  def ids(_message), do: []

  @doc "Sends a batch, and delivers its answers together."
  @spec post(Exchange.context(), t()) :: outcome()
  def post(context, batch) do
    {outcome, held} = Exchange.hold(context, batch, [], &answer?/1)

    case {outcome, List.flatten(held)} do
      {{:ok, headers}, came} -> with :ok <- deliver(context, batch, came), do: {:ok, headers}
      {{:error, :session_lost}, _none} -> {:error, :session_lost}
      {{:error, error}, came} -> {:error, error, came}
    end
  end

  defp answer?(message), do: is_list(message) or not is_map_key(message, "method")

  defp deliver(context, batch, came) do
    cond do
      refusal?(came, batch) -> context.send.(hd(came))
      missing(batch, came) == [] -> context.send.(came)
      true -> {:error, Error.new(:no_answer, "#{context.url} does not answer this request of the batch"), came}
    end
  end

  # A server refuses a whole batch with one error.
  defp refusal?([%{"error" => _error} = refusal], batch), do: refusal["id"] not in ids(batch)
  defp refusal?(_answers, _batch), do: false

  defp missing(batch, came), do: ids(batch) -- for(%{"id" => id} <- came, do: id)

  @doc "A message or a batch without the cancelled requests. `[]` if no request is left."
  @spec wanted(map() | t(), cancelled :: [term()]) :: map() | [term()]
  def wanted(message, []), do: message

  def wanted(message, cancelled) do
    case {message, ids(message) -- cancelled} do
      {_message, []} -> []
      {batch, _open} -> Enum.reject(batch, fn message -> Enum.any?(ids(message), &(&1 in cancelled)) end)
    end
  end

  @doc "The received answers, and an error for each request without an answer."
  @spec complete(t(), came :: [map()], Error.t()) :: [map()]
  def complete(batch, came, %Error{message: text}) do
    error = %{"code" => JsonRpc.Error.code(:internal_error), "message" => text}
    came ++ for id <- missing(batch, came), do: %{"jsonrpc" => "2.0", "id" => id, "error" => error}
  end
end
