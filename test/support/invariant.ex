defmodule McpServer.Invariant do
  # The figures that must be unchanged after a fault.
  @moduledoc false

  import ExUnit.Assertions

  # Milliseconds.
  @settling 50

  @doc "The figures of this VM after a garbage collection. Memory is in bytes."
  @spec figures() :: %{String.t() => non_neg_integer()}
  def figures do
    for pid <- Process.list(), do: :erlang.garbage_collect(pid)
    # Memory that one scheduler frees for another one is counted until that scheduler handles it.
    Process.sleep(@settling)

    %{
      "processes" => :erlang.system_info(:process_count),
      "ports" => :erlang.system_info(:port_count),
      "tables" => length(:ets.all()),
      "atoms" => :erlang.system_info(:atom_count),
      "binary" => :erlang.memory(:binary),
      "memory" => :erlang.memory(:total),
      "queue" => queued()
    }
  end

  # The number of messages in all mailboxes.
  defp queued do
    for pid <- Process.list(), {:message_queue_len, length} <- [Process.info(pid, :message_queue_len)], reduce: 0 do
      sum -> sum + length
    end
  end

  # A new VM loads code and fills its caches. This many bytes are no leak.
  @slack 2 * 1024 * 1024
  # These figures must not grow at all.
  @counts ~w(processes ports tables queue)

  @doc "The figures that grew: their names and both values."
  @spec broken(map(), map()) :: [{String.t(), non_neg_integer(), non_neg_integer()}]
  def broken(before, now) do
    for {name, then_} <- before, now[name] > most(name, then_), do: {name, then_, now[name]}
  end

  defp most(name, then_) when name in @counts, do: then_
  defp most("atoms", then_), do: then_
  defp most(_bytes, then_), do: div(then_ * 105, 100) + @slack

  @doc "Runs `fun`, and asserts that the invariant holds within thirty seconds, in the VM of `figures`."
  @spec assert_kept((() -> map()), (() -> result)) :: result when result: term()
  def assert_kept(figures, fun) do
    before = figures.()
    result = fun.()
    settle(figures, before, 300)
    result
  end

  defp settle(figures, before, left) do
    case broken(before, figures.()) do
      [] ->
        :ok

      broken when left == 0 ->
        flunk("not as before: #{inspect(broken)}")

      _yet ->
        Process.sleep(100)
        settle(figures, before, left - 1)
    end
  end
end
