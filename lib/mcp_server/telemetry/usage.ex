defmodule McpServer.Telemetry.Usage do
  @moduledoc false
  # The current usage of this node, and the number of requests that the core answered alone.

  alias McpServer.{Call, Changes, Protocol, Tasks}
  alias McpServer.Http.Sessions

  @doc "The events of `McpServer.Telemetry.measure/0` by name, with their measurements."
  @spec measurements() :: [{:usage | :core, [atom()]}]
  def measurements, do: [usage: Map.keys(usage()), core: Map.keys(Protocol.answered_alone())]

  @doc "The numbers of calls, HTTP sessions, listeners for changes, and tasks."
  @spec usage() :: %{atom() => non_neg_integer()}
  def usage do
    %{
      calls: Enum.count(Process.list(), &(Process.info(&1, :initial_call) == {:initial_call, {Call, :run, 6}})),
      sessions: Sessions.count(),
      listeners: Changes.listened_to_here() |> Enum.map(&length(Changes.listeners_here(&1))) |> Enum.sum(),
      tasks: :ets.info(Tasks.Server, :size)
    }
  end
end
