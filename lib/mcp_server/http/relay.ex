defmodule McpServer.Http.Relay do
  @moduledoc false
  # An exchange that a process carries out: its owner sends commands, the process executes them on
  # whatever it holds, a `Plug.Conn` or an exchange of another node.
  #
  # The process that received the HTTP request makes the exchange with `new/0`, hands it to its owner and
  # enters `run/3`. It receives our messages only: a web server puts its own into the same mailbox.

  @behaviour McpServer.Http.Exchange

  alias McpServer.Http.Exchange

  @typedoc """
  What a command does to the sink's state. `:closed` means that the peer is gone.
  """
  @type command ::
          {:reply, pos_integer(), Exchange.headers(), iodata()}
          | {:stream, pos_integer(), Exchange.headers(), iodata()}
          | {:chunk, iodata()}
          | :finish
          | {:fail, :no_owner | :owner_down}
  @type sink(state) :: (command(), state -> {:ok, state} | {:closed, state})

  # An owner that does not report within this time will not.
  @owner_ms 15_000

  @doc "An exchange that the calling process carries out."
  @spec new() :: Exchange.t()
  def new, do: %Exchange{module: __MODULE__, ref: make_ref(), pid: self()}

  @doc "Executes the owner's commands on `sink` until the exchange is over; the sink's last state."
  @spec run(Exchange.t(), sink(state), state) :: state when state: term()
  def run(%Exchange{ref: ref}, sink, state), do: await(%{ref: ref, owner: nil, monitor: nil, sink: sink}, state)

  # Until somebody owns the exchange, or answers it as it is.
  defp await(%{ref: ref, monitor: monitor} = relay, state) do
    receive do
      {:mcp_relay, ^ref, {:given, pid}} -> relay |> watch(pid) |> await(state)
      {:mcp_relay, ^ref, {:own, owner}} -> relay |> watch(owner) |> loop(state)
      {:mcp_relay, ^ref, {:reply, _status, _headers, _body} = command} -> execute(relay, command, state)
      {:DOWN, ^monitor, :process, _pid, _reason} -> execute(relay, {:fail, :owner_down}, state)
    after
      @owner_ms -> execute(relay, {:fail, :no_owner}, state)
    end
  end

  # The process may serve further requests, so nothing of this one stays.
  defp execute(relay, command, state) do
    unwatch(relay)
    elem(relay.sink.(command, state), 1)
  end

  defp watch(relay, pid) do
    unwatch(relay)
    %{relay | owner: pid, monitor: Process.monitor(pid)}
  end

  defp unwatch(%{monitor: nil}), do: true
  defp unwatch(%{monitor: monitor}), do: Process.demonitor(monitor, [:flush])

  defp loop(%{ref: ref, monitor: monitor} = relay, state) do
    receive do
      {:mcp_relay, ^ref, {:own, owner}} -> relay |> watch(owner) |> loop(state)
      {:mcp_relay, ^ref, {:reply, _status, _headers, _body} = command} -> execute(relay, command, state)
      {:mcp_relay, ^ref, :finish} -> execute(relay, :finish, state)
      {:mcp_relay, ^ref, {:stream, _status, _headers, bytes} = command} -> put(relay, command, bytes, state)
      {:mcp_relay, ^ref, {:chunk, bytes} = command} -> put(relay, command, bytes, state)
      {:DOWN, ^monitor, :process, _pid, _reason} -> execute(relay, {:fail, :owner_down}, state)
      # Of the listener's exchange behind this one, where a node answers for another.
      {:mcp_exchange, _listener, {:sent, _bytes}} -> loop(relay, state)
      {:mcp_exchange, _listener, :closed} -> closed(relay, state)
    end
  end

  defp put(relay, command, bytes, state) do
    case relay.sink.(command, state) do
      {:ok, state} ->
        send(relay.owner, {:mcp_exchange, relay.ref, {:sent, IO.iodata_length(bytes)}})
        loop(relay, state)

      {:closed, state} ->
        closed(relay, state)
    end
  end

  defp closed(relay, state) do
    unwatch(relay)
    send(relay.owner, {:mcp_exchange, relay.ref, :closed})
    state
  end

  @impl true
  def own(%Exchange{ref: ref, pid: pid} = exchange) do
    # The process of a request can be killed by its server when the peer goes; that is how Cowboy says so.
    monitor = :erlang.monitor(:process, pid, tag: {:mcp_exchange_down, ref})
    tell(exchange, {:own, self()})
    {:ok, %{exchange | monitor: monitor}}
  end

  @impl true
  def give(exchange, pid) do
    if Process.alive?(pid), do: tell(exchange, {:given, pid}), else: :gone
  end

  @impl true
  def reply(exchange, status, headers, body), do: leave(exchange, {:reply, status, headers, body})

  @impl true
  def stream(exchange, status, headers, first), do: tell(exchange, {:stream, status, headers, first})

  @impl true
  def chunk(exchange, bytes), do: tell(exchange, {:chunk, bytes})

  @impl true
  def finish(exchange), do: leave(exchange, :finish)

  # It may hang in a write to a peer that does not read.
  @impl true
  def abort(%Exchange{pid: pid}) do
    Process.exit(pid, :kill)
    :ok
  end

  # The process may serve further requests; this one no longer depends on it.
  defp leave(%Exchange{monitor: monitor} = exchange, command) do
    if monitor, do: Process.demonitor(monitor, [:flush])
    tell(exchange, command)
  end

  defp tell(%Exchange{ref: ref, pid: pid}, command) do
    send(pid, {:mcp_relay, ref, command})
    :ok
  end
end
