defmodule McpServer.Tasks.Runner do
  @moduledoc false
  # The process of a task: the handler's work, entered again for as long as it asks for input.

  alias McpServer.{Catalog, Conn, JSON, JsonRpc, Protocol, Request, Tasks}
  alias McpServer.Dispatch.{Answer, Budget, Failure, Handler, Outcome}
  alias McpServer.Tasks.Entry
  alias McpServer.Tool.{CallResult, Content}

  @typedoc "A call to carry out: by which function of the conn, and what its result may take, in bytes."
  @type call :: %{
          required(:catalog) => Catalog.t(),
          required(:request) => Request.t(),
          required(:handler) => (Conn.t() -> term()),
          required(:max_bytes) => pos_integer(),
          optional(:callers) => [pid()]
        }

  @max_input_rounds 25

  @doc "Starts the process, linked to the caller."
  @spec start(String.t(), call(), Conn.t(), map()) :: pid()
  def start(id, call, conn, heap),
    do: :erlang.spawn_opt(__MODULE__, :run, [id, call, conn], [:link, max_heap_size: heap])

  @doc false
  @spec run(String.t(), call(), Conn.t()) :: :ok
  def run(id, %{catalog: catalog, request: request} = call, conn) do
    # As in the process of a call: what a test has allowed itself holds here too.
    if call[:callers] not in [nil, []], do: Process.put(:"$callers", call.callers)
    conn = %{conn | call: {:task, id}}
    {outcome, bytes} = call |> work(conn, id) |> keep(catalog, request, call.max_bytes)
    Tasks.finish(id, outcome, bytes)
  end

  defp work(call, conn, id) do
    enter(call, conn, id, 1)
  catch
    kind, reason -> {:failure, Failure.new(kind, reason, __STACKTRACE__)}
  end

  defp enter(call, conn, id, round) do
    returned = call.handler.(conn)

    case Outcome.of(call.request, returned) do
      {:input, _inputs, _state} when round > @max_input_rounds -> {:error, "The client was asked for input too often"}
      {:input, inputs, state} -> ask(call, conn, id, {inputs, state}, round)
      # It is one already.
      {:task, fun} -> enter(%{call | handler: fun}, conn, id, round)
      {:ok, %CallResult{}} = outcome -> within_budget(call, conn, returned, outcome)
      outcome -> outcome
    end
  end

  defp within_budget(_call, _conn, _returned, {:ok, %CallResult{is_error: true}} = outcome), do: outcome

  # What is larger than the tool's budget is kept, and the task's result is the link to it.
  defp within_budget(%{catalog: catalog, request: request}, conn, returned, {:ok, result} = outcome) do
    case Protocol.result(catalog, request, result) do
      {:ok, reply} -> {outcome, {:ok, reply}} |> Budget.fit(catalog, request, conn, returned) |> elem(0)
      {:error, reason} -> {:failure, Failure.invalid(reason)}
    end
  end

  defp ask(call, conn, id, {inputs, state}, round) do
    case Enum.find(Map.values(inputs), &(not Protocol.supports?(conn.client_capabilities, &1))) do
      nil -> wait(call, conn, id, {inputs, state}, round)
      input -> {:error, Handler.lacks(Protocol.capability_of(input))}
    end
  end

  defp wait(call, conn, id, {inputs, state}, round) do
    case unwritable(call.request, inputs) do
      nil ->
        {:ok, responses, errors} = if inputs == %{}, do: {:ok, %{}, %{}}, else: Tasks.park(id, inputs)
        enter(call, %{conn | input_responses: responses, input_errors: errors, state: state}, id, round + 1)

      error ->
        {:failure, Failure.invalid(error)}
    end
  end

  # A question that cannot be sent would be waited for until the end.
  defp unwritable(request, inputs) do
    Enum.find_value(inputs, fn {key, input} ->
      case Protocol.request(request.revision, key, input) do
        {:ok, _message} -> nil
        {:error, error} -> error
      end
    end)
  end

  # Whether the result can be sent is found out once, here, where it can still become a failure.
  defp keep({:ok, %CallResult{} = result}, catalog, request, max_bytes) do
    case Protocol.result(catalog, request, result) do
      {:ok, reply} -> sized(result, IO.iodata_length(reply), catalog, request, max_bytes)
      {:error, reason} -> keep({:failure, Failure.invalid(reason)}, catalog, request, max_bytes)
    end
  end

  # Data that cannot be written, or kept, must not cost the client the error.
  defp keep({:error, %JsonRpc.Error{} = error}, _catalog, _request, max_bytes) do
    {data, bytes} =
      case JSON.encode(error.data) do
        {:ok, text} when byte_size(text) <= max_bytes -> {error.data, byte_size(text)}
        _unwritable_or_too_large -> {nil, 0}
      end

    {{:error, %{code: error.code, message: error.message, data: data}}, bytes + byte_size(error.message)}
  end

  defp keep({:error, text}, _catalog, _request, _max_bytes) when is_binary(text),
    do: {{:result, failed(text)}, byte_size(text)}

  defp keep({:invalid, returned}, catalog, request, max_bytes),
    do: keep({:failure, Failure.invalid(returned)}, catalog, request, max_bytes)

  defp keep({:failure, failure}, _catalog, request, _max_bytes) do
    Failure.log(failure, "task of #{inspect(request.name)}")
    {{:result, failed(Answer.failure_text(failure))}, 0}
  end

  # What a task adds to it: which one it is, and how it stands.
  @around 4_096

  defp sized(result, bytes, _catalog, _request, max_bytes) when bytes + @around <= max_bytes,
    do: {{:result, result}, bytes}

  defp sized(_result, _bytes, catalog, request, max_bytes),
    do:
      keep(
        {:failure, Failure.invalid("the result is larger than #{max_bytes - @around} bytes")},
        catalog,
        request,
        max_bytes
      )

  defp failed(text), do: %CallResult{content: [Content.text(text)], is_error: true}

  @doc "The outcome of a task whose process ended without one."
  @spec killed(String.t(), term()) :: Entry.outcome()
  def killed(id, reason) do
    failure = Failure.killed(reason)
    Failure.log(failure, "task #{id}")
    {:result, failed(Answer.failure_text(failure))}
  end
end
