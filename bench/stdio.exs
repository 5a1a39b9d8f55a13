defmodule Bench.Stdio do
  @moduledoc "The example server over stdio: calls sent all at once, and one after the other."

  alias Bench.Measure

  @pipelined 50_000
  @sequential 5_000

  def run do
    port = open()
    initialize(port)
    pipelined(port, 2_000)
    per_second = pipelined(port, @pipelined)
    times = sequential(port, @sequential)
    Port.close(port)

    Measure.table("tools/call over stdio", ["", "value"], [
      ["pipelined, calls/s", "#{round(per_second)}"],
      ["round trip p50, µs", "#{percentile(times, 50)}"],
      ["round trip p99, µs", "#{percentile(times, 99)}"]
    ])

    # The yardsticks, rmcp and the TypeScript SDK, are not measured here yet.
    []
  end

  defp open do
    command = Path.expand("../bin/everything", __DIR__)
    Port.open({:spawn_executable, command}, [:binary, :exit_status, args: ["--stdio"]])
  end

  defp initialize(port) do
    params = %{protocolVersion: "2025-11-25", capabilities: %{}, clientInfo: %{name: "bench", version: "1"}}
    Port.command(port, line(%{jsonrpc: "2.0", id: 0, method: "initialize", params: params}))
    await_lines(port, 1)
    Port.command(port, line(%{jsonrpc: "2.0", method: "notifications/initialized"}))
  end

  defp pipelined(port, count) do
    lines = for id <- 1..count, do: call(id)
    start = System.monotonic_time(:microsecond)
    # In a process of its own: the server stops reading while nobody reads its answers.
    owner = self()
    writer = Task.async(fn -> for chunk <- Enum.chunk_every(lines, 500), do: send(port, {owner, {:command, chunk}}) end)
    await_lines(port, count)
    Task.await(writer, :infinity)
    count * 1_000_000 / (System.monotonic_time(:microsecond) - start)
  end

  defp sequential(port, count) do
    for id <- 1..count do
      start = System.monotonic_time(:microsecond)
      Port.command(port, call(id))
      await_lines(port, 1)
      System.monotonic_time(:microsecond) - start
    end
  end

  defp call(id) do
    line(%{jsonrpc: "2.0", id: id, method: "tools/call", params: %{name: "test_simple_text", arguments: %{}}})
  end

  defp line(message), do: [McpServer.JSON.encode!(message), ?\n]

  defp await_lines(_port, 0), do: :ok

  defp await_lines(port, count) do
    receive do
      {^port, {:data, bytes}} -> await_lines(port, count - length(:binary.matches(bytes, "\n")))
      {^port, {:exit_status, status}} -> raise "the server ended with exit status #{status}"
    after
      60_000 -> raise "the server has not answered for a minute"
    end
  end

  defp percentile(times, percent) do
    Enum.at(Enum.sort(times), div(length(times) * percent, 100))
  end
end
