defmodule McpServer.RouterMistakes do
  @moduledoc false
  # What a new user gets wrong in a router: the mistake, the statements from line 3 of `router.ex` on, the line that
  # is refused, and what the author reads.

  @type t :: {mistake :: String.t(), statements :: String.t(), line :: pos_integer, message :: String.t()}

  @doc "Everything."
  @spec all() :: [t]
  def all, do: left_out() ++ misplaced()

  @doc "Arguments that are missing, or in another form."
  @spec left_out() :: [t]
  def left_out do
    [
      {"a tool with a name only", ~s(tool "add"), 3,
       ~s(tool "add" has no description. Write: tool "add", "What it does", MyApp.Tools, :run)},
      {"a tool without description", ~s(tool "add", McpServer.Handlers, :echo), 3,
       ~s(tool "add" has no description. Write: tool "add", "What it does", McpServer.Handlers, :echo)},
      {"a tool without description, with a block", ~s(\ntool "add", McpServer.Handlers, :echo do\nend), 4,
       ~s(tool "add" has no description. Write: tool "add", "What it does", McpServer.Handlers, :echo)},
      {"a tool without a function", ~s(tool "add", "Adds"), 3,
       ~s(tool "add" has no module and function. Write: tool "add", "Adds", MyApp.Tools, :run)},
      {"a tool without a function, with a block",
       ~s(tool "add", "Adds" do\n  input_field "a", "A number", :number\nend), 3,
       ~s(tool "add" has no module and function. Write: tool "add", "Adds", MyApp.Tools, :run)},
      {"a tool with a module only", ~s(tool "add", "Adds", McpServer.Handlers, timeout: 5), 3,
       ~s(tool "add" has no module and function. Write: tool "add", "Adds", McpServer.Handlers, :run)},
      {"a tool whose function is a tuple", ~s(tool "add", "Adds", {McpServer.Handlers, :echo}), 3,
       ~s(tool "add" has no module and function. Write: tool "add", "Adds", McpServer.Handlers, :echo)},
      {"a tool whose function is a capture", ~s(tool "add", "Adds", &McpServer.Handlers.echo/2), 3,
       ~s(tool "add" has no module and function. Write: tool "add", "Adds", McpServer.Handlers, :echo)},
      {"a field with a name only", in_tool(~s(input_field "a")), 4,
       ~s(input field "a" of tool "t" has no description and no type. Write: input_field "a", "What it is", :string)},
      {"a field without description", in_tool(~s(input_field "a", :number, required: true)), 4,
       ~s(input field "a" of tool "t" has no description. Write: input_field "a", "What it is", :number)},
      {"a field without type", in_tool(~s(output_field "a", "A number", required: true)), 4,
       ~s(output field "a" of tool "t" has no type. Write: output_field "a", "A number", :string)},
      {"a field with its type first", in_tool(~s(input_field "a", :number, "A number")), 4,
       ~s(input field "a" of tool "t" has its type before its description. Write: input_field "a", "A number", :number)},
      {"an object without description", in_tool(~s(input_field "o", :object do\n  field "a", "A", :string\nend)), 4,
       ~s(input field "o" of tool "t" has no description. Write: input_field "o", "What it is", :object)},
      {"a field of an object without type", in_object(~s(field "a", "A")), 5,
       ~s(field "a" of input field "o" of tool "t" has no type. Write: field "a", "A", :string)},
      {"items without type", in_tool(~s(input_field "l", "A list", :array do\n  items do\n  end\nend)), 5,
       ~s(the items of input field "l" of tool "t" have no type. Write: items :object)},
      {"a prompt without description", ~s(prompt "greet" do\n  get McpServer.Handlers, :greeting\nend), 3,
       ~s(prompt "greet" has no description. Write: prompt "greet", "What it is for")},
      {"a prompt with options in place of its description",
       ~s(prompt "greet", title: "Greet" do\n  get McpServer.Handlers, :greeting\nend), 3,
       ~s(prompt "greet" has no description. Write: prompt "greet", "What it is for")},
      {"a prompt without a block", ~s(prompt "greet", "Greets"), 3,
       ~s(prompt "greet" needs a function that makes its messages: `get Module, :function`)},
      {"an argument without description", in_prompt(~s(argument "name", required: true)), 4,
       ~s(argument "name" of prompt "greet" has no description. Write: argument "name", "What it is")},
      {"get with a capture", ~s(prompt "greet", "Greets" do\n  get &McpServer.Handlers.greeting/2\nend), 4,
       ~s(`get` of prompt "greet" has no module and function. Write: get McpServer.Handlers, :greeting)},
      {"a resource with a name only", ~s(resource "notes"), 3,
       ~s(resource "notes" has no URI. Write: resource "notes", "https://example.com/notes")},
      {"a resource with a name and a block", ~s(resource "notes" do\n  read McpServer.Handlers, :read\nend), 3,
       ~s(resource "notes" has no URI. Write: resource "notes", "https://example.com/notes")},
      {"a resource without a block", ~s(resource "notes", "notes://all"), 3,
       ~s(resource "notes" needs a function that reads it: `read Module, :function`)},
      {"read with a module only", in_resource("read McpServer.Handlers"), 4,
       ~s(`read` of resource "note" has no module and function. Write: read McpServer.Handlers, :run)},
      {"a variable as Phoenix writes it", ~s(resource "note", "notes://:id" do\n  read McpServer.Handlers, :read\nend),
       3, ~s(the URI of resource "note" is not valid, a variable is written {id}, not :id; got: "notes://:id")},
      {"a variable in angle brackets",
       ~s(resource "note", "https://example.com/<id>/text" do\n  read McpServer.Handlers, :read\nend), 3,
       ~s(the URI of resource "note" is not valid, a variable is written {id}, not <id>; ) <>
         ~s(got: "https://example.com/<id>/text")}
    ]
  end

  @doc "Statements in the block of something else."
  @spec misplaced() :: [t]
  def misplaced do
    [
      {"a tool in a tool", in_tool(~s(tool "inner", "Inner", McpServer.Handlers, :echo)), 4,
       ~s(tool "inner" stands in the block of tool "t". Write it after its `end`)},
      {"a resource in a prompt", in_prompt(~s(resource "r", "a:b" do\n  read McpServer.Handlers, :read\nend)), 4,
       ~s(resource "r" stands in the block of prompt "greet". Write it after its `end`)},
      {"a prompt in a resource", in_resource(~s(prompt "p", "P" do\nend)), 4,
       ~s(prompt "p" stands in the block of resource "note". Write it after its `end`)},
      {"dual_responses in a tool", in_tool("dual_responses MyApp.Results"), 4,
       ~s(dual_responses stands in the block of tool "t". Write it after its `end`)},
      {"field in a tool", in_tool(~s(field "a", "A", :string)), 4,
       ~s(field "a" stands in tool "t" itself. Write `input_field` for an argument, `output_field` for a result)},
      {"items in a tool", in_tool("items :string"), 4,
       ~s(`items` stands in tool "t" itself. It belongs into the block of an :array field)},
      {"output_field in the object of an input_field", in_object(~s(output_field "a", "A", :string)), 5,
       ~s(output_field "a" stands in the block of input field "o" of tool "t". A field of an object is written ) <>
         "`field`; an output field belongs into the block of the tool"},
      {"input_schema in an object", in_object(~s(input_schema %{"type" => "object"})), 5,
       ~s(input_schema stands in the block of input field "o" of tool "t". It belongs into the block of the tool)}
    ]
  end

  defp in_tool(statement), do: ~s(tool "t", "T", McpServer.Handlers, :echo do\n#{statement}\nend)
  defp in_object(statement), do: in_tool(~s(input_field "o", "An object", :object do\n#{statement}\nend))

  defp in_prompt(statement),
    do: ~s(prompt "greet", "Greets", completion: false do\n#{statement}\nget McpServer.Handlers, :greeting\nend)

  defp in_resource(statement), do: ~s(resource "note", "notes://{id}" do\n#{statement}\nend)
end
