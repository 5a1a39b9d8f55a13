defmodule McpServer do
  @moduledoc ~S'''
  Model Context Protocol servers: a router names the tools, your functions answer, and a core written
  in Rust checks every message on its way in and out.

  ## Five minutes

  A controller does the work. Its functions get the `McpServer.Conn` and arguments that have been checked:

      defmodule MyApp.Calculator do
        use McpServer.Controller

        def add(_conn, %{"a" => a, "b" => b}), do: {:ok, [text("#{a + b}")]}
      end

  A router says what clients may call:

      defmodule MyApp.MCP do
        use McpServer.Router, name: "calculator", version: "1.0.0"

        tool "add", "Adds two numbers", MyApp.Calculator, :add, hints: [:read_only, :closed_world] do
          input_field "a", "First number", :number, required: true
          input_field "b", "Second number", :number, required: true
        end
      end

  A desktop client starts it with the command `mix mcp.stdio MyApp.MCP`. Over HTTP a supervision tree has it as
  `{McpServer.HttpServer, router: MyApp.MCP, port: 4040}`. In tests, call the router directly, or as a client does with
  `McpServer.Test`:

      iex> MyApp.MCP.call_tool(%McpServer.Conn{}, "add", %{"a" => 1, "b" => 2})
      {:ok, [%McpServer.Content.Text{text: "3"}]}

  ## A tour

  | module | what it is for |
  |---|---|
  | `McpServer.Router` | declares tools, prompts and resources |
  | `McpServer.Controller` | what handlers are written with: content, progress, log messages, questions to the client |
  | `McpServer.Conn` | what a handler knows about its call |
  | `McpServer.Tool.Content`, `McpServer.Tool.CallResult`, `McpServer.Tool.Result` | what tools answer |
  | `McpServer.Prompt.Message`, `McpServer.Completion` | what prompts answer |
  | `McpServer.Resource.Content`, `McpServer.Resource.ReadResult` | what resources answer |
  | `McpServer.Stdio` | serves clients that start the server as a program |
  | `McpServer.Changes` | tells clients that a list or a resource has changed |
  | `McpServer.JSON`, `McpServer.Schema` | JSON and JSON Schema, as the core does them |
  | `McpServer.Telemetry` | the events to watch |
  | `McpServer.Test` | the tests of your server |
  | `McpServer.App.UI`, `McpServer.App.UIResourceMeta`, `McpServer.App.CSP` | interactive views (MCP Apps) |

  ## The callbacks

  This module is the behaviour that routers implement. `use McpServer.Router` generates every callback;
  a router may define the lists itself. Lists by both names answer the same.

  The other callbacks run the function that was declared, in the calling process. They check arguments and permission
  (`authorize:`, `requires:`) as for a client, and convert what the function returns by the same rules. They raise
  `ArgumentError` if it returns a value of the wrong form; an exception of the function is not caught. Output schemas,
  `timeout:` and `result_budget:` are not applied: `McpServer.Test` applies them.
  '''

  alias McpServer.{Completion, Conn, Content, Prompt, Resource, ResourceTemplate, Tool}

  @type conn :: Conn.t()

  @typedoc "Keys are strings."
  @type arguments :: %{String.t() => term}

  @typedoc "Text for the one who asked, or the error of the protocol that the function returned."
  @type error :: {:error, String.t() | McpServer.JsonRpc.Error.t()}

  @typedoc "See `McpServer.Controller.input_required/2`."
  @type input_required :: McpServer.Controller.input_required()

  @type tool_result :: {:ok, [Content.t() | map]} | {:ok, Tool.CallResult.t()} | error | input_required
  @type prompt_result ::
          {:ok, [Prompt.Message.t() | map]} | {:ok, Prompt.GetResult.t()} | error | input_required
  @type read_result :: {:ok, Resource.ReadResult.t()} | error | input_required
  @type completion_result :: {:ok, Completion.t()} | error

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

  @doc "Completes the argument `\"name\"` of a prompt, of which `\"value\"` has been typed."
  @callback complete_prompt(conn, name :: String.t(), argument :: %{String.t() => String.t()}) :: completion_result

  @doc "The same with the argument's name and what has been typed of it apart."
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

  @doc "Completes the variable `\"name\"` of a resource's URI, of which `\"value\"` has been typed."
  @callback complete_resource(conn, name :: String.t(), variable :: %{String.t() => String.t()}) :: completion_result

  @doc "The same with the variable's name and what has been typed of it apart."
  @callback complete_resource(conn, name :: String.t(), variable :: String.t(), prefix :: String.t()) ::
              completion_result
end
