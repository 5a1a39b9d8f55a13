defmodule McpServer.Protocol.ConfirmTest do
  # `McpServer.Controller.confirm/4` in both eras: it asks once, and without consent the handler does nothing.
  use ExUnit.Case, async: true
  use McpServer.Test, router: McpServer.ConfirmRouter

  import McpServer.EveryWay, only: [ask_all: 4, text: 1, ways: 2]
  import McpServer.HttpRequests, only: [modern: 3]

  alias McpServer.{ConfirmRouter, Conn, HttpClient, HttpServers}

  @eras ["2025-06-18", "2025-11-25", "2026-07-28"]
  @accepted %{"action" => "accept", "content" => %{}}

  @tag :tmp_dir
  test "on the wire: the user agrees, declines, or closes the question", %{tmp_dir: tmp_dir} do
    ways = ways(ConfirmRouter, tmp_dir)

    for {answer, expected} <- [
          {@accepted, "Deleted note 7"},
          {%{"action" => "decline"}, "Nothing was done: the user declined (Delete note 7?)"},
          {%{"action" => "cancel"}, "Nothing was done: the user closed the question without an answer (Delete note 7?)"}
        ],
        call = %{"name" => "delete", "arguments" => %{"id" => 7}},
        {way, result, asked} <- ask_all(ways, "tools/call", call, answer) do
      assert {way, text(result), asked} == {way, expected, ["Delete note 7?"]}
      assert {way, Map.get(result, "isError", false)} == {way, answer != @accepted}
    end
  end

  for revision <- @eras do
    @revision revision

    test "#{revision}: further questions in the function, with the handler's own state" do
      test = self()

      answers = fn "elicitation/create", %{"message" => message} ->
        send(test, {:asked, message})
        if message == "Why?", do: %{"action" => "accept", "content" => %{"why" => "it is old"}}, else: @accepted
      end

      assert {:ok, result} = call_tool("twice", %{}, revision: @revision, answers: answers)
      assert text(result) == "begun, because it is old"
      for message <- ["Really?", "Really, really?", "Why?"], do: assert_received({:asked, ^message})
      refute_received {:asked, _again}
    end

    test "#{revision}: a client that cannot ask" do
      options = [revision: @revision, client_capabilities: %{}]
      assert {:ok, %{"isError" => true} = result} = call_tool("delete", %{"id" => 7}, options)
      assert text(result) == "Nothing was done: the client cannot ask the user for consent (Delete note 7?)"
      assert {:ok, result} = call_tool("bold", %{}, options)
      assert text(result) == "went on"
    end

    test "#{revision}: prompts ask as well" do
      answers = %{"elicitation/create" => @accepted}
      assert {:ok, %{"messages" => [message]}} = get_prompt("sure", %{}, revision: @revision, answers: answers)
      assert message["content"]["text"] == "Sure!"
      answers = %{"elicitation/create" => %{"action" => "decline"}}
      assert {:error, error} = get_prompt("sure", %{}, revision: @revision, answers: answers)
      assert error["message"] == "Nothing was done: the user declined (Sure?)"
    end
  end

  test "a client that answers with an error, as it can in the session era" do
    answers = %{"elicitation/create" => {:error, %{"code" => -32603, "message" => "no window"}}}
    assert {:ok, result} = call_tool("delete", %{"id" => 7}, revision: "2025-11-25", answers: answers)
    assert text(result) == "Nothing was done: the user could not be asked (Delete note 7?)"
  end

  test "consent to one question is none to another, nor to the same of other arguments" do
    conn = %Conn{client_capabilities: %{"elicitation" => %{}}}
    assert {:input_required, asked, state} = ConfirmRouter.call_tool(conn, "delete", %{"id" => 7})
    assert asked["confirm"].params["message"] == "Delete note 7?"
    agreed = %{conn | state: state, input_responses: %{"confirm" => @accepted}}
    assert {:ok, [%{text: "Deleted note 7"}]} = ConfirmRouter.call_tool(agreed, "delete", %{"id" => 7})
    assert {:input_required, asked, _state} = ConfirmRouter.call_tool(agreed, "delete", %{"id" => 8})
    assert asked["confirm"].params["message"] == "Delete note 8?"
    # The user has not been asked yet.
    assert {:input_required, _asked, _state} = ConfirmRouter.call_tool(%{agreed | state: nil}, "delete", %{"id" => 7})
    # The client has sent the request again without a response.
    assert {:input_required, _asked, _state} =
             ConfirmRouter.call_tool(%{agreed | input_responses: %{}}, "delete", %{"id" => 7})
  end

  describe "a consent that the client sends again, in 2026-07-28" do
    defp ask(server, name, arguments, more \\ %{}) do
      params = Map.merge(%{"name" => name, "arguments" => arguments}, more)
      HttpClient.answer(server, modern("tools/call", params, capabilities: %{"elicitation" => %{}}))["result"]
    end

    # The request with the user's consent to the question of the result.
    defp consent(%{"resultType" => "input_required", "requestState" => state}),
      do: %{"requestState" => state, "inputResponses" => %{"confirm" => @accepted}}

    test "is asked for again" do
      server = HttpServers.start(:listener, router: ConfirmRouter)
      agreed = server |> ask("delete", %{"id" => 7}) |> consent()
      assert text(ask(server, "delete", %{"id" => 7}, agreed)) == "Deleted note 7"
      anew = ask(server, "delete", %{"id" => 7}, agreed)
      assert %{"confirm" => %{"params" => %{"message" => "Delete note 7?"}}} = anew["inputRequests"]
      assert text(ask(server, "delete", %{"id" => 7}, consent(anew))) == "Deleted note 7"
    end

    test "does not count before the question" do
      server = HttpServers.start(:listener, router: ConfirmRouter)
      early = ask(server, "delete", %{"id" => 7}, %{"inputResponses" => %{"confirm" => @accepted}})
      assert %{"confirm" => %{"params" => %{"message" => "Delete note 7?"}}} = early["inputRequests"]
    end

    test "is used by one of many simultaneous calls" do
      server = HttpServers.start(:listener, router: ConfirmRouter)
      agreed = server |> ask("delete", %{"id" => 7}) |> consent()
      calls = for _n <- 1..20, do: Task.async(fn -> ask(server, "delete", %{"id" => 7}, agreed) end)
      results = Task.await_many(calls, :infinity)
      assert Enum.count(results, &is_map_key(&1, "content")) == 1
      assert Enum.count(results, &(&1["resultType"] == "input_required")) == 19
    end

    test "is asked for again after further questions, too" do
      server = HttpServers.start(:listener, router: ConfirmRouter)
      begun = ask(server, "twice", %{})
      first = ask(server, "twice", %{}, Map.take(begun, ["requestState"]))
      second = ask(server, "twice", %{}, consent(first))
      why = %{"confirm" => @accepted, "reason" => %{"action" => "accept", "content" => %{"why" => "it is old"}}}
      third = ask(server, "twice", %{}, consent(second))
      answered = %{"requestState" => third["requestState"], "inputResponses" => why}
      assert text(ask(server, "twice", %{}, answered)) == "begun, because it is old"

      for used <- [consent(first), consent(second), answered] do
        assert %{"confirm" => %{"params" => %{"message" => "Really?"}}} =
                 ask(server, "twice", %{}, used)["inputRequests"]
      end
    end
  end

  test "an option that there is not" do
    assert_raise ArgumentError, "expected :unsupported to be :refuse or :run, got: :ask", fn ->
      McpServer.Controller.confirm(%Conn{}, "Sure?", fn -> :ok end, unsupported: :ask)
    end
  end
end
