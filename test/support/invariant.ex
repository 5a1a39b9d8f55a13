defmodule McpServer.Invariant do
  # What has to be as before when a fault is over.
  @moduledoc false

  import ExUnit.Assertions

  # Milliseconds.
  @settling 50

  @doc "The figures of this VM, without garbage; memory in bytes."
  @spec figures() :: %{String.t() => non_neg_integer()}
  def figures do
    for pid <- Process.list(), do: :erlang.garbage_collect(pid)
    # What one scheduler has freed of another's is counted until that one has seen to it.
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

  # Messages that wait in mailboxes.
  defp queued do
    for pid <- Process.list(), {:message_queue_len, length} <- [Process.info(pid, :message_queue_len)], reduce: 0 do
      sum -> sum + length
    end
  end

  # A VM that has just begun loads code and fills its caches: that much, in bytes, is no leak.
  @slack 2 * 1024 * 1024
  # The names that Erlang makes itself meanwhile, such as those of its modules.
  @counts ~w(processes ports tables queue)

  @doc "What is not as it was before: the name of each figure, then and now."
  @spec broken(map(), map()) :: [{String.t(), non_neg_integer(), non_neg_integer()}]
  def broken(before, now) do
    for {name, then_} <- before, now[name] > most(name, then_), do: {name, then_, now[name]}
  end

  defp most(name, then_) when name in @counts, do: then_
  defp most("atoms", then_), do: then_
  defp most(_bytes, then_), do: div(then_ * 105, 100) + @slack

  @doc "Runs `fun` and asserts that the invariant holds within five seconds of it, in the VM that `figures` asks."
  @spec assert_kept((() -> map()), (() -> result)) :: result when result: term()
  def assert_kept(figures, fun) do
    before = figures.()
    result = fun.()
    settle(figures, before, 50)
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
