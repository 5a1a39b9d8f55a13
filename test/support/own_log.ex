defmodule McpServer.OwnLog do
  # The log of the calling process alone. ExUnit.CaptureLog hears every process there is, so that "nothing was
  # logged" is true of it only while no other test runs.

  @doc "Runs `fun`, and returns what the calling process logged meanwhile, a message a line."
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

  # The handler's callback, which runs in the process that logs.
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
