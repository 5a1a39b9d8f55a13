defmodule McpServer.DualResponse.Query do
  @moduledoc false
  # Runs the functions `execute` and `count` with a timeout and a heap limit. No detail of an error reaches a client.

  alias McpServer.DualResponse.{Error, Options, Resource, Trouble}
  alias McpServer.{Callers, Limit}

  @typedoc "The arguments of `execute`."
  @type options :: %{
          offset: non_neg_integer,
          limit: pos_integer,
          sort: nil | McpServer.DualResponse.sort() | [McpServer.DualResponse.sort()],
          tie_break: String.t() | nil,
          context: McpServer.DualResponse.identity()
        }

  @doc "At most `limit` rows from `execute`."
  @spec execute(Options.t(), Resource.function_or_reference(), options, timeout) :: {:ok, [map]} | {:error, Error.t()}
  def execute(server, reference, %{limit: limit} = options, timeout) do
    case run(server, fn -> call(reference, options) end, timeout) do
      {:ok, rows} when is_list(rows) -> rows(server, rows, limit)
      answer -> failed(server, :execute, answer)
    end
  end

  defp rows(server, rows, limit) do
    if not List.improper?(rows) and Enum.all?(rows, &is_map/1),
      do: {:ok, Enum.take(rows, limit)},
      else: failed(server, :execute, {:ok, rows})
  end

  @doc "The number of rows from `count`."
  @spec count(Options.t(), Resource.function_or_reference() | (() -> term), McpServer.DualResponse.identity()) ::
          {:ok, non_neg_integer} | {:error, Error.t()}
  def count(server, reference, context) do
    case run(server, fn -> call(reference, %{context: context}) end, server.query_timeout) do
      {:ok, count} when is_integer(count) and count >= 0 -> {:ok, count}
      answer -> failed(server, :count, answer)
    end
  end

  defp call({module, function, arguments}, options), do: apply(module, function, arguments ++ [options])
  defp call(fun, _options) when is_function(fun, 0), do: fun.()
  defp call(fun, options), do: fun.(options)

  defp failed(server, what, answer) do
    Trouble.log(server.name, "#{what} of a dual response", reason(answer))
    {:error, error(what, answer)}
  end

  defp reason({:ok, answer}), do: answer
  defp reason(other), do: other

  defp error(:execute, answer), do: Error.new(:query_execution_failed, message("query", answer), cause: reason(answer))
  defp error(:count, answer), do: Error.new(:count_execution_failed, message("count", answer), cause: reason(answer))

  defp message(what, :timeout), do: "The #{what} took too long"
  defp message(what, {:ok, _answer}), do: "The #{what} gave no result that can be used"
  defp message(what, _failure), do: "The #{what} failed"

  # Without a timeout the query runs in the calling process, which saves copying the rows.
  defp run(_server, fun, :infinity), do: safely(fun)

  defp run(server, fun, timeout) do
    caller = self()
    callers = Callers.here()
    reply = :erlang.alias([:reply])
    heap = Limit.heap(server.max_heap_bytes, false)
    {pid, monitor} = :erlang.spawn_opt(fn -> work(caller, callers, reply, fun) end, [:monitor, max_heap_size: heap])

    receive do
      {^reply, answer} ->
        Process.demonitor(monitor, [:flush])
        answer

      {:DOWN, ^monitor, :process, ^pid, reason} ->
        :erlang.unalias(reply)
        {:down, reason}
    after
      timeout ->
        :erlang.unalias(reply)
        Process.exit(pid, :kill)
        Process.demonitor(monitor, [:flush])
        :timeout
    end
  end

  defp work(caller, callers, reply, fun) do
    worker = self()
    _guard = spawn(fn -> guard(caller, worker) end)
    Callers.set(callers)
    send(reply, {reply, safely(fun)})
  end

  # The query must end with its caller, and cannot watch the caller while it runs.
  defp guard(caller, worker) do
    caller_ref = Process.monitor(caller)
    worker_ref = Process.monitor(worker)

    receive do
      {:DOWN, ^caller_ref, :process, ^caller, _reason} -> Process.exit(worker, :kill)
      {:DOWN, ^worker_ref, :process, ^worker, _reason} -> :ok
    end
  end

  defp safely(fun) do
    {:ok, fun.()}
  catch
    kind, reason -> {:failed, kind, reason, __STACKTRACE__}
  end
end
