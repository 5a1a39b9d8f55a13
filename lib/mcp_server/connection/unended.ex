defmodule McpServer.Connection.Unended do
  @moduledoc false
  # The calls whose start has been reported, and whose end has not, while somebody hears of ends. A call's end is reported
  # by the process that has started it or adopted it; where that ends first, `McpServer.Call.Reaper` finds the call here.

  @table __MODULE__

  @typedoc "What is told of a call, and when it started in native time."
  @type report :: {about :: map(), started_at :: integer()}

  @doc "Makes the table; the calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, :ordered_set, write_concurrency: true])
    :ok
  end

  @doc "The calling process has reported that the call started."
  @spec put(call :: pid(), report()) :: true
  def put(call, report), do: :ets.insert(@table, {{self(), call}, report})

  @doc "The calling process reports the end of the call."
  @spec delete(call :: pid()) :: true
  def delete(call), do: :ets.delete(@table, {self(), call})

  @doc "From now on the calling process reports the end of the call."
  @spec adopt(call :: pid(), from :: pid()) :: :ok
  def adopt(call, from) do
    for {_key, report} <- :ets.lookup(@table, {from, call}), do: put(call, report)
    :ets.delete(@table, {from, call})
    :ok
  end

  @doc "The calls that the process has not reported the end of."
  @spec calls(reporter :: pid()) :: [pid()]
  def calls(reporter), do: :ets.select(@table, [{{{reporter, :"$1"}, :_}, [], [:"$1"]}])

  @doc "Takes what the process has told of the call; `nil` where the end has been reported or nobody wants to hear of it."
  @spec take(reporter :: pid(), call :: pid()) :: report() | nil
  def take(reporter, call),
    do: with([{_key, report}] <- :ets.take(@table, {reporter, call}), do: report, else: ([] -> nil))
end
