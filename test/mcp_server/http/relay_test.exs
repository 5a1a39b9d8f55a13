defmodule McpServer.Http.RelayTest do
  use ExUnit.Case, async: true

  alias McpServer.Http.{Exchange, Relay}

  # The far end of an exchange: a process that notes the commands it executes.
  defp far_end(result \\ :ok) do
    test = self()

    spawn_link(fn ->
      exchange = Relay.new()
      send(test, {:exchange, exchange})
      send(test, {:done, Relay.run(exchange, fn command, commands -> {result, [command | commands]} end, [])})
      receive do: (:stop -> :ok)
    end)

    assert_receive {:exchange, exchange}
    exchange
  end

  test "a reply ends it, owned or not" do
    assert :ok = Exchange.reply(far_end(), 404, [], "no")
    assert_receive {:done, [{:reply, 404, [], "no"}]}

    assert {:ok, exchange} = Exchange.own(far_end())
    assert :ok = Exchange.reply(exchange, 200, [{"a", "b"}], ["y", "es"])
    assert_receive {:done, [{:reply, 200, [{"a", "b"}], ["y", "es"]}]}
  end

  test "the owner is told of bytes that were sent" do
    {:ok, exchange} = Exchange.own(far_end())
    ref = exchange.ref
    Exchange.stream(exchange, 200, [], "first")
    assert_receive {:mcp_exchange, ^ref, {:sent, 5}}
    Exchange.chunk(exchange, ["mo", "re"])
    assert_receive {:mcp_exchange, ^ref, {:sent, 4}}
    Exchange.finish(exchange)
    assert_receive {:done, [:finish, {:chunk, ["mo", "re"]}, {:stream, 200, [], "first"}]}
    refute_received {:mcp_exchange, ^ref, :closed}
  end

  test "the owner is told that the peer is gone" do
    {:ok, exchange} = Exchange.own(far_end(:closed))
    ref = exchange.ref
    Exchange.stream(exchange, 200, [], "first")
    assert_receive {:mcp_exchange, ^ref, :closed}
    assert_receive {:done, [{:stream, 200, [], "first"}]}
  end

  test "the owner is told when the process is killed, and no longer once it has answered" do
    {:ok, exchange} = Exchange.own(far_end())
    ref = exchange.ref
    Process.unlink(exchange.pid)
    Exchange.abort(exchange)
    assert_receive {{:mcp_exchange_down, ^ref}, _monitor, :process, _pid, :killed}

    {:ok, exchange} = Exchange.own(far_end())
    ref = exchange.ref
    Exchange.reply(exchange, 200, [], "")
    assert_receive {:done, [{:reply, 200, [], ""}]}
    Process.unlink(exchange.pid)
    monitor = Process.monitor(exchange.pid)
    Process.exit(exchange.pid, :kill)
    assert_receive {:DOWN, ^monitor, :process, _pid, :killed}
    refute_received {{:mcp_exchange_down, ^ref}, _monitor, :process, _pid, _reason}
  end

  test "an owner that dies is noticed" do
    exchange = far_end()
    spawn(fn -> {:ok, _owned} = Exchange.own(exchange) end)
    assert_receive {:done, [{:fail, :owner_down}]}
  end

  test "messages of others stay in the mailbox" do
    test = self()

    pid =
      spawn_link(fn ->
        exchange = Relay.new()
        send(test, {:exchange, exchange})
        Relay.run(exchange, fn _command, state -> {:ok, state} end, nil)
        send(test, {:mailbox, Process.info(self(), :messages)})
      end)

    assert_receive {:exchange, exchange}
    send(pid, {:tcp_closed, :socket})
    Exchange.reply(exchange, 200, [], "")
    assert_receive {:mailbox, {:messages, [{:tcp_closed, :socket}]}}
  end
end
