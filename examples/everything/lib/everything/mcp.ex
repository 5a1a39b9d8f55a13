defmodule Everything.MCP do
  @moduledoc """
  The server: every kind of tool, prompt and resource there is, for clients to try.

      mix mcp.stdio Everything.MCP
      mix mcp.http Everything.MCP --port 4040
  """
  use McpServer.Router,
    name: "everything",
    version: "1.0.0",
    title: "Everything",
    instructions: "Every tool here exists to exercise a client; none has a side effect."

  alias Everything.{Announce, Ask, Content, Guide, Jobs, Library, Report}

  # What a call can return.

  tool "test_simple_text", "Returns a text", Content, :simple_text
  tool "test_image_content", "Returns an image", Content, :picture
  tool "test_audio_content", "Returns a sound", Content, :sound
  tool "test_embedded_resource", "Returns a resource inside the result", Content, :embedded_resource
  tool "test_multiple_content_types", "Returns a text, an image and a resource", Content, :several
  tool "test_error_handling", "Fails on purpose", Content, :failure

  tool "test_structured_content", "Returns the current weather of a city", Content, :weather,
    hints: [:read_only, :non_destructive, :idempotent, :closed_world] do
    input_field "city", "Name of the city", :string, required: true
    output_field "city", "Name of the city", :string, required: true
    output_field "temperature", "Degrees Celsius", :number, required: true
    output_field "conditions", "What the sky looks like", :string
  end

  # Anthropic's API takes no tool with `allOf` at the root; here it is what clients are to show.
  tool "json_schema_2020_12_tool", "Takes a contact, checked by a JSON Schema of its own", Content, :contact,
    input_schema: Everything.ContactSchema.schema(),
    lint: [ignore: [:root_combinator]]

  tool "test_x_mcp_header", "Takes a region that HTTP clients repeat in a header", Content, :region do
    input_field "region", "Region to work in", :string, required: true, "x-mcp-header": "Region"
  end

  # What happens while a call runs.

  tool "test_tool_with_logging", "Logs three messages", Report, :three_logs
  tool "test_logging_tool", "Logs one message", Report, :one_log
  tool "test_tool_with_progress", "Reports progress three times", Report, :three_steps
  tool "test_reconnection", "Hangs up, and answers a tenth of a second later", Report, :late

  # What a call can ask the client for.

  tool "test_sampling", "Asks the client's model", Ask, :model, requires: [:sampling] do
    input_field "prompt", "What to ask the model", :string, required: true
  end

  tool "test_elicitation", "Asks the user for a name and an address", Ask, :user, requires: [:elicitation] do
    input_field "message", "What to tell the user", :string, required: true
  end

  tool "test_elicitation_sep1034_defaults", "Asks the user with a default of every type", Ask, :defaults
  tool "test_elicitation_sep1330_enums", "Asks the user with every form of a choice", Ask, :choices
  tool "test_missing_capability", "Needs a client with a model", Ask, :nothing, requires: [:sampling]
  tool "test_streaming_elicitation", "Needs no answer of the user", Ask, :nothing
  tool "test_input_required_result_elicitation", "Asks for a name and greets", Ask, :name
  tool "test_input_required_result_sampling", "Asks the model for a capital", Ask, :capital
  tool "test_input_required_result_list_roots", "Asks for the client's roots", Ask, :roots
  tool "test_input_required_result_request_state", "Asks, and keeps a state meanwhile", Ask, :confirmation
  tool "test_input_required_result_multiple_inputs", "Asks for three things at once", Ask, :three_things
  tool "test_input_required_result_multi_round", "Asks twice", Ask, :two_rounds
  tool "test_input_required_result_tampered_state", "Asks, and refuses a forged state", Ask, :confirmation
  tool "test_input_required_result_capabilities", "Asks only for what the client can do", Ask, :supported

  # What makes lists and resources change.

  tool "test_trigger_tool_change", "Announces a change of the tools", Announce, :tools
  tool "test_trigger_prompt_change", "Announces a change of the prompts", Announce, :prompts
  tool "test_trigger_resource_update", "Announces a change of the watched resource", Announce, :watched_resource

  # What takes its time.

  tool "greet", "Greets at once", Jobs, :greet do
    input_field "name", "Whom to greet", :string, required: true
  end

  tool "slow_compute", "Computes for as long as it is told to", Jobs, :compute, task_support: :optional do
    input_field "seconds", "How long", :number, required: true, minimum: 0
    input_field "label", "What to call it", :string
  end

  tool "failing_job", "Fails after a second", Jobs, :fail, task_support: :required
  tool "protocol_error_job", "Ends with a JSON-RPC error", Jobs, :break, task_support: :optional

  tool "confirm_delete", "Asks before it deletes", Jobs, :delete, task_support: :optional do
    input_field "filename", "What to delete", :string, required: true
  end

  tool "multi_input", "Asks for two names at once", Jobs, :two_names, task_support: :optional

  tool "test_tool_with_task", "Asks for a name, then works on", Jobs, :rename,
    task_support: :required,
    task_start: :handler

  prompt "test_simple_prompt", "A prompt without arguments" do
    get Guide, :simple
  end

  prompt "test_prompt_with_arguments", "A prompt with two arguments" do
    argument "arg1", "First argument", required: true
    argument "arg2", "Second argument", required: true
    get Guide, :with_arguments
    complete Guide, :complete_argument
  end

  prompt "test_prompt_with_embedded_resource", "A prompt that contains a resource", completion: false do
    argument "resourceUri", "URI of the resource", required: true
    get Guide, :with_resource
  end

  prompt "test_prompt_with_image", "A prompt that contains an image" do
    get Guide, :with_image
  end

  prompt "test_input_required_result_prompt", "A prompt that asks for its context first" do
    get Guide, :with_context
  end

  resource "static-text", "test://static-text" do
    description "A text that never changes"
    mimeType "text/plain"
    read Library, :static_text
  end

  resource "static-binary", "test://static-binary" do
    description "An image that never changes"
    mimeType "image/png"
    read Library, :static_image
  end

  resource "watched", "test://watched-resource" do
    description "A text whose changes can be watched"
    mimeType "text/plain"
    read Library, :watched
  end

  resource "template", "test://template/{id}/data" do
    description "Data by number"
    mimeType "application/json"
    read Library, :by_id
    complete Library, :complete_id
  end
end
