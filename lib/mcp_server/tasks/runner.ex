defmodule McpServer.Tasks.Runner do
  @moduledoc false
  # The process of a task. It calls the handler again as long as the handler asks for input.

  alias McpServer.{Callers, Catalog, Conn, JSON, JsonRpc, Protocol, Request, Tasks}
  alias McpServer.Call.Trace
  alias McpServer.Dispatch.{Answer, Asked, Budget, Failure, InvalidResult, Outcome, Questions, Reason, ToolPlaces}
  alias McpServer.Native.Dirty
  alias McpServer.Tasks.Entry
  alias McpServer.Tool.{CallResult, Content}

  @typedoc """
  A call to run: the called entry (`nil` for a list), the function that replaces its handler, and the maximum size of
  its result in bytes.
  """
  @type call :: %{
          required(:catalog) => Catalog.t(),
          required(:request) => Request.t(),
          required(:entry) => map() | nil,
          required(:handler) => (Conn.t() -> term()) | nil,
          required(:max_bytes) => pos_integer()
        }

  @doc """
  Starts the process, with the heap limit and the callers of the calling process. It begins when `begin/2` has told it
  the task's id, and ends if the calling process ends before.
  """
  @spec start(call(), Conn.t()) :: pid()
  def start(call, conn) do
    {:max_heap_size, heap} = Process.info(self(), :max_heap_size)
    arguments = [self(), Process.get(:"$callers", []), call, conn]
    # Nobody waits for a task as for a call: those that compute leave the schedulers to calls.
    :erlang.spawn_opt(__MODULE__, :await, arguments, max_heap_size: heap, priority: :low)
  end

  @doc "Lets the process begin, linked to the calling process."
  @spec begin(pid(), String.t()) :: :ok
  def begin(runner, id) do
    Process.link(runner)
    send(runner, {:mcp_task, id})
    :ok
  end

  @doc false
  @spec await(pid(), [pid()], call(), Conn.t()) :: :ok
  def await(creator, callers, call, conn) do
    monitor = Process.monitor(creator)

    receive do
      {:mcp_task, id} ->
        Process.demonitor(monitor, [:flush])
        Callers.set(callers)
        run(id, call, conn)

      {:DOWN, ^monitor, :process, ^creator, _reason} ->
        :ok
    end
  end

  defp run(id, call, conn) do
    Dirty.work_for(conn.principal, conn.peer)
    conn = %{conn | call: {:task, id}}
    Trace.log_with(Trace.metadata(conn))
    Trace.continue(conn)
    Tasks.finish(id, call |> work(conn, id) |> settle(call))
  end

  defp work(call, conn, id) do
    enter(call, conn, id, 1)
  catch
    kind, reason ->
      fault = {:failure, Failure.new(kind, reason, __STACKTRACE__)}
      if kind == :error, do: Reason.raised(call.request, reason, __STACKTRACE__) || fault, else: fault
  end

  defp enter(call, conn, id, round) do
    returned = ToolPlaces.run(call, conn)

    case Outcome.of(call.request, returned, conn, call.entry) do
      {:input, inputs, state} -> ask(call, conn, id, {inputs, state}, round)
      # The call is already a task.
      {:task, fun} -> enter(%{call | handler: fun}, conn, id, round)
      {:ok, %CallResult{}} = outcome -> fit(call, conn, returned, outcome)
      {:busy, text, _seconds} -> {:error, text}
      {:invalid, reason} -> {:failure, InvalidResult.returned(call.catalog, call.request, reason, returned)}
      outcome -> outcome
    end
  end

  # Checks once whether the result can be sent, because it can still become a failure here. A result over the tool's
  # budget is stored, and the task's result links to it.
  defp fit(%{catalog: catalog, request: request} = call, conn, returned, {:ok, result} = outcome) do
    case Protocol.result(catalog, request, result) do
      {:ok, reply} ->
        answer = {if(result.is_error, do: :tool_error, else: :ok), reply}
        {outcome, {_how, reply}} = Budget.fit({outcome, answer}, call, conn, returned)
        sized(outcome, IO.iodata_length(reply), call.max_bytes)

      {:error, reason} ->
        {:failure, InvalidResult.refused(catalog, request, {result, returned}, reason)}
    end
  end

  # The bytes that a task adds to its result, for its id and status.
  @around 4_096

  defp sized({:ok, _result} = outcome, bytes, max_bytes) when bytes + @around <= max_bytes, do: outcome

  defp sized({:ok, _result}, _bytes, max_bytes),
    do: {:failure, Failure.too_large(max_bytes - @around)}

  defp sized({:error, text}, _bytes, _max_bytes), do: {:error, text}

  defp ask(call, conn, id, {inputs, state}, round) do
    inputs = Questions.fitted(conn, inputs)

    with :ok <- Questions.allowed(round),
         :ok <- Questions.supported(conn, inputs),
         # A question that cannot be encoded would never be answered.
         {:ok, _messages} <- Questions.encode(call.request.revision, inputs),
         {:ok, responses, errors} = if(inputs == %{}, do: {:ok, %{}, %{}}, else: Tasks.park(id, inputs)),
         {:ok, responses} <- Asked.fit(Asked.of(inputs), responses) do
      enter(call, %{conn | input_responses: responses, input_errors: errors, state: state}, id, round + 1)
    else
      {:misfit, text} -> {:error, Questions.misfit(text)}
      {:error, %_{} = encode_error} -> {:failure, InvalidResult.unwritable(call.catalog, call.request, encode_error)}
      {:error, text} -> {:error, text}
    end
  end

  defp settle({:ok, result}, _call), do: {:result, result}

  # The client gets the error even if its data cannot be encoded or stored.
  defp settle({:error, %JsonRpc.Error{} = error}, %{max_bytes: max_bytes}) do
    data =
      case JSON.encode(error.data) do
        {:ok, text} when byte_size(text) <= max_bytes -> error.data
        _unwritable_or_too_large -> nil
      end

    {:error, %{code: error.code, message: error.message, data: data}}
  end

  defp settle({:error, text}, _call) when is_binary(text), do: {:result, failed(text)}

  defp settle({:failure, failure}, %{request: request, catalog: catalog}) do
    Failure.log(failure, "task of #{inspect(request.name)}")
    {:result, failed(Answer.failure_text(catalog, failure))}
  end

  defp failed(text), do: %CallResult{content: [Content.text(text)], is_error: true}

  @doc "The outcome of a task whose process ended without one."
  @spec killed(module(), term()) :: Entry.outcome()
  def killed(router, reason) do
    failure = Failure.killed(reason)
    # The log must not contain the task's id, because the id gives access to the task.
    Failure.log(failure, "task")
    {:result, failed(Answer.failure_text(Catalog.fetch(router), failure))}
  end
end
