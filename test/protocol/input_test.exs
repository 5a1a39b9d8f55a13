defmodule McpServer.Protocol.InputTest do
  # Handlers that need input from the client, written once and run in both eras.
  use ExUnit.Case, async: true
  use McpServer.Test, router: McpServer.RuntimeRouter

  import McpServer.Controller
  import McpServer.EveryWay, only: [ask_all: 4, ways: 3]
  import McpServer.TestLog, only: [with_log: 1]
  import McpServer.Wire, except: [said: 1]

  alias McpServer.Connection.State
  alias McpServer.{EveryWay, JSON}

  @form %{"type" => "object", "properties" => %{"name" => %{"type" => "string"}}, "required" => ["name"]}
  @answers %{
    "elicitation/create" => %{"action" => "accept", "content" => %{"name" => "Ada"}},
    "sampling/createMessage" => %{
      "role" => "assistant",
      "content" => %{"type" => "text", "text" => "Paris"},
      "model" => "m"
    },
    "roots/list" => %{"roots" => [%{"uri" => "file:///a", "name" => "A"}]}
  }
  @tools [%{"name" => "map", "inputSchema" => %{"type" => "object"}}]
  @eras ["2025-06-18", "2025-11-25", "2026-07-28"]

  defp answers(fun), do: [assigns: %{run: fun}]

  defp greet(conn, _arguments) do
    case accepted(conn, "name") do
      %{"name" => name} -> {:ok, [text("Hello, #{name}! #{inspect(state(conn))}")]}
      nil -> input_required([name: elicit("Your name?", @form)], state: {:asked, 1})
    end
  end

  describe "asking" do
    test "a tool gets its answer and finds its state" do
      for revision <- @eras do
        assert {:ok, %{"content" => [%{"text" => "Hello, Ada! {:asked, 1}"}]}} =
                 call_tool("run", %{}, answers(&greet/2) ++ [revision: revision, answers: @answers])
      end
    end

    test "a prompt and a resource may ask as well" do
      prompt = fn conn, _ -> if input(conn, "r"), do: [message("user", "ok")], else: input_required(r: list_roots()) end

      resource = fn conn, _ ->
        if input(conn, "r"), do: content("c", "run://fixed", text: "ok"), else: input_required(r: list_roots())
      end

      for revision <- @eras do
        options = [revision: revision, answers: @answers]

        assert {:ok, %{"messages" => [%{"content" => %{"text" => "ok"}}]}} =
                 get_prompt("run", %{}, answers(prompt) ++ options)

        assert {:ok, %{"contents" => [%{"text" => "ok"}]}} = read_resource("run://fixed", answers(resource) ++ options)
      end
    end

    @guest %{
      "type" => "object",
      "properties" => %{
        "name" => %{"type" => "string", "minLength" => 2},
        "email" => %{"type" => "string", "format" => "email"},
        "age" => %{"type" => "integer", "minimum" => 0}
      },
      "required" => ["name"]
    }

    # The handler shows what it sees.
    defp invite(conn, _arguments) do
      case input(conn, "guest") do
        nil -> input_required(guest: elicit("Who?", @guest))
        answer -> {:ok, [text(JSON.encode!(answer))]}
      end
    end

    defp answered_with(revision, answer),
      do: call_tool("run", %{}, answers(&invite/2) ++ [revision: revision, answers: %{"elicitation/create" => answer}])

    test "a handler sees only what the form declares" do
      for revision <- @eras,
          {answer, seen} <- [
            {%{"action" => "accept", "content" => %{"name" => "Ada", "admin" => true}},
             %{"action" => "accept", "content" => %{"name" => "Ada"}}},
            {%{"action" => "decline", "content" => %{"name" => "Ada"}}, %{"action" => "decline"}},
            {%{"action" => "cancel"}, %{"action" => "cancel"}}
          ] do
        assert {:ok, %{"content" => [%{"text" => text}]}} = answered_with(revision, answer)
        assert {revision, JSON.decode!(text)} == {revision, seen}
      end
    end

    test "a form accepted without content is an empty one" do
      form = %{"type" => "object", "properties" => %{"name" => %{"type" => "string"}}}

      run = fn conn, _ ->
        case accepted(conn, "guest") do
          nil -> input_required(guest: elicit("Who?", form))
          content -> {:ok, [text(JSON.encode!(content))]}
        end
      end

      for revision <- @eras, answer <- [%{"action" => "accept"}, %{"action" => "accept", "content" => nil}] do
        assert {:ok, %{"content" => [%{"text" => "{}"}]}} =
                 call_tool("run", %{}, answers(run) ++ [revision: revision, answers: %{"elicitation/create" => answer}])
      end
    end

    # Earlier, a handler got whatever the client had sent.
    test "an answer that does not fit its form is refused before a handler sees it" do
      for revision <- @eras,
          {content, problem} <- [
            {%{"name" => 1}, "/name: must be a string (type)"},
            {%{"name" => "A"}, "/name: must be a string of at least 2 characters (minLength)"},
            {%{"name" => nil}, "/name: must be a string (type)"},
            {%{"name" => "Ada", "age" => nil}, "/age: must be an integer (type)"},
            {%{"name" => "Ada", "email" => "ada"},
             "/email: must be an e-mail address such as name@example.com (format)"},
            {%{}, ~s{(root): must be an object with the property "name" (required)}},
            {nil, ~s{(root): must be an object with the property "name" (required)}}
          ] do
        answered = answered_with(revision, %{"action" => "accept", "content" => content})
        misfit = ~s(the answer to "guest" does not fit its form: ) <> problem
        assert {revision, content, refusal(answered)} == {revision, content, expected_refusal(revision, misfit)}
      end
    end

    test "an answer of another kind is refused" do
      for {question, wrong, method} <- [
            {elicit("Who?", @guest), "roots/list", "elicitation/create"},
            {elicit_url("Pay?", "https://example.com/pay", "1"), "roots/list", "elicitation/create"},
            {sample("Who?"), "roots/list", "sampling/createMessage"},
            {list_roots(), "sampling/createMessage", "roots/list"}
          ],
          revision <- ["2025-11-25", "2026-07-28"] do
        run = fn conn, _ -> if input(conn, "q"), do: {:ok, [text("seen")]}, else: input_required(q: question) end
        capabilities = %{"elicitation" => %{"form" => %{}, "url" => %{}}, "sampling" => %{}, "roots" => %{}}
        options = [revision: revision, answers: %{method => @answers[wrong]}, client_capabilities: capabilities]
        misfit = ~s(the answer to "q" must be a result of #{method})
        assert refusal(call_tool("run", %{}, answers(run) ++ options)) == expected_refusal(revision, misfit)
      end
    end

    defp refusal({:ok, %{"isError" => true, "content" => [%{"text" => text}]}}), do: text
    defp refusal({:error, %{"code" => -32602, "message" => text}}), do: text

    defp expected_refusal("2026-07-28", misfit), do: "Invalid params: inputResponses: " <> misfit
    defp expected_refusal(_session, misfit), do: "The client's input was refused: " <> misfit

    test "several things at once" do
      run = fn conn, _ ->
        case {accepted(conn, "a"), input(conn, "b"), input(conn, "c")} do
          {%{"name" => name}, %{"content" => %{"text" => city}}, %{"roots" => [root]}} ->
            {:ok, [text("#{name} #{city} #{root["name"]}")]}

          _missing ->
            input_required(a: elicit("Name?", @form), b: sample("Capital of France?", max_tokens: 50), c: list_roots())
        end
      end

      for revision <- @eras do
        assert {:ok, %{"content" => [%{"text" => "Ada Paris A"}]}} =
                 call_tool("run", %{}, answers(run) ++ [revision: revision, answers: @answers])
      end
    end

    test "several rounds, each with its own state" do
      run = fn conn, _ ->
        case {state(conn), accepted(conn, "step")} do
          {nil, nil} -> input_required([step: elicit("1?", @form)], state: 1)
          {1, %{"name" => name}} -> input_required([step: elicit("2?", @form)], state: [2, name])
          {[2, name], %{"name" => other}} -> {:ok, [text(name <> other)]}
        end
      end

      for revision <- @eras do
        assert {:ok, %{"content" => [%{"text" => "AdaAda"}]}} =
                 call_tool("run", %{}, answers(run) ++ [revision: revision, answers: @answers])
      end
    end

    test "only for a state: the handler is entered again" do
      run = fn conn, _ -> if state(conn), do: {:ok, [text("again")]}, else: input_required([], state: 1) end

      for revision <- @eras do
        assert {:ok, %{"content" => [%{"text" => "again"}]}} =
                 call_tool("run", %{}, answers(run) ++ [revision: revision, answers: @answers])
      end
    end

    test "for ever is not possible" do
      run = fn _, _ -> input_required(a: list_roots()) end

      assert {:ok, %{"isError" => true, "content" => [%{"text" => "The client was asked for input too often"}]}} =
               call_tool("run", %{}, answers(run) ++ [revision: "2025-11-25", answers: @answers])
    end
  end

  describe "forms" do
    defp ask_with(form), do: answers(fn _, _ -> input_required(form: elicit("Well?", form)) end)

    defp form_of(property), do: %{"type" => "object", "properties" => %{"p" => property}}

    @choices %{"type" => "array", "items" => %{"type" => "string", "enum" => ["a", "b"]}}
    @titled [%{"const" => "a", "title" => "A"}, %{"const" => "b", "title" => "B"}]
    @no_array ~s(The client cannot show the form's property "p": forms have arrays since 2025-11-25, and the client ) <>
                "uses an earlier revision"
    @types "expected a property of type string, number, integer, boolean or array, because forms have no nested objects"

    # Earlier, 2025-06-18 got keywords that it does not have.
    test "are in the spelling of the client's revision" do
      for {given, older} <- [
            {%{"type" => "string", "default" => "a", "minLength" => 1}, %{"type" => "string", "minLength" => 1}},
            {%{"type" => "boolean", "default" => true}, %{"type" => "boolean", "default" => true}},
            {%{"type" => "string", "oneOf" => @titled, "default" => "a"},
             %{"type" => "string", "enum" => ["a", "b"], "enumNames" => ["A", "B"]}},
            {%{type: :string, title: "T", default: "a"}, %{"type" => "string", "title" => "T"}},
            {%McpServer.Schema{type: :integer, default: 1}, %{"type" => "integer"}}
          ],
          {revision, expected} <- [{"2025-06-18", older}, {"2025-11-25", given}, {"2026-07-28", given}] do
        assert {:input_required, [%{"params" => %{"requestedSchema" => asked}}]} =
                 call_tool("run", %{}, ask_with(form_of(given)) ++ [revision: revision])

        assert {revision, asked} == {revision, expected |> form_of() |> JSON.encode!() |> JSON.decode!()}
      end
    end

    # Earlier, the client got a request that its schema refuses.
    test "with arrays are for 2025-11-25 and later" do
      options = ask_with(form_of(@choices))

      for revision <- ["2025-11-25", "2026-07-28"] do
        assert {:input_required, [%{"params" => %{"requestedSchema" => asked}}]} =
                 call_tool("run", %{}, options ++ [revision: revision])

        assert asked == form_of(@choices)
      end

      assert {:ok, %{"isError" => true, "content" => [%{"text" => @no_array}]}} =
               call_tool("run", %{}, options ++ [revision: "2025-06-18"])

      assert {:error, %{"code" => -32603, "message" => @no_array}} =
               get_prompt("run", %{}, options ++ [revision: "2025-06-18"])
    end

    for legacy <- ["2025-06-18", "2025-11-25"] do
      @legacy legacy

      @tag :tmp_dir
      test "on the wire, with sessions of #{legacy}", %{tmp_dir: tmp_dir} do
        ways = ways(McpServer.FormRouter, tmp_dir, legacy: @legacy)
        ask = &ask_all(ways, "tools/call", %{"name" => "ask", "arguments" => %{"form" => form_of(&1)}}, &2)
        answer = &%{"action" => "accept", "content" => %{"p" => &1}}

        for {way, result, asked} <- ask.(%{"type" => "string", "oneOf" => @titled, "default" => "a"}, answer.("a")) do
          assert {way, EveryWay.text(result), asked} == {way, ~s({"p":"a"}), ["Well?"]}
        end

        for {way, result, asked} <- ask.(@choices, answer.(["a"])) do
          if way =~ "2025-06-18",
            do: assert({way, EveryWay.text(result), asked} == {way, @no_array, []}),
            else: assert({way, EveryWay.text(result), asked} == {way, ~s({"p":["a"]}), ["Well?"]})
        end
      end

      # Earlier, they were sent.
      @tag :tmp_dir
      @tag :capture_log
      test "that no revision has are the handler's mistake, with sessions of #{legacy}", %{tmp_dir: tmp_dir} do
        ways = ways(McpServer.FormRouter, tmp_dir, legacy: @legacy)

        for {form, mistake} <- [
              {form_of(%{"type" => "object", "properties" => %{}}), "#{@types}, at /requestedSchema/properties/p"},
              {form_of(true), "#{@types}, at /requestedSchema/properties/p"},
              {form_of(%{"type" => "string", "format" => "uuid"}),
               "expected one of email, uri, date, date-time, at /requestedSchema/properties/p/format"},
              {form_of(%{"type" => "string", "oneOf" => [%{"const" => "a"}]}),
               "expected a string, at /requestedSchema/properties/p/oneOf/0/title"},
              {%{"properties" => %{}}, "expected the type object, at /requestedSchema/type"}
            ],
            call = %{"name" => "ask", "arguments" => %{"form" => form}},
            {way, result, asked} <- ask_all(ways, "tools/call", call, %{"action" => "decline"}) do
          returned = "what McpServer.FormRouter.Handlers.ask/2 returned cannot be sent: "
          failed = ~r/\ATool execution failed \(error id [0-9a-f]{16}\): /
          text = String.replace(EveryWay.text(result), failed, "")

          assert {way, text, asked} == {way, "invalid handler result: #{returned}#{mistake}", []}
          assert {way, result["isError"]} == {way, true}
        end
      end
    end
  end

  describe "a client that answers otherwise" do
    test "a declined form is an answer" do
      run = fn conn, _ ->
        if answer = input(conn, "a"), do: {:ok, [text(answer["action"])]}, else: input_required(a: elicit("?", @form))
      end

      for revision <- @eras do
        assert {:ok, %{"content" => [%{"text" => "decline"}]}} =
                 call_tool(
                   "run",
                   %{},
                   answers(run) ++ [revision: revision, answers: %{"elicitation/create" => %{"action" => "decline"}}]
                 )
      end
    end

    test "session era: an error leaves the answer out, and is found by the same key" do
      run = fn conn, _ ->
        case {conn.input_errors, input(conn, "a"), input(conn, "b")} do
          {%{"a" => %{"code" => -1, "message" => "no user"}}, nil, %{"roots" => _}} -> {:ok, [text("fine")]}
          {errors, nil, nil} when errors == %{} -> input_required(a: elicit("?", @form), b: list_roots())
        end
      end

      scripted = Map.put(@answers, "elicitation/create", {:error, %{"code" => -1, "message" => "no user"}})

      assert {:ok, %{"content" => [%{"text" => "fine"}]}} =
               call_tool("run", %{}, answers(run) ++ [revision: "2025-11-25", answers: scripted])
    end

    test "session era: a client that answers with an error is asked once" do
      error = %{"code" => -1, "message" => "User rejected sampling request"}
      test = self()

      run = fn conn, _ ->
        send(test, :entered)

        cond do
          answer = input(conn, "a") -> {:ok, [text(inspect(answer))]}
          declined?(conn, "a") -> {:error, "No answer"}
          true -> input_required(a: conn.assigns.question)
        end
      end

      for revision <- ["2025-06-18", "2025-11-25"],
          question <- [elicit("?", @form), sample("Capital?"), list_roots()] do
        options = [
          assigns: %{run: run, question: question},
          revision: revision,
          answers: %{question.method => {:error, error}}
        ]

        assert {:ok, %{"isError" => true, "content" => [%{"text" => "No answer"}]}} = call_tool("run", %{}, options)
        for _ <- 1..2, do: assert_received(:entered)
        refute_received :entered
      end
    end

    test "without the capability it is not asked" do
      options = answers(&greet/2) ++ [client_capabilities: %{"roots" => %{}}, answers: @answers]

      assert {:error, %{"code" => -32021, "data" => %{"requiredCapabilities" => %{"elicitation" => %{}}}}} =
               call_tool("run", %{}, options)

      assert {:ok, %{"isError" => true, "content" => [%{"text" => text}]}} =
               call_tool("run", %{}, options ++ [revision: "2025-11-25"])

      assert text == "The client does not support elicitation, which this call needs"

      prompt =
        answers(fn _, _ -> input_required(a: sample("?")) end) ++ [client_capabilities: %{}, revision: "2025-11-25"]

      assert {:error, %{"code" => -32603, "message" => "The client does not support sampling, which this call needs"}} =
               get_prompt("run", %{}, prompt)
    end

    test "a capability is declared by an object only" do
      questions = %{
        "elicitation" => elicit("?", @form),
        "elicitation.url" => elicit_url("Pay", "https://pay.example", "1"),
        "sampling" => sample("?"),
        "sampling.tools" => sample("?", tools: @tools),
        "roots" => list_roots()
      }

      for {name, question} <- questions, no <- [nil, true, 1, "yes", []] do
        capabilities =
          case String.split(name, ".") do
            [capability] -> %{capability => no}
            [capability, part] -> %{capability => %{part => no}}
          end

        run = answers(fn _, _ -> input_required(q: question) end) ++ [client_capabilities: capabilities]
        assert {:error, %{"code" => -32021}} = call_tool("run", %{}, run)

        assert {:ok, %{"isError" => true, "content" => [%{"text" => text}]}} =
                 call_tool("run", %{}, run ++ [revision: "2025-11-25"])

        assert text == "The client does not support #{name}, which this call needs"
      end
    end

    test "numbers of any size in the capabilities change nothing" do
      capabilities = %{
        "elicitation" => %{},
        "sampling" => %{},
        "experimental" => %{"x" => %{"n" => Integer.pow(10, 400)}}
      }

      sampler = fn conn, _ -> {:ok, [text(inspect(supports?(conn, :sampling)))]} end

      for revision <- @eras do
        options = [revision: revision, client_capabilities: capabilities, answers: @answers]
        assert {:ok, %{"content" => [%{"text" => "true"}]}} = call_tool("sampler", %{}, answers(sampler) ++ options)

        assert {:ok, %{"content" => [%{"text" => "Hello, Ada! {:asked, 1}"}]}} =
                 call_tool("run", %{}, answers(&greet/2) ++ options)
      end
    end

    test "a client that names no mode of elicitation offers forms" do
      other = %{"schemaValidation" => true}
      url = %{"url" => %{}}

      for {revision, declared, asked?} <- [
            {"2025-06-18", other, true},
            {"2025-06-18", url, true},
            {"2025-06-18", %{"form" => true}, true},
            {"2025-11-25", other, true},
            {"2026-07-28", other, true},
            {"2025-11-25", url, false},
            {"2025-11-25", Map.merge(other, url), false},
            {"2025-11-25", %{"form" => true}, false},
            {"2025-11-25", Map.put(url, "form", other), true}
          ] do
        options = [revision: revision, client_capabilities: %{"elicitation" => declared}, answers: @answers]
        {:ok, result} = call_tool("run", %{}, answers(&greet/2) ++ options)
        assert {revision, declared, Map.get(result, "isError", false)} == {revision, declared, not asked?}
      end
    end

    test "a client is supported if it can be asked in any mode" do
      for {revision, declared, supported?} <- [
            {"2025-11-25", %{}, true},
            {"2025-11-25", %{"form" => %{}}, true},
            {"2025-11-25", %{"url" => %{}}, true},
            {"2025-11-25", %{"form" => true}, false},
            {"2025-11-25", true, false},
            {"2025-06-18", %{"form" => true}, true}
          ] do
        conn = %McpServer.Conn{protocol_version: revision, client_capabilities: %{"elicitation" => declared}}
        assert {revision, declared, supports?(conn, :elicitation)} == {revision, declared, supported?}
      end
    end

    test "the error names the mode that a client with modes lacks" do
      url = elicit_url("Pay", "https://pay.example", "1")
      form = elicit("?", @form)

      for {declared, asked, required} <- [
            {nil, [a: form], %{}},
            {nil, [a: url], %{"url" => %{}}},
            {nil, [a: form, b: url], %{"form" => %{}, "url" => %{}}},
            {nil, [a: url, b: form], %{"form" => %{}, "url" => %{}}},
            {%{"url" => %{}}, [a: form], %{"form" => %{}}},
            {%{"form" => %{}}, [a: form, b: url], %{"url" => %{}}}
          ] do
        capabilities = if declared, do: %{"elicitation" => declared}, else: %{}
        run = answers(fn _, _ -> input_required(asked) end) ++ [client_capabilities: capabilities]
        assert {:error, %{"code" => -32021, "data" => data}} = call_tool("run", %{}, run)
        assert {asked, data} == {asked, %{"requiredCapabilities" => %{"elicitation" => required}}}
      end
    end

    test "parts of a question may be atoms" do
      page = elicit_url("Pay", "https://pay.example", "1")
      run = answers(fn _, _ -> input_required(q: %{page | params: %{page.params | "mode" => :url}}) end)
      forms = [client_capabilities: %{"elicitation" => %{"form" => %{}}}]
      assert {:error, %{"code" => -32021, "data" => data}} = call_tool("run", %{}, run ++ forms)
      assert data == %{"requiredCapabilities" => %{"elicitation" => %{"url" => %{}}}}
    end

    test "a tool that declares what it needs is not entered for a capability that is no object" do
      for no <- [nil, true, 1, "yes", []] do
        never = answers(fn _, _ -> raise "entered" end) ++ [client_capabilities: %{"sampling" => no}]

        assert {:error, %{"code" => -32021, "data" => %{"requiredCapabilities" => %{"sampling" => %{}}}}} =
                 call_tool("sampler", %{}, never)

        assert {:ok, %{"isError" => true, "content" => [%{"text" => text}]}} =
                 call_tool("sampler", %{}, never ++ [revision: "2025-11-25"])

        assert text == "The client does not support sampling, which this call needs"
      end
    end

    test "a revision without the kind of question is a client without the capability" do
      for {revision, question, name} <- [
            {"2024-11-05", elicit("?", @form), "elicitation"},
            {"2025-03-26", elicit("?", @form), "elicitation"},
            {"2025-03-26", elicit_url("Pay", "https://pay.example", "1"), "elicitation.url"},
            {"2025-06-18", elicit_url("Pay", "https://pay.example", "1"), "elicitation.url"}
          ] do
        test = self()

        run = fn conn, _ ->
          send(test, {:supported, supports?(conn, :elicitation)})
          input_required(q: question)
        end

        options = [revision: revision, client_capabilities: %{"elicitation" => %{"form" => %{}, "url" => %{}}}]

        assert {:ok, %{"isError" => true, "content" => [%{"text" => text}]}} =
                 call_tool("run", %{}, answers(run) ++ options)

        assert text == "The client does not support #{name}, which this call needs"
        assert_received {:supported, supported?}
        assert {revision, supported?} == {revision, revision >= "2025-06-18"}
      end
    end

    # The client declares sampling, and neither tools nor context.
    @plain [client_capabilities: %{"sampling" => %{}}, answers: @answers]

    defp sampling(options) do
      answers(fn conn, _ ->
        if answer = input(conn, "q"),
          do: {:ok, [text(answer["content"]["text"])]},
          else: input_required(q: sample("Capital?", options))
      end)
    end

    test "sampling with tools needs sampling.tools" do
      for used <- [
            [tools: @tools],
            [tool_choice: %{"mode" => "none"}],
            [tools: @tools, tool_choice: %{"mode" => "auto"}]
          ] do
        assert {:error, %{"code" => -32021, "data" => data}} = call_tool("run", %{}, sampling(used) ++ @plain)
        assert data == %{"requiredCapabilities" => %{"sampling" => %{"tools" => %{}}}}

        assert {:ok, %{"isError" => true, "content" => [%{"text" => text}]}} =
                 call_tool("run", %{}, sampling(used) ++ @plain ++ [revision: "2025-11-25"])

        assert text == "The client does not support sampling.tools, which this call needs"
      end

      for revision <- @eras, capabilities = %{"sampling" => %{"tools" => %{}}} do
        options = [client_capabilities: capabilities, answers: @answers, revision: revision]

        assert {:ok, %{"content" => [%{"text" => "Paris"}]}} = call_tool("run", %{}, sampling(tools: @tools) ++ options)
      end
    end

    test "sampling with tools is sent without them where the revision has none" do
      options = sampling(tools: @tools) ++ [client_capabilities: %{"sampling" => %{}}, revision: "2025-06-18"]

      assert {:input_required, [%{"method" => "sampling/createMessage", "params" => params}]} =
               call_tool("run", %{}, options)

      refute is_map_key(params, "tools")
    end

    test "several questions name all that is missing" do
      asked = [a: sample("?"), b: sample("?", tools: @tools), c: elicit_url("Pay", "https://pay.example", "1")]
      run = answers(fn _, _ -> input_required(asked) end)

      assert {:error, %{"code" => -32021, "data" => data}} = call_tool("run", %{}, run ++ [client_capabilities: %{}])
      assert data == %{"requiredCapabilities" => %{"sampling" => %{"tools" => %{}}, "elicitation" => %{"url" => %{}}}}
    end

    test "the context of servers is left out without sampling.context" do
      context = %{"sampling" => %{"context" => %{}}}

      for {revision, capabilities, asked, sent} <- [
            {"2026-07-28", %{"sampling" => %{}}, "thisServer", nil},
            {"2025-11-25", %{"sampling" => %{}}, "allServers", nil},
            {"2025-11-25", %{"sampling" => %{}}, "none", "none"},
            {"2026-07-28", context, "allServers", "allServers"},
            {"2025-11-25", context, "thisServer", "thisServer"},
            # This revision has no such capability.
            {"2025-06-18", %{"sampling" => %{}}, "thisServer", "thisServer"}
          ] do
        options = [client_capabilities: capabilities, revision: revision]

        assert {:input_required, [%{"params" => params}]} =
                 call_tool("run", %{}, sampling(include_context: asked) ++ options)

        assert {revision, asked, params["includeContext"]} == {revision, asked, sent}
      end
    end

    test "a tool that declares what it needs is not entered without it" do
      never = answers(fn _, _ -> raise "entered" end) ++ [client_capabilities: %{}]

      assert {:error, %{"code" => -32021, "data" => %{"requiredCapabilities" => %{"sampling" => %{}}}}} =
               call_tool("sampler", %{}, never)

      assert {:ok, %{"isError" => true, "content" => [%{"text" => text}]}} =
               call_tool("sampler", %{}, never ++ [revision: "2025-11-25"])

      assert text =~ "sampling"
    end

    # Earlier, the stateless era checked the capability first.
    test "arguments that do not fit are said before a capability that is missing, in both eras" do
      never = answers(fn _, _ -> raise "entered" end) ++ [client_capabilities: %{}]

      for revision <- ["2025-11-25", "2026-07-28"] do
        assert {:ok, %{"isError" => true, "content" => [%{"text" => text}]}} =
                 call_tool("sampler", %{"seed" => "x"}, [revision: revision] ++ never)

        assert text =~ "Invalid arguments for tool 'sampler'"
      end
    end

    test "without answers the test sees what is asked" do
      for revision <- @eras do
        assert {:input_required, [%{"method" => "elicitation/create", "params" => %{"message" => "Your name?"}}]} =
                 call_tool("run", %{}, answers(&greet/2) ++ [revision: revision])
      end
    end
  end

  describe "the state, in the client's hands" do
    defp required(client, id) do
      tool(client, id)
      %{"result" => %{"resultType" => "input_required", "requestState" => state}} = next(client)
      state
    end

    defp retry(client, id, params) do
      given = %{"name" => "run", "arguments" => %{}, "inputResponses" => %{"name" => @answers["elicitation/create"]}}
      ask(client, id, "tools/call", Map.merge(given, params))
      next(client)
    end

    test "opens for the request it was sealed for" do
      client = open(&greet/2)
      state = required(client, 1)

      assert %{"result" => %{"content" => [%{"text" => "Hello, Ada! {:asked, 1}"}]}} =
               retry(client, 2, %{"requestState" => state})
    end

    test "opens beside answers that nobody asked for, of any form" do
      client = open(&greet/2)
      state = required(client, 1)
      name = @answers["elicitation/create"]

      for invalid <- [%{}, 1, nil, %{"action" => "maybe"}] do
        params = %{"requestState" => state, "inputResponses" => %{"name" => name, "other" => invalid}}
        assert %{"result" => %{"content" => [%{"text" => "Hello, Ada! {:asked, 1}"}]}} = retry(client, 2, params)
        params = %{"requestState" => state, "inputResponses" => %{"name" => invalid}}
        assert %{"error" => %{"code" => -32602}} = retry(client, 3, params)
      end
    end

    # Earlier, a client could bring answers to a question that nobody had asked.
    test "without it no answer to a handler with a state counts, so the handler asks" do
      client = open(&greet/2)
      given = %{"name" => "run", "arguments" => %{}, "inputResponses" => %{"name" => @answers["elicitation/create"]}}
      ask(client, 1, "tools/call", given)
      assert %{"result" => %{"resultType" => "input_required"}} = next(client)
    end

    # An official suite does so, and a client may repeat an answer that it has.
    test "a handler without a state may be answered before it asks" do
      client = open(&invite/2)
      answer = &%{"name" => "run", "arguments" => %{}, "inputResponses" => Map.put(&1, "other", 1)}
      accept = &%{"action" => "accept", "content" => &1}
      ask(client, 1, "tools/call", answer.(%{"guest" => accept.(%{"name" => "Ada", "admin" => true})}))
      assert %{"result" => %{"content" => [%{"text" => text}]}} = next(client)
      assert JSON.decode!(text) == accept.(%{"name" => "Ada"})
      ask(client, 2, "tools/call", answer.(%{"guest" => accept.(%{"name" => nil})}))
      misfit = ~s{the answer to "guest" does not fit its form: /name: must be a string (type)}
      assert %{"error" => error} = next(client)
      assert refusal({:error, error}) == expected_refusal("2026-07-28", misfit)
      ask(client, 3, "tools/call", answer.(%{}))
      assert %{"result" => %{"resultType" => "input_required"}} = next(client)
    end

    # Earlier, the log named a crash in the comparison of answers.
    test "an answer to a question that cannot be asked changes nothing" do
      form = %{"type" => "object", "properties" => %{"name" => %{"type" => "string", "format" => "uuid"}}}

      mistake =
        "): invalid handler result: what McpServer.RuntimeRouter.Handlers.run/2 returned cannot be sent: " <>
          "expected one of email, uri, date, date-time, at /requestedSchema/properties/name/format"

      unwritable = open(&ask_for(&1, &2, form))
      unable = open(&ask_for(&1, &2, @form), client_capabilities: %{})

      for given <- [%{}, %{"name" => @answers["elicitation/create"]}, %{"name" => 1}] do
        params = %{"name" => "run", "arguments" => %{}, "inputResponses" => given}

        {answer, log} =
          with_log(fn ->
            ask(unwritable, 1, "tools/call", params)
            next(unwritable)
          end)

        assert %{"result" => %{"isError" => true, "content" => [%{"text" => text}]}} = answer
        assert ["Tool execution failed (error id ", <<id::binary-size(16), ")">>] = String.split(text, ~r/(?<=id )/)
        assert log =~ id <> mistake
        ask(unable, 1, "tools/call", params)
        assert %{"error" => %{"code" => -32021}} = next(unable)
      end
    end

    defp ask_for(conn, _arguments, form) do
      case input(conn, "name") do
        nil -> input_required(name: elicit("Your name?", form))
        answer -> {:ok, [text(JSON.encode!(answer))]}
      end
    end

    test "opens on another transport: nothing is kept" do
      state = required(open(&greet/2), 1)
      assert %{"result" => %{"content" => _}} = retry(open(&greet/2), 2, %{"requestState" => state})
    end

    test "changed, cut, made up or for another request it is -32602" do
      client = open(&greet/2)
      state = required(client, 1)
      half = binary_part(state, 0, div(byte_size(state), 2))

      for params <- [
            %{"requestState" => state <> "-TAMPERED"},
            %{"requestState" => half},
            %{"requestState" => ""},
            %{"requestState" => Base.url_encode64(:erlang.term_to_binary({:asked, 1}))},
            %{"requestState" => state, "arguments" => %{"other" => 1}},
            %{"requestState" => state, "name" => "brief"}
          ] do
        assert %{"error" => %{"code" => -32602}} = retry(client, 2, params)
      end
    end

    test "cannot be read" do
      state = required(open(fn _, _ -> input_required([r: list_roots()], state: "my secret text") end), 1)
      refute state =~ "secret"

      for padding <- [true, false],
          {:ok, bytes} <- [Base.url_decode64(state, padding: padding), Base.decode64(state, padding: padding)],
          do: refute(bytes =~ "secret")
    end
  end

  describe "session era: requests on the wire" do
    test "each answer finds its call, whatever the order" do
      client = open(&greet/2, revision: "2025-11-25")

      # Concurrent calls may ask in any order.
      [first, second] =
        for id <- [1, 2] do
          tool(client, id)
          next(client)
        end

      assert first["id"] != second["id"]

      for {request, name} <- [{second, "B"}, {first, "A"}] do
        answer = %{"action" => "accept", "content" => %{"name" => name}}
        McpServer.Test.Client.push(client, %{"jsonrpc" => "2.0", "id" => request["id"], "result" => answer})
      end

      texts =
        for _ <- 1..2,
            %{"id" => id} = answer = next(client),
            into: %{},
            do: {id, hd(answer["result"]["content"])["text"]}

      assert texts == %{1 => "Hello, A! {:asked, 1}", 2 => "Hello, B! {:asked, 1}"}
    end

    @tag req: "M24"
    test "an answer to nothing, or a second one, is dropped" do
      client = open(&greet/2, revision: "2025-11-25")
      answer = &%{"jsonrpc" => "2.0", "id" => &1, "result" => @answers["elicitation/create"]}
      for id <- [1, "1-1-1", "nothing"], do: McpServer.Test.Client.push(client, answer.(id))
      assert silent?(client)
      tool(client, 1)
      %{"id" => asked} = next(client)
      for _ <- 1..2, do: McpServer.Test.Client.push(client, answer.(asked))
      assert %{"id" => 1, "result" => %{}} = next(client)
      assert silent?(client)
    end

    # Earlier, the handler got this error as the client's response.
    @tag req: "S4-54"
    test "an error without an integer code and a message is malformed, and answers nothing" do
      client = open(&greet/2, revision: "2025-11-25")
      tool(client, 1)
      %{"id" => asked} = next(client)

      for error <- [%{"code" => "-1", "message" => "no"}, %{"code" => -1}, %{"code" => 1.5, "message" => "no"}, %{}] do
        McpServer.Test.Client.push(client, %{"jsonrpc" => "2.0", "id" => asked, "error" => error})
        assert %{"id" => ^asked, "error" => %{"code" => -32600, "message" => message}} = next(client)
        assert message == "Invalid request: an error must have an integer code and a message"
      end

      answer = %{"jsonrpc" => "2.0", "id" => asked, "result" => @answers["elicitation/create"]}
      McpServer.Test.Client.push(client, answer)
      assert %{"id" => 1, "result" => %{"isError" => false}} = next(client)
    end

    test "a call that is cancelled takes its questions back" do
      client = open(&greet/2, revision: "2025-11-25")
      tool(client, 1)
      %{"id" => asked} = next(client)
      tell(client, "notifications/cancelled", %{"requestId" => 1})
      assert_receive {:mcp_notification, "notifications/cancelled", %{"requestId" => ^asked}}
      assert silent?(client)
    end

    test "the client's time is its own: the call's deadline waits, and the client has one too" do
      client = open(&greet/2, revision: "2025-11-25", timeout: 60_000, limits: [input_timeout: 3_600_000])
      tool(client, 1)
      %{"id" => asked} = next(client)
      assert [%{deadline: deadline, awaiting: %{remaining: remaining}}] = Map.values(settled(client).calls)
      # The call's own deadline is at most a minute away. When its time has come, the call goes on.
      assert deadline > State.now() + 60_000
      assert remaining in 1..60_000
      send(client.connection, :mcp_deadline)
      assert silent?(client)

      McpServer.Test.Client.push(client, %{
        "jsonrpc" => "2.0",
        "id" => asked,
        "result" => @answers["elicitation/create"]
      })

      assert %{"id" => 1, "result" => %{"isError" => false}} = next(client)

      client = open(&greet/2, revision: "2025-11-25", limits: [input_timeout: 50])
      tool(client, 1)
      %{"id" => asked} = next(client)

      assert %{"result" => %{"isError" => true, "content" => [%{"text" => "The client did not answer in time"}]}} =
               next(client)

      assert_receive {:mcp_notification, "notifications/cancelled", %{"requestId" => ^asked}}
    end

    test "calls that wait for the client take no place" do
      client = open(&greet/2, revision: "2025-11-25", limits: [max_calls: 1])
      for id <- 1..3, do: tool(client, id)
      asked = for _ <- 1..3, do: next(client)["id"]

      for id <- asked,
          do:
            McpServer.Test.Client.push(client, %{
              "jsonrpc" => "2.0",
              "id" => id,
              "result" => @answers["elicitation/create"]
            })

      assert Enum.sort(for _ <- 1..3, do: next(client)["id"]) == [1, 2, 3]
    end

    test "but they are counted" do
      client = open(&greet/2, revision: "2025-11-25", limits: [max_awaiting_input: 2])
      for id <- 1..3, do: tool(client, id)
      messages = for _ <- 1..3, do: next(client)

      assert [%{"result" => %{"isError" => true, "content" => [%{"text" => text}]}}] =
               Enum.filter(messages, &is_map_key(&1, "result"))

      assert text == "Too many calls wait for the client's input"
    end

    @tag req: "T7"
    test "a client that has gone is not waited for" do
      client = open(&greet/2, revision: "2025-11-25")
      tool(client, 1)
      %{"method" => "elicitation/create"} = next(client)
      send(client.connection, {:mcp_client_in, client.reference, :eof})

      assert %{"id" => 1, "result" => %{"isError" => true, "content" => [%{"text" => "The client is gone"}]}} =
               next(client)

      assert {:closed, :eof} = next(client)
    end
  end
end
