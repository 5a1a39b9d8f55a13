defmodule McpServer.HttpScript do
  # The test's side of the tool `perform` of `McpServer.HttpRouter`.
  @moduledoc false

  import ExUnit.Assertions

  @doc "The arguments that make a call report to this process."
  def arguments(tag \\ "call"), do: %{"test" => self() |> :erlang.pid_to_list() |> to_string(), "tag" => tag}

  @doc "Waits until the call with this tag runs. Returns its process and its `McpServer.Conn`."
  def performing(tag \\ "call") do
    assert_receive {:performing, ^tag, pid, conn}, 30_000
    {pid, conn}
  end

  @doc "Sends a call its next step: `{:progress, n}`, `{:log, level, data}`, `{:answer, text}`, `{:fail, text}`."
  def tell(pid, step), do: send(pid, step)

  @doc "Waits until a process has ended."
  def gone(pid) do
    reference = Process.monitor(pid)
    assert_receive {:DOWN, ^reference, :process, ^pid, _reason}, 30_000
  end
end
