defmodule McpServer.RateLimit.Answers do
  @moduledoc false
  # The answers to the questions of counted calls, which do not count again.
  #
  # The state of a question gets a mark, which the client can neither read nor change. A mark is used once, so that a
  # client cannot repeat an answer for free calls. A counted call has a few marks, so that it cannot be prolonged for
  # ever.

  alias McpServer.{Conn, Quota, RequestState}
  alias McpServer.Quota.Client

  # Plugs are nested, and so are their marks: a plug takes the outer one.

  @typedoc "The mark of a state: its row in the table, and the number of answers that the call still has."
  @type mark :: {id :: binary() | nil, left :: non_neg_integer()}

  @id_bytes 16
  # The minimum time between two sweeps of the table, in microseconds.
  @sweep_us 1_000_000

  @doc "Makes the table of the unused marks; the calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(__MODULE__, [:named_table, :public, write_concurrency: true])
    :ok
  end

  @doc "Takes the mark of the calling plug from the state of a call."
  @spec open(Conn.t()) :: {mark() | nil, Conn.t()}
  def open(%Conn{state: {:mcp_counted, mark, state}} = conn), do: {mark, %{conn | state: state}}
  def open(conn), do: {nil, conn}

  @doc "Uses a mark. Returns the number of answers that are left, or `nil` if the call must be counted."
  @spec use(mark() | nil) :: non_neg_integer() | nil
  def use({id, left}) when id != nil do
    case :ets.take(__MODULE__, id) do
      [{^id, until, client}] ->
        give_back(client)
        if until > now(), do: left - 1

      [] ->
        nil
    end
  end

  def use(_unmarked), do: nil

  defp give_back(client), do: Quota.give(Quota.of_node(), :rate_limit_marks, client, 1)

  @doc """
  Puts a mark into the state of a question to the client, if the handler returned one. Without answers left it needs none.
  """
  @spec mark(term(), Client.t(), left :: non_neg_integer()) :: term()
  # Otherwise this plug would take the mark of an inner one.
  def mark({:input_required, inputs, {:mcp_counted, _mark, _state} = state}, _client, 0),
    do: {:input_required, inputs, {:mcp_counted, {nil, 0}, state}}

  def mark(returned, _client, 0), do: returned
  # This is no question, but a mistake of the handler.
  def mark({:input_required, inputs, nil} = returned, _client, _left) when inputs == %{}, do: returned

  def mark({:input_required, inputs, state}, client, left),
    do: {:input_required, inputs, {:mcp_counted, {keep(client, now()), left}, state}}

  def mark(returned, _client, _left), do: returned

  # Without room for a mark the answer counts.
  defp keep(client, now) do
    if room?(client) or (sweep(now) and room?(client)) do
      id = :crypto.strong_rand_bytes(@id_bytes)
      :ets.insert(__MODULE__, {id, now + RequestState.ttl_ms() * 1_000, client})
      id
    end
  end

  defp room?(client), do: Quota.take(Quota.of_node(), :rate_limit_marks, client, 1) == :ok

  # Whether it was time to drop marks whose time has passed.
  defp sweep(now) do
    with [{:swept, at}] when now - at < @sweep_us <- :ets.lookup(__MODULE__, :swept) do
      false
    else
      _long_ago ->
        :ets.insert(__MODULE__, {:swept, now})
        over = :ets.select(__MODULE__, [{{:"$1", :"$2", :_}, [{:"=<", :"$2", now}], [:"$1"]}])
        for id <- over, {_id, _until, client} <- :ets.take(__MODULE__, id), do: give_back(client)
        true
    end
  end

  defp now, do: System.monotonic_time(:microsecond)
end
