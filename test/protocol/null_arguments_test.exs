defmodule McpServer.Protocol.NullArgumentsTest do
  # Many clients, such as those in Go and those that models write, send `null` for what they do not give.
  use ExUnit.Case, async: true

  defmodule Handlers do
    @moduledoc false
    use McpServer.Controller

    def show(_conn, arguments), do: {:ok, inspect(arguments)}
    def greet(_conn, arguments), do: [message("user", inspect(arguments))]
  end

  defmodule Router do
    @moduledoc false
    use McpServer.Router, name: "nulls"

    tool "book", "Books", Handlers, :show do
      input_field "seats", "How many", :integer, required: true
      input_field "class", "Which class", :string, enum: ["first", "second"]
      input_field "pets", "How many pets", :integer, default: 0
      input_field "on", "Which day", :date

      input_field "meal", "Which meal", :object do
        field "name", "Its name", :string, required: true
        field "note", "A note", :string
      end
    end

    tool "raw", "Shows", Handlers, :show,
      input_schema: %{
        "type" => "object",
        "properties" => %{
          "nullable" => %{"type" => ["string", "null"]},
          "anything" => %{},
          "either" => %{"anyOf" => [%{"type" => "string"}, %{"type" => "integer"}]},
          "one" => %{"const" => 1},
          "must" => %{"type" => "integer"},
          "list" => %{"type" => "array", "items" => %{"type" => "string"}}
        },
        "required" => ["must"]
      }

    prompt "greet", "Greets", completion: false do
      argument "name", "Whom", required: true
      argument "title", "How"
      get Handlers, :greet
    end
  end

  use McpServer.Test, router: Router

  @eras ["2025-11-25", "2026-07-28"]

  defp shown(tool, arguments, revision) do
    {:ok, result} = call_tool(tool, arguments, revision: revision)
    [%{"text" => text}] = result["content"]
    text
  end

  for revision <- @eras do
    @revision revision

    test "#{revision}: null for an optional argument without null counts as absent, whatever its depth" do
      show = &shown("book", &1, @revision)
      given = %{"seats" => 2, "class" => nil, "pets" => nil, "on" => nil}
      assert show.(given) == show.(%{"seats" => 2})
      assert show.(given) == ~s(%{"pets" => 0, "seats" => 2})
      meal = &%{"seats" => 2, "meal" => Map.put(&1, "name", "soup")}
      assert show.(meal.(%{"note" => nil})) == show.(meal.(%{}))
      assert show.(%{"seats" => 2, "meal" => nil}) == show.(%{"seats" => 2})
    end

    test "#{revision}: null for a required argument is refused, and the other nulls are not told" do
      told = "Invalid arguments for tool 'book':\n- /seats: must be an integer (type)"
      assert shown("book", %{"seats" => nil, "pets" => nil}, @revision) == told
      told = "Invalid arguments for tool 'book':\n- /meal/name: must be a string (type)"
      assert shown("book", %{"seats" => 1, "meal" => %{"name" => nil, "note" => nil}}, @revision) == told
    end

    test "#{revision}: null stays where the schema has it, in a list, and where it is not clear" do
      show = &shown("raw", Map.put(&1, "must", 1), @revision)
      assert show.(%{"nullable" => nil, "anything" => nil}) == ~s(%{"anything" => nil, "must" => 1, "nullable" => nil})
      assert show.(%{"nullable" => nil, "one" => nil}) == ~s(%{"must" => 1, "nullable" => nil})
      assert show.(%{"list" => ["a", nil]}) =~ "- /list/1: must be a string (type)"
      assert show.(%{"either" => nil}) =~ "- /either: "
    end

    test "#{revision}: null for an argument of a prompt counts as absent" do
      get = fn arguments -> get_prompt("greet", arguments, revision: @revision) end
      assert {:ok, %{"messages" => [%{"content" => %{"text" => text}}]}} = get.(%{"name" => "Ada", "title" => nil})
      assert text == ~s(%{"name" => "Ada"})
      assert {:error, %{"message" => message}} = get.(%{"name" => nil})
      assert message == "Invalid params: prompt 'greet' needs the arguments: name"
      assert {:error, %{"message" => message}} = get.(%{"name" => "Ada", "title" => 1})
      assert message == "Invalid params: arguments must be an object of strings"
    end
  end
end
