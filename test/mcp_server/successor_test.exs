defmodule McpServer.SuccessorTest do
  use McpServer.HttpCase, async: true

  alias McpServer.DualResponse.Rest
  alias McpServer.DualResponse.Rest.Dispatcher
  alias McpServer.{DualResponses, Processes, Successor}

  # The result of a start that has waited for this process. The started process runs until the end of the test.
  defp started_after(predecessor, start) do
    test = self()

    starting =
      start_supervised!({Task,
       fn ->
         # As a supervisor does.
         Process.flag(:trap_exit, true)
         send(test, {:started, start.()})
         receive do: ({:EXIT, _supervisor, :shutdown} -> exit(:shutdown))
       end})

    eventually(fn -> Process.info(starting, :monitors) == {:monitors, [process: predecessor]} end)
    send(predecessor, :stop)
    assert_receive {:started, result}
    result
  end

  test "it has the name of a process that ends" do
    predecessor = Processes.waiting(fn -> Process.register(self(), __MODULE__.Name) end)
    start = fn -> Agent.start_link(fn -> :state end, name: __MODULE__.Name) end
    assert {:error, {:already_started, ^predecessor}} = start.()
    assert {:ok, pid} = started_after(predecessor, fn -> Successor.start(start) end)
    assert Process.whereis(__MODULE__.Name) == pid
  end

  test "a process below it has the name of one that ends" do
    predecessor = Processes.waiting(fn -> Process.register(self(), __MODULE__.Below) end)

    start = fn ->
      Supervisor.start_link([{Agent, fn -> :state end}, {Registry, keys: :unique, name: __MODULE__.Below}],
        strategy: :one_for_one
      )
    end

    assert {:ok, _pid} = started_after(predecessor, fn -> Successor.start(start) end)
    refute Process.whereis(__MODULE__.Below) == predecessor
  end

  test "other errors, and no process, are the result" do
    assert Successor.start(fn -> :ignore end) == :ignore

    for reason <- [:eaddrinuse, {:shutdown, :normal}, {:shutdown, {:failed_to_start_child, :id, :eaddrinuse}}],
        do: assert(Successor.start(fn -> {:error, reason} end) == {:error, reason})
  end

  # Earlier, the endpoint of a server that was started again had no dispatcher from then on.
  test "a server's dispatcher follows the one of the server before" do
    rest = %{Rest.new(server: DualResponses.server()) | id: {make_ref(), "/resources"}, supervised?: true}
    predecessor = Processes.waiting(fn -> {:ok, _pid} = Registry.register(McpServer.Http.Registry, rest.id, nil) end)
    assert {:ok, dispatcher} = started_after(predecessor, fn -> Dispatcher.start_link(rest) end)
    assert Dispatcher.find(rest) == dispatcher
  end
end
