defmodule McpServer.Http.Solo do
  @moduledoc false
  # A connection that lives for one request, in the process that received it: what the shared ones do, without the
  # way to them and back. For servers that do not kill the process when the client goes, because nobody else
  # would end the call.

  alias McpServer.Connection
  alias McpServer.Call.Reaper
  alias McpServer.Connection.{Calls, Channel, State, Timer}
  alias McpServer.Http.{Lanes, Local, Mount, Relay}

  @typedoc "A request of the stateless era that was admitted."
  @type work :: {Mount.t(), McpServer.Protocol.outcome(), Channel.origin()}

  @doc "Serves the request to its answer; the sink's last state."
  @spec run(work(), Relay.sink(state), state) :: state when state: term()
  def run({mount, outcome, origin}, sink, state) do
    watch()
    exchange = Local.open(sink, state)
    channel = McpServer.Http.Channel.shared(mount, :caller)
    connection = Connection.solo(mount.router, origin.catalog, channel, mount.bounds)
    {:mcp_http_request, exchange, outcome, origin} |> Connection.handle_info(connection) |> loop()
    flush()
    Local.close(exchange)
  end

  # Once for all the requests of this process.
  defp watch do
    unless Process.get(__MODULE__) do
      Process.put(__MODULE__, true)
      Reaper.watch()
    end
  end

  defp loop({:noreply, connection}), do: next(connection, :infinity)
  defp loop({:noreply, connection, timeout}), do: next(connection, timeout)

  defp next(%State{channel: {_module, channel}} = connection, timeout) do
    if Calls.idle?(connection) and timeout != 0 and Lanes.empty?(channel.lanes),
      do: connection,
      else: connection |> await(timeout) |> Connection.handle_info(connection) |> loop()
  end

  # Our messages only: a web server puts its own into the same mailbox.
  defp await(%State{calls: calls, channel: {_module, channel}} = connection, timeout) do
    deadline = Timer.left(connection.deadline_timer)
    tick = Timer.left(channel.timer)

    receive do
      {:DOWN, _monitor, :process, pid, _reason} = message when is_map_key(calls, pid) -> message
      {:mcp_ended, _pid, _result} = message -> message
      {:mcp_notify, _tag, _pid, _gate, _notification} = message -> message
      {:mcp_pause, _tag, _pid, _retry_ms} = message -> message
      {:mcp_ask, _tag, _pid, _requests} = message -> message
      {:mcp_exchange, _ref, _event} = message -> message
      {:mcp_http_left, _key} = message -> message
    after
      timeout |> min(deadline) |> min(tick) -> due(timeout, deadline, tick)
    end
  end

  # What was to be waited for least. `:infinity` is more than any number.
  defp due(timeout, deadline, tick) when timeout <= deadline and timeout <= tick, do: :timeout
  defp due(_timeout, deadline, tick) when deadline <= tick, do: :mcp_deadline
  defp due(_timeout, _deadline, _tick), do: :mcp_http_tick

  # The process may serve further requests: nothing of this one reaches them.
  defp flush do
    receive do
      {:mcp_exchange, _ref, _event} -> flush()
      {:mcp_http_left, _key} -> flush()
      {:mcp_ended, _pid, _result} -> flush()
    after
      0 -> :ok
    end
  end
end
