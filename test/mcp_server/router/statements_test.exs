defmodule McpServer.Router.StatementsTest do
  # All statements of the DSL compile without warnings in a user's project. Not async: stderr is that of all tests.
  use ExUnit.Case, async: false

  import ExUnit.CaptureIO

  @router ~S'''
  defmodule McpServer.Router.StatementsTest.Presentation do
    use McpServer.Presentation, index: "index", card: "card", secrets: ["hunter2", ~r/s3cr.t/]
    kind "thing:v1", properties: [title: [type: "string"]]
  end

  defmodule McpServer.Router.StatementsTest.MCP do
    use McpServer.Router, name: "statements", version: "1.0.0", lint: [ignore: [:format]]

    dual_responses McpServer.Router.StatementsTest.Results
    plug McpServer.PlugRouter.Trace

    tool "book", "Books a table", McpServer.Handlers, :echo, hints: [:read_only], timeout: 500 do
      input_field "seats", "How many", :integer, required: true, minimum: 1
      input_field "names", "Whose", :array do
        items :string
      end

      input_field "meal", "What to cook", :object do
        field "name", "Its name", :string, required: true
      end

      output_field "table", "Which one", :string
    end

    scope do
      plug McpServer.PlugRouter.Options, name: "here"
      tool "scoped", "Stands in a scope", McpServer.Handlers, :echo
    end

    include McpServer.MetaRouter, prefix: "meta_"

    tool "inline", "Has its function here", hints: [:read_only] do
      input name: {:string, "Whose"}
      output name: {:string, "Whose"}
      run fn _conn, arguments -> {:ok, arguments} end
    end

    tool "given", "Has schemas", McpServer.Handlers, :echo do
      input_schema %{"type" => "object"}
      output_schema %{"type" => "object"}
    end

    prompt "greet", "Greets", title: "Greeting", icons: [[src: "https://a"]], meta: %{"a" => 1} do
      argument "name", "Whom", required: true
      get McpServer.Handlers, :greeting
      complete McpServer.Handlers, :complete
    end

    resource "readme", "file:///readme" do
      title "Readme"
      description "What to know first"
      lint ignore: [:format]
      mimeType "text/plain"
      size 0
      icons [[src: "https://a"]]
      annotations audience: [:user]
      meta %{"a" => 1}
      read McpServer.Handlers, :read
    end

    resource "view", "ui://book/view" do
      description "The view"
      mime_type "text/html;profile=mcp-app"
      csp connect_domains: ["https://api.example.com"]
      permissions geolocation: true
      app_domain "book.example"
      prefers_border false
      read McpServer.Handlers, :read
    end
  end
  '''

  setup do
    on_exit(fn ->
      for name <- [Presentation, MCP], module = Module.concat(__MODULE__, name) do
        :code.purge(module)
        :code.delete(module)
      end
    end)
  end

  test "a project with every statement compiles without a word" do
    {options, _bindings} = Code.eval_file(".formatter.exs")
    statements = options[:locals_without_parens] |> Keyword.keys() |> Enum.uniq()
    assert Enum.reject(statements, &(@router =~ ~r/^ +#{&1} [^=]/m)) == []

    assert capture_io(:stderr, fn -> Code.compile_string(@router, "lib/statements.ex") end) == ""
  end
end
