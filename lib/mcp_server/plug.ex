defmodule McpServer.Plug do
  @moduledoc ~S'''
  Code around the calls of a router: for timing, audits, retries, values in `conn.assigns`, or an answer in place of the
  handler.

      defmodule MyApp.Audit do
        @behaviour McpServer.Plug

        @impl true
        def call(conn, next) do
          returned = next.(conn)
          MyApp.AuditLog.write(conn.principal, conn.called.name, elem(returned, 0))
          returned
        end
      end

      defmodule MyApp.MCP do
        use McpServer.Router

        plug MyApp.Audit
        plug McpServer.RateLimit, limit: 100, per: 60_000

        tool "search", "Searches the notes", MyApp.Notes, :search

        scope do
          plug MyApp.LoadTenant, repo: MyApp.Repo

          tool "import", "Imports a file", MyApp.Files, :import do
            plug McpServer.RateLimit, limit: 2, per: 60_000
          end
        end
      end

  ## Order

  | `plug` in | runs around |
  |---|---|
  | the router | all declarations of the router, above and below the statement |
  | `scope do … end` | all declarations of the block |
  | the block of a tool, a prompt or a resource | this entry |

  The plugs of the router run first, then those of the scopes from the outermost to the innermost, then those of the
  declaration. Plugs of one block run in the order of their statements.

  ## Calls

  `c:call/2` gets the `McpServer.Conn` and `next`. `next.(conn)` runs the following plugs and the handler with that
  conn. It returns the handler's return value, in any of the forms that `McpServer.Controller` lists. The return value
  of the plug replaces it and follows the same rules.

    * A plug that does not call `next` answers instead of the handler: `{:error, "Closed on Sundays"}`.
    * A plug that calls `next` twice retries. The handler then runs twice.
    * A plug that passes another conn to `next` changes `assigns` or `private` for the following plugs and the handler.
    * A plug can rescue exceptions of the handler. An exception of the plug fails the call, like one of the handler.

  The plug runs in the process of the call, and its time counts for the call's timeout. `conn.called` describes the
  call, see `t:called/0`. The plug runs again with each call of the handler: after the client has answered a question,
  and in the process of a task. For a function of `McpServer.Controller.as_task/1` it runs with the kind `:task`.

  Requests that do not reach a handler run no plug: lists, subscriptions, requests about tasks, refused arguments, and
  calls that `authorize:` refuses. So permission belongs in `authorize:`, `visible:` and the router's `context:`.
  `c:McpServer.call_tool/3` and `McpServer.Test` run the plugs like a client's call. Plugs cost nothing in a router
  without a `plug`.

  ## Options

  A plug with options defines `c:call/3`, which gets the result of `c:init/1`. `init/1` is called after the router is
  compiled and when it is first served, so its result must depend only on the options. An `ArgumentError` in `init/1` is
  a compile error of the router, at the line of the statement. Options are data: a function in them is `&Module.name/1`
  or `{Module, :name}`.
  '''

  alias McpServer.Conn

  @typedoc """
  The call around which a plug runs, in `conn.called`.

  | key | value |
  |---|---|
  | `:kind` | `:tool`, `:prompt`, `:resource`, `:completion`, or `:task` for the function of `as_task/1` |
  | `:name` | the declared name of the tool, the prompt or the resource |
  | `:uri` | the URI that is read, in its normal form (`%7E` is `~`, `%2f` is `%2F`); `nil` for other kinds |
  | `:arguments` | the checked arguments, or the variables of the URI; of a completion `%{"name" => …, "value" => …}` |
  | `:plug` | the `plug` statement of the router, `{router, number}`, for plugs with separate state per statement |
  """
  @type called :: %{
          kind: :tool | :prompt | :resource | :completion | :task,
          name: String.t(),
          uri: String.t() | nil,
          arguments: map(),
          plug: {module(), pos_integer()} | nil
        }

  @typedoc "Runs the following plugs and the handler, and returns the handler's return value."
  @type next :: (Conn.t() -> term())

  @doc "Prepares the options of `c:call/3`. Raises `ArgumentError` for unknown options."
  @callback init(options :: term()) :: term()

  @doc "Runs around a call, for a plug without options."
  @callback call(Conn.t(), next()) :: term()

  @doc "Runs around a call, for a plug with options."
  @callback call(Conn.t(), next(), options :: term()) :: term()

  @optional_callbacks init: 1, call: 2, call: 3
end
