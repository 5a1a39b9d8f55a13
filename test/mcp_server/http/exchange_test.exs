defmodule McpServer.Http.ExchangeTest do
  use ExUnit.Case, async: true

  alias McpServer.Http.{Exchange, Usage}

  defmodule Sink do
    @moduledoc false
    # Records the data to write.
    @behaviour McpServer.Http.Sink
    defstruct [:account, :socket, written: :ok, commands: []]

    @impl true
    def reply(sink, status, headers, body), do: note(sink, {:reply, status, headers, body})
    @impl true
    def stream(sink, status, headers, first), do: {sink.written, note(sink, {:stream, status, headers, first})}
    @impl true
    def chunk(sink, bytes), do: {sink.written, note(sink, {:chunk, bytes})}
    @impl true
    def keep_alive(sink, comment), do: chunk(sink, comment)
    @impl true
    def finish(sink), do: note(sink, :finish)
    @impl true
    def cut(sink), do: note(sink, :cut)
    @impl true
    def forget(sink), do: sink
    @impl true
    def release(sink), do: sink
    @impl true
    def head(_sink), do: %{}
    @impl true
    def read_body(sink, _max), do: {:ok, "", sink}

    defp note(sink, command), do: %{sink | commands: [command | sink.commands]}
  end

  @nobody %{client: nil, answer: &__MODULE__.nobody/0, stream: :finish}

  @doc false
  def nobody, do: {500, [], "nobody"}

  # A process that runs an exchange, and finally sends the written data to the test.
  defp holder(options \\ []) do
    test = self()
    usage = Usage.new(%{})
    failure = Keyword.get(options, :failure, @nobody)

    spawn_link(fn ->
      sink = struct!(%Sink{account: Usage.own(usage)}, Keyword.take(options, [:written]))
      exchange = Exchange.new()
      send(test, {:exchange, exchange})
      sink = Exchange.run(exchange, sink, options[:owner], failure)
      send(test, {:done, Enum.reverse(sink.commands), Usage.stats(usage).exchanges})
      receive do: (:stop -> :ok)
    end)

    assert_receive {:exchange, exchange}
    exchange
  end

  test "a reply ends it, owned or not, and nothing is left in use" do
    assert :ok = Exchange.reply(holder(), 404, [], "no")
    assert_receive {:done, [{:reply, 404, [], "no"}], 0}

    exchange = Exchange.own(holder())
    assert :ok = Exchange.reply(exchange, 200, [{"a", "b"}], ["y", "es"])
    assert_receive {:done, [{:reply, 200, [{"a", "b"}], ["y", "es"]}], 0}
  end

  test "the owner is told of bytes that were taken" do
    exchange = Exchange.own(holder())
    ref = exchange.ref
    Exchange.stream(exchange, 200, [], "first")
    assert_receive {:mcp_exchange, ^ref, {:sent, 5}}
    Exchange.chunk(exchange, ["mo", "re"])
    assert_receive {:mcp_exchange, ^ref, {:sent, 4}}
    Exchange.finish(exchange)
    assert_receive {:done, [{:stream, 200, [], "first"}, {:chunk, ["mo", "re"]}, :finish], 0}
    refute_received {:mcp_exchange, ^ref, :closed}
  end

  # Earlier, an answer that had waited for others counted twice while it was written.
  test "the owner is told when a long chunk counts for the process that writes it" do
    exchange = Exchange.own(holder())
    ref = exchange.ref
    Exchange.stream(exchange, 200, [], "first")
    assert_receive {:mcp_exchange, ^ref, {:sent, 5}}
    Exchange.chunk(exchange, String.duplicate("x", 65_536))
    assert_receive {:mcp_exchange, ^ref, {:sent, 65_536}}
    refute_received {:mcp_exchange, ^ref, {:counted, _bytes}}
    Exchange.chunk(exchange, String.duplicate("x", 65_537))
    assert_receive {:mcp_exchange, ^ref, told}
    assert_receive {:mcp_exchange, ^ref, {:sent, 65_537}}
    assert told == {:counted, 65_537}
    Exchange.finish(exchange)
  end

  test "the owner is told that the peer has gone" do
    exchange = Exchange.own(holder(written: :closed))
    ref = exchange.ref
    Exchange.stream(exchange, 200, [], "first")
    assert_receive {:mcp_exchange, ^ref, :closed}
    assert_receive {:done, [{:stream, 200, [], "first"}], 0}
  end

  test "the owner is told when the process is killed, and no longer once it has answered" do
    exchange = Exchange.own(holder())
    ref = exchange.ref
    Process.unlink(exchange.pid)
    Exchange.abort(exchange)
    assert_receive {{:mcp_exchange_down, ^ref}, _monitor, :process, _pid, :killed}

    exchange = Exchange.own(holder())
    ref = exchange.ref
    Exchange.reply(exchange, 200, [], "")
    assert_receive {:done, [{:reply, 200, [], ""}], 0}
    Process.unlink(exchange.pid)
    monitor = Process.monitor(exchange.pid)
    Process.exit(exchange.pid, :kill)
    assert_receive {:DOWN, ^monitor, :process, _pid, :killed}
    refute_received {{:mcp_exchange_down, ^ref}, _monitor, :process, _pid, _reason}
  end

  test "an owner that dies is noticed, whether it knew of the exchange or not" do
    exchange = holder()
    spawn(fn -> Exchange.own(exchange) end)
    assert_receive {:done, [{:reply, 500, [], "nobody"}], 0}

    holder(owner: spawn(fn -> :ok end))
    assert_receive {:done, [{:reply, 500, [], "nobody"}], 0}
  end

  test "a stream whose owner dies ends, or is cut where it would pass for the whole" do
    for {how, last} <- [finish: :finish, cut: :cut] do
      exchange = holder(failure: %{@nobody | stream: how})

      spawn(fn ->
        exchange = Exchange.own(exchange)
        Exchange.stream(exchange, 200, [], "first")
      end)

      assert_receive {:done, [{:stream, 200, [], "first"}, ^last], 0}
    end
  end

  test "messages of others stay in the mailbox of a process that is not ours alone" do
    test = self()
    sink = %Sink{account: Usage.own(Usage.new(%{}))}

    pid =
      spawn_link(fn ->
        exchange = Exchange.new()
        send(test, {:exchange, exchange})
        Exchange.run(exchange, sink, nil, @nobody)
        send(test, {:mailbox, Process.info(self(), :messages)})
      end)

    assert_receive {:exchange, exchange}
    send(pid, {:tcp_closed, :socket})
    Exchange.reply(exchange, 200, [], "")
    assert_receive {:mailbox, {:messages, [{:tcp_closed, :socket}]}}
  end
end
