defmodule McpServer.Dispatch.Handler do
  @moduledoc false
  # The router's function for a request, and its arguments.

  alias McpServer.{Catalog, Completion, Conn, Protocol, Request, Tasks}

  @doc "The router's entry for a request, `nil` for a list."
  @spec entry(Catalog.t(), Request.t()) :: map() | nil
  def entry(_catalog, %Request{kind: :tool, index: nil, run_time: %{entry: entry}}), do: entry
  # A list, or an unknown name.
  def entry(_catalog, %Request{index: nil}), do: nil
  def entry(catalog, %Request{kind: :tool, index: index}), do: elem(catalog.tools, index)

  def entry(catalog, %Request{kind: kind, index: index}) when kind in [:prompt, :complete_prompt],
    do: elem(catalog.prompts, index)

  def entry(catalog, %Request{kind: :resource, index: index}), do: elem(catalog.resources, index)

  def entry(catalog, %Request{kind: kind, index: index}) when kind in [:resource_template, :complete_resource],
    do: elem(catalog.templates, index)

  def entry(_catalog, _list), do: nil

  @doc """
  The request with atoms as keys, if the declaration of its prompt or its resource has `arguments: :atoms`. The core has
  already made those of a tool. A completion that the core has refused has no arguments.
  """
  @spec keyed(entry :: map() | nil, Request.t()) :: Request.t()
  def keyed(%{atoms: %{} = atoms}, %Request{kind: kind, arguments: arguments} = request)
      when kind in [:complete_prompt, :complete_resource] do
    arguments =
      arguments
      |> Map.replace_lazy("name", &Map.get(atoms, &1, &1))
      |> Map.replace_lazy("context", &with_atoms(&1, atoms))

    %{request | arguments: arguments}
  end

  def keyed(%{atoms: %{} = atoms}, %Request{arguments: arguments} = request),
    do: %{request | arguments: with_atoms(arguments, atoms)}

  def keyed(_entry, request), do: request

  # A client's name never becomes an atom.
  defp with_atoms(map, atoms), do: Map.new(map, fn {name, value} -> {Map.get(atoms, name, name), value} end)

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
      entry -> named(fun(entry, kind))
    end
  end

  defp named(fun) do
    info = Function.info(fun)
    {info[:module], info[:name], info[:arity]}
  end

  defp fun(%{handler: fun}, :tool), do: fun
  defp fun(%{get: fun}, :prompt), do: fun
  defp fun(%{read: fun}, kind) when kind in [:resource, :resource_template], do: fun
  defp fun(%{complete: fun}, kind) when kind in [:complete_prompt, :complete_resource], do: fun

  @doc "How long the call may run, in milliseconds: the tool's timeout, or `default`."
  @spec timeout(Catalog.t(), Request.t(), timeout()) :: timeout()
  # A wait for a task may take as long as the longest task.
  def timeout(_catalog, %Request{kind: :task_result}, _default), do: Tasks.max_ttl()

  def timeout(catalog, request, default) do
    case timed(catalog, request) do
      %{timeout: timeout} when timeout != nil -> timeout
      _entry -> default
    end
  end

  # An unknown name has the time of its stand-in: otherwise a slow check would tell a hidden tool.
  defp timed(_catalog, %Request{index: nil, run_time: nil, stand_in: %{entry: entry}}), do: entry

  defp timed(catalog, %Request{index: nil, run_time: nil, stand_in: index} = request) when index != nil,
    do: entry(catalog, %{request | index: index})

  defp timed(catalog, request), do: entry(catalog, request)

  @doc "How long an ended call may clean up, in milliseconds."
  @spec grace(Catalog.t(), Request.t()) :: non_neg_integer()
  def grace(catalog, request) do
    case timed(catalog, request) do
      %{cancel_grace: grace} -> grace
      _entry -> 0
    end
  end

  @doc """
  Whether the client has the capabilities that the entry requires. In the stateless era the core has already refused
  such a call. The session era has no protocol error for it.
  """
  @spec permitted(entry :: map() | nil, Conn.t()) :: :ok | {:error, String.t()}
  def permitted(%{requires: required}, conn) do
    case Enum.find(required, &(not offers?(conn, &1))) do
      nil -> :ok
      missing -> {:error, lacks(to_string(missing))}
    end
  end

  def permitted(_entry, _conn), do: :ok

  defp offers?(conn, capability),
    do: Protocol.offers?(conn.protocol_version, conn.client_capabilities, to_string(capability))

  @doc "The text for a client without a capability."
  @spec lacks(String.t()) :: String.t()
  def lacks(capability), do: "The client does not support #{capability}, which this call needs"

  @doc "Calls the router's code for a request for the entry."
  @spec invoke(Catalog.t(), entry :: map() | nil, Request.t(), Conn.t()) :: term()
  # Lists that the router computes are callbacks of the router.
  def invoke(catalog, nil, %Request{kind: list}, conn), do: apply(catalog.router, list, [conn])

  def invoke(_catalog, entry, %Request{kind: kind, arguments: arguments}, conn)
      when kind in [:complete_prompt, :complete_resource],
      do: complete(entry.complete, arguments, conn)

  def invoke(_catalog, entry, %Request{kind: kind, arguments: arguments}, conn), do: fun(entry, kind).(conn, arguments)

  defp complete(nil, _arguments, _conn), do: %Completion{values: []}

  # The values of the other arguments (2025-06-18) come beside the name and the value.
  defp complete(function, %{"name" => name, "value" => value} = arguments, conn) do
    conn = Conn.put_private(conn, :completion_context, arguments["context"] || %{})
    function.(conn, name, value)
  end
end
