defmodule McpServer do
  @moduledoc ~S'''
  Model Context Protocol (MCP) servers. A router declares the tools, your functions handle the calls, and a core written
  in Rust validates every message.

  ## Five minutes

  A controller holds the handlers. They get the `McpServer.Conn` and the validated arguments:

      defmodule MyApp.Calculator do
        use McpServer.Controller

        def add(_conn, %{"a" => a, "b" => b}), do: {:ok, [text("#{a + b}")]}
      end

  A router declares the tools that clients can call:

      defmodule MyApp.MCP do
        use McpServer.Router, name: "calculator", version: "1.0.0"

        tool "add", "Adds two numbers", MyApp.Calculator, :add, hints: [:read_only, :closed_world] do
          input_field "a", "First number", :number, required: true
          input_field "b", "Second number", :number, required: true
        end
      end

  A desktop client starts the server with the command `mix mcp.stdio MyApp.MCP`. For HTTP, add
  `{McpServer.HttpServer, router: MyApp.MCP, port: 4040}` to a supervision tree. Tests call the router directly, or
  through the client of `McpServer.Test`:

      iex> MyApp.MCP.call_tool(%McpServer.Conn{}, "add", %{"a" => 1, "b" => 2})
      {:ok, [%McpServer.Content.Text{text: "3"}]}

  ## A tour

  | module | purpose |
  |---|---|
  | `McpServer.Router` | declares tools, prompts and resources |
  | `McpServer.Controller` | functions for handlers: content, progress, log messages, questions to the client |
  | `McpServer.Conn` | the context of a call: client, session, principal |
  | `McpServer.Tool.Content`, `McpServer.Tool.CallResult`, `McpServer.Tool.Result` | results of tools |
  | `McpServer.Prompt.Message`, `McpServer.Completion` | results of prompts and completions |
  | `McpServer.Resource.Content`, `McpServer.Resource.ReadResult` | results of resources |
  | `McpServer.Stdio` | serves clients that start the server as a program |
  | `McpServer.Changes` | tells clients that a list or a resource has changed |
  | `McpServer.JSON`, `McpServer.Schema` | the core's JSON codec and JSON Schema validator |
  | `McpServer.Telemetry` | telemetry events and metrics |
  | `McpServer.Test` | tests of your server |
  | `McpServer.App.UI`, `McpServer.App.UIResourceMeta`, `McpServer.App.CSP` | interactive views (MCP Apps) |

  ## The callbacks

  This module is the behaviour that routers implement. `use McpServer.Router` generates every callback; a router may
  define the lists itself. Both names of a list return the same result.

  The other callbacks run the declared function in the calling process. They check permissions (`visible:`,
  `authorize:`, `requires:`), arguments and results, and convert results, as for a client. They raise `ArgumentError`
  if a result cannot be sent or does not fit the output schema. They do not catch exceptions of the function. They do
  not apply `timeout:` and `result_budget:`; `McpServer.Test` does.
  '''

  alias McpServer.Connection.Session
  alias McpServer.Http.Disconnection
  alias McpServer.Protocol.Revision
  alias McpServer.{Changes, Completion, Conn, Content, Outline, Prompt, Protocol, Recipient, Resource}
  alias McpServer.{ResourceTemplate, Tool}

  @type conn :: Conn.t()

  @typedoc "Keys are strings."
  @type arguments :: %{String.t() => term}

  @typedoc "A text for the client, or the JSON-RPC error that the function returned."
  @type error :: {:error, String.t() | McpServer.JsonRpc.Error.t()}

  @typedoc "See `McpServer.Controller.input_required/2`."
  @type input_required :: McpServer.Controller.input_required()

  @type tool_result :: {:ok, [Content.t() | map]} | {:ok, Tool.CallResult.t()} | error | input_required
  @type prompt_result ::
          {:ok, [Prompt.Message.t() | map]} | {:ok, Prompt.GetResult.t()} | error | input_required
  @type read_result :: {:ok, Resource.ReadResult.t()} | error | input_required
  @type completion_result :: {:ok, Completion.t()} | error

  @typedoc "All clients of a router, those of one principal, or one session."
  @type scope :: module() | {module(), principal: term()} | {module(), session: String.t()}

  @max_log_bytes 65_536

  @doc """
  Sends clients a notification outside of calls: a log message, or the update of a resource.

      McpServer.notify({MyApp.MCP, principal: "ada"}, log: "The export is ready", level: :notice, logger: "exports")
      McpServer.notify({MyApp.MCP, session: conn.session_id}, resource_updated: "reports://sales")

  It reaches the clients of the scope on every connected node:

  | | sessions, up to 2025-11-25 | 2026-07-28 |
  |---|---|---|
  | `log:` | each session whose level allows it (`"info"` until the client sets another with `logging/setLevel`); over HTTP on the session's own stream, which the client opens with GET | no client: log messages belong to requests, see `McpServer.Controller.log/4` |
  | `resource_updated:` | each session that has subscribed to the URI | the `subscriptions/listen` streams of the principal that name the URI; they belong to no session |

  `level:` is one of `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` and `emergency` (`:info`),
  `logger:` a string. `log:` is any JSON value; the message takes at most 64 KiB. Clients that connect later do not get
  it. Clients that do not read lose messages; `McpServer.Telemetry` counts them. An error text names the problem with
  the scope or the message.
  """
  @spec notify(scope(), [log: term(), level: atom() | String.t(), logger: String.t()] | [resource_updated: String.t()]) ::
          :ok | {:error, String.t()}
  def notify(scope, message) do
    with {:ok, {router, recipient}} <- Recipient.scope(scope), do: notify(router, recipient, message)
  end

  defp notify(router, recipient, resource_updated: uri) when is_binary(uri),
    do: Changes.publish(router, {:resource, uri}, recipient)

  defp notify(router, recipient, [{:log, data} | options]) do
    level = to_string(Keyword.get(options, :level, :info))
    logger = options[:logger]

    cond do
      Keyword.keys(options) -- [:level, :logger] != [] ->
        no_message([{:log, :data} | options])

      level not in Session.log_levels() ->
        {:error, "level: is one of #{Enum.join(Session.log_levels(), ", ")}, got: #{inspect(level)}"}

      logger != nil and not (is_binary(logger) and String.valid?(logger)) ->
        {:error, "logger: is a string, got: #{Outline.of(logger)}"}

      true ->
        log(router, recipient, %{level: level, logger: logger, data: data})
    end
  end

  defp notify(_router, _recipient, message), do: no_message(message)

  # Sessions of all revisions have the same.
  defp log(router, recipient, fields) do
    with {:ok, message} <- Protocol.notification(Revision.last_of_sessions(), :message, fields),
         bytes when bytes <= @max_log_bytes <- IO.iodata_length(message) do
      Changes.log(router, recipient, fields.level, message)
    else
      {:error, error} -> {:error, "log: cannot be written as JSON: #{Exception.message(error)}"}
      bytes -> {:error, "the log message takes #{bytes} bytes, at most #{@max_log_bytes} are sent"}
    end
  end

  defp no_message(message) do
    {:error, "write log: data, level: :info, logger: \"name\", or resource_updated: uri, got: #{Outline.of(message)}"}
  end

  @doc """
  Disconnects clients over HTTP on every connected node, for example those of a user who has lost access.

      McpServer.disconnect({MyApp.MCP, principal: {"https://auth.example.com", "ada", "client-1"}})

  It ends the sessions of the scope with their calls, and its `subscriptions/listen` streams. It also drops what `auth:`
  has cached of the principal's tokens, so the next request is checked again. Remove the access first: where `principal:`
  or `verifier:` of `auth:` looks it up, or at the issuer if that is asked about tokens. Otherwise a signed token is valid
  until it expires, and the client can connect again.

  With a secret, any node can open a session from its id, see the guide "Sessions and deploys". With `session:` these
  nodes never open the id again. With `principal:` they end only the sessions that are open: an idle one continues with
  its next request, if the principal still has access.

  A call without a session still completes, and so does a request whose token is being checked at that moment. The router
  is the one that is served. The error text says what is wrong with the scope.
  """
  @spec disconnect(scope()) :: :ok | {:error, String.t()}
  def disconnect(scope) do
    with {:ok, {router, recipient}} <- Recipient.scope(scope), do: Disconnection.everywhere(router, recipient)
  end

  @doc "The tools, in the order clients list them."
  @callback list_tools(conn) :: {:ok, [Tool.t()]} | error

  @doc "Calls a tool. Unknown: `{:error, \"Tool 'x' not found\"}`."
  @callback call_tool(conn, name :: String.t(), arguments) :: tool_result

  @doc "The prompts, in the order clients list them."
  @callback prompts_list(conn) :: {:ok, [Prompt.t()]} | error

  @doc "The same as `c:prompts_list/1`."
  @callback list_prompts(conn) :: {:ok, [Prompt.t()]} | error

  @doc "The messages of a prompt. Unknown: `{:error, \"Prompt 'x' not found\"}`."
  @callback get_prompt(conn, name :: String.t(), arguments) :: prompt_result

  @doc "Completes the argument `\"name\"` of a prompt; `\"value\"` is the prefix typed so far."
  @callback complete_prompt(conn, name :: String.t(), argument :: %{String.t() => String.t()}) :: completion_result

  @doc "The same, with the argument's name and the typed prefix as separate parameters."
  @callback complete_prompt(conn, name :: String.t(), argument :: String.t(), prefix :: String.t()) ::
              completion_result

  @doc "The resources with a fixed URI, in the order clients list them."
  @callback list_resources(conn) :: {:ok, [Resource.t()]} | error

  @doc "The resource templates, in the order clients list them."
  @callback list_templates_resource(conn) :: {:ok, [ResourceTemplate.t()]} | error

  @doc "The same as `c:list_templates_resource/1`."
  @callback list_resource_templates(conn) :: {:ok, [ResourceTemplate.t()]} | error

  @doc """
  Reads a resource by its name (or its URI as declared), with the values of its variables. Unknown:
  `{:error, \"Resource 'x' not found\"}`.
  """
  @callback read_resource(conn, name :: String.t(), variables :: arguments) :: read_result

  @doc "Completes the variable `\"name\"` of a resource's URI; `\"value\"` is the prefix typed so far."
  @callback complete_resource(conn, name :: String.t(), variable :: %{String.t() => String.t()}) :: completion_result

  @doc "The same, with the variable's name and the typed prefix as separate parameters."
  @callback complete_resource(conn, name :: String.t(), variable :: String.t(), prefix :: String.t()) ::
              completion_result
end
