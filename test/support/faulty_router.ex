defmodule McpServer.FaultyRouter do
  @moduledoc false
  # A router with every fault that `mix mcp.lint` knows. It is compiled from text, so that a test can read the warnings
  # and the compilation of the tests does not print them.

  @source ~S'''
  defmodule Faulty.MCP do
    use McpServer.Router, name: "faulty", instructions: String.duplicate("Read this. ", 200)

    @hints [:read_only]

    tool "sound", "Nothing is wrong with it", McpServer.Handlers, :echo, hints: @hints do
      input_field "words", "What to look for", :string, required: true
    end

    tool "range", "Takes a range", McpServer.Handlers, :echo, hints: @hints do
      input_field "size", "How many", :integer, required: true, minimum: 10, maximum: 5
    end

    tool "closed", "Takes a filter", McpServer.Handlers, :echo,
      hints: @hints,
      input_schema: %{
        "type" => "object",
        "properties" => %{
          "filter" => %{
            "type" => "object",
            "description" => "What is left out",
            "properties" => %{"by" => %{"type" => "string", "description" => "A field"}},
            "required" => ["by", "value"],
            "additionalProperties" => false
          }
        }
      }

    tool "values", "Takes what its schema refuses", McpServer.Handlers, :echo, hints: @hints do
      input_field "count", "How many", :array, items: %{type: :integer, default: "ten"}
      input_field "colour", "Which colour", :string, max_length: 3, examples: ["red", "blue"]
      input_field "mode", "How", :string, enum: ["fast", "gentle"], max_length: 4
    end

    tool "list", "Takes a list of anything", McpServer.Handlers, :echo, hints: @hints do
      input_field "items", "The items", :array
    end

    tool "either", "Takes one of two", McpServer.Handlers, :echo,
      hints: @hints,
      input_schema: %{
        "type" => "object",
        "properties" => %{
          "id" => %{"type" => "string", "description" => "Its id"},
          "name[]" => %{"type" => "string", "description" => "Its name"}
        },
        "oneOf" => [%{"required" => ["id"]}, %{"required" => ["name[]"]}]
      }

    tool "admin.users/list", "Lists users", McpServer.Handlers, :echo, hints: @hints
    tool "get_user", "Gets a user", McpServer.Handlers, :echo, hints: @hints
    tool "getUser", "Gets the user", McpServer.Handlers, :echo, hints: @hints

    tool "forms", "Takes what some clients do not", McpServer.Handlers, :echo,
      hints: @hints,
      input_schema: %{
        "type" => "object",
        "$defs" => %{"tag" => %{"type" => "string"}},
        "properties" => %{
          "anything" => true,
          "level" => %{"type" => "integer", "description" => "From 1 to 3", "enum" => [1, 2, 3]},
          "link" => %{"type" => "string", "description" => "A link", "format" => "uri"},
          "note" => %{"type" => ["string", "null"], "description" => "A note"},
          "order" => %{"description" => "The order", "enum" => ["up", "down"]},
          "tag" => %{"$ref" => "#/$defs/tag"},
          "text" => %{"description" => "A text"},
          "when" => %{"type" => "string", "description" => "When", "not" => %{"const" => "never"}}
        }
      },
      output_schema: %{"type" => "array", "items" => %{"type" => "string"}}

    tool "silent", nil, McpServer.Handlers, :echo do
      input_field "a", nil, :string
    end

    tool "wordy", String.duplicate("It does a lot. ", 80), McpServer.Handlers, :echo, hints: @hints

    prompt "greet", nil do
      argument "name", nil
      get McpServer.Handlers, :greet
      complete McpServer.Handlers, :complete
    end

    resource "me", "users://me" do
      description "Who asks"
      read McpServer.Handlers, :read
    end

    resource "user", "users://{id}" do
      description "A user"
      read McpServer.Handlers, :read
    end

    resource "person", "users://{name}" do
      description "A person"
      read McpServer.Handlers, :read
    end

    resource "posts", "posts://{user}/latest" do
      description "The latest posts of a user"
      read McpServer.Handlers, :read
    end

    resource "post", "posts://news/{id}" do
      read McpServer.Handlers, :read
    end
  end
  '''

  def source, do: @source
end
