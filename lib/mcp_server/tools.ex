defmodule McpServer.Tools do
  @moduledoc """
  Declares tools while the server runs: for all clients of a router, for one principal, or for one session.

      tool = McpServer.Tool.new(
        name: "orders",
        description: "Finds orders",
        inputSchema: %{"type" => "object", "properties" => %{"text" => %{"type" => "string"}}}
      )

      :ok = McpServer.Tools.put(MyApp.MCP, tool, {MyApp.Orders, :find})
      :ok = McpServer.Tools.put({MyApp.MCP, principal: "ada"}, tool, {MyApp.Orders, :find})
      :ok = McpServer.Tools.put({MyApp.MCP, session: conn.session_id}, tool, &MyApp.Orders.find/2)
      :ok = McpServer.Tools.delete({MyApp.MCP, principal: "ada"}, "orders")

  A run-time tool has the features of a declared one. `put/3` takes the options of a router and returns the errors of
  its compiler:

      McpServer.Tools.put(MyApp.MCP, [
        name: "report",
        description: "Writes a report",
        timeout: :timer.minutes(2),
        task_support: :optional,
        arguments: :atoms,
        input: [since: {:date, "Since when", required: true}, lines: {:integer, "How many", default: 100}]
      ], {MyApp.Reports, :write})

  With `arguments: :atoms` the names of arguments must be existing atoms, because user input never creates atoms.
  Run-time tools have no `ui:`, and no field of `input:` is mirrored in headers.

  Run-time tools are listed after the declared tools, those of the router first. They are checked and called like
  declared tools. `put/3` compiles the schema. The core validates arguments, results are validated against
  `outputSchema`, and the plugs of the router run around the call. For clients outside the scope the tools do not exist.
  A tool of a session takes precedence over a tool of its principal with the same name, and this over a tool of the
  router. Names that the router declares are refused. Tasks of a deleted tool are no longer found.

  The tools are in the memory of every connected node. `put/3` returns when this node has the tool; other nodes get it a
  moment later, and a node that joins gets all tools. After a network split the latest change by the clock wins. Clients
  of the scope get `notifications/tools/list_changed` if they asked for it. Tools do not survive a restart of the last
  node: put them again when your application starts, or for the first call of a session or principal.

  Tools of a session are removed when the session ends. `put/3` refuses a session that has ended, or that neither this
  node nor a connected one has. Sessions over stdio are known on their own node only. With a secret, any node can open a
  session from its id, so `put/3` refuses only ids that are known to have ended. Such tools are removed when the session
  expires, at the latest an hour after the oldest one is as old as the longest `session_lifetime:` of the router.

  A router without declared tools gets the capability `tools` with the first run-time tool, and the capability for tasks
  with the first one that has `task_support:`. Clients that connected earlier do not ask for them.

  ## Tags

  Tools with `tags:`, declared or put at run time, can be hidden and shown while the server runs:

      tool "purge", "Deletes all notes", MyApp.Notes, :purge, tags: ["admin"]

      McpServer.Tools.disable(MyApp.MCP, tag: "admin")
      McpServer.Tools.enable({MyApp.MCP, principal: "ada"}, tag: "admin")
      McpServer.Tools.disable({MyApp.MCP, session: conn.session_id}, tag: "admin")
      McpServer.Tools.reset({MyApp.MCP, principal: "ada"}, tag: "admin")

  Tags are enabled by default. A setting for a session takes precedence over one for its principal, and this over one
  for the router. A tool exists while all its tags are enabled. Otherwise it is neither listed nor found, as if it were
  not declared. Clients do not see tags. Settings are stored and announced like run-time tools.

  ## Limits

  `config :mcp_server, run_time_tools: [max_tools: 10_000]`

  #{McpServer.Options.document(McpServer.Tools.Server.table())}

  The tools and tags of one client, of its sessions and its principal, are at most a quarter of `max_tools` and of
  `max_bytes` on the node that has put them.
  """

  alias McpServer.Quota.Client
  alias McpServer.{Recipient, Tool}
  alias McpServer.Tools.{Definition, OpenSessions, Server, Tags}

  @typedoc "The clients of a tool: all clients of a router, one principal, or one session."
  @type scope :: McpServer.scope()

  @typedoc "The function that is called with the `McpServer.Conn` and the arguments; other nodes call it by its name."
  @type handler :: {module(), atom()} | (McpServer.Conn.t(), map() -> term())

  @doc """
  Declares a tool, or replaces the one of this scope and name.

  `tool` is a `McpServer.Tool`, or fields: `name:`, `description:`, `input:` and `output:` as in a block of a router,
  and the options of `McpServer.Router.tool/6`. An error text names the problem with the scope, the tool or the handler,
  or the limit that is reached.
  """
  @spec put(scope(), Tool.t() | keyword() | map(), handler()) :: :ok | {:error, String.t()}
  def put(scope, tool, handler) do
    with {:ok, {router, whose}} <- Recipient.scope(scope),
         {:ok, entry} <- Definition.new(router, tool, handler),
         do: store({router, whose, {:tool, entry.name}}, entry, client(scope))
  end

  # Who has the share of it. What is for all clients is nobody's.
  defp client({router, [session: id]}), do: OpenSessions.client(router, id)
  defp client({_router, [principal: principal]}), do: Client.new(principal, nil)
  defp client(_router), do: nil

  defp store({router, {:session, id}, _what} = key, value, client) do
    with :ok <- check(OpenSessions.state(router, id)),
         :ok <- Server.put(key, value, client),
         do: settle(OpenSessions.state(router, id), router, id)
  end

  defp store(key, value, client), do: Server.put(key, value, client)

  defp check(:open), do: :ok
  defp check(:ended), do: {:error, "the session has ended"}
  defp check(_none_or_unsure), do: {:error, "no session of this router with this id is open"}

  # A session that ended meanwhile has not seen the value.
  defp settle(state, router, id) when state in [:ended, :none] do
    Server.session_over(router, id)
    check(state)
  end

  defp settle(_open_or_unsure, _router, _id), do: :ok

  @doc "Removes the tool of this scope and name, if it exists."
  @spec delete(scope(), String.t()) :: :ok | {:error, String.t()}
  def delete(scope, name) when is_binary(name) do
    with {:ok, {router, whose}} <- Recipient.scope(scope), do: Server.put({router, whose, {:tool, name}}, nil, nil)
  end

  @doc "The names of the tools of this scope, sorted."
  @spec names(scope()) :: [String.t()]
  def names(scope) do
    case Recipient.scope(scope) do
      {:ok, {router, whose}} -> for {name, _entry} <- Server.entries(router, whose), do: name
      {:error, _text} -> []
    end
  end

  @doc "Hides the tools with a tag from the clients of the scope, see \"Tags\"."
  @spec disable(scope(), tag: String.t()) :: :ok | {:error, String.t()}
  def disable(scope, options), do: tag(scope, options, false)

  @doc "Shows the tools with a tag, for example to one principal if they are hidden from all others."
  @spec enable(scope(), tag: String.t()) :: :ok | {:error, String.t()}
  def enable(scope, options), do: tag(scope, options, true)

  @doc "Removes the setting of `enable/2` or `disable/2` for this scope. The setting of a wider scope then applies."
  @spec reset(scope(), tag: String.t()) :: :ok | {:error, String.t()}
  def reset(scope, options), do: tag(scope, options, nil)

  defp tag(scope, options, value) do
    with {:ok, {router, whose}} <- Recipient.scope(scope),
         {:ok, tag} <- tag(options),
         do: set({router, whose, {:tag, tag}}, value, client(scope))
  end

  defp set(key, nil, _client), do: Server.put(key, nil, nil)
  defp set(key, enabled?, client), do: store(key, enabled?, client)

  defp tag([{:tag, tag}] = options), do: if(Tags.valid?(tag), do: {:ok, tag}, else: no_tag(options))
  defp tag(options), do: no_tag(options)

  defp no_tag(options),
    do: {:error, "write tag: \"admin\", with 1 to 128 bytes, got: #{McpServer.Outline.of(options)}"}
end
