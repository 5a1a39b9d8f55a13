defmodule McpServer.DualResponse.SpillTest do
  # Not async: the server's name is compiled into the router.
  use ExUnit.Case, async: false

  import McpServer.TestLog

  alias McpServer.{DualResponse, JSON}
  alias McpServer.Tool.{CallResult, Content}

  @server McpServer.DualResponse.SpillTest.Results
  @budget 4_096

  defmodule Handlers do
    def run(conn, _arguments), do: conn.assigns.returns
    def call(conn, _arguments), do: conn.assigns.returns.(conn)
  end

  defmodule MCP do
    use McpServer.Router

    dual_responses McpServer.DualResponse.SpillTest.Results
    tool "run", "Answers", Handlers, :run, result_budget: 4_096
    tool "call", "Answers", Handlers, :call, result_budget: 4_096
    tool "free", "Answers", Handlers, :run
    tool "drawn", "Answers", Handlers, :run, result_budget: 4_096, ui: "ui://rows"
    tool "lasting", "Answers", Handlers, :run, result_budget: 4_096, task_support: :optional

    resource "rows", "ui://rows" do
      read Handlers, :run
    end

    tool "typed", "Answers", Handlers, :run, result_budget: 4_096 do
      output_field "rows", "Rows", :array, required: true
    end
  end

  use McpServer.Test, router: MCP

  setup context do
    unless context[:stopped] do
      options = [name: @server, base_url: "https://api.example.com/resources"]
      start_supervised!({DualResponse, options ++ List.wrap(context[:server])})
    end

    :ok
  end

  # The response, and its size in bytes.
  defp answer(returns, options \\ []) do
    {tool, options} = Keyword.pop(options, :tool, "run")
    message = %{"id" => 1, "method" => "tools/call", "params" => %{"name" => tool, "arguments" => %{}}}
    reply = request(message, [assigns: %{returns: returns}] ++ options)
    {reply["result"], reply |> JSON.encode!() |> byte_size()}
  end

  defp kept do
    {:ok, %{store: store, ref: ref}} = DualResponse.settings(@server)
    {:ok, %{resources: count}} = store.size(ref)
    count
  end

  defp all(result) do
    [%{"uri" => "resource://" <> id}] = for %{"type" => "resource_link"} = link <- result["content"], do: link
    {:ok, total, pages} = DualResponse.stream(@server, id)
    rows = Enum.concat(pages)
    assert length(rows) == total
    rows
  end

  describe "within its budget" do
    @describetag req: ["S1-33", "T5"]
    test "a result is sent as it is, and nothing is kept; at the byte" do
      text = &String.duplicate("x", &1)
      {_result, bytes} = answer({:ok, [Content.text(text.(1_000))]})
      fitting = 1_000 + @budget - bytes
      assert {%{"content" => [%{"text" => sent}]}, @budget} = answer({:ok, [Content.text(text.(fitting))]})
      assert byte_size(sent) == fitting
      assert kept() == 0

      assert {%{"content" => [_text, %{"type" => "resource_link"}]}, bytes} =
               answer({:ok, [Content.text(text.(fitting + 1))]})

      assert bytes <= @budget
      assert kept() == 1
    end

    test "is what any tool is that has none" do
      assert {%{"content" => [_text]}, bytes} =
               answer({:ok, [Content.text(String.duplicate("x", 100_000))]}, tool: "free")

      assert bytes > 100_000
      assert kept() == 0
    end
  end

  describe "a table" do
    test "becomes rows: the list of objects in the structured content" do
      rows = for n <- 1..500, do: %{"id" => n, "name" => "Nr. #{n}", "open" => rem(n, 2) == 0, "tags" => ["x"]}
      {result, bytes} = answer({:ok, %{"rows" => rows, "total" => 500}})
      assert bytes <= @budget
      assert [%{"text" => text}, %{"type" => "resource_link", "name" => "Result of run"}] = result["content"]
      structured = result["structuredContent"]
      assert all(result) == rows
      shown = structured["results"]
      assert shown == Enum.take(rows, length(shown)) and length(shown) in 5..40
      assert structured["members"] == %{"total" => 500}
      assert structured["metadata"]["total_count"] == 500

      assert structured["metadata"]["columns"] == [
               %{"name" => "id", "type" => "number"},
               %{"name" => "name", "type" => "string"},
               %{"name" => "open", "type" => "boolean"},
               %{"name" => "tags"}
             ]

      assert [summary | lines] = String.split(text, "\n")
      assert summary =~ ~r/\AThe result has 500 rows and \d+ bytes, which is more than is sent at once\./
      assert summary =~ structured["resource"]["uri"]
      assert Enum.map(lines, &elem(JSON.decode(&1), 1)) == shown
    end

    test "with words of its own keeps them" do
      rows = for n <- 1..500, do: %{id: n, name: "Nr. #{n}"}

      result = %CallResult{
        content: [Content.text("Five hundred.")],
        structured_content: %{rows: rows},
        _meta: %{"a" => 1}
      }

      {result, bytes} = answer({:ok, result})
      assert bytes <= @budget
      assert [%{"text" => "Five hundred."}, %{"text" => "The result has 500 rows" <> _}, _link] = result["content"]
      assert [%{"id" => 1, "name" => "Nr. 1"} | _] = result["structuredContent"]["results"]
      assert result["_meta"]["a"] == 1
      assert [%{id: 1, name: "Nr. 1"} | _] = all(result)
    end

    test "with more beside it than fits loses none of that" do
      rows = for n <- 1..10, do: %{"id" => n}

      for structured <- [
            %{"rows" => rows, "text" => String.duplicate("x", 10_000)},
            %{"rows" => rows, "others" => for(n <- 1..1_000, do: %{"id" => n})},
            %{"rows" => for(n <- 1..2_000, do: n)}
          ] do
        {result, bytes} = answer({:ok, structured})
        assert bytes <= @budget
        assert all(result) == [%{"block" => "structuredContent", "value" => structured}]
      end
    end
  end

  describe "anything else" do
    test "becomes a row for each line of text" do
      lines = for n <- 1..1_000, do: "line #{n} \u00e9"
      {result, bytes} = answer({:ok, [Content.text(Enum.join(lines, "\n"))]})
      assert bytes <= @budget
      assert [%{"text" => text}, _link] = result["content"]
      assert ["The result has 1000 parts" <> _summary | shown] = String.split(text, "\n")
      assert shown == Enum.take(lines, length(shown)) and length(shown) > 5

      assert all(result) ==
               for({line, n} <- Enum.with_index(lines, 1), do: %{"block" => 1, "line" => n, "text" => line})
    end

    test "and one for each other block; nothing is left out" do
      image = :crypto.strong_rand_bytes(3_000)
      blocks = [Content.text("a\nb"), Content.image(image, "image/png"), Content.resource_link("log", "file:///log")]
      structured = %{"n" => 1, "text" => String.duplicate("x", 3_000)}
      {result, bytes} = answer({:ok, %CallResult{content: blocks, structured_content: structured}})
      assert bytes <= @budget

      [{:ok, resource} | _] =
        for %{"uri" => "resource://" <> id} <- result["content"], do: DualResponse.fetch(@server, id)

      assert resource.data == [
               %{"block" => 1, "line" => 1, "text" => "a"},
               %{"block" => 1, "line" => 2, "text" => "b"},
               %{"block" => 2, "type" => "image", "data" => Base.encode64(image), "mimeType" => "image/png"},
               %{"block" => 3, "type" => "resource_link", "name" => "log", "uri" => "file:///log"},
               %{"block" => "structuredContent", "value" => structured}
             ]
    end

    @tag req: "T5"
    test "an image of twelve megabytes is one row" do
      image = :binary.copy(<<0>>, 12_000_000)
      {result, bytes} = answer({:ok, [Content.image(image, "image/png")]}, timeout: 60_000, receive_timeout: 60_000)
      assert bytes <= @budget
      assert [%{"block" => 1, "type" => "image", "data" => data, "mimeType" => "image/png"}] = all(result)
      assert Base.decode64!(data) == image
    end

    test "of very many lines becomes a row for several" do
      text = Enum.join(1..250_000, "\n")
      {result, _bytes} = answer({:ok, [Content.text(text)]})
      rows = all(result)
      assert Enum.map_join(rows, "\n", & &1["text"]) == text
      assert [%{"line" => 1, "text" => "1\n2\n3"}, %{"line" => 4} | _] = rows
    end

    test "one line that is larger than the budget is not shown, but kept" do
      {result, bytes} = answer({:ok, [Content.text(String.duplicate("x", 1_000_000))]})
      assert bytes <= @budget
      assert [%{"text" => text}, _link] = result["content"]
      assert text =~ ~r/\AThe result has 1 parts and \d+ bytes/
      refute text =~ "first"
      assert [%{"text" => line}] = all(result)
      assert byte_size(line) == 1_000_000
    end
  end

  @tag req: "T5"
  test "whatever the result, the answer is within the budget" do
    McpServer.Properties.seed_random()

    for _ <- 1..150 do
      returns = {:ok, random()}
      {result, bytes} = answer(returns)
      assert bytes <= @budget
      refute result["isError"]
    end
  end

  # Rows with wide and narrow keys, values that grow when escaped, texts of few and many lines.
  defp random do
    key = fn -> String.duplicate(Enum.random(["k", "\u00e9", "\""]), Enum.random([1, 20, 300])) end

    value = fn ->
      Enum.random([1, nil, true, "\u0001\u0002", String.duplicate("\\\"", Enum.random([1, 50, 700])), [1], 1.5])
    end

    keys = for _ <- 1..Enum.random([1, 5, 40]), do: key.() <> "#{:rand.uniform(1_000)}"
    rows = for _ <- 1..Enum.random([1, 30, 200]), do: Map.new(keys, &{&1, value.()})

    case :rand.uniform(3) do
      1 -> %{"rows" => rows, key.() => value.()}
      2 -> [Content.text(Enum.map_join(1..Enum.random([1, 500]), "\n", fn _ -> "#{inspect(value.())}\u0001" end))]
      3 -> %CallResult{content: [Content.text(key.())], structured_content: %{"rows" => rows}}
    end
  end

  describe "an output schema" do
    test "is kept to: the structured content stays, only text is replaced" do
      rows = for n <- 1..1_000, do: %{"id" => n}
      {result, bytes} = answer({:ok, %{"rows" => rows}}, tool: "typed")
      assert [%{"text" => "The result has 1000 rows" <> _}, %{"type" => "resource_link"}] = result["content"]
      assert result["structuredContent"] == %{"rows" => rows}
      assert all(result) == rows
      assert bytes > @budget
    end

    test "is not needed for a view to get what it draws" do
      rows = for n <- 1..1_000, do: %{"id" => n}
      {result, _bytes} = answer({:ok, %{"rows" => rows}}, tool: "drawn")
      assert [%{"text" => "The result has 1000 rows" <> _}, %{"type" => "resource_link"}] = result["content"]
      assert result["structuredContent"] == %{"rows" => rows}
    end

    test "is checked before anything is kept" do
      rows = for n <- 1..1_000, do: %{"id" => n}

      capture_log(fn ->
        assert {%{"isError" => true}, _bytes} = answer({:ok, %{"other" => rows}}, tool: "typed")
      end)

      assert kept() == 0
    end
  end

  test "the result of a task is kept as well" do
    rows = for n <- 1..1_000, do: %{"id" => n}
    tasks = %{"extensions" => %{"io.modelcontextprotocol/tasks" => %{}}}
    client = connect(assigns: %{returns: {:ok, %{"rows" => rows}}}, client_capabilities: tasks)
    call = McpServer.Test.Client.call(client, "tools/call", %{"name" => "lasting", "arguments" => %{}})
    assert {:ok, %{"resultType" => "task", "taskId" => id}} = call
    result = settled(client, id)
    assert result["structuredContent"]["metadata"]["total_count"] == 1_000
    assert all(result) == rows
  end

  test "the result of a task that is an error is sent as it is" do
    text = String.duplicate("x", 10_000)
    tasks = %{"extensions" => %{"io.modelcontextprotocol/tasks" => %{}}}
    returns = {:ok, %CallResult{content: [Content.text(text)], is_error: true}}
    client = connect(assigns: %{returns: returns}, client_capabilities: tasks)
    call = McpServer.Test.Client.call(client, "tools/call", %{"name" => "lasting", "arguments" => %{}})
    assert {:ok, %{"taskId" => id}} = call
    assert %{"isError" => true, "content" => [%{"text" => ^text}]} = settled(client, id)
    assert kept() == 0
  end

  test "dates are no rows" do
    days = List.duplicate(~D[2026-01-01], 1_000)
    {result, _bytes} = answer({:ok, %{"days" => days}})
    assert [%{"block" => "structuredContent", "value" => %{"days" => ^days}}] = all(result)
  end

  defp settled(client, id) do
    case McpServer.Test.Client.call(client, "tasks/get", %{"taskId" => id}) do
      {:ok, %{"status" => "working"}} -> settled(client, id)
      {:ok, %{"status" => "completed", "result" => result}} -> result
    end
  end

  describe "what is not kept" do
    test "errors are sent as they are" do
      text = String.duplicate("x", 10_000)
      assert {%{"isError" => true, "content" => [%{"text" => ^text}]}, _bytes} = answer({:error, text})
      result = %CallResult{content: [Content.text(text)], is_error: true}
      assert {%{"isError" => true, "content" => [%{"text" => ^text}]}, _bytes} = answer({:ok, result})
      assert kept() == 0
    end

    test "a dual response is one already, whatever its sample" do
      returns = fn _conn ->
        rows = for n <- 1..500, do: %{"text" => String.duplicate("x", 1_000), "n" => n}
        DualResponse.create_response(@server, name: "x", rows: rows, columns: [%{name: "n"}])
      end

      {result, bytes} = answer(returns, tool: "call")
      assert bytes > @budget
      assert length(result["structuredContent"]["results"]) == 15
      assert kept() == 1
    end

    @tag req: "T4"
    test "what cannot be written is an invalid result" do
      rows = for n <- 1..1_000, do: %{"id" => n, "pid" => self()}
      capture_log(fn -> assert {%{"isError" => true}, _bytes} = answer({:ok, %{"rows" => rows}}) end)
      assert kept() == 0
    end
  end

  describe "where it cannot be kept" do
    @tag server: [max_bytes: 5_000]
    test "because it is too large, the call fails: a budget is one" do
      assert {%{"isError" => true, "content" => [%{"text" => text}]}, bytes} =
               answer({:ok, [Content.text(String.duplicate("x", 10_000))]})

      assert text == "The result is too large to be sent at once, and could not be kept"
      assert bytes <= @budget
    end

    @tag :stopped
    test "because the server does not run, too" do
      assert {%{"isError" => true}, _bytes} = answer({:ok, [Content.text(String.duplicate("x", 10_000))]})
    end
  end

  @tag req: ["Q5", "R1"]
  test "it is kept for who called" do
    returns = {:ok, [Content.text(String.duplicate("x\n", 10_000))]}
    McpServer.DualResponse.shutdown(@server)

    start_supervised!(
      {DualResponse, name: @server, base_url: "https://x.example/r", bind: &%{tenant: nil, subject: &1.assigns[:user]}},
      id: :bound
    )

    assert {:ok, %{"content" => [_text, %{"uri" => uri}]}} =
             call_tool("run", %{}, assigns: %{returns: returns, user: "ada"})

    assert {:ok, _result} = read_resource(uri, assigns: %{user: "ada"})
    assert {:error, _error} = read_resource(uri, assigns: %{user: "eve"})
  end

  # A hundred with `MCP_SCALE=20`.
  @tag req: "T5"
  test "a result of megabytes is kept and linked; nothing else is harmed" do
    megabytes = McpServer.HttpCase.scaled(5)
    lines = megabytes * 10_000
    line = String.duplicate("x", 99)
    returns = fn _conn -> {:ok, [Content.text(String.duplicate(line <> "\n", lines - 1) <> line)]} end
    {result, bytes} = answer(returns, tool: "call", timeout: 60_000, receive_timeout: 60_000)
    assert bytes <= @budget
    assert [%{"text" => _text}, %{"uri" => "resource://" <> id}] = result["content"]
    {:ok, _total, pages} = DualResponse.stream(@server, id)

    # Many lines are stored as several lines in one row.
    {count, last} =
      Enum.reduce(pages, {0, nil}, fn rows, {count, _last} ->
        for %{"text" => text} <- rows, do: assert(text |> String.split("\n") |> Enum.uniq() == [line])
        {count + Enum.sum(for %{"text" => text} <- rows, do: div(byte_size(text) + 1, 100)), List.last(rows)}
      end)

    assert count == lines
    assert last["line"] + div(byte_size(last["text"]) + 1, 100) - 1 == lines
    assert {%{"content" => [%{"text" => "still here"}]}, _bytes} = answer({:ok, [Content.text("still here")]})
  end

  @tag req: "T5"
  test "a result beyond max_result_bytes is kept as well, since it is not sent" do
    returns = {:ok, [Content.text(String.duplicate("x\n", 10_000))]}
    {result, _bytes} = answer(returns, limits: [max_result_bytes: 10_000])
    assert [_text, %{"type" => "resource_link"}] = result["content"]
  end
end
