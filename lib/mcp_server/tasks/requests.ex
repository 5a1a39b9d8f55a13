defmodule McpServer.Tasks.Requests do
  @moduledoc false
  # Answers clients' requests about tasks, in the process of the request.

  alias McpServer.{Call, Catalog, Conn, Dispatch, Protocol, Request, Tasks}
  alias McpServer.Call.Trace
  alias McpServer.Protocol.Revision
  alias McpServer.JsonRpc.Error
  alias McpServer.Dispatch.{Answer, Asked, Failure, Permission, Questions, RunTimeTool}
  alias McpServer.Tasks.{Entry, Runner, Server}

  @kinds [:get_task, :task_result, :update_task, :cancel_task, :list_tasks]

  @doc "Whether a request is about tasks."
  @spec about_tasks?(Request.t()) :: boolean()
  def about_tasks?(%Request{kind: kind}), do: kind in @kinds

  @doc "Creates a task for a call, and answers with the task."
  @spec create(Runner.call(), Conn.t()) :: Answer.t()
  def create(%{catalog: catalog, request: request} = call, conn) do
    case Tasks.create(call, Trace.carry(conn)) do
      {:ok, entry} -> created(catalog, request, entry)
      {:error, :too_many} -> refuse(request, :internal_error, "Too many tasks")
      {:error, :no_room} -> refuse(request, :internal_error, "There is no room for the task")
    end
  end

  # A new task has no questions and no outcome yet.
  defp created(catalog, request, entry) do
    {:ok, task} = Entry.to_wire(%{entry | pending: %{}, outcome: nil}, request.revision)
    result = if Revision.stateless?(request.revision), do: task, else: %{task: task}
    answer(catalog, %{request | kind: :create_task}, result)
  end

  @doc "Answers a request about tasks."
  @spec run(Catalog.t(), Request.t(), Conn.t()) :: Answer.t()
  # Only in the stateless era does the state of a task contain its outcome.
  def run(catalog, %Request{kind: :get_task} = request, conn) do
    get =
      if Revision.stateless?(request.revision), do: &Tasks.fetch(&1, &2, Server.client(&1, conn)), else: &Tasks.get/2

    with_task(catalog, request, conn, get, &state(catalog, request, &1))
  end

  def run(catalog, %Request{kind: :list_tasks} = request, conn) do
    tasks =
      for entry <- Tasks.list(owner(catalog, conn)),
          {:ok, _catalog, _index} <- [permitted(catalog, entry, conn)],
          {:ok, task} <- [Entry.to_wire(entry, request.revision)],
          do: task

    answer(catalog, request, %{tasks: tasks})
  end

  def run(catalog, %Request{kind: :update_task} = request, conn) do
    owner = owner(catalog, conn)

    with_task(catalog, request, conn, fn entry ->
      case Asked.fit(Asked.of(entry.pending), request.input_responses, request.arguments["unsound"]) do
        {:ok, answers} ->
          case Tasks.answer(owner, request.name, answers) do
            {:error, :no_room} -> refuse(request, :internal_error, "There is no room for the answers")
            _answered_or_over -> empty(catalog, request)
          end

        {:misfit, text} ->
          Answer.misfit(request, text)
      end
    end)
  end

  def run(catalog, %Request{kind: :cancel_task} = request, conn) do
    with_task(catalog, request, conn, fn _entry ->
      case {Tasks.cancel(owner(catalog, conn), request.name), Revision.stateless?(request.revision)} do
        {:not_found, _stateless?} -> not_found(request)
        # In the stateless era the acknowledgement is an empty result.
        {_heard, true} -> empty(catalog, request)
        {{:ok, entry}, false} -> state(catalog, request, entry)
        {{:finished, _entry}, false} -> refuse(request, :invalid_params, "The task has ended already")
      end
    end)
  end

  def run(catalog, %Request{kind: :task_result} = request, conn) do
    owner = owner(catalog, conn)

    with_task(catalog, request, conn, fn _entry ->
      case Tasks.await(owner, request.name, Server.client(owner, conn)) do
        {:ok, %Entry{outcome: nil} = entry} ->
          ask(conn.call, owner, entry)
          run(catalog, request, conn)

        {:ok, entry} ->
          with_permission(catalog, request, conn, entry, &result(&1, %{request | index: &2}, entry))

        unread ->
          unread(request, unread)
      end
    end)
  end

  defp owner(catalog, conn), do: Tasks.owner(catalog, conn)

  # The task waits for the client, and its requests go out through this request.
  defp ask(call, owner, entry) do
    inputs = Map.new(entry.pending, fn {key, input} -> {key, related(input, entry)} end)

    case Questions.encode(call.revision, inputs) do
      {:ok, requests} -> put(call, owner, entry, requests)
      {:error, _unwritable} -> give_up(owner, entry, :unsupported)
    end
  end

  defp put(call, owner, entry, requests) do
    case Call.ask(call, requests) do
      {:ok, responses, errors} ->
        with {:error, reason} <- Tasks.answer(owner, entry.id, responses, errors), do: give_up(owner, entry, reason)

      {:error, reason} ->
        give_up(owner, entry, reason)
    end
  end

  defp give_up(owner, entry, reason) do
    errors = Map.new(entry.pending, fn {key, _input} -> {key, unanswered(reason)} end)
    Tasks.answer(owner, entry.id, %{}, errors)
  end

  defp related(input, entry), do: %{input | params: Map.put(input.params, "_meta", Entry.related(entry))}

  defp unanswered(reason),
    do: %{"code" => Error.code(:internal_error), "message" => "The client was not asked: #{reason}"}

  # The same result as the answer of a call without a task.
  defp result(catalog, request, %Entry{outcome: {:result, result}} = entry) do
    meta = Map.merge(result._meta || %{}, Entry.related(entry))
    answer(catalog, %{request | kind: :tool}, %{result | _meta: meta})
  end

  defp result(_catalog, request, %Entry{outcome: {:error, error}}),
    do: {:error, Protocol.error(request.id, request.revision, error.code, error.message, error.data)}

  defp result(_catalog, request, %Entry{outcome: :cancelled}),
    do: refuse(request, :internal_error, "The task was cancelled")

  defp state(catalog, request, entry) do
    case Entry.to_wire(entry, request.revision) do
      {:ok, task} -> answer(catalog, request, task)
      {:error, reason} -> Answer.failure(catalog, request, Failure.invalid(reason))
    end
  end

  defp with_task(catalog, request, conn, get \\ &Tasks.get/2, fun) do
    case get.(owner(catalog, conn), request.name) do
      {:ok, entry} -> with_permission(catalog, request, conn, entry, fn _catalog, _index -> fun.(entry) end)
      unread -> unread(request, unread)
    end
  end

  defp with_permission(catalog, request, conn, entry, fun) do
    case permitted(catalog, entry, conn) do
      {:ok, catalog, index} -> fun.(catalog, index)
      :hidden -> not_found(request)
      {:forbidden, refusal} -> Answer.forbidden(catalog, request, refusal)
      {:failed, failure} -> Answer.failure(catalog, request, failure)
    end
  end

  # A client that may no longer call the tool must not see its tasks. The tool may have moved in its catalogue, or may
  # be gone.
  defp permitted(catalog, entry, conn) do
    with {:ok, catalog} <- if(entry.run_time, do: RunTimeTool.of_task(catalog, entry.run_time), else: {:ok, catalog}),
         tools = Tuple.to_list(catalog.tools),
         index when index != nil <- Enum.find_index(tools, &(&1.name == entry.name)),
         :ok <- Permission.ask_again(elem(catalog.tools, index), conn) do
      {:ok, catalog, index}
    else
      nil -> :hidden
      refused -> refused
    end
  end

  defp answer(catalog, request, result) do
    case Protocol.result(catalog, request, result) do
      {:ok, reply} -> {:ok, reply}
      {:error, reason} -> Answer.failure(catalog, request, Failure.invalid(reason))
    end
  end

  defp empty(catalog, request), do: answer(catalog, request, :empty)

  defp unread(request, :not_found), do: not_found(request)

  # As for answers that the client leaves unread.
  defp unread(request, {:error, :busy}) do
    status = if Revision.stateless?(request.revision), do: 503, else: 429
    {_outcome, reply} = refuse(request, :internal_error, "Too many results of tasks are read at once")
    {{:refused, {:status, status}}, reply}
  end

  # A task of another client gets the same answer.
  defp not_found(request), do: refuse(request, :invalid_params, "Task not found")

  @spec refuse(Request.t(), Protocol.error_name(), Protocol.error_message()) :: {Dispatch.outcome(), Protocol.message()}
  defp refuse(request, code, text), do: {:error, Protocol.error(request.id, request.revision, code, text)}
end
