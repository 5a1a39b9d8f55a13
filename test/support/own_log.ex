defmodule McpServer.OwnLog do
  # The log of only the calling process. ExUnit.CaptureLog captures all processes, so with it a test of "nothing was
  # logged" fails while other tests run.

  @doc "Runs `fun`, and returns the log of the calling process, one message per line."
  def own_log(fun) do
    handler = :"own_log_#{System.unique_integer([:positive])}"
    :ok = :logger.add_handler(handler, __MODULE__, %{level: :all, config: %{pid: self()}})

    try do
      fun.()
    after
      :logger.remove_handler(handler)
    end

    lines(handler)
  end

  # The handler's callback. It runs in the process that logs.
  def log(%{meta: %{pid: pid}} = event, %{id: handler, config: %{pid: pid}}),
    do: send(pid, {handler, :logger_formatter.format(event, %{template: [:msg, "\n"], single_line: false})})

  def log(_event, _handler), do: :ok

  defp lines(handler) do
    receive do
      {^handler, line} -> IO.chardata_to_string(line) <> lines(handler)
    after
      0 -> ""
    end
  end
end
