defmodule McpServer.Test do
  @moduledoc """
  Tests a router through the same code as the messages of a real client.

      defmodule MyApp.MCPTest do
        use ExUnit.Case, async: true
        use McpServer.Test, router: MyApp.MCP

        test "adds" do
          assert {:ok, %{"content" => [%{"text" => "3"}]}} = call_tool("add", %{"a" => 1, "b" => 2})
        end

        test "refuses text" do
          assert {:ok, %{"isError" => true}} = call_tool("add", %{"a" => "1", "b" => 2})
        end

        test "asks for the name" do
          answers = %{"elicitation/create" => %{"action" => "accept", "content" => %{"name" => "Ada"}}}
          assert {:ok, %{"content" => [%{"text" => "Hello, Ada!"}]}} = call_tool("greet", %{}, answers: answers)
        end
      end

  `use McpServer.Test, router: R` defines the functions below in the test module, without their first parameter, the
  router. Other options of `use` are defaults for all functions.

  ## Results

  Results are decoded JSON, as a client sees them. Keys are strings.

    * `{:ok, result}` – for tools also results with `"isError" => true`
    * `{:error, %{"code" => …, "message" => …}}` – a JSON-RPC error
    * `{:input_required, [%{"method" => …, "params" => …}]}` – the handler asked the client for input, and no
      `answers:` were given

  Notifications arrive in the mailbox of the test, as `{:mcp_notification, method, params}`:

      call_tool("import", %{}, progress_token: "p")
      assert_received {:mcp_notification, "notifications/progress", %{"progress" => 1}}

  ## Options

  #{McpServer.Options.document(McpServer.Test.Options.client())}
  Options of `McpServer.Stdio`, such as `:timeout` and `:limits`, are also allowed.

  Handlers run in separate processes. The test process is among their `$callers`, so an Ecto sandbox or a Mox
  expectation of the test applies to them.
  """

  @compile {:no_warn_undefined, ExUnit.Assertions}

  alias McpServer.Test.{Client, Options, Subscribing}

  @typedoc "The router that gets the request."
  @type target :: module()

  @typedoc "A transport that `connect/2` has opened."
  @opaque client :: Client.t()

  @type result :: {:ok, map()} | {:error, map()} | {:input_required, [map()]}

  @doc false
  defmacro __using__(options) do
    {router, defaults} = Keyword.pop!(options, :router)

    quote do
      import McpServer.Test,
        only: [assert_content: 2, assert_tool_error: 1, assert_tool_error: 2, disconnect: 1, subscribe: 2]

      @mcp_test_defaults unquote(defaults)

      def connect(options \\ []),
        do: McpServer.Test.connect(unquote(router), mcp_test_options(options))

      def call_tool(name, arguments \\ %{}, options \\ []),
        do: McpServer.Test.call_tool(unquote(router), name, arguments, mcp_test_options(options))

      def get_prompt(name, arguments \\ %{}, options \\ []),
        do: McpServer.Test.get_prompt(unquote(router), name, arguments, mcp_test_options(options))

      def read_resource(uri, options \\ []),
        do: McpServer.Test.read_resource(unquote(router), uri, mcp_test_options(options))

      def complete_prompt(name, argument, prefix, options \\ []),
        do: McpServer.Test.complete_prompt(unquote(router), name, argument, prefix, mcp_test_options(options))

      def complete_resource(template, variable, prefix, options \\ []),
        do: McpServer.Test.complete_resource(unquote(router), template, variable, prefix, mcp_test_options(options))

      def list_tools(options \\ []),
        do: McpServer.Test.list_tools(unquote(router), mcp_test_options(options))

      def list_prompts(options \\ []),
        do: McpServer.Test.list_prompts(unquote(router), mcp_test_options(options))

      def list_resources(options \\ []),
        do: McpServer.Test.list_resources(unquote(router), mcp_test_options(options))

      def list_resource_templates(options \\ []),
        do: McpServer.Test.list_resource_templates(unquote(router), mcp_test_options(options))

      def request(message, options \\ []),
        do: McpServer.Test.request(unquote(router), message, mcp_test_options(options))

      defp mcp_test_options(options), do: McpServer.Test.with_defaults(options, @mcp_test_defaults)
    end
  end

  # A client of `connect/2` was opened with the defaults, or with what precedes them.
  @doc false
  @spec with_defaults(keyword(), keyword()) :: keyword()
  def with_defaults(options, defaults), do: if(options[:on], do: options, else: options ++ defaults)

  @doc """
  Opens a transport for several requests; pass it as `on:`. It lives as long as the test. With `url:` it is one to a
  server over HTTP, such as the endpoint of a Phoenix application, with `server: true` in the tests' configuration.

      client = connect(revision: "2025-11-25")
      assert {:ok, _added} = call_tool("add_to_cart", %{"book" => "dune"}, on: client)
      assert {:ok, _cart} = call_tool("show_cart", %{}, on: client)
  """
  @spec connect(target(), keyword()) :: client
  def connect(router, options \\ []), do: Client.open(router, once(options))

  @doc "Closes a transport of `connect/2`, like a client that disconnects. Returns after the server has closed it."
  @spec disconnect(client) :: :ok
  defdelegate disconnect(client), to: Client, as: :close

  @doc """
  Subscribes a client of `connect/2` to changes of these resources, by their URIs, and of the lists `:tools`, `:prompts` and
  `:resources`. The client hears of every change after that.

      client = connect()
      :ok = subscribe(client, ["config://app", :tools])
      McpServer.Changes.resource_updated(MyApp.MCP, "config://app")
      assert_receive {:mcp_notification, "notifications/resources/updated", %{"uri" => "config://app"}}

  It sends `subscriptions/listen`, or `resources/subscribe` for each URI in a session, whose client always hears of changed
  lists. Returns the error of the server. For a stream, which leaves out what this client must not hear of or the server
  does not have, the error says what it leaves out.
  """
  @spec subscribe(client, String.t() | [String.t() | :tools | :prompts | :resources]) :: :ok | {:error, map()}
  def subscribe(client, changes), do: Subscribing.subscribe(client, List.wrap(changes))

  @doc """
  A request as a client of 2026-07-28 posts it to an endpoint: its headers and its body. For tests of an endpoint, with
  `Phoenix.ConnTest` or an HTTP client.

      {headers, body} = http_request("tools/call", %{"name" => "add", "arguments" => %{"a" => 1, "b" => 2}})

      conn = Enum.reduce(headers, conn, fn {name, value}, conn -> put_req_header(conn, name, value) end)
      assert %{"result" => %{"content" => [%{"text" => "3"}]}} = conn |> post("/mcp", body) |> json_response(200)

  The host of a request of `Phoenix.ConnTest` is `www.example.com`, which the endpoint refuses unless it is in
  `allowed_hosts:`. Write `%{conn | host: "localhost"}`.

  Requests of a session depend on each other, and are answered with events: test those with `connect/2` and `url:`.

  Options are `:client_capabilities`, `:client_info`, `:progress_token`, `:log_level` and `:meta`, as above.
  """
  @doc group: "Endpoints"
  @spec http_request(String.t(), map(), keyword()) :: {[{String.t(), String.t()}], String.t()}
  def http_request(method, params \\ %{}, options \\ []), do: Client.http_request(method, params, once(options))

  @doc "Calls a tool."
  @spec call_tool(target(), String.t(), map(), keyword()) :: result()
  def call_tool(router, name, arguments \\ %{}, options \\ []),
    do: call(router, "tools/call", %{"name" => name, "arguments" => arguments}, options)

  @typedoc "A text to equal, a regex to match, or members that a block of content must have."
  @type expected :: String.t() | Regex.t() | %{String.t() => term()}

  @doc """
  Asserts that a tool has succeeded and that a block of its content is as expected. Returns the block.

      assert_content call_tool("add", %{"a" => 1, "b" => 2}), "3"
      assert_content call_tool("chart"), %{"type" => "image", "mimeType" => "image/png"}
  """
  @doc group: "Assertions"
  @spec assert_content(result(), expected()) :: map()
  def assert_content({:ok, %{"content" => content} = result}, expected) do
    if result["isError"] == true, do: fail("The tool has failed", result)
    Enum.find(content, &as_expected?(&1, expected)) || fail("No content is #{inspect(expected)}", result)
  end

  def assert_content(other, _expected), do: fail("That is no result of a tool", other)

  @doc """
  Asserts that a tool has failed: a result with `isError` whose text equals or matches `expected`. Returns the text.

      assert_tool_error call_tool("add", %{"a" => "one"}), ~r{/a: must be a number}
  """
  @doc group: "Assertions"
  @spec assert_tool_error(result(), String.t() | Regex.t()) :: String.t()
  def assert_tool_error(result, expected \\ ~r//)

  def assert_tool_error({:ok, %{"isError" => true, "content" => content} = result}, expected) do
    text = Enum.map_join(content, "\n", &Map.get(&1, "text", ""))
    if as_expected?(%{"text" => text}, expected), do: text, else: fail("The text is not #{inspect(expected)}", result)
  end

  def assert_tool_error(other, _expected), do: fail("The tool has not failed", other)

  defp as_expected?(%{"text" => text}, expected) when is_binary(expected), do: text == expected
  defp as_expected?(%{"text" => text}, %Regex{} = expected), do: text =~ expected
  defp as_expected?(_block, expected) when is_binary(expected) or is_struct(expected), do: false
  defp as_expected?(block, expected), do: Map.take(block, Map.keys(expected)) == expected

  @spec fail(String.t(), term()) :: no_return()
  defp fail(sentence, given), do: ExUnit.Assertions.flunk("#{sentence}:\n\n#{inspect(given, pretty: true)}")

  @doc "Gets a prompt."
  @spec get_prompt(target(), String.t(), map(), keyword()) :: result()
  def get_prompt(router, name, arguments \\ %{}, options \\ []),
    do: call(router, "prompts/get", %{"name" => name, "arguments" => arguments}, options)

  @doc "Reads a resource."
  @spec read_resource(target(), String.t(), keyword()) :: result()
  def read_resource(router, uri, options \\ []), do: call(router, "resources/read", %{"uri" => uri}, options)

  @doc "Completes an argument of a prompt; `{:ok, %{\"values\" => …}}`."
  @spec complete_prompt(target(), String.t(), String.t(), String.t(), keyword()) :: result()
  def complete_prompt(router, name, argument, prefix, options \\ []),
    do: complete(router, %{"type" => "ref/prompt", "name" => name}, argument, prefix, options)

  @doc "Completes a variable of a resource template, named by its URI template; `{:ok, %{\"values\" => …}}`."
  @spec complete_resource(target(), String.t(), String.t(), String.t(), keyword()) :: result()
  def complete_resource(router, template, variable, prefix, options \\ []),
    do: complete(router, %{"type" => "ref/resource", "uri" => template}, variable, prefix, options)

  defp complete(router, reference, name, prefix, options) do
    params = %{"ref" => reference, "argument" => %{"name" => name, "value" => prefix}}

    with {:ok, %{"completion" => completion}} <- call(router, "completion/complete", params, options),
         do: {:ok, completion}
  end

  @doc "All tools, page by page; `{:ok, tools}`."
  @spec list_tools(target(), keyword()) :: {:ok, [map()]} | {:error, map()}
  def list_tools(router, options \\ []), do: list(router, "tools/list", "tools", options)

  @doc "All prompts, page by page; `{:ok, prompts}`."
  @spec list_prompts(target(), keyword()) :: {:ok, [map()]} | {:error, map()}
  def list_prompts(router, options \\ []), do: list(router, "prompts/list", "prompts", options)

  @doc "All resources, page by page; `{:ok, resources}`."
  @spec list_resources(target(), keyword()) :: {:ok, [map()]} | {:error, map()}
  def list_resources(router, options \\ []), do: list(router, "resources/list", "resources", options)

  @doc "All resource templates, page by page; `{:ok, templates}`."
  @spec list_resource_templates(target(), keyword()) :: {:ok, [map()]} | {:error, map()}
  def list_resource_templates(router, options \\ []),
    do: list(router, "resources/templates/list", "resourceTemplates", options)

  @doc """
  Sends one message and returns the complete answer: `%{"jsonrpc" => "2.0", "id" => …, "result" => …}`, a list for a
  batch, `:none` for a message without an answer.

  A binary is sent unchanged. A map is encoded; `"jsonrpc"` and, on 2026-07-28, the `_meta` of every request are added
  if missing.
  """
  @spec request(target(), map() | binary(), keyword()) :: map() | [map()] | :none | {:input_required, [map()]}
  def request(router, message, options \\ []), do: with_client(router, options, &Client.raw(&1, message))

  defp call(router, method, params, options), do: with_client(router, options, &Client.call(&1, method, params))

  defp list(router, method, member, options),
    do: with_client(router, options, &McpServer.Client.list(&1, method, member))

  defp with_client(router, options, fun) do
    if client = options[:on] do
      fun.(Client.configure(client, once(options)))
    else
      client = Client.open(router, once(options))
      result = fun.(client)
      :ok = Client.close(client)
      result
    end
  end

  # Options of the call precede the defaults of `use`.
  defp once(options) do
    :ok = Options.check!(options)
    options |> Keyword.delete(:on) |> Enum.uniq_by(&elem(&1, 0))
  end
end
