defmodule McpServer.ClientServer do
  # A small server for all kinds of clients: it asks questions, reports progress, and has arguments repeated in headers.
  @moduledoc false

  use McpServer.Router, name: "client-test", version: "1.0.0"

  alias McpServer.ClientServer.Handlers

  tool "greet", "Asks for a name and greets", Handlers, :greet

  tool "region", "Repeats what headers repeat", Handlers, :region do
    input_field "region", "A region", :string, required: true, "x-mcp-header": "Region"

    input_field "place", "Where in it", :object, required: true do
      field "zone", "A zone", :integer, required: true, "x-mcp-header": "Zone"
    end
  end

  defmodule Handlers do
    @moduledoc false
    use McpServer.Controller

    @name %{"type" => "object", "properties" => %{"name" => %{"type" => "string"}}, "required" => ["name"]}

    def greet(conn, _arguments) do
      progress(conn, 1, 2, "asking")
      log(conn, :warning, "about to ask")

      case input(conn, "name") do
        nil -> input_required(name: elicit("Who?", @name))
        %{"content" => %{"name" => name}} -> {:ok, [text("Hello, #{name}!")]}
        %{"action" => action} -> {:error, "The user: #{action}"}
      end
    end

    def region(conn, %{"region" => region, "place" => %{"zone" => zone}}),
      do: {:ok, [text("#{region}/#{zone} for #{inspect(conn.principal)}")]}
  end
end
