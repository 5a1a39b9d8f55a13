defmodule McpServer.LateSession do
  # Makes a session's process late at a certain point: it has received a message and has not written its answer when its
  # streams are due.
  @moduledoc false

  alias McpServer.Http.Sessions

  @doc """
  The session's process will be late with the answer to the next message that arrives over HTTP, by more than
  `stream_after` milliseconds. The session is of this VM.
  """
  @spec next(String.t(), stream_after :: pos_integer()) :: :ok
  def next(id, stream_after) do
    session = :ets.lookup_element(Sessions, id, 2)
    caller = self()
    held = make_ref()

    in_session(session, fn ->
      send(caller, held)
      await_message(&match?({:mcp_http_request, _exchange, _outcome, _origin}, &1))
      # This function runs between the message and the write, which waits for an empty mailbox.
      in_session(session, fn -> late(stream_after) end)
      await_message(&match?({:system, _from, _request}, &1))
    end)

    receive do: (^held -> :ok)
  end

  # Runs a function in the session's process.
  defp in_session(session, fun) do
    spawn(fn ->
      :sys.replace_state(
        session,
        fn state ->
          fun.()
          state
        end,
        :infinity
      )
    end)
  end

  # Any message before the message of interest stays in the mailbox.
  defp await_message(fun) do
    {:messages, messages} = Process.info(self(), :messages)

    if not Enum.any?(messages, fun) do
      Process.sleep(1)
      await_message(fun)
    end
  end

  # The timer may be late, too, so its message is sent a second time.
  defp late(stream_after) do
    Process.sleep(2 * stream_after)
    send(self(), :mcp_http_tick)
  end
end
