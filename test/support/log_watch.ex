defmodule McpServer.LogWatch do
  # The log of all processes, sent to a test line by line. Another process may write a line after the client has its
  # answer, so a test waits for the line instead of a fixed time. A line arrives before the end of its process does.
  @moduledoc false

  import ExUnit.Assertions
  import ExUnit.Callbacks, only: [on_exit: 1]

  # Milliseconds. Only a missing line takes this long.
  @patience 30_000
  # Like the lines of `ExUnit.CaptureLog`, whose format is not a function of every supported Elixir.
  @format %{template: ["\n", :time, " [", :level, "] ", :msg, "\n"], single_line: false}

  @doc "Sends the log of all processes to the calling test until it ends."
  @spec watch_log() :: :ok
  def watch_log do
    handler = :"log_watch_#{System.unique_integer([:positive])}"
    :ok = :logger.add_handler(handler, __MODULE__, %{level: :all, config: %{test: self()}})
    on_exit(fn -> :logger.remove_handler(handler) end)
  end

  # The handler's callback. It runs in the process that logs.
  @doc false
  def log(event, %{config: %{test: test}}),
    do: send(test, {__MODULE__, event |> :logger_formatter.format(@format) |> IO.chardata_to_string()})

  @doc "The log up to the first line with `text`, which must come. Each line is returned once."
  @spec log_until(String.t()) :: String.t()
  def log_until(text), do: log_until(text, "")

  defp log_until(text, before) do
    receive do
      {__MODULE__, line} -> if line =~ text, do: before <> line, else: log_until(text, before <> line)
    after
      @patience -> flunk("no line of the log has #{inspect(text)}, but: #{before}")
    end
  end

  @doc "The log that has arrived. Each line is returned once."
  @spec logged() :: String.t()
  def logged do
    receive do
      {__MODULE__, line} -> line <> logged()
    after
      0 -> ""
    end
  end
end
