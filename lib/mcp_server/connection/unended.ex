defmodule McpServer.Connection.Unended do
  @moduledoc false
  # The calls whose start was reported, but not their end. Used only while a listener is attached. The process that
  # started or adopted a call reports its end. If this process ends first, `McpServer.Call.Reaper` finds the call here.

  @table __MODULE__

  @typedoc "The reported data of a call, and its start in native time."
  @type report :: {about :: map(), started_at :: integer()}

  @doc "Makes the table. The calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, :ordered_set, write_concurrency: true])
    :ok
  end

  @doc "Notes that the calling process has reported the start of the call."
  @spec put(call :: pid(), report()) :: true
  def put(call, report), do: :ets.insert(@table, {{self(), call}, report})

  @doc "Removes the call, because the calling process reports its end."
  @spec delete(call :: pid()) :: true
  def delete(call), do: :ets.delete(@table, {self(), call})

  @doc "Makes the calling process responsible for reporting the end of the call."
  @spec adopt(call :: pid(), from :: pid()) :: :ok
  def adopt(call, from) do
    for {_key, report} <- :ets.lookup(@table, {from, call}), do: put(call, report)
    :ets.delete(@table, {from, call})
    :ok
  end

  @doc "The calls of the process without a reported end."
  @spec calls(reporter :: pid()) :: [pid()]
  def calls(reporter), do: :ets.select(@table, [{{{reporter, :"$1"}, :_}, [], [:"$1"]}])

  @doc "Takes the process's report of the call. `nil` if the end was reported, or if no listener is attached."
  @spec take(reporter :: pid(), call :: pid()) :: report() | nil
  def take(reporter, call),
    do: with([{_key, report}] <- :ets.take(@table, {reporter, call}), do: report, else: ([] -> nil))
end
