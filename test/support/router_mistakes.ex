defmodule McpServer.RouterMistakes do
  @moduledoc false
  # Typical mistakes of new users in a router: the mistake, the statements from line 3 of `router.ex` on, the line of
  # the error, and its text.

  @type t :: {mistake :: String.t(), statements :: String.t(), line :: pos_integer, message :: String.t()}

  @types "The types are: :string, :number, :integer, :boolean, :object, :array, :null, :date, :time, :datetime, :naive_datetime, :decimal, :uuid, :uri, :text"

  @doc "All mistakes."
  @spec all() :: [t]
  def all, do: left_out() ++ misplaced() ++ misnamed() ++ contradicting()

  @doc "Arguments that are missing or have the wrong form."
  @spec left_out() :: [t]
  def left_out do
    [
      {"a tool with a name only", ~s(tool "add"), 3,
       ~s(tool "add" has no description. Write: tool "add", "What it does", MyApp.Tools, :run)},
      {"a tool without description", ~s(tool "add", McpServer.Handlers, :echo), 3,
       ~s(tool "add" has no description. Write: tool "add", "What it does", McpServer.Handlers, :echo)},
      {"a tool without description, with a block", ~s(\ntool "add", McpServer.Handlers, :echo do\nend), 4,
       ~s(tool "add" has no description. Write: tool "add", "What it does", McpServer.Handlers, :echo do)},
      {"a tool without a function", ~s(tool "add", "Adds"), 3,
       ~s(tool "add" needs a module and the name of a function. Write: tool "add", "Adds", MyApp.Tools, :run)},
      {"a tool without a function, with a block",
       ~s(tool "add", "Adds" do\n  input_field "a", "A number", :number\nend), 3,
       ~s(tool "add" has no function. Write in its block: run fn conn, arguments -> … end, or name a function: ) <>
         ~s(tool "add", "Adds", MyApp.Tools, :run do)},
      {"a tool with a module only", ~s(tool "add", "Adds", McpServer.Handlers, timeout: 5), 3,
       ~s(tool "add" needs a module and the name of a function. Write: tool "add", "Adds", McpServer.Handlers, :run, timeout: 5)},
      {"a tool whose function is a tuple", ~s(tool "add", "Adds", {McpServer.Handlers, :echo}), 3,
       ~s(tool "add" needs a module and the name of a function. Write: tool "add", "Adds", McpServer.Handlers, :echo)},
      {"a tool whose function is a capture", ~s(tool "add", "Adds", &McpServer.Handlers.echo/2), 3,
       ~s(tool "add" needs a module and the name of a function. Write: tool "add", "Adds", McpServer.Handlers, :echo)},
      {"a field with a name only", in_tool(~s(input_field "a")), 4,
       ~s(input field "a" of tool "t" has no description and no type. Write: input_field "a", "What it is", :string)},
      {"a field without description", in_tool(~s(input_field "a", :number, required: true)), 4,
       ~s(input field "a" of tool "t" has no description. Write: input_field "a", "What it is", :number, required: true)},
      {"a field without type", in_tool(~s(output_field "a", "A number", required: true)), 4,
       ~s(output field "a" of tool "t" has no type. #{@types}. Write: output_field "a", "A number", :string, required: true)},
      {"a field with its type first", in_tool(~s(input_field "a", :number, "A number")), 4,
       ~s(input field "a" of tool "t" has its type before its description. Write: input_field "a", "A number", :number)},
      {"an object without description", in_tool(~s(input_field "o", :object do\n  field "a", "A", :string\nend)), 4,
       ~s(input field "o" of tool "t" has no description. Write: input_field "o", "What it is", :object do)},
      {"a field of an object without type", in_object(~s(field "a", "A")), 5,
       ~s(field "a" of input field "o" of tool "t" has no type. #{@types}. Write: field "a", "A", :string)},
      {"items without type", in_tool(~s(input_field "l", "A list", :array do\n  items do\n  end\nend)), 5,
       ~s(the items of input field "l" of tool "t" have no type. Write: items :object do)},
      {"a prompt without description", ~s(prompt "greet" do\n  get McpServer.Handlers, :greeting\nend), 3,
       ~s(prompt "greet" has no description. Write: prompt "greet", "What it is for" do)},
      {"a prompt with options in place of its description",
       ~s(prompt "greet", title: "Greet" do\n  get McpServer.Handlers, :greeting\nend), 3,
       ~s(prompt "greet" has no description. Write: prompt "greet", "What it is for", title: "Greet" do)},
      {"a prompt without a block", ~s(prompt "greet", "Greets"), 3,
       ~s(prompt "greet" has no function that makes its messages. Write in its do block: get MyApp.Prompts, :greet)},
      {"an argument without description", in_prompt(~s(argument "name", required: true)), 4,
       ~s(argument "name" of prompt "greet" has no description. Write: argument "name", "What it is", required: true)},
      {"get with a capture", ~s(prompt "greet", "Greets" do\n  get &McpServer.Handlers.greeting/2\nend), 4,
       ~s(`get` of prompt "greet" needs a module and the name of a function. Write: get McpServer.Handlers, :greeting)},
      {"a resource with a name only", ~s(resource "notes"), 3,
       ~s(resource "notes" has no URI. Write: resource "notes", "https://example.com/notes" do)},
      {"a resource with a name and a block", ~s(resource "notes" do\n  read McpServer.Handlers, :read\nend), 3,
       ~s(resource "notes" has no URI. Write: resource "notes", "https://example.com/notes" do)},
      {"a resource without a block", ~s(resource "notes", "notes://all"), 3,
       ~s(resource "notes" has no function that reads it. Write in its do block: read MyApp.Notes, :read)},
      {"read with a module only", in_resource("read McpServer.Handlers"), 4,
       ~s(`read` of resource "note" needs a module and the name of a function. Write: read McpServer.Handlers, :run)},
      {"a variable as Phoenix writes it", ~s(resource "note", "notes://:id" do\n  read McpServer.Handlers, :read\nend),
       3, ~s(the URI of resource "note" is not valid, a variable is written {id}, not :id; got: "notes://:id")},
      {"a variable in angle brackets",
       ~s(resource "note", "https://example.com/<id>/text" do\n  read McpServer.Handlers, :read\nend), 3,
       ~s(the URI of resource "note" is not valid, a variable is written {id}, not <id>; ) <>
         ~s(got: "https://example.com/<id>/text")}
    ]
  end

  @doc "Statements in the wrong block."
  @spec misplaced() :: [t]
  def misplaced do
    [
      {"a tool in a tool", in_tool(~s(tool "inner", "Inner", McpServer.Handlers, :echo)), 4,
       ~s(tool "inner" stands in the block of tool "t". Move it below the `end` of tool "t")},
      {"a tool in the object of a tool", in_object(~s(tool "inner", "Inner", McpServer.Handlers, :echo)), 5,
       ~s(tool "inner" stands in the block of tool "t". Move it below the `end` of tool "t")},
      {"a resource in a prompt", in_prompt(~s(resource "r", "a:b" do\n  read McpServer.Handlers, :read\nend)), 4,
       ~s(resource "r" stands in the block of prompt "greet". Move it below the `end` of prompt "greet")},
      {"a prompt in a resource", in_resource(~s(prompt "p", "P" do\nend)), 4,
       ~s(prompt "p" stands in the block of resource "note". Move it below the `end` of resource "note")},
      {"dual_responses in a tool", in_tool("dual_responses MyApp.Results"), 4,
       ~s(dual_responses stands in the block of tool "t". Move it below the `end` of tool "t")},
      {"field in a tool", in_tool(~s(field "a", "A", :string)), 4,
       ~s(field "a" stands in tool "t" itself. Write `input_field` for an argument, `output_field` for a result)},
      {"items in a tool", in_tool("items :string"), 4,
       ~s(`items` stands in tool "t" itself. It belongs in the block of an :array field)},
      {"output_field in the object of an input_field", in_object(~s(output_field "a", "A", :string)), 5,
       ~s(output_field "a" stands in the block of input field "o" of tool "t". A field of an object is written ) <>
         "`field`; an output field belongs in the block of the tool"},
      {"input_schema in an object", in_object(~s(input_schema %{"type" => "object"})), 5,
       ~s(input_schema stands in the block of input field "o" of tool "t". It belongs in the block of the tool)}
    ]
  end

  @doc "Unknown names and duplicate names."
  @spec misnamed() :: [t]
  def misnamed do
    [
      {"a hint that is another word", ~s(tool "t", "T", McpServer.Handlers, :echo, hints: [:readonly]), 3,
       ~s(tool "t" has no hint :readonly, did you mean :read_only? The hints are: :read_only, :non_destructive, ) <>
         ":idempotent, :closed_world"},
      {"a hint of the specification that holds without it",
       ~s(tool "t", "T", McpServer.Handlers, :echo, hints: [:destructive]), 3,
       ~s(tool "t" needs no hint :destructive: it is destructive unless it has :non_destructive. Write: hints: [])},
      {"such a hint beside another", ~s(tool "t", "T", McpServer.Handlers, :echo, hints: [:open_world, :idempotent]), 3,
       ~s(tool "t" needs no hint :open_world: its world is open unless it has :closed_world. ) <>
         "Write: hints: [:idempotent]"},
      {"a hint as it is named on the wire", ~s(tool "t", "T", McpServer.Handlers, :echo, hints: ["openWorldHint"]), 3,
       ~s(tool "t" needs no hint "openWorldHint": its world is open unless it has :closed_world. Write: hints: [])},
      {"a hint as an option", ~s(tool "t", "T", McpServer.Handlers, :echo, destructive_hint: true), 3,
       ~s(tool "t" has no option destructive_hint. It is destructive unless you write hints: [:non_destructive])},
      {"a hint as an option that is false", ~s(tool "t", "T", McpServer.Handlers, :echo, openWorldHint: false), 3,
       ~s(tool "t" has no option openWorldHint. Write: hints: [:closed_world])},
      {"a hint of this library as an option", ~s(tool "t", "T", McpServer.Handlers, :echo, read_only_hint: true), 3,
       ~s(tool "t" has no option read_only_hint. Write: hints: [:read_only])},
      {"such a hint as an option that is false", ~s(tool "t", "T", McpServer.Handlers, :echo, idempotent: false), 3,
       ~s(tool "t" has no option idempotent. Remove it: it is false unless you write hints: [:idempotent])},
      {"an annotation that does not exist",
       ~s(tool "t", "T", McpServer.Handlers, :echo, annotations: [destructive_hnt: true]), 3,
       ~s(annotations of tool "t" have no field destructive_hnt, did you mean destructive_hint?)},
      {"an option of a field", in_tool(~s(input_field "a", "A", :string, requred: true)), 4,
       ~s(input field "a" of tool "t" has no option requred, did you mean required?)},
      {"an option of a field that is like none", in_tool(~s(input_field "a", "A", :string, zzz: true)), 4,
       ~s(input field "a" of tool "t" has no option zzz. Its options are: required, items, undeclared, struct, ) <>
         "title, enum, const, default, examples, format, pattern, minLength, maxLength, minimum, maximum, " <>
         "exclusiveMinimum, exclusiveMaximum, multipleOf, minItems, maxItems, uniqueItems, minProperties, " <>
         "maxProperties, additionalProperties, contentEncoding, contentMediaType, deprecated, readOnly, writeOnly"},
      {"an option of a prompt", ~s(prompt "p", "P", tittle: "P" do\n  get McpServer.Handlers, :greeting\nend), 3,
       ~s(prompt "p" has no option tittle, did you mean title?)},
      {"an option of a resource",
       ~s(resource "r", "a:b", mime_type: "text/plain" do\n  read McpServer.Handlers, :read\nend), 3,
       ~s(resource "r" has no option mime_type: it is a statement in its block. Write: mime_type "text/plain")},
      {"a type", in_tool(~s(input_field "a", "A", :interger)), 4,
       ~s(input field "a" of tool "t" has no type :interger, did you mean :integer? #{@types})},
      {"a type of Elixir", in_tool(~s(input_field "a", "A", :map)), 4,
       ~s(input field "a" of tool "t" has no type :map, did you mean :object? #{@types})},
      {"another type of Elixir", in_tool(~s(input_field "a", "A", :float)), 4,
       ~s(input field "a" of tool "t" has no type :float, did you mean :number? #{@types})},
      {"a function of the wrong arity", ~s(tool "t", "T", McpServer.Handlers, :complete), 3,
       ~s[tool "t" names McpServer.Handlers.complete/2, which is not a public function (there is complete/3)]},
      {"the same tool twice", ~s(tool "t", "T", McpServer.Handlers, :echo\ntool "t", "T", McpServer.Handlers, :echo), 4,
       ~s(Tool "t" is already defined, at router.ex:3. Rename or remove one)},
      {"the same field twice", in_tool(~s(input_field "a", "A", :string\ninput_field "a", "A", :string)), 5,
       ~s(input field "a" of tool "t" is already defined, at router.ex:4. Rename or remove one)}
    ]
  end

  @doc "Values that do not fit each other or their purpose."
  @spec contradicting() :: [t]
  def contradicting do
    [
      {"required that is no boolean", in_tool(~s(input_field "a", "A", :string, required: "yes")), 4,
       ~s(expected :required of input field "a" of tool "t" to be a boolean, got: "yes")},
      {"an enum that is no list", in_tool(~s(input_field "a", "A", :string, enum: "a")), 4,
       ~s(expected :enum of input field "a" of tool "t" to be a list, got: "a")},
      {"a default outside the enum", in_tool(~s(input_field "a", "A", :string, enum: ["x"], default: "y")), 4,
       ~s(the default of input field "a" of tool "t" is "y", which its enum does not allow. Write one of its values: ["x"])},
      {"a pattern that cannot be matched", in_tool(~s(\ninput_field "a", "A", :string, pattern: "(")), 5,
       ~s(tool "t": inputSchema: the schema is invalid: /properties/a/pattern: must be a valid regular expression of ) <>
         ~S[limited size without look-around and backreferences, got: "(" (pattern)]},
      {"a timeout in seconds with a unit", ~s(tool "t", "T", McpServer.Handlers, :echo, timeout: "5s"), 3,
       ~s(timeout of tool "t" must be a number of milliseconds above 0, such as 5_000, got: "5s")},
      {"authorize that is a function's name", ~s(tool "t", "T", McpServer.Handlers, :echo, authorize: :admin?), 3,
       ~s(authorize of tool "t" must be {module, function}, {module, function, arguments} or a function, got: :admin?. Write: authorize: {MyApp.Auth, :admin?})},
      {"visible: false, which would hide nothing", ~s(tool "t", "T", McpServer.Handlers, :echo, visible: false), 3,
       ~s(visible of tool "t" must be {module, function}, {module, function, arguments} or a function, got: false. Write: visible: {MyApp.Auth, :allowed?})},
      {"authorize: false, which would guard nothing", ~s(tool "t", "T", McpServer.Handlers, :echo, authorize: false), 3,
       ~s(authorize of tool "t" must be {module, function}, {module, function, arguments} or a function, got: false. Write: authorize: {MyApp.Auth, :allowed?})},
      {"complete of a prompt without arguments",
       ~s(prompt "p", "P" do\n  get McpServer.Handlers, :greeting\n  complete McpServer.Handlers, :complete\nend), 5,
       ~s(`complete` of prompt "p" has nothing to complete: the prompt has no arguments. ) <>
         "Remove `complete`, or declare an `argument`"},
      {"complete of a resource without variables",
       ~s(resource "r", "a:b" do\n  read McpServer.Handlers, :read\n  complete McpServer.Handlers, :complete\nend), 5,
       ~s(`complete` of resource "r" has nothing to complete: "a:b" has no variables. ) <>
         "Remove `complete`, or write a variable in the URI: {id}"},
      {"a resource without read", ~s(resource "r", "a:b" do\n  title "R"\nend), 3,
       ~s(resource "r" has no function that reads it. Write in its do block: read MyApp.Notes, :read)},
      {"a view of a URI with another scheme", ~s(tool "t", "T", McpServer.Handlers, :echo, ui: "https://example.com"),
       3,
       ~s(tool "t": its ui must be the URI of a ui:// resource of this router, such as "ui://app/view", ) <>
         ~s(got: "https://example.com")}
    ]
  end

  defp in_tool(statement), do: ~s(tool "t", "T", McpServer.Handlers, :echo do\n#{statement}\nend)
  defp in_object(statement), do: in_tool(~s(input_field "o", "An object", :object do\n#{statement}\nend))

  defp in_prompt(statement),
    do: ~s(prompt "greet", "Greets", completion: false do\n#{statement}\nget McpServer.Handlers, :greeting\nend)

  defp in_resource(statement), do: ~s(resource "note", "notes://{id}" do\n#{statement}\nend)
end
