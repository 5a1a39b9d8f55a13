defmodule McpServer.Router do
  @moduledoc ~S'''
  The table of a server: which tools, prompts and resources it has, and which functions answer.

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
  | `name:` | the server's name | the module's |
  | `version:` | its version | `"0.1.0"` |
  | `title:`, `description:`, `website_url:`, `icons:` | more about it (revision 2025-11-25 on) | |
  | `instructions:` | guidance for the model | |
  | `ttl:` | how long clients may keep a list, in milliseconds (2026-07-28) | `0` |
  | `cache_scope:` | who may share a kept list: `:private` or `:public` (2026-07-28) | `:private` |
  | `page_size:` | entries per page of a list | `1000` |
  | `schema_limits:` | what a tool's schemas may cost, and a check against one: those of `McpServer.Schema.Validator.compile/2` | theirs |
  | `template_limits:` | `max_bytes:` of a URI template and of what is matched against it, `max_variables:` | `8_192`, `32` |
  | `lint:` | `false`: no warnings of `McpServer.Lint` while the router compiles; `[ignore: [codes]]`: codes that it never looks for | |
  | `system_role:` | what becomes of messages of the role `"system"`, which MCP does not have: `:user`, `:assistant`, `:passthrough` or `:error` | `:user` |
  | `formats:` | which formats the strings in a tool's arguments have to have, see below | seven of them |
  | `repair:` | whether arguments that do not fit are repaired, see below | `false` |
  | `debug_errors:` | whether clients are told why a call failed, see below | in `:dev` and `:test` |
  | `undeclared:` | what becomes of arguments that no field declares: `:refuse`, `:drop` or `:pass`, see below | `:refuse` |
  | `arguments:` | the keys of the arguments that a tool's function gets: `:strings` or `:atoms`, see below | `:strings` |
  | `scopes:` | what the token must grant for tools, prompts and resources without `scopes:` of their own | |

  ## Arguments

  A function gets its arguments checked, complete and as Elixir values; `guides/arguments.md` has examples of all this.

    * An argument that no `input_field` declares is refused, and the model is told which one was probably meant. With
      `undeclared: :drop` it is left out, with `:pass` it reaches the function. The option is one of routers, tools
      and fields of the type `:object`, and holds for the objects inside. An object without fields takes any member.
      What is refused is published as `additionalProperties: false`; with `:drop` and `:pass` nothing is published.
    * An argument that is left out has the `default:` of its field. So has a member of an object that was sent.
    * `:date`, `:time`, `:datetime`, `:naive_datetime`, `:decimal` and `:uri` arrive as `Date`, `Time`, `DateTime`,
      `NaiveDateTime`, `Decimal` and `URI` (see `McpServer.Router.FieldBlock.field/5`).
    * With `arguments: :atoms` the keys that are declared are atoms. They are made while the router is compiled;
      no atom is made from what a client sends, so what `undeclared: :pass` lets through keeps strings as keys.
    * With `struct: MyApp.Note` of a tool or an object the arguments arrive as that struct. Its other fields have
      their defaults. That each argument is a field of the struct is checked when everything has been compiled.

  A schema given whole, as `input_schema:`, is published as it is. Defaults in its `properties`, and in those of its
  `properties` and `items`, are filled in; `arguments:` and `struct:` hold for it, `undeclared:` does not.

  ## Formats of arguments

  A tool that declares `format: "date"` gets a date: arguments with another string are refused before its function is
  called, and the model is told `/on: must be a date such as 2026-01-31 (format)`. By default these formats are
  checked: `date`, `date-time`, `email`, `ipv4`, `ipv6`, `uri` and `uuid`. They have one spelling, the one that
  `Date.from_iso8601/1` and the like take. Other formats are not checked. If the server refused a value that its author
  would accept, the model could not correct it: `"09:30"` is a `time` to most people, but RFC 3339 requires an offset.

  `formats: :assert` checks every format that the schema's draft knows (`McpServer.Schema.Validator` lists them),
  `formats: :annotate` checks none, and a list checks the formats in it. A tool's own `formats:` replaces the router's. The
  result of a tool is never refused for a format.

  ## Repair

  With `repair: true`, for all tools or for one, wrong arguments are repaired if the schema makes clear what was meant.
  Examples: `"42"` for a number, `"true"` for a boolean, JSON text for an object or array, one value for a list of such
  values. `McpServer.Schema.Validator.repair/2` has the exact rules. The function is called with the repaired arguments; each such call is counted
  (`[:mcp_server, :arguments, :repaired]` of `McpServer.Telemetry`). Arguments that fit are not repaired. If
  anything stays wrong, the model is told what was wrong with the arguments as it sent them. Values read from strings
  count towards the server's `max_depth`, `max_values` and `max_digits`.

  ## Who sees what

  `authorize:` and `visible:` of a tool, a prompt or a resource name a function that says whether a client may use it, or
  know of it. It is `{module, function}`, `{module, function, arguments}`, a capture or an `fn`, and is called in the
  process of the call, with the `McpServer.Conn` or with the conn and the arguments, and then with `arguments`:

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
  | `true`, `:ok`, `{:ok, term}` | the client may |
  | `false`, `:forbidden`, `{:error, :forbidden}` | it may not |
  | `{:error, "text"}` | it may not, and is told that text |
  | `{:error, {:insufficient_scope, ["scope"]}}` | not yet: over HTTP the status is 403, with a challenge that names the scopes |
  | anything else | the call fails, and the log says why |

  What a function of the conn alone refuses is refused for everything, so to this client it does not exist: it is not
  listed, and using it is answered as an unknown name is, byte for byte, whatever the arguments. Functions of the conn
  and the arguments are asked when something is used: what they refuse is listed. `visible:` hides, `authorize:` refuses:

  | refused by | listed | answered |
  |---|---|---|
  | `authorize:`, a function of the conn | no | as an unknown name |
  | the same with `listed: :always` | yes | `Forbidden`, or the text |
  | `authorize:`, a function of the conn and the arguments | yes | `Forbidden`, or the text |
  | `scopes:`, or `authorize:` for a scope that is missing | yes | `Forbidden`, and the scopes |
  | `scopes:` with `listed: :granted` | no | as an unknown name |
  | `visible:`, a function of the conn | no | as an unknown name |
  | `visible:`, a function of the conn and the arguments | yes | as an unknown name |

  `Forbidden` is an error, over HTTP with the status 403; a text is what the model reads of a tool, and the error's message
  elsewhere. The arguments are those of the tool or the prompt, the variables of a resource's URI, or, where
  something is completed, what the client has filled in already. The function of a resource finds the URI with
  `McpServer.Conn.get_private(conn, :uri)`.

  A subscription, by `resources/subscribe` or in the filter of `subscriptions/listen`, is answered for a URI that the
  client may not read as for a missing one. The functions are called once for it, and not again for each change: a
  notification says only that something has changed behind a URI that the client knows.

  Lists that are not the same for every client have the cache scope `private`. The functions of the conn are called once
  for each such list. A function that raises or returns no verdict hides its entry from the list, and the log has the error.
  If it is a function of `visible:`, the entry is hidden from calls as well. A list of a router that has none of this calls
  nothing. An `fn` cannot use variables of a `for` around the declaration: give them as `arguments`.

  ## Failed calls

  A function that raises, or returns what it should not, is a failed call. The log has a line about it, and
  the client gets the id of that line. With `debug_errors: true` the client gets the text as well: which function it was,
  what it returned in outline and what is allowed, or what it raised. That is the default for a router that is compiled in Mix's
  environments `:dev` and `:test`; `config :mcp_server, debug_errors: false` changes it for all routers without the option.
  It is decided when the router is compiled, so a router that was compiled with `MIX_ENV=prod` says nothing.

  A call that has timed out, or whose result is too large, says so to everyone, and that less can be asked for.

  ## Around calls

  `plug/2` puts code around the handlers: see `McpServer.Plug`, `McpServer.RateLimit` and `McpServer.Log`.

  ## Mistakes

  A mistake is a `CompileError` at its own line that says what was given and what is allowed: names given
  twice, types that JSON Schema does not have, options that do not exist, a prompt without `get`, an invalid
  URI, a schema that cannot be compiled. After all modules are compiled, the router
  checks that the named functions exist. So a change in a controller does not recompile the router, but a missing
  function stops the build, with an error at its own line. A missing `complete` of a resource is only a warning.
  Declarations that no client can use are warnings too: see `McpServer.Lint`.

  ## Generated functions

  The callbacks of `McpServer`. They call your functions in the calling process and are meant for tests
  and for your own code. They check arguments and permission as for a client, and convert results by the same rules. They
  raise `ArgumentError` if the function returns a value of the wrong form; an exception of the function is not caught.
  Output schemas, `timeout:` and `result_budget:` are not applied: `McpServer.Test` applies them.

      iex> {:ok, result} = MyApp.MCP.call_tool(%McpServer.Conn{}, "add", %{"a" => 1, "b" => 2})

  A list that is not known before it is asked for is computed by the router itself: define `list_tools/1`,
  `list_prompts/1`, `list_resources/1` or `list_resource_templates/1` in the module, and clients get what
  it returns. The tools and prompts that clients call still have to be declared. For lists that depend on who asks
  `visible:` is shorter, and also decides about the calls.

      def list_resources(_conn) do
        {:ok, for(file <- File.ls!("notes"), do: McpServer.Resource.new(name: file, uri: "notes://#{file}"))}
      end

  `__mcp__/1` gives the table as data: `:server`, `:tools`, `:prompts`, `:resources`, `:resource_templates` (the
  structs in the order of declaration), `:tool_handlers`, `:prompt_handlers`, `:resource_handlers`,
  `:template_handlers`, `:overflow` (what keeps larger results), `:hooks` (the functions of `authorize:` and `visible:`), `:dynamic` (lists the router computes), `:structs` (those that arguments become), `:lint` and `:fingerprint`.
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
        Server.new!(__MODULE__, unquote(options), unquote(Refusal.place(__CALLER__))),
        unquote(Refusal.place(__CALLER__))
      }
    end
  end

  @doc ~S'''
  Declares a tool: its name, what it does, and the function that is called with the `McpServer.Conn` and
  the checked arguments.

      tool "read_file", "Reads a file", MyApp.Files, :read, title: "File reader", hints: [:read_only] do
        input_field "path", "Path of the file", :string, required: true
      end

  The function is `Module, :function`, or `:function` of the router's own module, or stands in the block, as
  `McpServer.Router.ToolBlock.run/1`:

      tool "add", "Adds two numbers" do
        input a: {:number, "First", required: true}, b: {:number, "Second", required: true}
        run fn _conn, %{"a" => a, "b" => b} -> "#{a + b}" end
      end

  The block has the statements of `McpServer.Router.ToolBlock`; without one the tool declares no arguments.

  | option | meaning |
  |---|---|
  | `title:` | a name for people |
  | `hints:` | list of `:read_only`, `:non_destructive`, `:idempotent`, `:closed_world` |
  | `annotations:` | a `McpServer.Tool.Annotations` or its fields, in place of `hints:` |
  | `timeout:` | how long a call may take, in milliseconds |
  | `cancel_grace:` | how long the handler may clean up when its call is cancelled or has timed out, in milliseconds; at most 60,000 (0: it is killed); see `McpServer.Controller` |
  | `requires:` | list of `:sampling`, `:elicitation`, `:roots`: clients without are refused |
  | `authorize:`, `visible:` | functions that say for whom the tool is, see "Who sees what" |
  | `scopes:` | what the token must grant, `["files:write"]`; asked over HTTP only, before `authorize:`; `:public`: nothing, not even a token where `anonymous: :all` says so; `[]`: any token, where the router has `scopes:`; see `McpServer.Auth` |
  | `listed:` | `:always`: it is listed for those too whom `authorize:` refuses; `:granted`: it is hidden from those who lack its `scopes:` |
  | `ui:` | URI of the `ui://` resource that renders the result (`McpServer.App`) |
  | `visibility:` | list of `:model` and `:app`: for whom it is (both) |
  | `input_schema:`, `output_schema:` | JSON Schemas, in place of fields; or fields that are declared elsewhere: `{McpServer.Ecto, MyApp.Note, only: [:title]}` (`McpServer.Ecto`), `{NimbleOptions, schema}` |
  | `undeclared:`, `arguments:` | in place of the router's, see above |
  | `struct:` | the struct that the arguments become, see above |
  | `additional_properties:` | the keyword as it is published: `true` or `false`, in place of `undeclared:` |
  | `icons:` | list of `McpServer.Icon` or of their fields |
  | `task_support:` | `:optional` or `:required`: calls may, or must, run as tasks: `McpServer.Tasks` (`:forbidden`) |
  | `task_start:` | `:handler`: a call becomes a task when its handler says so (`:call`: at once) |
  | `formats:`, `repair:` | in place of the router's, see above |
  | `tags:` | list of strings by which `McpServer.Tools.disable/2` hides the tool while the server runs |
  | `execution:`, `meta:` | maps that go out as `execution` and `_meta` |
  | `lint:` | `[ignore: [codes]]`: codes of `McpServer.Lint` that are not looked for in this tool |
  | `result_budget:` | bytes of an answer above which the result is kept by the router's `McpServer.DualResponse.Router.dual_responses/2`, and a part of it goes out with a link; at least 2,048 |

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
  Declares a prompt: its name, what it is for, and in its block the statements of
  `McpServer.Router.PromptBlock`. `get` has to be there, and where there are arguments `complete` too.

      prompt "greet", "Greets the user" do
        get MyApp.Prompts, :greet
      end

  | option | meaning |
  |---|---|
  | `authorize:`, `visible:`, `scopes:`, `listed:` | for whom the prompt is, see "Who sees what" |
  | `completion: false` | the prompt completes none of its arguments, and has no `complete` |
  | `title:` | a name for people |
  | `icons:` | list of `McpServer.Icon` or of their fields |
  | `meta:` | a map that goes out as `_meta` |
  | `lint:` | `[ignore: [codes]]`: codes of `McpServer.Lint` that are not looked for in this prompt |
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
  Declares a resource: its name, its URI, and in its block the statements of
  `McpServer.Router.ResourceBlock`, of which `read` has to be there.

      resource "readme", "file:///app/README.md" do
        mimeType "text/markdown"
        read MyApp.Files, :read_readme
      end

  With variables in it (`"https://example.com/users/{id}"`, RFC 6570), the URI stands for many
  resources, and `read` is called with their values.

  | option | meaning |
  |---|---|
  | `authorize:`, `visible:`, `scopes:`, `listed:` | for whom the resource is, see "Who sees what" |
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
  Puts a `McpServer.Plug` around calls: of the whole router, of a `scope/1`, or, in the block of a tool, a prompt or a
  resource, of that one.

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
  Declares here what another router declares: its tools, prompts and resources, with their handlers, permissions and plugs.

      include MyApp.NotesMCP
      include MyApp.AdminMCP, prefix: "admin_", authorize: {MyApp.Auth, :admin?}

  | option | meaning |
  |---|---|
  | `prefix:` | stands before each name; URIs of resources stay (`""`) |
  | `authorize:`, `visible:`, `scopes:`, `listed:` | for whom all of it is, asked before what a declaration says itself: see "Who sees what" |

  A name or a URI that is there twice is a compile error. The plugs of this router and of the `scope/1` around the statement
  stand around those of the other one. What the other router says with options of `use`, such as
  `debug_errors:`, and lists that it computes itself are not included. This router is compiled again when the other one
  changes.
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
  A block of declarations with plugs of its own: a `plug/2` in it is around what the block declares, and nothing else.

      scope do
        plug MyApp.AdminOnly
        tool "purge", "Deletes all notes", MyApp.Notes, :purge
      end

  Scopes can stand in scopes.
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

  # A list goes under all its names: what the module defines under one of them, the others call.
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

  # Of such a list every client gets what it may know of.
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
