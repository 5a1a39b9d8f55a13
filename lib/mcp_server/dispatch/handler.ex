defmodule McpServer.Dispatch.Handler do
  @moduledoc false
  # The router's function for a request, and its arguments.

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

  @doc "The declared name of the called entry."
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

  @doc "How long the call may run, in milliseconds: the tool's timeout, or `default`."
  @spec timeout(Catalog.t(), Request.t(), timeout()) :: timeout()
  # A wait for a task may take as long as the longest task.
  def timeout(_catalog, %Request{kind: :task_result}, _default), do: Tasks.max_ttl()

  def timeout(catalog, request, default) do
    case entry(catalog, request) do
      %{timeout: timeout} when timeout != nil -> timeout
      _entry -> default
    end
  end

  @doc "How long an ended call may clean up, in milliseconds."
  @spec grace(Catalog.t(), Request.t()) :: non_neg_integer()
  def grace(catalog, request) do
    case entry(catalog, request) do
      %{cancel_grace: grace} -> grace
      _entry -> 0
    end
  end

  @doc "Whether a task call becomes a task before its handler is called."
  @spec starts_task?(Catalog.t(), Request.t()) :: boolean()
  def starts_task?(catalog, request), do: entry(catalog, request).task_start == :call

  @doc """
  Whether the client has the capabilities that the tool requires. In the stateless era the core has already refused
  such a call. The session era has no protocol error for it.
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

  @doc "Calls the router's code."
  @spec invoke(Catalog.t(), Request.t(), Conn.t()) :: term()
  def invoke(catalog, %Request{kind: :tool} = request, conn),
    do: enter(entry(catalog, request).handler, [conn, request.arguments])

  def invoke(catalog, %Request{kind: :prompt} = request, conn),
    do: enter(entry(catalog, request).get, [conn, request.arguments])

  def invoke(catalog, %Request{kind: kind} = request, conn) when kind in [:resource, :resource_template],
    do: enter(entry(catalog, request).read, [conn, request.arguments])

  def invoke(catalog, %Request{kind: kind} = request, conn) when kind in [:complete_prompt, :complete_resource],
    do: complete(entry(catalog, request).complete, request.arguments, conn)

  # Lists that the router computes are callbacks of the router.
  def invoke(catalog, %Request{kind: list}, conn), do: apply(catalog.router, list, [conn])

  defp complete(nil, _arguments, _conn), do: %Completion{values: []}

  # The values of the other arguments (2025-06-18) come beside the name and the value.
  defp complete(function, %{"name" => name, "value" => value} = arguments, conn) do
    conn = Conn.put_private(conn, :completion_context, arguments["context"] || %{})
    enter(function, [conn, name, value])
  end

  defp enter({module, function}, arguments), do: apply(module, function, arguments)
  defp enter(fun, arguments), do: apply(fun, arguments)
end
