defmodule McpServer.RouterTest do
  use McpServer.RouterCase, async: true

  alias McpServer.{Annotations, App, Completion, Conn, Content, Icon, Prompt, Resource, ResourceTemplate, Tool}

  doctest McpServer.Router.Uri

  # All forms of declarations in routers of the hex package `mcp_server`.
  defmodule Kitchen do
    use McpServer.Router

    tool "boil", "Boils water", McpServer.Handlers, :echo do
      input_field("litres", "How much", :number, required: false)
      output_field("degrees", "How hot it is", :integer)
    end

    tool "echo", "Says it again", McpServer.Handlers, :echo,
      title: "Echo",
      hints: [:read_only, :non_destructive, :idempotent, :closed_world] do
      input_field("message", "What to say", :string, required: true)
      output_field("response", "What was said", :string)
    end

    tool "cook", "Cooks a meal", McpServer.Handlers, :bare,
      ui: "ui://kitchen/stove",
      visibility: ["model", "app"] do
      input_field "meal", "What to cook", :object, required: true do
        field "name", "Its name", :string, required: true

        field "chef", "Who cooks", :object, required: true do
          field "stars", "How good", :integer, enum: [1, 2, 3], default: 1
        end

        field "steps", "What to do", :array do
          items :object do
            field "text", "In words", :string, required: true
            field "tags", "Labels", :array, items: :string
          end
        end
      end
    end

    prompt "menu", "Suggests a menu" do
      argument("name", "For whom", required: true)
      argument("season", "When")
      get McpServer.Handlers, :greet
      complete McpServer.Handlers, :complete
    end

    resource "recipe", "https://kitchen.example/recipes/{id}" do
      description "A recipe"
      mimeType "application/json"
      title "Recipe"
      read McpServer.Handlers, :read
      complete McpServer.Handlers, :complete
    end

    resource "stove", "ui://kitchen/stove" do
      description "The stove"
      mimeType "text/html;profile=mcp-app"
      read McpServer.Handlers, :read

      csp connect_domains: ["api.kitchen.example"],
          frame_domains: []

      permissions camera: true, clipboard_write: %{}
      app_domain "a.kitchen.example"
      prefers_border false
    end
  end

  describe "the declarations of the hex package" do
    @describetag req: "S4-81"
    test "make these tools, in the order they were declared" do
      assert [boil, echo, cook] = Kitchen.__mcp__(:tools)

      assert boil == %Tool{
               name: "boil",
               description: "Boils water",
               inputSchema: %{
                 "type" => "object",
                 "additionalProperties" => false,
                 "properties" => %{"litres" => %{"type" => "number", "description" => "How much"}}
               },
               outputSchema: %{
                 "type" => "object",
                 "properties" => %{"degrees" => %{"type" => "integer", "description" => "How hot it is"}}
               }
             }

      assert echo.inputSchema["required"] == ["message"]
      assert echo.title == "Echo"

      assert echo.annotations == %Tool.Annotations{
               title: "Echo",
               readOnlyHint: true,
               destructiveHint: false,
               idempotentHint: true,
               openWorldHint: false
             }

      assert cook._meta == %App.Meta{ui: %App.UI{resource_uri: "ui://kitchen/stove", visibility: ["model", "app"]}}
      assert cook.outputSchema == nil

      assert cook.inputSchema == %{
               "type" => "object",
               "required" => ["meal"],
               "additionalProperties" => false,
               "properties" => %{
                 "meal" => %{
                   "type" => "object",
                   "description" => "What to cook",
                   "required" => ["name", "chef"],
                   "additionalProperties" => false,
                   "properties" => %{
                     "name" => %{"type" => "string", "description" => "Its name"},
                     "chef" => %{
                       "type" => "object",
                       "description" => "Who cooks",
                       "additionalProperties" => false,
                       "properties" => %{
                         "stars" => %{
                           "type" => "integer",
                           "description" => "How good",
                           "enum" => [1, 2, 3],
                           "default" => 1
                         }
                       }
                     },
                     "steps" => %{
                       "type" => "array",
                       "description" => "What to do",
                       "items" => %{
                         "type" => "object",
                         "required" => ["text"],
                         "additionalProperties" => false,
                         "properties" => %{
                           "text" => %{"type" => "string", "description" => "In words"},
                           "tags" => %{"type" => "array", "description" => "Labels", "items" => %{"type" => "string"}}
                         }
                       }
                     }
                   }
                 }
               }
             }
    end

    test "make these handlers" do
      assert {%{name: "boil", handler: {McpServer.Handlers, :echo}, timeout: nil, requires: []}, _echo, _cook} =
               Kitchen.__mcp__(:tool_handlers)

      assert Kitchen.__mcp__(:prompt_handlers) ==
               {%{
                  name: "menu",
                  get: {McpServer.Handlers, :greet},
                  complete: {McpServer.Handlers, :complete},
                  arguments: ["name", "season"]
                }}

      assert Kitchen.__mcp__(:resource_handlers) ==
               {%{
                  name: "stove",
                  uri: "ui://kitchen/stove",
                  read: {McpServer.Handlers, :read},
                  view: %{
                    mime_type: "text/html;profile=mcp-app",
                    meta: %App.UIResourceMeta{
                      csp: %{connect_domains: ["api.kitchen.example"], frame_domains: []},
                      permissions: %{camera: true, clipboard_write: %{}},
                      domain: "a.kitchen.example",
                      prefers_border: false
                    }
                  }
                }}

      assert Kitchen.__mcp__(:template_handlers) ==
               {%{
                  name: "recipe",
                  uri_template: "https://kitchen.example/recipes/{id}",
                  read: {McpServer.Handlers, :read},
                  complete: {McpServer.Handlers, :complete},
                  variables: ["id"]
                }}
    end

    test "make these prompts and resources" do
      assert Kitchen.__mcp__(:prompts) == [
               %Prompt{
                 name: "menu",
                 description: "Suggests a menu",
                 arguments: [
                   %Prompt.Argument{name: "name", description: "For whom", required: true},
                   %Prompt.Argument{name: "season", description: "When", required: false}
                 ]
               }
             ]

      assert Kitchen.__mcp__(:resource_templates) == [
               %ResourceTemplate{
                 name: "recipe",
                 uriTemplate: "https://kitchen.example/recipes/{id}",
                 description: "A recipe",
                 mimeType: "application/json",
                 title: "Recipe"
               }
             ]

      assert Kitchen.__mcp__(:resources) == [
               %Resource{
                 name: "stove",
                 uri: "ui://kitchen/stove",
                 description: "The stove",
                 mimeType: "text/html;profile=mcp-app",
                 _meta: %App.Meta{
                   ui: %App.UIResourceMeta{
                     csp: %{connect_domains: ["api.kitchen.example"], frame_domains: []},
                     permissions: %{camera: true, clipboard_write: %{}},
                     domain: "a.kitchen.example",
                     prefers_border: false
                   }
                 }
               }
             ]
    end
  end

  describe "further declarations" do
    @describetag req: "S4-81"
    test "the server says of itself what use was given, or the defaults" do
      assert Kitchen.__mcp__(:server) == %{
               name: inspect(Kitchen),
               version: "0.1.0",
               title: nil,
               description: nil,
               website_url: nil,
               icons: nil,
               instructions: nil,
               ttl: 0,
               cache_scope: :private,
               page_size: 1_000,
               scopes: nil,
               hints: nil,
               context: nil,
               formats: ~w(date date-time email ipv4 ipv6 uri uuid),
               repair: false,
               debug_errors: {:unless_configured, true},
               undeclared: "refuse",
               arguments: "strings",
               schema_limits: %{},
               template_limits: %{},
               system_role: :user
             }

      Code.compile_string("""
      defmodule Described do
        use McpServer.Router, name: "described", icons: [[src: "https://a"]], cache_scope: :public, system_role: "error"
      end
      """)

      assert %{name: "described", icons: [%Icon{src: "https://a"}], cache_scope: :public, system_role: :error} =
               Module.concat([Described]).__mcp__(:server)
    end

    test "the hints of a router are those of tools that say nothing else" do
      Code.compile_string("""
      defmodule Hinted do
        use McpServer.Router, name: "hinted", hints: [:read_only, :closed_world]
        tool "both", "Has them", McpServer.Handlers, :echo
        tool "own", "Has others", McpServer.Handlers, :echo, hints: [:idempotent]
        tool "none", "Has none", McpServer.Handlers, :echo, hints: []
        tool "annotated", "Has annotations", McpServer.Handlers, :echo, annotations: [read_only_hint: false]
      end
      """)

      hints = fn annotations ->
        %{readOnlyHint: read, destructiveHint: destroys, idempotentHint: again, openWorldHint: open} = annotations
        {read, destroys, again, open}
      end

      assert for(tool <- Module.concat([Hinted]).__mcp__(:tools), do: {tool.name, hints.(tool.annotations)}) == [
               {"both", {true, true, false, false}},
               {"own", {false, true, true, true}},
               {"none", {false, true, false, true}},
               {"annotated", {false, true, false, true}}
             ]
    end

    test "a router may be empty" do
      router = router!("")
      for key <- [:tools, :prompts, :resources, :resource_templates, :dynamic], do: assert(router.__mcp__(key) == [])
      assert router.__mcp__(:tool_handlers) == {}
    end

    test "a raw schema goes out verbatim" do
      router =
        router!("""
        @schema %{
          "$schema" => "https://json-schema.org/draft/2020-12/schema",
          "type" => "object",
          "$defs" => %{"address" => %{"$anchor" => "addressDef", "type" => "object"}},
          "properties" => %{"address" => %{"$ref" => "#/$defs/address"}},
          "if" => %{"required" => ["address"]},
          "else" => false,
          "additionalProperties" => false
        }

        tool "raw", "Raw", McpServer.Handlers, :echo, lint: [ignore: [:invalid_enum]] do
          input_schema @schema
          output_schema %{oneOf: [%{type: :object, enum: [nil, %{a: 1.5}]}, true]}
        end

        tool "option", "As options", McpServer.Handlers, :echo,
          input_schema: %McpServer.Schema{type: "object"},
          output_schema: @schema
        """)

      assert [raw, option] = router.__mcp__(:tools)
      assert raw.inputSchema["$defs"]["address"]["$anchor"] == "addressDef"
      assert Map.keys(raw.inputSchema) == ~w($defs $schema additionalProperties else if properties type)
      assert raw.outputSchema == %{"oneOf" => [%{"type" => "object", "enum" => [nil, %{"a" => 1.5}]}, true]}
      assert option.inputSchema == %{"type" => "object"}
      assert option.outputSchema == raw.inputSchema
    end

    test "a raw schema may be JSON text" do
      router =
        router!(~S"""
        tool "raw", "Raw", McpServer.Handlers, :echo, input_schema: ~s({"type": "object", "minProperties": 1})
        """)

      assert [%{inputSchema: %{"type" => "object", "minProperties" => 1}}] = router.__mcp__(:tools)
    end

    test "the keywords of JSON Schema, in either spelling, and extensions verbatim" do
      router =
        router!("""
        tool "t", "T", McpServer.Handlers, :echo, additional_properties: false, lint: [ignore: [:invalid_enum]] do
          input_field "region", "Where", :string, min_length: 1, maxLength: 9, pattern: "^[a-z]+$", "x-mcp-header": "Region"
          input_field "n", nil, :number, minimum: 0, exclusive_maximum: 1.5, default: 0
          input_field "on", "Whether", :boolean, default: false
          input_field :kind, "Kind", :string, enum: [:a, nil], items: nil
          input_field "list", "List", :array, unique_items: true, items: %{type: :string, format: "email"}
          input_field "grid", "Rows", :array do
            items :array, items: :number, min_items: 2
          end
        end
        """)

      assert [%{inputSchema: %{"additionalProperties" => false, "properties" => properties}}] = router.__mcp__(:tools)

      assert properties == %{
               "region" => %{
                 "type" => "string",
                 "description" => "Where",
                 "minLength" => 1,
                 "maxLength" => 9,
                 "pattern" => "^[a-z]+$",
                 "x-mcp-header" => "Region"
               },
               "n" => %{"type" => "number", "minimum" => 0, "exclusiveMaximum" => 1.5, "default" => 0},
               "on" => %{"type" => "boolean", "description" => "Whether", "default" => false},
               "kind" => %{"type" => "string", "description" => "Kind", "enum" => ["a", nil]},
               "list" => %{
                 "type" => "array",
                 "description" => "List",
                 "uniqueItems" => true,
                 "items" => %{"type" => "string", "format" => "email"}
               },
               "grid" => %{
                 "type" => "array",
                 "description" => "Rows",
                 "items" => %{"type" => "array", "minItems" => 2, "items" => %{"type" => "number"}}
               }
             }
    end

    test "required names follow the order of declaration" do
      router =
        router!("""
        tool "t", "T", McpServer.Handlers, :echo do
          for name <- ~w(z a m), do: input_field(name, nil, :string, required: true)
          input_field "b", nil, :string
        end
        """)

      assert [%{inputSchema: %{"required" => ["z", "a", "m"]}}] = router.__mcp__(:tools)
    end

    test "what else a tool can say" do
      router =
        router!("""
        tool "t", "T", McpServer.Handlers, :echo,
          annotations: [read_only_hint: true],
          title: "Tool",
          timeout: 500,
          requires: [:sampling, "roots"],
          icons: [[src: "https://a", sizes: ["any"]]],
          visibility: [:app],
          meta: %{"a" => 1}

        tool "plain", nil, McpServer.Handlers, :echo
        """)

      assert [tool, plain] = router.__mcp__(:tools)
      assert tool.annotations == %Tool.Annotations{title: "Tool", readOnlyHint: true}
      assert tool.icons == [%Icon{src: "https://a", sizes: ["any"]}]
      assert tool._meta == %{"a" => 1, "ui" => %App.UI{resource_uri: nil, visibility: ["app"]}}
      assert {%{timeout: 500, requires: [:sampling, :roots]}, _plain} = router.__mcp__(:tool_handlers)
      assert plain == %Tool{name: "plain", inputSchema: %{"type" => "object", "properties" => %{}}}
    end

    test "what else a prompt and a resource can say" do
      router =
        router!("""
        prompt "p", "P", title: "Prompt", completion: false, icons: [[src: "https://a"]], meta: %{"a" => 1} do
          argument "x", "X", title: "The X"
          get McpServer.Handlers, :greeting
        end

        resource "r", "file:///r" do
          mime_type "text/plain"
          size 0
          icons [[src: "https://a"]]
          annotations audience: [:user]
          meta %{"a" => 1}
          read McpServer.Handlers, :read
        end
        """)

      assert [%Prompt{title: "Prompt", _meta: %{"a" => 1}, arguments: [%{title: "The X"}]}] = router.__mcp__(:prompts)
      assert {%{complete: nil}} = router.__mcp__(:prompt_handlers)

      assert router.__mcp__(:resources) == [
               %Resource{
                 name: "r",
                 uri: "file:///r",
                 mimeType: "text/plain",
                 size: 0,
                 icons: [%Icon{src: "https://a"}],
                 annotations: %Annotations{audience: ["user"]},
                 _meta: %{"a" => 1}
               }
             ]
    end

    test "the fingerprint tells routers apart" do
      body = &"tool \"a\", #{inspect(&1)}, McpServer.Handlers, :echo"
      server = &"use McpServer.Router, name: \"same\"\n#{&1}"
      Code.compile_string("defmodule PrintA do\n#{server.(body.("one"))}\nend")
      Code.compile_string("defmodule PrintB do\n#{server.(body.("one"))}\nend")
      Code.compile_string("defmodule PrintC do\n#{server.(body.("two"))}\nend")
      [a, b, c] = for name <- [PrintA, PrintB, PrintC], do: Module.concat([name]).__mcp__(:fingerprint)
      assert a == b
      assert a != c
      assert a =~ ~r/\A[0-9a-f]{32}\z/
    end
  end

  describe "the callbacks" do
    defmodule Calls do
      use McpServer.Router

      for answer <- [:echo, :bare, :structured, :refuse, :ask, :session, :result] do
        tool to_string(answer), "Answers", McpServer.Handlers, answer
      end

      tool "strict", "Has arguments", McpServer.Handlers, :echo do
        input_field "message", "What", :string, required: true
        input_field "to", "Whom", :string, required: true
      end

      prompt "greet", "Greets" do
        argument "name", "Whom", required: true
        get McpServer.Handlers, :greet
        complete McpServer.Handlers, :complete
      end

      prompt "greeting", "Greets", completion: false do
        argument "mood", "How"
        get McpServer.Handlers, :greeting
      end

      resource "file", "file:///a.txt" do
        read McpServer.Handlers, :read
      end

      resource "gone", "file:///gone" do
        read McpServer.Handlers, :missing
      end

      resource "files", "file:///{name}" do
        read McpServer.Handlers, :read
        complete McpServer.Handlers, :complete
      end

      resource "more", "file:///more/{name}" do
        read McpServer.Handlers, :read
      end
    end

    @conn %Conn{session_id: "s"}

    @tag req: "S4-80"
    test "are those of the behaviour" do
      for {name, arity} <- McpServer.behaviour_info(:callbacks), do: assert(function_exported?(Calls, name, arity))

      assert Enum.sort(McpServer.behaviour_info(:callbacks)) ==
               Enum.sort(
                 list_tools: 1,
                 call_tool: 3,
                 prompts_list: 1,
                 list_prompts: 1,
                 get_prompt: 3,
                 complete_prompt: 3,
                 complete_prompt: 4,
                 list_resources: 1,
                 list_templates_resource: 1,
                 list_resource_templates: 1,
                 read_resource: 3,
                 complete_resource: 3,
                 complete_resource: 4
               )
    end

    @tag req: ["S4-80", "RES-43"]
    test "lists, by both of their names" do
      assert Calls.list_tools(@conn) == {:ok, Calls.__mcp__(:tools)}
      assert Calls.prompts_list(@conn) == {:ok, Calls.__mcp__(:prompts)}
      assert Calls.list_prompts(@conn) == {:ok, Calls.__mcp__(:prompts)}
      assert Calls.list_resources(@conn) == {:ok, Calls.__mcp__(:resources)}
      assert Calls.list_templates_resource(@conn) == {:ok, Calls.__mcp__(:resource_templates)}
      assert Calls.list_resource_templates(@conn) == {:ok, Calls.__mcp__(:resource_templates)}
    end

    @tag req: "S4-06"
    test "call_tool, whatever a handler may answer" do
      assert Calls.call_tool(@conn, "echo", %{"message" => "hi"}) == {:ok, [%Content.Text{text: "hi"}]}
      assert Calls.call_tool(@conn, "bare", %{}) == {:ok, [%Content.Text{text: "bare"}]}
      assert Calls.call_tool(@conn, "session", %{}) == {:ok, [%Content.Text{text: "s"}]}
      assert Calls.call_tool(@conn, "refuse", %{}) == {:error, "No."}
      assert {:ok, %Tool.CallResult{structured_content: %{"x" => 1}}} = Calls.call_tool(@conn, "result", %{})
      assert {:input_required, %{"folders" => _}, 1} = Calls.call_tool(@conn, "ask", %{})

      assert {:ok, %Tool.CallResult{content: [%Content.Text{text: json}], structured_content: %{"n" => 1}}} =
               Calls.call_tool(@conn, "structured", %{})

      assert json == McpServer.JSON.encode!(%{"n" => 1})
    end

    @tag req: "S4-82"
    test "unknown names" do
      assert Calls.call_tool(@conn, "x", %{}) == {:error, "Tool 'x' not found"}
      assert Calls.get_prompt(@conn, "x", %{}) == {:error, "Prompt 'x' not found"}
      assert Calls.complete_prompt(@conn, "x", "a", "") == {:error, "Prompt 'x' not found"}
      assert Calls.read_resource(@conn, "x", %{}) == {:error, "Resource 'x' not found"}
      assert Calls.complete_resource(@conn, "x", "a", "") == {:error, "Resource 'x' not found"}
    end

    @tag req: "S4-73"
    test "missing arguments" do
      assert Calls.call_tool(@conn, "strict", %{"message" => "hi"}) ==
               {:error, ~s(Missing required arguments for tool 'strict': ["to"])}

      assert Calls.call_tool(@conn, "strict", %{}) ==
               {:error, ~s(Missing required arguments for tool 'strict': ["message", "to"])}

      assert Calls.get_prompt(@conn, "greet", %{}) ==
               {:error, "Invalid params: prompt 'greet' needs the arguments: name"}
    end

    @tag req: "S4-80"
    test "get_prompt" do
      assert {:ok, [%Prompt.Message{role: "user", content: %{text: "Hello Ada!"}}]} =
               Calls.get_prompt(@conn, "greet", %{"name" => "Ada"})

      assert {:ok, [%Prompt.Message{role: "assistant"}]} = Calls.get_prompt(@conn, "greeting", %{})
    end

    @tag req: "RES-42"
    test "complete_prompt, with three and with four arguments" do
      completion = %Completion{values: ["name", "A"], total: 2, hasMore: false}
      assert Calls.complete_prompt(@conn, "greet", "name", "A") == {:ok, completion}
      assert Calls.complete_prompt(@conn, "greet", %{"name" => "name", "value" => "A"}) == {:ok, completion}
      assert Calls.complete_prompt(@conn, "greeting", "mood", "A") == {:ok, %Completion{values: []}}

      assert Calls.complete_prompt(@conn, "greet", "age", "") ==
               {:error, "Argument 'age' not found in prompt 'greet'"}
    end

    @tag req: "S4-80"
    test "read_resource, by name or URI" do
      assert {:ok, %Resource.ReadResult{contents: [%{text: "%{}"}]}} = Calls.read_resource(@conn, "file", %{})
      assert Calls.read_resource(@conn, "file:///a.txt", %{}) == Calls.read_resource(@conn, "file", %{})
      assert {:ok, %{contents: [%{text: ~s(%{"name" => "b"})}]}} = Calls.read_resource(@conn, "files", %{"name" => "b"})
      assert Calls.read_resource(@conn, "gone", %{}) == {:error, "Resource 'gone' not found"}
    end

    @tag req: ["S4-34", "S4-78", "RES-42"]
    test "complete_resource, for declared variables only" do
      completion = %Completion{values: ["name", "a"], total: 2, hasMore: false}
      assert Calls.complete_resource(@conn, "files", "name", "a") == {:ok, completion}
      assert Calls.complete_resource(@conn, "file:///{name}", %{"name" => "name", "value" => "a"}) == {:ok, completion}
      assert Calls.complete_resource(@conn, "more", "name", "a") == {:ok, %Completion{values: []}}

      assert Calls.complete_resource(@conn, "files", "id", "") ==
               {:error, "Variable 'id' not found in resource 'files'"}

      assert Calls.complete_resource(@conn, "file", "id", "") == {:error, "Variable 'id' not found in resource 'file'"}
    end
  end

  describe "lists that the router computes" do
    test "win, and are told of" do
      router =
        router!("""
        tool "a", "A", McpServer.Handlers, :echo

        def list_tools(conn), do: {:ok, if(conn.principal, do: __mcp__(:tools), else: [])}
        def prompts_list(_conn), do: {:ok, [:own]}
        def list_resource_templates(_conn), do: {:error, "Not now"}
        """)

      assert router.__mcp__(:dynamic) == [:list_tools, :list_prompts, :list_resource_templates]
      assert router.list_tools(%Conn{}) == {:ok, []}
      assert router.list_tools(%Conn{principal: "ada"}) == {:ok, router.__mcp__(:tools)}
      assert router.list_prompts(%Conn{}) == {:ok, [:own]}
      assert router.list_templates_resource(%Conn{}) == {:error, "Not now"}
      assert router.list_resources(%Conn{}) == {:ok, []}
    end
  end

  @tag req: "S4-40"
  test "a template may serve the views of tools, and is a view itself" do
    router =
      router!("""
      tool "a", "A", McpServer.Handlers, :echo, ui: "ui://app/one"

      resource "views", "ui://app/{view}" do
        read McpServer.Handlers, :read
      end
      """)

    assert [%{_meta: %App.Meta{ui: %App.UI{resource_uri: "ui://app/one"}}}] = router.__mcp__(:tools)
    assert [%{mimeType: "text/html;profile=mcp-app", _meta: nil}] = router.__mcp__(:resource_templates)
  end

  test "the places where things were declared are relative" do
    assert %{place: {"test/mcp_server/router_test.exs", _line}} = hd(Kitchen.__mcp__(:places))
  end
end
