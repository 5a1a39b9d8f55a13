defmodule McpServer.Http.PollingTest do
  # How a connection waits for its next request. The timing itself is measured by `bench/http.exs`.
  use ExUnit.Case, async: true

  alias McpServer.Http.Usage
  alias McpServer.HttpServer.{Polling, Socket}

  import McpServer.HttpCase, only: [eventually: 1]

  setup do: open()

  defp open do
    {:ok, listener} = :gen_tcp.listen(0, [:binary, ip: {127, 0, 0, 1}, active: false])
    {:ok, port} = :inet.port(listener)
    {:ok, client} = :gen_tcp.connect({127, 0, 0, 1}, port, [:binary, active: false])
    {:ok, socket} = :gen_tcp.accept(listener)
    account = Usage.own(Usage.new(%{}))
    sink = Socket.activate(%Socket{transport: :tcp, socket: socket, peer: nil, account: account})
    %{client: client, sink: sink, account: account}
  end

  # The bytes are in the mailbox before the process waits for them.
  defp arrive(%{sink: sink, client: client}, bytes) do
    :ok = :gen_tcp.send(client, bytes)
    socket = sink.socket
    receive do: ({:tcp, ^socket, ^bytes} = message -> send(self(), message))
  end

  test "a measured client is quick if its request comes at once, and no other request before", context do
    # At once is within 100 µs, in which a busy machine may run others.
    quick? = fn context ->
      arrive(context, "next")
      {:ok, %{buffer: "next", quick?: quick?}} = Polling.await(%{context.sink | packets: 1}, 5_000)
      quick?
    end

    assert quick?.(context) or eventually(fn -> quick?.(open()) end)
  end

  test "a client is not quick if others send requests meanwhile", %{sink: sink, account: account, client: client} do
    other =
      spawn_link(fn ->
        receive do: ({_self, :ok} -> Usage.count(account, :requests))
        :ok = :gen_tcp.send(client, "next")
      end)

    # A late message, which the waiting process answers.
    send(self(), {:mcp_notify, other, self(), :always, ""})
    assert {:ok, %{buffer: "next", quick?: false}} = Polling.await(%{sink | packets: 1}, 5_000)
  end

  test "other pauses are not measured", context do
    arrive(context, "next")
    assert {:ok, %{buffer: "next", quick?: false}} = Polling.await(%{context.sink | packets: 2}, 5_000)
  end

  test "a quick client gets its bytes, and stays quick", context do
    arrive(context, "next")
    assert {:ok, %{buffer: "next", quick?: true}} = Polling.await(%{context.sink | quick?: true}, 5_000)
  end

  test "a quick client that pauses is not quick any more", context do
    assert {:timeout, %{buffer: "", quick?: false}} = Polling.await(%{context.sink | quick?: true}, 10)
  end

  test "the end of the connection is noticed while it polls", context do
    :ok = :gen_tcp.close(context.client)
    assert {:closed, %{gone?: true}} = Polling.await(%{context.sink | quick?: true}, 5_000)
  end

  test "a drain ends a connection that polls", context do
    send(self(), {:mcp_http_drain, 0})
    assert {:closed, %{flow: :close}} = Polling.await(%{context.sink | quick?: true}, 5_000)
  end
end
