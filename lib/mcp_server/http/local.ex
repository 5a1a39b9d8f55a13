defmodule McpServer.Http.Local do
  @moduledoc false
  # An exchange that its owner carries out itself: the process that received the request answers it. What the
  # commands work with stays in the process dictionary meanwhile, so that commands are plain calls.

  @behaviour McpServer.Http.Exchange

  alias McpServer.Http.{Exchange, Relay}

  @doc "An exchange of the calling process. `close/1` gives the sink's last state back."
  @spec open(Relay.sink(state), state) :: Exchange.t() when state: term()
  def open(sink, state) do
    exchange = %Exchange{module: __MODULE__, ref: make_ref(), pid: self()}
    Process.put(exchange.ref, {sink, state})
    exchange
  end

  @doc "The state as the last command left it."
  @spec close(Exchange.t()) :: term()
  def close(%Exchange{ref: ref}) do
    {_sink, state} = Process.delete(ref)
    state
  end

  @impl true
  def own(exchange), do: {:ok, exchange}

  @impl true
  def reply(exchange, status, headers, body), do: execute(exchange, {:reply, status, headers, body})

  @impl true
  def stream(exchange, status, headers, first), do: sent(exchange, {:stream, status, headers, first}, first)

  @impl true
  def chunk(exchange, bytes), do: sent(exchange, {:chunk, bytes}, bytes)

  @impl true
  def finish(exchange) do
    execute(exchange, :finish)
    :ok
  end

  # Whatever is written has been taken, so nobody has reason to.
  @impl true
  def abort(_exchange), do: :ok

  defp execute(%Exchange{ref: ref}, command) do
    {sink, state} = Process.get(ref)
    {result, state} = sink.(command, state)
    Process.put(ref, {sink, state})
    result
  end

  defp sent(exchange, command, bytes) do
    with :ok <- execute(exchange, command) do
      send(self(), {:mcp_exchange, exchange.ref, {:sent, IO.iodata_length(bytes)}})
      :ok
    end
  end
end
