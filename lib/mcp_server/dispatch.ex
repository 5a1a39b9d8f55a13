defmodule McpServer.Dispatch do
  @moduledoc false
  # The work of a call, in its process: calls the router's function, normalizes the result and encodes the answer.
  # Failures become answers too.

  alias McpServer.App.View
  alias McpServer.Call.Events
  alias McpServer.Protocol.Revision
  alias McpServer.{Call, Catalog, Conn, InputRequired, Protocol, Request, RequestState}

  alias McpServer.Dispatch.{
    Answer,
    Asked,
    Budget,
    Context,
    Failure,
    Handler,
    InvalidResult,
    Lists,
    Outcome,
    Permission,
    Questions,
    Reason,
    RunTimeTool,
    Subscribing,
    ToolPlaces
  }

  alias McpServer.Tasks.Requests
  alias McpServer.Tool.CallResult

  @typedoc """
  The answer of a `:refused` call is an error, which HTTP clients also see in the status. For `:subscribe`,
  `:unsubscribe` and `:listen` the owner of the subscription answers.
  """
  @type outcome ::
          :ok
          | :tool_error
          | :error
          | :input_required
          | {:refused, McpServer.Connection.Transport.standing()}
          | Subscribing.outcome()
          | {:exception, Failure.kind(), id :: String.t()}

  @doc "Runs a call. Returns its answer of at most `max_bytes`."
  @spec run(Catalog.t(), Request.t(), Conn.t(), pos_integer()) :: {outcome(), Protocol.message()}
  def run(catalog, request, conn, max_bytes) do
    case Context.build(catalog, request, conn) do
      {:ok, conn} -> dispatch(catalog, request, conn, max_bytes)
      {:refused, text} -> Answer.refused(request, text)
      {:failed, failure} -> Answer.failed_before(catalog, request, failure)
    end
  end

  defp dispatch(catalog, %Request{kind: kind} = request, conn, _max_bytes)
       when kind in [:subscribe, :unsubscribe, :listen],
       do: Subscribing.run(catalog, request, conn)

  defp dispatch(catalog, %Request{kind: :tool, index: nil} = request, conn, max_bytes) do
    case RunTimeTool.admit(catalog, request) do
      {:ok, own, request} -> dispatch(own, request, conn, max_bytes)
      :hidden -> absent(catalog, request, conn, max_bytes)
    end
  end

  defp dispatch(catalog, %Request{index: nil, stand_in: stand_in} = request, conn, max_bytes) when stand_in != nil,
    do: absent(catalog, request, conn, max_bytes)

  defp dispatch(catalog, request, conn, max_bytes) do
    if Lists.filtered?(catalog, request),
      do: Lists.run(catalog, request, conn),
      else: run_permitted(catalog, request, conn, max_bytes)
  end

  defp run_permitted(catalog, request, conn, max_bytes) do
    entry = Handler.entry(catalog, request)
    request = Handler.keyed(entry, request)

    with :ok <- judged(entry, request, conn),
         :ok <- Handler.permitted(entry, conn),
         :ok <- Call.begun(conn),
         {:ok, asked, state} <- opened(catalog, request, conn),
         {:ok, answers} <- answers(request, asked) do
      call = %{catalog: catalog, request: request, entry: entry, handler: nil, max_bytes: max_bytes}
      {outcome, reply} = work(call, %{conn | input_responses: answers, state: state})
      limit(catalog, request, outcome, reply, max_bytes)
    else
      :hidden -> hidden(catalog, request, conn, max_bytes)
      {:answered, answer} -> Answer.finished(answer)
      {:forbidden, refusal} -> Answer.forbidden(catalog, request, refusal)
      {:failed, failure} -> Answer.failure(catalog, request, failure)
      {:misfit, text} -> Answer.misfit(request, text)
      {:error, :invalid_state} -> Answer.invalid_state(request)
      {:error, text} -> Answer.refusal(catalog, request, text)
    end
  end

  # A state contains what was asked, beside the handler's own state.
  defp opened(catalog, request, conn) do
    case RequestState.open(request, conn.principal, {catalog.router, conn.mount}) do
      {:ok, nil} -> {:ok, %{}, nil}
      {:ok, {:mcp_asked, asked, state}} -> {:ok, asked, state}
      _invalid -> {:error, :invalid_state}
    end
  end

  defp judged(entry, request, conn) do
    Permission.judge(entry, request, conn)
  catch
    kind, reason -> {:failed, Failure.new(kind, reason, __STACKTRACE__)}
  end

  # An unknown name. The checks of a stand-in take the time that those of a hidden entry take.
  defp absent(catalog, request, conn, max_bytes) do
    {own, alike} = RunTimeTool.stand_in(catalog, request)
    entry = Handler.entry(own, alike)
    :ok = Permission.pretend(entry, Handler.keyed(entry, alike), conn)
    hidden(catalog, request, conn, max_bytes)
  end

  # The same answer as for an undeclared entry.
  defp hidden(catalog, %Request{hidden: %Request{} = other}, conn, max_bytes),
    do: dispatch(catalog, other, conn, max_bytes)

  defp hidden(_catalog, %Request{hidden: answer}, _conn, _max_bytes), do: Answer.finished(answer)

  defp work(%{catalog: catalog, request: request, entry: entry} = call, conn) do
    cond do
      Requests.about_tasks?(request) -> Requests.run(catalog, request, conn)
      request.task != nil and entry.task_start == :call -> Requests.create(call, conn)
      true -> enter(call, conn, 1)
    end
  catch
    kind, reason ->
      case kind == :error && Reason.raised(request, reason, __STACKTRACE__) do
        {:error, _words} = outcome -> Answer.encode(catalog, request, outcome)
        _fault -> Answer.failure(catalog, request, Failure.new(kind, reason, __STACKTRACE__))
      end
  end

  defp enter(%{catalog: catalog, request: request} = call, conn, round) do
    returned = ToolPlaces.run(call, conn)

    case Outcome.of(request, returned, conn, call.entry) do
      {:input, inputs, state} -> require_input(call, conn, {inputs, state}, round)
      {:task, fun} when request.task == nil -> enter(%{call | handler: fun}, conn, round)
      {:task, fun} -> Requests.create(%{call | handler: fun}, conn)
      {:invalid, reason} -> Answer.failure(catalog, request, InvalidResult.returned(catalog, request, reason, returned))
      outcome -> finish(call, conn, returned, outcome)
    end
  end

  # The handler decides whether the call becomes a task, but the client may read nothing else.
  defp finish(%{request: request} = call, conn, returned, outcome) do
    if result?(outcome) and Request.expects_task?(request),
      do: Requests.create(%{call | handler: fn _conn -> returned end}, conn),
      else: answer(call, conn, returned, View.complete(outcome, call.entry))
  end

  defp result?({:ok, _result}), do: true
  defp result?({:error, text}), do: is_binary(text)
  defp result?(_busy), do: false

  defp answer(%{catalog: catalog, request: request} = call, conn, returned, outcome) do
    encoded = Answer.encode(catalog, request, outcome, returned)
    {fitted, answer} = Budget.fit({outcome, encoded}, call, conn, returned)
    if Events.noting?(), do: Events.note(%{content_bytes: content_bytes(fitted), spilled: fitted !== outcome})
    answer
  end

  defp content_bytes({:ok, %CallResult{content: content}}) when is_list(content),
    do: content |> Enum.map(&bytes/1) |> Enum.sum()

  defp content_bytes(_other), do: 0

  defp bytes(%{text: text}) when is_binary(text), do: byte_size(text)
  defp bytes(%{data: data}) when is_binary(data), do: byte_size(data)
  defp bytes(_block), do: 0

  defp require_input(%{request: request} = call, conn, {inputs, state}, round) do
    inputs = Questions.fitted(conn, inputs)
    asked = Asked.of(inputs)

    cond do
      not Revision.stateless?(request.revision) -> ask(call, conn, {inputs, asked, state}, round)
      round == 1 and state == nil and answered_unasked?(request) -> take_early(call, conn, {inputs, asked, nil})
      true -> reply_input(call, conn, {inputs, asked, state})
    end
  end

  # A client may answer before it is asked. Its answers count if the handler asks for them, and has no state to seal.
  defp answered_unasked?(%{request_state: state, input_responses: early}), do: state == nil and early not in [nil, %{}]

  defp take_early(%{request: request} = call, conn, {inputs, asked, nil} = question) do
    with :ok <- Questions.supported(conn, inputs),
         {:ok, _messages} <- Questions.encode(request.revision, inputs),
         {:ok, answers} when answers != %{} <- answers(request, asked) do
      enter(call, %{conn | input_responses: answers}, 2)
    else
      {:misfit, text} -> Answer.misfit(request, text)
      # None of them is answered, or they cannot be asked.
      _not_answered -> reply_input(call, conn, question)
    end
  end

  defp reply_input(%{catalog: catalog, request: request}, conn, {inputs, asked, state}) do
    sealed = RequestState.seal(request, conn.principal, {:mcp_asked, asked, state}, {catalog.router, conn.mount})
    Answer.encode(catalog, request, {:ok, %InputRequired{requests: inputs, request_state: sealed}})
  end

  defp answers(%{input_responses: responses, unsound_responses: unsound}, asked),
    do: Asked.fit(asked, responses || %{}, unsound)

  # In the session era the requests go to the client, and the handler is called again with the answers.
  defp ask(%{catalog: catalog, request: request} = call, conn, {inputs, asked, state}, round) do
    with :ok <- Questions.allowed(round),
         :ok <- Questions.supported(conn, inputs),
         {:ok, requests} <- Questions.encode(conn.call.revision, inputs),
         {:ok, responses, errors} <- gather(conn.call, requests),
         {:ok, responses} <- Asked.fit(asked, responses) do
      conn = %{conn | input_responses: responses, input_errors: errors, state: state}
      enter(call, conn, round + 1)
    else
      {:misfit, text} ->
        Answer.refusal(catalog, request, Questions.misfit(text))

      {:error, %_{} = encode_error} ->
        Answer.failure(catalog, request, InvalidResult.unwritable(catalog, request, encode_error))

      {:error, text} when is_binary(text) ->
        Answer.refusal(catalog, request, text)

      {:error, :timeout} ->
        Answer.refusal(catalog, request, "The client did not answer in time")

      {:error, :closed} ->
        Answer.refusal(catalog, request, "The client is gone")

      {:error, :too_many} ->
        Answer.refusal(catalog, request, "Too many calls wait for the client's input")
    end
  end

  # The handler returned only a state, so there is no answer to wait for.
  defp gather(_call, []), do: {:ok, %{}, %{}}
  defp gather(call, requests), do: Call.ask(call, requests)

  defp limit(catalog, request, outcome, reply, max_bytes) do
    if IO.iodata_length(reply) <= max_bytes,
      do: {outcome, reply},
      else: Answer.failure(catalog, request, Failure.too_large(max_bytes))
  end
end
