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

  A tool has all that a declared one has: `put/3` takes the words of a router, and says what is wrong as its compiler does.

      McpServer.Tools.put(MyApp.MCP, [
        name: "report",
        description: "Writes a report",
        timeout: :timer.minutes(2),
        task_support: :optional,
        arguments: :atoms,
        input: [since: {:date, "Since when", required: true}, lines: {:integer, "How many", default: 100}]
      ], {MyApp.Reports, :write})

  With `arguments: :atoms` the names of arguments have to be atoms that exist: none is made of what a user has typed.
  `ui:` is not there for run-time tools, and nothing of `input:` is mirrored in headers.

  They are listed behind the declared tools, those of the router first, and are checked and called as these are: the schema
  is compiled when the tool is put, arguments are checked natively, the result against `outputSchema`, and the plugs of the
  router stand around the call. To all other clients they do not exist. A tool of a session has precedence over one of
  its principal with the same name, and that over one of the router. Names that the router declares are taken. The
  tasks of a tool that has been deleted are not found any more.

  The tools are kept in memory, on every connected node: `put/3` returns when this node has the tool, the others have it a
  moment later, and a node that joins gets all. What was put and deleted on nodes that could not see each other
  is decided by the clock. Clients that are concerned get `notifications/tools/list_changed` if they asked for it.
  What was put for a session goes when the session ends; one that any node can open from its id ends when it expires.
  Nothing outlives the last node: put the tools again when your application starts, or when a session
  or principal is first seen.

  A router that declares no tool has the capability from the first run-time tool on, and that of tasks from the first one
  with `task_support:`: clients that connected before do not ask for them.

  ## Tags

  Tools with `tags:`, declared or put at run time, can be hidden and shown while the server runs:

      tool "purge", "Deletes all notes", MyApp.Notes, :purge, tags: ["admin"]

      McpServer.Tools.disable(MyApp.MCP, tag: "admin")
      McpServer.Tools.enable({MyApp.MCP, principal: "ada"}, tag: "admin")
      McpServer.Tools.disable({MyApp.MCP, session: conn.session_id}, tag: "admin")
      McpServer.Tools.reset({MyApp.MCP, principal: "ada"}, tag: "admin")

  A tag is enabled until something is said of it, and what is said for a session counts before what is said for its
  principal, and that before what is said for the router. A tool is there while all its tags are enabled. One that is not
  is neither listed nor found, as if it had never been declared. Clients are not told of tags. What is said is kept and told
  as run-time tools are.

  ## Limits

  `config :mcp_server, run_time_tools: [max_tools: 10_000]`

  #{McpServer.Options.document(McpServer.Tools.Server.table())}
  """

  alias McpServer.{Recipient, Tool}
  alias McpServer.Tools.{Definition, Server, Tags}

  @typedoc "Whose tools: all clients of a router, one principal, or one session."
  @type scope :: McpServer.scope()

  @typedoc "The function that is called with the `McpServer.Conn` and the arguments; nodes find it by its name."
  @type handler :: {module(), atom()} | (McpServer.Conn.t(), map() -> term())

  @doc """
  Declares a tool, or replaces the one of this scope and name.

  `tool` is a `McpServer.Tool`, or fields: `name:`, `description:`, `input:` and `output:` as in a block of a router, and
  the options of `McpServer.Router.tool/6`. An error text says what is wrong with the scope, the tool or the handler, or
  which limit is reached.
  """
  @spec put(scope(), Tool.t() | keyword() | map(), handler()) :: :ok | {:error, String.t()}
  def put(scope, tool, handler) do
    with {:ok, {router, whose}} <- Recipient.scope(scope),
         {:ok, entry} <- Definition.new(router, tool, handler),
         do: Server.put({router, whose, {:tool, entry.name}}, entry)
  end

  @doc "Removes the tool of this scope and name; one that is not there is fine."
  @spec delete(scope(), String.t()) :: :ok | {:error, String.t()}
  def delete(scope, name) when is_binary(name) do
    with {:ok, {router, whose}} <- Recipient.scope(scope), do: Server.put({router, whose, {:tool, name}}, nil)
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

  @doc "Shows the tools with a tag, such as to one principal what is hidden from all others."
  @spec enable(scope(), tag: String.t()) :: :ok | {:error, String.t()}
  def enable(scope, options), do: tag(scope, options, true)

  @doc "Forgets what `enable/2` or `disable/2` has said of a tag for this scope: what is said for a wider one counts."
  @spec reset(scope(), tag: String.t()) :: :ok | {:error, String.t()}
  def reset(scope, options), do: tag(scope, options, nil)

  defp tag(scope, options, value) do
    with {:ok, {router, whose}} <- Recipient.scope(scope),
         {:ok, tag} <- tag(options),
         do: Server.put({router, whose, {:tag, tag}}, value)
  end

  defp tag([{:tag, tag}] = options), do: if(Tags.valid?(tag), do: {:ok, tag}, else: no_tag(options))
  defp tag(options), do: no_tag(options)

  defp no_tag(options),
    do: {:error, "write tag: \"admin\", with 1 to 128 bytes, got: #{McpServer.Outline.of(options)}"}
end
