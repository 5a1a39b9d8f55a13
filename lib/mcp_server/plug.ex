defmodule McpServer.Plug do
  @moduledoc ~S'''
  Code around the calls of a router: it times, audits, retries, adds to `conn.assigns`, or answers instead.

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

  ## Where it stands

  | `plug` in | is around |
  |---|---|
  | the router | everything that the router declares, above and below the statement |
  | `scope do … end` | everything in that block |
  | the block of a tool, a prompt or a resource | that one |

  The plugs of the router come first, then those of the scopes from the outermost to the innermost, then the
  declaration's own. In one block they come in the order in which they are written.

  ## What it does

  `c:call/2` gets the `McpServer.Conn` and `next`. `next.(conn)` runs the plugs behind it and the handler with that conn. It
  returns what the handler returned, in any of the forms that `McpServer.Controller` lists. What the plug returns stands in
  the place of that, and is judged by the same rules.

    * A plug that does not call `next` answers instead of the handler: `{:error, "Closed on Sundays"}`.
    * A plug that calls `next` twice retries. The handler then does its work twice.
    * A plug that gives `next` another conn changes `assigns` or `private` for what is behind it.
    * What the handler raises can be rescued. What the plug raises is a failed call, as that of a handler.

  It runs in the process of the call and its time is the call's time. `conn.called` says what is called, see `t:called/0`. It
  is called again each time the handler is: after the client has answered a question, and in the process of a task.
  For a function of `McpServer.Controller.as_task/1` it is called with the kind `:task`.

  Requests that do not reach a handler pass no plug: lists, refused arguments, and calls that `authorize:` refuses.
  `c:McpServer.call_tool/3` and `McpServer.Test` run the plugs as a client's call does. A router without a `plug` pays
  nothing for them.

  ## Options

  A plug with options defines `c:call/3`, and gets there what `c:init/1` made of the options. `init/1` is called when the
  router has been compiled and when it is first served, so its result must depend on the options only. If it raises
  `ArgumentError`, that is a compile error of the router, at the line of the statement. Options are
  data: a function in them is `&Module.name/1` or `{Module, :name}`.
  '''

  alias McpServer.Conn

  @typedoc """
  What a plug is around, in `conn.called`.

  | key | value |
  |---|---|
  | `:kind` | `:tool`, `:prompt`, `:resource`, `:completion`, or `:task` for the function of `as_task/1` |
  | `:name` | the declared name of the tool, the prompt or the resource |
  | `:uri` | the URI that is read, `nil` for other kinds |
  | `:arguments` | the checked arguments, or the variables of the URI; of a completion `%{"name" => …, "value" => …}` |
  | `:plug` | which statement of the router the plug is, for one that keeps something for each: `{router, number}` |
  """
  @type called :: %{
          kind: :tool | :prompt | :resource | :completion | :task,
          name: String.t(),
          uri: String.t() | nil,
          arguments: map(),
          plug: {module(), pos_integer()} | nil
        }

  @typedoc "Runs what is behind the plug, and returns what the handler returned."
  @type next :: (Conn.t() -> term())

  @doc "What `c:call/3` gets as its options. Raises `ArgumentError` for options that the plug does not have."
  @callback init(options :: term()) :: term()

  @doc "Runs around a call of a plug without options."
  @callback call(Conn.t(), next()) :: term()

  @doc "Runs around a call of a plug with options."
  @callback call(Conn.t(), next(), options :: term()) :: term()

  @optional_callbacks init: 1, call: 2, call: 3
end
