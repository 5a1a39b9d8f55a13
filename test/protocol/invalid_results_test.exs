defmodule McpServer.Protocol.InvalidResultsTest do
  # The log for an invalid result: the function that returned it, its form, and the allowed forms.
  use ExUnit.Case, async: true
  use McpServer.Test, router: McpServer.RuntimeRouter

  import McpServer.TestLog
  import McpServer.Tool.Content, only: [text: 1]

  defmodule Computed do
    use McpServer.Router

    def list_tools(_conn), do: [%McpServer.Tool{name: "t"}]
  end

  @run "McpServer.RuntimeRouter.Handlers.run/2"
  @complete "McpServer.RuntimeRouter.Handlers.complete/3"
  @tool ~S'A tool returns {:ok, "text"}, {:ok, [text("hello")]}, {:ok, %{…}} or {:error, "text"}.'
  @prompt ~S'A prompt returns {:ok, "text"}, {:ok, [message("user", "hello")]} or {:error, "text"}.'
  @resource ~S'A resource returns content("name", "uri", text: "hello"), {:error, :not_found} or {:error, "text"}.'
  @completion ~S'A completion returns ["value"], completion(["value"]) or {:error, "text"}.'

  # The log line of this call. It has the id that the client got, because other tests log too.
  defp said(call, returned) do
    {result, log} = with_log(fn -> call.(assigns: %{run: fn _conn, _arguments -> returned end}) end)
    assert [_, id] = Regex.run(~r/error ?id\W+([0-9a-f]{16})/i, inspect(result))
    assert [_, text] = Regex.run(~r/\(error id #{id}\): invalid handler result: (.*)\n/, log)
    text
  end

  for {returned, form} <- [
        {quote(do: :ok), ":ok"},
        {quote(do: nil), "nil"},
        {quote(do: 3), "3"},
        {quote(do: {:ok, 3}), "{:ok, 3}"},
        {quote(do: {:ok, "hello", 3}), "{:ok, #String<5 bytes>, 3}"},
        {quote(do: {:error, {:reason}}), "{:error, {:reason}}"}
      ] do
    test "a tool that returns #{Macro.to_string(returned)}" do
      assert said(&call_tool("run", %{}, &1), unquote(returned)) == "#{@run} returned #{unquote(form)}. #{@tool}"
    end
  end

  test "a tool that returns a struct, such as a row: where it belongs" do
    into =
      " Put a struct into a map, such as {:ok, %{found: value}}, or derive McpServer.JSON.Encoder or implement McpServer.Tool.Result for Date."

    for {returned, form} <- [{~D[2020-01-01], "#Date<...>"}, {{:ok, ~D[2020-01-01]}, "{:ok, #Date<...>}"}],
        do: assert(said(&call_tool("run", %{}, &1), returned) == "#{@run} returned #{form}. #{@tool}#{into}")

    # In a map it could not be written either.
    fields =
      " Put its fields into a map, such as {:ok, Map.take(value, [:id])}, or derive McpServer.JSON.Encoder or implement McpServer.Tool.Result for URI."

    assert said(&call_tool("run", %{}, &1), %URI{}) == "#{@run} returned #URI<...>. #{@tool}#{fields}"
  end

  test "a prompt, a resource and a completion, with the :ok around what they return" do
    for {call, function, allowed} <- [
          {&get_prompt("run", %{}, &1), @run, @prompt},
          {&read_resource("run://fixed", &1), @run, @resource},
          {&read_resource("run://rows/1", &1), @run, @resource},
          {&complete_prompt("run", "name", "", &1), @complete, @completion},
          {&complete_resource("run://rows/{id}", "id", "", &1), @complete, @completion}
        ] do
      assert said(call, {:ok, 3}) == "#{function} returned {:ok, 3}. #{allowed}"
      assert said(call, :hello) == "#{function} returned :hello. #{allowed}"
    end
  end

  for {returned, form} <- [
        {quote(do: [%{id: 1}]), "[%{id: 1}]"},
        {quote(do: {:ok, [id: 1]}), "{:ok, [id: 1]}"},
        {quote(do: {:ok, ["a", "b"]}), "{:ok, [#String<1 bytes>, #String<1 bytes>]}"},
        {quote(do: {:ok, [%URI{}]}), "{:ok, [#URI<...>]}"},
        {quote(do: ~c"abc"), "#Charlist<...>"}
      ] do
    test "a tool that returns the list #{Macro.to_string(returned)}" do
      for revision <- ["2025-11-25", "2026-07-28"] do
        assert said(&call_tool("run", %{}, [revision: revision] ++ &1), unquote(returned)) ==
                 "#{@run} returned #{unquote(form)}, which cannot be sent: expected content: a struct, or a map whose " <>
                   "type is one of text, image, audio, resource, resource_link, at /content/0. #{@tool} " <>
                   "Put data into a map: {:ok, %{rows: rows}}."
      end
    end
  end

  test "a long list is shortened before the allowed forms" do
    assert said(&call_tool("run", %{}, &1), for(_ <- 1..50, do: %{id: 1, title: "t"})) =~
             ~r/\A#{Regex.escape(@run)} returned .{300} …, which .* #{Regex.escape(@tool)} Put data into a map/
  end

  test "a list of what is no message, content or value" do
    for {call, function, found} <- [
          {&get_prompt("run", %{}, &1), @run,
           "expected a %McpServer.Prompt.Message{} or a map, at /messages/0. #{@prompt}"},
          {&read_resource("run://fixed", &1), @run,
           "expected a %McpServer.Resource.Content{} or a map, at /contents/0. #{@resource}"},
          {&complete_prompt("run", "name", "", &1), @complete, "expected a string, at /values/0. #{@completion}"}
        ] do
      assert said(call, id: 1) == "#{function} returned [id: 1], which cannot be sent: #{found}"
    end
  end

  test "a tool with an output schema that returns content only" do
    assert said(&call_tool("sum", %{}, &1), {:ok, [text("3")]}) ==
             ~s(#{@run} returned no structured content, but tool "sum" declares an output schema. ) <>
               "It has to return {:ok, %{…}} with its output fields, or a CallResult with structured_content."
  end

  test "structured content that does not fit the output schema" do
    assert said(&call_tool("sum", %{}, &1), {:ok, %{sum: "three"}}) ==
             "what #{@run} returned does not fit the output schema: /sum: must be an integer (type)"
  end

  test "content that cannot be JSON" do
    assert said(&call_tool("run", %{}, &1), {:ok, [text(<<255>>)]}) =~
             ~r/\Awhat #{Regex.escape(@run)} returned cannot be sent: .*UTF-8/
  end

  test "a list that the router computes" do
    log = capture_log(fn -> assert {:error, %{"code" => -32603}} = McpServer.Test.list_tools(Computed) end)

    assert log =~
             "invalid handler result: McpServer.Protocol.InvalidResultsTest.Computed.list_tools/1 returned " <>
               ~S([#McpServer.Tool<...>]. A list function returns {:ok, [item, …]} or {:error, "text"}.)
  end
end
