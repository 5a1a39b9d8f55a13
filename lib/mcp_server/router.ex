defmodule McpServer.Router do
  @moduledoc ~S'''
  Declares the tools, prompts and resources of a server, and the functions that handle them.

      defmodule MyApp.MCP do
        use McpServer.Router, name: "my-app", version: "1.0.0"

        tool "add", "Adds two numbers", MyApp.Calculator, :add, hints: [:read_only, :closed_world] do
          input_field "a", "First number", :number, required: true
          input_field "b", "Second number", :number, required: true
          output_field "sum", "Their sum", :number, required: true
        end

        prompt "review", "Reviews code" do
          argument "language", "Programming language", required: true
          get MyApp.Prompts, :review
          complete MyApp.Prompts, :complete_review
        end

        resource "user", "https://example.com/users/{id}" do
          description "A user's profile"
          mimeType "application/json"
          read MyApp.Users, :read
          complete MyApp.Users, :complete_id
        end
      end

  `McpServer.Controller` describes the arguments and results of these functions. The
  statements inside the blocks are those of `McpServer.Router.ToolBlock`, `McpServer.Router.PromptBlock`,
  `McpServer.Router.ResourceBlock` and, for nested fields, `McpServer.Router.FieldBlock`.

  Blocks are ordinary code: names and descriptions may be module attributes, and a `for` around a
  declaration declares several.

  ## Options of `use`

  | option | meaning | default |
  |---|---|---|
  | `name:` | the server's name | the module's name |
  | `version:` | its version | `"0.1.0"` |
  | `title:`, `description:`, `website_url:`, `icons:` | more details of the server (since revision 2025-11-25) | |
  | `instructions:` | guidance for the model | |
  | `ttl:` | how long clients may keep a list, in milliseconds (2026-07-28) | `0` |
  | `cache_scope:` | who may share a kept list: `:private` or `:public` (2026-07-28); what was filtered or computed for one client is always private | `:private` |
  | `page_size:` | entries per page of a list | `1000` |
  | `schema_limits:` | limits of a tool's schemas and of validation, as in `McpServer.Schema.Validator.compile/2` | its defaults |
  | `template_limits:` | `max_bytes:` of a URI template and of a URI matched against it, `max_variables:` | `8_192`, `32` |
  | `lint:` | `false`: no warnings of `McpServer.Lint` while the router compiles; `[ignore: [codes]]`: codes to ignore | |
  | `system_role:` | conversion of messages with the role `"system"`, which MCP does not have: `:user`, `:assistant`, `:passthrough` or `:error` | `:user` |
  | `formats:` | formats that are checked in a tool's arguments, see below | seven of them |
  | `repair:` | whether invalid arguments are repaired, see below | `false` |
  | `debug_errors:` | whether clients get the cause of a failed call, see below | in `:dev` and `:test` |
  | `undeclared:` | handling of arguments that no field declares: `:refuse`, `:drop` or `:pass`, see below | `:refuse` |
  | `arguments:` | the keys of the arguments and variables that functions get: `:strings` or `:atoms`, see below | `:strings` |
  | `scopes:` | scopes that the token must grant for tools, prompts and resources without `scopes:` | |
  | `hints:` | the hints of tools that have neither `hints:` nor `annotations:` | |
  | `context:` | `{module, function}` that fills the conn of each request, see below | |

  ## The context of a request

  The function of `context:` is called once for each request for a list, an entry, a completion, a subscription or a task,
  over every transport, before lists are filtered, access is checked, and plugs and handlers are called. `initialize`,
  `server/discover`, `ping` and the log level are answered without it. It gets the `McpServer.Conn` with its `principal`,
  and returns it with more `assigns` or `private`; other changes have no effect.

      use McpServer.Router, name: "shop", context: {Shop.MCP, :context}

      def context(%{principal: nil} = conn), do: conn

      def context(conn) do
        case Shop.Accounts.get_user(conn.principal) do
          nil -> {:error, "This account is closed"}
          user -> McpServer.Conn.assign(conn, :current_scope, Shop.Accounts.Scope.for_user(user))
        end
      end

  `{:error, "text"}` refuses the request with a JSON-RPC error that has this text. If the function raises, the request
  fails, and the log has the reason. Only the function of the router that a client calls is called, not that of an included
  router.

  ## Arguments

  Arguments are validated, completed with defaults and converted to Elixir values; `guides/arguments.md` has examples.

    * An argument that no `input_field` declares is refused, and the error names the most similar declared argument.
      `undeclared: :drop` removes the argument, `:pass` passes it to the function. Routers, tools and fields of the type
      `:object` take the option, and nested objects inherit it. A tool or an object without fields accepts anything,
      unless it has `undeclared: :refuse` itself: some clients send something to each tool. `:refuse` is published as
      `additionalProperties: false`; `:drop` and `:pass` publish nothing.
    * A missing argument gets the `default:` of its field. So does a missing member of an object that was sent.
    * `:date`, `:time`, `:datetime`, `:naive_datetime`, `:decimal` and `:uri` arrive as `Date`, `Time`, `DateTime`,
      `NaiveDateTime`, `Decimal` and `URI` (see `McpServer.Router.FieldBlock.field/5`).
    * With `arguments: :atoms` declared keys are atoms, created when the router is compiled: for the functions of tools,
      of prompts and of resources with variables, for `authorize:`, and for the name that `complete` gets. Client input
      never creates atoms, so undeclared arguments that `undeclared: :pass` lets through keep string keys. The option of
      a tool, a prompt or a resource takes precedence over the router's.
    * With `struct: MyApp.Note` of a tool or an object the arguments arrive as that struct. Its other fields have their
      defaults. After compilation the router checks that each argument is a field of the struct.

  A complete schema, `input_schema:`, is published unchanged. Defaults in its `properties` are filled in, and so are
  those in nested `properties` and `items`. `arguments:` and `struct:` apply to it, `undeclared:` does not.

  ## Formats of arguments

  With `format: "date"` any other string is refused before the function is called, and the model gets
  `/on: must be a date such as 2026-01-31 (format)`. By default these formats are checked: `date`, `date-time`, `email`,
  `ipv4`, `ipv6`, `uri` and `uuid`. Each has one spelling, which `Date.from_iso8601/1` and similar functions accept.
  Other formats are not checked, because a strict rule can refuse a value that the tool's author would accept: `"09:30"`
  is a `time` to most people, but RFC 3339 requires an offset.

  `formats: :assert` checks every format that the schema's draft knows (`McpServer.Schema.Validator` lists them),
  `formats: :annotate` checks none, and a list checks the formats in it. A tool's `formats:` replaces the router's.
  Formats are not checked in results of tools.

  ## Repair

  With `repair: true`, of the router or of a tool, invalid arguments are repaired if the schema makes the intended value
  clear. Examples: `"42"` for a number, `"true"` for a boolean, JSON text for an object or array, one value for a list
  of such values. `McpServer.Schema.Validator.repair/2` has the exact rules. The function is called with the repaired
  arguments; each such call emits `[:mcp_server, :arguments, :repaired]` (`McpServer.Telemetry`). Valid arguments are
  not changed. If an argument stays invalid, the error describes the arguments as the model sent them. Values read from
  strings count towards the server's `max_depth`, `max_values` and `max_digits`.

  ## Who sees what

  `authorize:` of a tool, a prompt or a resource is a function that decides whether a client may use it; `visible:`
  decides whether the client may know of it. The function is `{module, function}`, `{module, function, arguments}`, a
  capture or an `fn`. It runs in the process of the call. Its first parameter is the `McpServer.Conn`. A function that
  has one parameter more gets the client's arguments as the second. The `arguments` of `{module, function, arguments}`
  come last:

      tool "delete", "Deletes a note", MyApp.Notes, :delete, authorize: {MyApp.Auth, :role?, ["editor"]} do
        input_field "id", "Which", :integer, required: true
      end

      resource "user", "https://example.com/users/{id}", authorize: &MyApp.Users.own?/2 do
        read MyApp.Users, :read
      end

      def role?(conn, role), do: role in MyApp.Roles.of(conn.principal)
      def own?(conn, %{"id" => id}), do: id == conn.principal

  | the function returns | it means |
  |---|---|
  | `true`, `:ok`, `{:ok, term}` | the client is allowed |
  | `false`, `nil`, `:forbidden`, `{:error, :forbidden}` | the client is refused |
  | `{:error, "text"}` | the client is refused and gets the text |
  | `{:error, {:insufficient_scope, ["scope"]}}` | a scope is missing: over HTTP the status is 403, with a challenge that names the scopes |
  | anything else | the call fails, and the cause is logged |

  A refusal by a function of the conn alone holds for all arguments, so the entry does not exist for this client. It is
  not listed, and its use gets the same answer, byte for byte, as an unknown name. A function of the conn and the
  arguments runs only when the entry is used, so the entry stays listed. After a refusal by `visible:` the client always
  gets the answer for an unknown name:

  | refused by | listed | answered |
  |---|---|---|
  | `authorize:`, a function of the conn | no | as an unknown name |
  | the same with `listed: :always` | yes | `Forbidden`, or the text |
  | `authorize:`, a function of the conn and the arguments | yes | `Forbidden`, or the text |
  | `scopes:`, or `authorize:` for a scope that is missing | yes | `Forbidden`, and the scopes |
  | `scopes:` with `listed: :granted` | no | as an unknown name |
  | `visible:`, a function of the conn | no | as an unknown name |
  | `visible:`, a function of the conn and the arguments | yes | as an unknown name |

  `Forbidden` is a JSON-RPC error, over HTTP with the status 403. For a tool, the text of `{:error, "text"}` is the
  result that the model reads. For prompts and resources it is the message of the error. The client's arguments are
  those of the tool or the prompt, or the variables of the resource's URI. For a completion they are the values filled
  in so far. The function of a resource reads the URI with `McpServer.Conn.get_private(conn, :uri)`.

  URIs are compared with their percent-encoding in its normal form (RFC 3986, sections 6.2.2.1 and 6.2.2.2):
  `file:///%70age%2f1` is `file:///page%2F1`. The case of letters counts, also in the scheme and the host. Functions
  of `authorize:` and `visible:` and plugs get this form. Answers and notifications have the text of the client. In
  `{+path}`, `%2F` and other triplets of reserved characters stay as they are, because `a%2Fb` is not `a/b`; in `{name}`
  they are decoded. Values with a segment `.` or `..` match no template.

  A subscription (`resources/subscribe`, or the filter of `subscriptions/listen`) to a URI that the client may not read
  gets the answer of a missing resource. The functions run once per subscription, not per change: a notification
  contains only a URI that the client already knows.

  Lists that differ between clients have the cache scope `private`. Each such list calls the functions of the conn once.
  If a function raises or returns an invalid value, its entry is hidden from the list, and the error is logged. A failed
  function of `visible:` also hides the entry from calls. An `fn` cannot use variables of a `for` around the
  declaration: pass them as `arguments`.

  ## Failed calls

  A call fails if the function raises or returns an invalid value. The failure is logged, and the client gets the id of
  the log line. With `debug_errors: true` the client also gets the text: the function, the exception, or an outline of
  the returned value and the allowed values. This is the default for a router compiled in Mix's environments `:dev` and
  `:test`; `config :mcp_server, debug_errors: false` changes it for all routers without the option. The setting is fixed
  when the router is compiled, so a router compiled with `MIX_ENV=prod` sends only the id.

  All clients get the cause of a timeout and of a result that is too large, with the advice to ask for less.

  ## Around calls

  `plug/2` runs code around the handlers: see `McpServer.Plug`, `McpServer.RateLimit` and `McpServer.Log`.

  ## Mistakes

  A mistake is a `CompileError` at the line of the declaration. Its message has the given and the allowed values.
  Examples are: duplicate names, types that JSON Schema does not have, unknown options, a prompt without `get`, an
  invalid URI, a schema that cannot be compiled. The router checks that the named functions exist after all modules are
  compiled. So a change in a controller does not recompile the router, but a missing function stops the build, with an
  error at the line of the declaration. A missing `complete` of a resource is only a warning. Declarations that no
  client can use are also warnings: see `McpServer.Lint`.

  ## Generated functions

  The router has the callbacks of `McpServer`, for tests and for your own code. They call your functions in the calling
  process. They check arguments and permissions and convert results as for a client. They raise `ArgumentError` if the
  function returns a value of the wrong form, or one that the output schema does not allow. They do not catch exceptions
  of the function. They do not apply `timeout:` and `result_budget:`; `McpServer.Test` does.

      iex> {:ok, result} = MyApp.MCP.call_tool(%McpServer.Conn{}, "add", %{"a" => 1, "b" => 2})

  A router can compute a list on request: define `list_tools/1`, `list_prompts/1`, `list_resources/1` or
  `list_resource_templates/1` in the module, and clients get its result. Tools and prompts that clients call must still
  be declared. A list that you compute is sent as it is: no `authorize:`, `visible:`, `scopes:`, tags or run-time tools
  apply to it. For lists that depend on the client, `visible:` is shorter and also applies to calls.

      def list_resources(_conn) do
        {:ok, for(file <- File.ls!("notes"), do: McpServer.Resource.new(name: file, uri: "notes://#{file}"))}
      end

  `__mcp__/1` gives the table as data: `:server`, `:tools`, `:prompts`, `:resources`, `:resource_templates` (the structs
  in the order of declaration), `:tool_handlers`, `:prompt_handlers`, `:resource_handlers`, `:template_handlers`,
  `:overflow` (the store of large results), `:hooks` (the functions of `authorize:` and `visible:`), `:dynamic` (lists
  the router computes), `:structs` (structs of arguments), `:lint` and `:fingerprint`.
  '''

  alias McpServer.Router.{Access, Handler, Include, Plugs, PromptDefinition, Refusal, ResourceDefinition}
  alias McpServer.Router.{Scope, Server, Statement, Table, ToolDefinition, Verify}

  @doc false
  defmacro __using__(options) do
    quote do
      import McpServer.Router, only: :macros
      import McpServer.DualResponse.Router, only: :macros
      unquote(Statement.one_resource(__CALLER__))

      @behaviour McpServer
      @before_compile McpServer.Router
      @after_verify McpServer.Router
      @__mcp_server__ {
        Server.new!(__MODULE__, unquote(Handler.as_runtime(options, __CALLER__)), unquote(Refusal.place(__CALLER__))),
        unquote(Refusal.place(__CALLER__))
      }
    end
  end

  @doc ~S'''
  Declares a tool: its name, its description, and the function that is called with the `McpServer.Conn` and the
  validated arguments.

      tool "read_file", "Reads a file", MyApp.Files, :read, title: "File reader", hints: [:read_only] do
        input_field "path", "Path of the file", :string, required: true
      end

  The function is `Module, :function`, or `:function` of the router module. It can also be in the block, with
  `McpServer.Router.ToolBlock.run/1`:

      tool "add", "Adds two numbers" do
        input a: {:number, "First", required: true}, b: {:number, "Second", required: true}
        run fn _conn, %{"a" => a, "b" => b} -> "#{a + b}" end
      end

  The block has the statements of `McpServer.Router.ToolBlock`. A tool without a block declares no arguments.

  | option | meaning |
  |---|---|
  | `title:` | a name for people |
  | `hints:` | list of `:read_only`, `:non_destructive`, `:idempotent`, `:closed_world`, in place of the router's |
  | `annotations:` | a `McpServer.Tool.Annotations` or its fields, in place of `hints:` |
  | `timeout:` | how long a call may take, in milliseconds |
  | `cancel_grace:` | time for the handler to clean up after a cancellation or a timeout, in milliseconds; at most 60,000 (0: the handler is killed); see `McpServer.Controller` |
  | `max_concurrent:` | how many calls of the tool may run at once on a node, tasks included, three quarters of them of one client; beyond it a call is refused with 429 and `Retry-After` (no limit, but see `max_tool_share` of a server) |
  | `requires:` | list of `:sampling`, `:elicitation`, `:roots`: clients without these capabilities are refused |
  | `authorize:`, `visible:` | functions that decide who may use and see the tool, see "Who sees what" |
  | `scopes:` | scopes that the token must grant, `["files:write"]`; checked over HTTP only, before `authorize:`; `:public`: no scope, and with `anonymous: :all` no token; `[]`: any token, where the router has `scopes:`; see `McpServer.Auth` |
  | `listed:` | `:always`: listed also for clients that `authorize:` refuses; `:granted`: hidden from clients without its `scopes:` |
  | `ui:` | URI of the `ui://` resource that renders the result (`McpServer.App`) |
  | `visibility:` | list of `:model` and `:app`: the callers of the tool (both) |
  | `input_schema:`, `output_schema:` | JSON Schemas, in place of fields; or fields that are declared elsewhere: `{McpServer.Ecto, MyApp.Note, only: [:title]}` (`McpServer.Ecto`), `{NimbleOptions, schema}` |
  | `undeclared:`, `arguments:` | in place of the router's, see above |
  | `struct:` | the struct for the arguments, see above |
  | `additional_properties:` | the published keyword: `true` or `false`, in place of `undeclared:` |
  | `icons:` | list of `McpServer.Icon` or of their fields |
  | `task_support:` | `:optional` or `:required`: calls may, or must, run as tasks: `McpServer.Tasks` (`:forbidden`) |
  | `task_start:` | `:handler`: a call becomes a task when its handler returns `McpServer.Controller.as_task/1` (`:call`: at once) |
  | `formats:`, `repair:` | in place of the router's, see above |
  | `tags:` | list of strings; `McpServer.Tools.disable/2` hides tools by tag while the server runs |
  | `execution:`, `meta:` | maps sent as `execution` and `_meta` |
  | `lint:` | `[ignore: [codes]]`: codes of `McpServer.Lint` to ignore for this tool |
  | `result_budget:` | largest answer in bytes, at least 2,048; a larger result is stored by the router's `McpServer.DualResponse.Router.dual_responses/2`, and the client gets a part of it and a link |

  The name is 1 to 128 characters of `A-Za-z0-9_./-`.
  '''
  defmacro tool(name, description \\ [], controller \\ [], function \\ [], options \\ [], block \\ []) do
    arguments = [name, description, controller, function, options, block]
    {[name, description, controller, function], options, block} = Statement.split(arguments)
    {definitions, options} = Access.hoist(options, __CALLER__)

    quote do
      unquote_splicing(definitions)

      ToolDefinition.open!(
        __MODULE__,
        unquote(name),
        unquote(description),
        {unquote(Handler.as_runtime(controller, __CALLER__)), unquote(Handler.as_runtime(function, __CALLER__))},
        unquote(Handler.as_runtime(options, __CALLER__)),
        unquote(Statement.tail(arguments, block != nil)),
        unquote(Refusal.place(__CALLER__))
      )

      unquote(Statement.within(block, [McpServer.Router.ToolBlock, McpServer.Router.FieldBlock]))
      ToolDefinition.close!(__MODULE__)
    end
  end

  @doc """
  Declares a prompt: its name, its description, and a block with the statements of `McpServer.Router.PromptBlock`. `get`
  is required. A prompt with arguments also needs `complete` or `completion: false`.

      prompt "greet", "Greets the user" do
        get MyApp.Prompts, :greet
      end

  | option | meaning |
  |---|---|
  | `authorize:`, `visible:`, `scopes:`, `listed:` | who may use and see the prompt, see "Who sees what" |
  | `completion: false` | the prompt has no completion and no `complete` |
  | `arguments:` | the keys of the arguments: `:strings` or `:atoms`; the router's |
  | `title:` | a name for people |
  | `icons:` | list of `McpServer.Icon` or of their fields |
  | `meta:` | a map sent as `_meta` |
  | `lint:` | `[ignore: [codes]]`: codes of `McpServer.Lint` to ignore for this prompt |
  """
  defmacro prompt(name, description \\ [], options \\ [], block \\ []) do
    arguments = [name, description, options, block]
    {[name, description], options, block} = Statement.split(arguments)
    {definitions, options} = Access.hoist(options, __CALLER__)

    quote do
      unquote_splicing(definitions)

      PromptDefinition.open!(
        __MODULE__,
        unquote(name),
        unquote(description),
        unquote(Handler.as_runtime(options, __CALLER__)),
        unquote(Statement.tail(arguments, true)),
        unquote(Refusal.place(__CALLER__))
      )

      unquote(Statement.within(block, [McpServer.Router.PromptBlock]))
      PromptDefinition.close!(__MODULE__)
    end
  end

  @doc """
  Declares a resource: its name, its URI, and a block with the statements of `McpServer.Router.ResourceBlock`. `read` is
  required.

      resource "readme", "file:///app/README.md" do
        mimeType "text/markdown"
        read MyApp.Files, :read_readme
      end

  A URI with variables (`"https://example.com/users/{id}"`, RFC 6570) is a resource template. `read` is called with the
  values of the variables.

  | option | meaning |
  |---|---|
  | `authorize:`, `visible:`, `scopes:`, `listed:` | who may use and see the resource, see "Who sees what" |
  | `arguments:` | the keys of the variables: `:strings` or `:atoms`; the router's |
  """
  defmacro resource(name, uri \\ [], options \\ [], block \\ []) do
    arguments = [name, uri, options, block]
    {[name, uri], options, block} = Statement.split(arguments)
    {definitions, options} = Access.hoist(options, __CALLER__)

    quote do
      unquote_splicing(definitions)

      ResourceDefinition.open!(
        __MODULE__,
        unquote(name),
        unquote(uri),
        unquote(Handler.as_runtime(options, __CALLER__)),
        unquote(Statement.tail(arguments, true)),
        unquote(Refusal.place(__CALLER__))
      )

      unquote(Statement.within(block, [McpServer.Router.ResourceBlock]))
      ResourceDefinition.close!(__MODULE__)
    end
  end

  @doc """
  Adds a `McpServer.Plug` around calls: of the router, of a `scope/1`, or, in the block of a tool, a prompt or a
  resource, of that entry.

      plug MyApp.Audit
      plug McpServer.RateLimit, limit: 100, per: 60_000
  """
  defmacro plug(module, options \\ []) do
    quote do
      Plugs.put!(
        __MODULE__,
        unquote(Handler.as_runtime(module, __CALLER__)),
        unquote(Handler.as_runtime(options, __CALLER__)),
        unquote(Refusal.place(__CALLER__))
      )
    end
  end

  @doc """
  Includes the tools, prompts and resources of another router, with their handlers, permissions and plugs.

      include MyApp.NotesMCP
      include MyApp.AdminMCP, prefix: "admin_", authorize: {MyApp.Auth, :admin?}

  | option | meaning |
  |---|---|
  | `prefix:` | prefix of each name; URIs of resources do not change (`""`) |
  | `authorize:`, `visible:`, `scopes:`, `listed:` | who may use and see the included entries; checked before the options of an entry: see "Who sees what" |

  A duplicate name or URI is a compile error. The plugs of this router and of the `scope/1` around the statement run
  around the plugs of the included router. Options of the included router's `use`, such as `debug_errors:`, and lists
  that it computes are not included. This router is recompiled when the included router changes.
  """
  defmacro include(router, options \\ []) do
    {definitions, options} = Access.hoist(options, __CALLER__)

    quote do
      unquote_splicing(definitions)

      Include.put!(
        __MODULE__,
        unquote(router),
        unquote(Handler.as_runtime(options, __CALLER__)),
        unquote(Refusal.place(__CALLER__))
      )
    end
  end

  @doc """
  A block of declarations with separate plugs: a `plug/2` in the block applies only to the declarations of the block.

      scope do
        plug MyApp.AdminOnly
        tool "purge", "Deletes all notes", MyApp.Notes, :purge
      end

  Scopes can be nested.
  """
  defmacro scope(do: block) do
    quote do
      Scope.check_outermost!(__MODULE__, "scope", unquote(Refusal.place(__CALLER__)))
      Scope.enter(__MODULE__)
      unquote(Statement.within(block, []))
      Scope.leave(__MODULE__)
    end
  end

  @doc false
  defmacro __before_compile__(env) do
    table = Table.build!(env, Module.get_attribute(env.module, :__mcp_server__))

    [
      quote(do: alias(McpServer.Dispatch.Callbacks)),
      for({key, value} <- table, do: quote(do: def(__mcp__(unquote(key)), do: unquote(Macro.escape(value))))),
      for(
        {list, names} <- Table.lists(),
        name <- names,
        do: list_callback(env.module, list, names, {name, guarded?(table, list)})
      ),
      callbacks()
    ]
  end

  # A list's callback has several names. If the module defines one of them, the other names call it.
  defp list_callback(module, list, names, {name, guarded?}) do
    case Table.own_list(module, names) do
      nil when guarded? or list == :list_tools ->
        quote(do: def(unquote(name)(conn), do: Callbacks.list(__MODULE__, conn, unquote(list))))

      nil ->
        quote(do: def(unquote(name)(_conn), do: {:ok, __mcp__(unquote(key(list)))}))

      own when own != name ->
        quote(do: def(unquote(name)(conn), do: unquote(own)(conn)))

      _own ->
        nil
    end
  end

  # If an entry has access rules, the list differs between clients.
  defp guarded?(table, list),
    do: table |> Map.fetch!(Table.handlers(list)) |> Tuple.to_list() |> Enum.any?(&is_map_key(&1, :access))

  defp key(:list_tools), do: :tools
  defp key(:list_prompts), do: :prompts
  defp key(:list_resources), do: :resources
  defp key(:list_resource_templates), do: :resource_templates

  defp callbacks do
    quote do
      @doc false
      def __mix_recompile__?, do: McpServer.Router.Verify.refused?(__MODULE__)

      def call_tool(conn, name, arguments), do: Callbacks.call_tool(__MODULE__, conn, name, arguments)
      def get_prompt(conn, name, arguments), do: Callbacks.get_prompt(__MODULE__, conn, name, arguments)
      def read_resource(conn, name, variables), do: Callbacks.read_resource(__MODULE__, conn, name, variables)

      def complete_prompt(conn, name, %{"name" => argument, "value" => prefix}),
        do: complete_prompt(conn, name, argument, prefix)

      def complete_prompt(conn, name, argument, prefix),
        do: Callbacks.complete_prompt(__MODULE__, conn, name, argument, prefix)

      def complete_resource(conn, name, %{"name" => variable, "value" => prefix}),
        do: complete_resource(conn, name, variable, prefix)

      def complete_resource(conn, name, variable, prefix),
        do: Callbacks.complete_resource(__MODULE__, conn, name, variable, prefix)
    end
  end

  @doc false
  @spec __after_verify__(module) :: :ok
  def __after_verify__(router), do: Verify.verify!(router)
end
