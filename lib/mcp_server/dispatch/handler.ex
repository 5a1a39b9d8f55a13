defmodule McpServer.Dispatch.Handler do
  @moduledoc false
  # Which of the router's functions a request enters, and with what.

  alias McpServer.{Catalog, Completion, Conn, Request, Tasks}

  @doc "The router's entry for a request, `nil` for a list."
  @spec entry(Catalog.t(), Request.t()) :: map() | nil
  def entry(_catalog, %Request{kind: :tool, index: nil, run_time: %{entry: entry}}), do: entry
  def entry(_catalog, %Request{kind: :tool, index: nil}), do: nil
  def entry(catalog, %Request{kind: :tool, index: index}), do: elem(catalog.tools, index)

  def entry(catalog, %Request{kind: kind, index: index}) when kind in [:prompt, :complete_prompt],
    do: elem(catalog.prompts, index)

  def entry(catalog, %Request{kind: :resource, index: index}), do: elem(catalog.resources, index)

  def entry(catalog, %Request{kind: kind, index: index}) when kind in [:resource_template, :complete_resource],
    do: elem(catalog.templates, index)

  def entry(_catalog, _list), do: nil

  @doc "The declared name of what is called."
  @spec name(Catalog.t(), Request.t()) :: String.t() | nil
  def name(catalog, request) do
    with %{name: name} <- entry(catalog, request), do: name
  end

  @doc "The function that answers a request."
  @spec function(Catalog.t(), Request.t()) :: {module(), atom(), arity()}
  def function(catalog, %Request{kind: kind} = request) do
    case entry(catalog, request) do
      nil -> {catalog.router, kind, 1}
      %{handler: {module, function}} -> {module, function, 2}
      %{handler: fun} -> named(fun)
      %{get: {module, function}} when kind == :prompt -> {module, function, 2}
      %{read: {module, function}} when kind != :complete_resource -> {module, function, 2}
      %{complete: {module, function}} -> {module, function, 3}
    end
  end

  defp named(fun) do
    info = Function.info(fun)
    {info[:module], info[:name], 2}
  end

  @doc "How long the call may run, in milliseconds: the tool's own time, or `default`."
  @spec timeout(Catalog.t(), Request.t(), timeout()) :: timeout()
  # Whoever waits for a task waits until it ends: nothing lives longer than the longest task.
  def timeout(_catalog, %Request{kind: :task_result}, _default), do: Tasks.max_ttl()

  def timeout(catalog, request, default) do
    case entry(catalog, request) do
      %{timeout: timeout} when timeout != nil -> timeout
      _entry -> default
    end
  end

  @doc "How long the call may clean up after it was ended, in milliseconds."
  @spec grace(Catalog.t(), Request.t()) :: non_neg_integer()
  def grace(catalog, request) do
    case entry(catalog, request) do
      %{cancel_grace: grace} -> grace
      _entry -> 0
    end
  end

  @doc "Whether a call that is to run as a task begins as one, before its handler is entered."
  @spec starts_task?(Catalog.t(), Request.t()) :: boolean()
  def starts_task?(catalog, request), do: entry(catalog, request).task_start == :call

  @doc """
  Whether the client has what the tool declared to need. The core has refused such a call of the
  stateless era already; the session era has no error for it.
  """
  @spec permitted(Catalog.t(), Request.t(), Conn.t()) :: :ok | {:error, String.t()}
  def permitted(catalog, %Request{kind: :tool} = request, conn) do
    required = Enum.map(entry(catalog, request).requires, &to_string/1)

    case Enum.reject(required, &is_map_key(conn.client_capabilities, &1)) do
      [] -> :ok
      [capability | _] -> {:error, lacks(capability)}
    end
  end

  def permitted(_catalog, _request, _conn), do: :ok

  @doc "The text for a client without a capability."
  @spec lacks(String.t()) :: String.t()
  def lacks(capability), do: "The client does not support #{capability}, which this call needs"

  @doc "Enters the router's code."
  @spec invoke(Catalog.t(), Request.t(), Conn.t()) :: term()
  def invoke(catalog, %Request{kind: :tool} = request, conn),
    do: enter(entry(catalog, request).handler, [conn, request.arguments])

  def invoke(catalog, %Request{kind: :prompt} = request, conn),
    do: enter(entry(catalog, request).get, [conn, request.arguments])

  def invoke(catalog, %Request{kind: kind} = request, conn) when kind in [:resource, :resource_template],
    do: enter(entry(catalog, request).read, [conn, request.arguments])

  def invoke(catalog, %Request{kind: kind} = request, conn) when kind in [:complete_prompt, :complete_resource],
    do: complete(entry(catalog, request).complete, request.arguments, conn)

  # The lists a router computes itself are callbacks of the router.
  def invoke(catalog, %Request{kind: list}, conn), do: apply(catalog.router, list, [conn])

  defp complete(nil, _arguments, _conn), do: %Completion{values: []}

  # What the other arguments are already (2025-06-18) is beside the two that every completion gets.
  defp complete(function, %{"name" => name, "value" => value} = arguments, conn) do
    conn = Conn.put_private(conn, :completion_context, arguments["context"] || %{})
    enter(function, [conn, name, value])
  end

  defp enter({module, function}, arguments), do: apply(module, function, arguments)
  defp enter(fun, arguments), do: apply(fun, arguments)
end
