defmodule Everything.Report do
  @moduledoc "Tools that tell the client something while they run."
  use McpServer.Controller

  @pause_ms 50

  def three_logs(conn, _args) do
    log(conn, :info, "Tool execution started")
    Process.sleep(@pause_ms)
    log(conn, :info, "Tool processing data")
    Process.sleep(@pause_ms)
    log(conn, :info, "Tool execution completed")
    {:ok, [text("Logged three messages.")]}
  end

  def one_log(conn, _args) do
    log(conn, :info, "This goes only to those who asked for it")
    {:ok, [text("Logged one message.")]}
  end

  def three_steps(conn, _args) do
    progress(conn, 0, 100)
    Process.sleep(@pause_ms)
    progress(conn, 50, 100)
    Process.sleep(@pause_ms)
    progress(conn, 100, 100)
    # The TypeScript client drops progress that it reads together with the result.
    Process.sleep(@pause_ms)
    {:ok, [text("Reported progress three times.")]}
  end

  # A client that came with a session fetches the answer with a request of its own; every other one waits for it here.
  def late(conn, _args) do
    close_stream(conn, retry: @pause_ms)
    Process.sleep(2 * @pause_ms)
    {:ok, [text("Here after all.")]}
  end
end
