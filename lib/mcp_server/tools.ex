defmodule McpServer.Tools do
  @moduledoc """
  Tools that are declared while the server runs: for all clients of a router, for one principal, or for one session.

      tool = McpServer.Tool.new(
        name: "orders",
        description: "Finds orders",
        inputSchema: %{"type" => "object", "properties" => %{"text" => %{"type" => "string"}}}
      )

      :ok = McpServer.Tools.put(MyApp.MCP, tool, {MyApp.Orders, :find})
      :ok = McpServer.Tools.put({MyApp.MCP, principal: "ada"}, tool, {MyApp.Orders, :find})
      :ok = McpServer.Tools.put({MyApp.MCP, session: conn.session_id}, tool, &MyApp.Orders.find/2)
      :ok = McpServer.Tools.delete({MyApp.MCP, principal: "ada"}, "orders")

  They are listed behind the declared tools, those of the router first, and are checked and called as these are: the schema
  is compiled when the tool is put, arguments are checked natively, the result against `outputSchema`, and the plugs of the
  router stand around the call. To all other clients they do not exist. A tool of a session has precedence over one of
  its principal with the same name, and that over one of the router. Names that the router declares are taken.

  The tools are kept in memory, on every connected node: `put/3` returns when this node has the tool, the others have it a
  moment later, and a node that joins gets all. What was put and deleted on nodes that could not see each other
  is decided by the clock. Clients that are concerned get `notifications/tools/list_changed` if they asked for it.
  Nothing outlives the last node: put the tools again when your application starts, or when a session
  or principal is first seen.

  A router that declares no tool has the capability from the first run-time tool on: clients that connected before do
  not ask for tools. A run-time tool cannot run as a task, and has no `timeout:` of its own.

  ## Limits

  `config :mcp_server, run_time_tools: [max_tools: 10_000]`

  #{McpServer.Options.document(McpServer.Tools.Server.table())}
  """

  alias McpServer.{Catalog, JSON, NamedFunction, Recipient, Tool}
  alias McpServer.Router.Name
  alias McpServer.Tools.Server

  @typedoc "Whose tools: all clients of a router, one principal, or one session."
  @type scope :: module() | {module(), principal: term()} | {module(), session: String.t()}

  @typedoc "The function that is called with the `McpServer.Conn` and the arguments; nodes find it by its name."
  @type handler :: {module(), atom()} | (McpServer.Conn.t(), map() -> term())

  @doc """
  Declares a tool, or replaces the one of this scope and name.

  `tool` is a `McpServer.Tool`, or its fields. An error text says what is wrong with the scope, the tool or the handler,
  or which limit is reached.
  """
  @spec put(scope(), Tool.t() | keyword() | map(), handler()) :: :ok | {:error, String.t()}
  def put(scope, tool, handler) do
    with {:ok, {router, whose}} <- scope(scope),
         {:ok, tool} <- tool(tool),
         :ok <- check_name(router, tool.name),
         {:ok, handler} <- handler(handler),
         {:ok, text} <- encode(tool),
         entry = %{text: text, digest: :erlang.md5(text), handler: handler, name: tool.name},
         {:ok, _compiled} <- Catalog.of_tool(Catalog.fetch(router), entry),
         do: Server.put({router, whose, tool.name}, entry)
  end

  @doc "Removes the tool of this scope and name; one that is not there is fine."
  @spec delete(scope(), String.t()) :: :ok | {:error, String.t()}
  def delete(scope, name) when is_binary(name) do
    with {:ok, {router, whose}} <- scope(scope), do: Server.put({router, whose, name}, nil)
  end

  @doc "The names of the tools of this scope, sorted."
  @spec names(scope()) :: [String.t()]
  def names(scope) do
    case scope(scope) do
      {:ok, {router, whose}} -> for {name, _entry} <- Server.entries(router, whose), do: name
      {:error, _text} -> []
    end
  end

  defp scope({router, options}) when is_atom(router) do
    with {:ok, whose} <- Recipient.new(options), do: router(router, whose)
  end

  defp scope(router) when is_atom(router), do: router(router, :router)

  defp scope(other) do
    {:error,
     "a scope is a router, {router, principal: principal} or {router, session: id}, got: #{McpServer.Outline.of(other)}"}
  end

  defp router(router, whose) do
    Catalog.fetch(router)
    {:ok, {router, whose}}
  rescue
    error in ArgumentError -> {:error, error.message}
  end

  defp tool(%Tool{} = tool), do: {:ok, tool}

  defp tool(fields) do
    {:ok, Tool.new(fields)}
  rescue
    error in ArgumentError -> {:error, error.message}
  end

  defp check_name(router, name) do
    cond do
      not Name.valid?(name) ->
        {:error, "a tool's name is 1 to 128 characters of A-Z a-z 0-9 _ . / -, got: #{inspect(name)}"}

      Enum.any?(router.__mcp__(:tools), &(&1.name == name)) ->
        {:error, "tool #{inspect(name)} is declared by #{inspect(router)}. Choose another name"}

      true ->
        :ok
    end
  end

  defp handler({module, function} = handler) when is_atom(module) and is_atom(function) do
    if text = NamedFunction.missing(handler, 2), do: {:error, "the handler #{text}"}, else: {:ok, handler}
  end

  defp handler(fun) when is_function(fun, 2), do: {:ok, fun}

  defp handler(other) do
    {:error,
     "a handler is {module, function} or a function of the conn and the arguments, got: #{McpServer.Outline.of(other)}"}
  end

  defp encode(tool) do
    with {:error, error} <- JSON.encode(tool), do: {:error, Exception.message(error)}
  end
end
