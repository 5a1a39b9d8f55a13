defmodule McpServer.RateLimitTest do
  use ExUnit.Case, async: true
  use McpServer.Test, router: McpServer.RateRouter

  import McpServer.TestLog
  import McpServer.EveryWay, only: [text: 1, ways: 2]

  alias McpServer.{Conn, HttpClient, HttpRequests, HttpResponse, HttpServers, HttpSession, RateLimit, RateRouter}
  alias McpServer.Quota
  alias McpServer.Quota.Client
  alias McpServer.Quota
  alias McpServer.RateLimit.Bucket

  @moduletag :capture_log
  @eras ["2025-11-25", "2026-07-28"]

  defp wait(text) do
    assert [_all, seconds] = Regex.run(~r/\AToo many calls\. Try again in (\d+) seconds\.\z/, text)
    String.to_integer(seconds)
  end

  @tag :tmp_dir
  test "over stdio, and in each era, a refused call is a result that the model reads", %{tmp_dir: tmp_dir} do
    for {"stdio" <> _era = way, ask} <- ways(RateRouter, tmp_dir) do
      call = fn -> elem(ask.("tools/call", %{"name" => "once", "arguments" => %{"who" => way}}, nil), 0)["result"] end
      assert text(call.()) == "done"
      assert %{"isError" => true} = refused = call.()
      assert wait(text(refused)) in 3_000..3_600

      get = fn -> elem(ask.("prompts/get", %{"name" => "hello", "arguments" => %{"who" => way}}, nil), 0) end
      assert %{"result" => _messages} = get.()
      assert %{"error" => %{"code" => -32603, "message" => message}} = get.()
      assert wait(message) in 3_000..3_600
    end
  end

  for kind <- [:listener, :plug] do
    test "#{kind}: a refused call has the status 429 and Retry-After, in both eras" do
      server = HttpServers.start(unquote(kind), router: RateRouter)
      session = HttpSession.open(server)
      who = &%{"who" => "#{unquote(kind)} #{&1}"}

      modern = fn -> HttpClient.exchange(server, HttpRequests.modern_call("once", who.("modern"))) end
      legacy = fn -> HttpSession.exchange(session, HttpRequests.legacy_call("once", who.("legacy"))) end

      for call <- [modern, legacy] do
        assert {%{status: 200}, [%{"result" => result}]} = call.()
        assert text(result) == "done"
        assert {%{status: 429} = response, [%{"result" => %{"isError" => true} = result}]} = call.()
        assert HttpResponse.header(response, "retry-after") == Integer.to_string(wait(text(result)))
      end

      assert {%{status: 429} = response, [%{"result" => result}]} =
               HttpClient.exchange(server, HttpRequests.modern_call("busy"))

      assert {HttpResponse.header(response, "retry-after"), text(result)} ==
               {"7", "Too many calls. Try again in 7 seconds."}
    end

    test "#{kind}: with status: 200 a refused call is a result that clients give to the model, in both eras" do
      server = HttpServers.start(unquote(kind), router: RateRouter)
      session = HttpSession.open(server)
      who = &%{"who" => "told #{unquote(kind)} #{&1}"}
      modern = fn -> HttpClient.exchange(server, HttpRequests.modern_call("told", who.("modern"))) end
      legacy = fn -> HttpSession.exchange(session, HttpRequests.legacy_call("told", who.("legacy"))) end

      for call <- [modern, legacy] do
        assert {%{status: 200}, [%{"result" => result}]} = call.()
        assert text(result) == "done"
        assert {%{status: 200} = response, [%{"result" => %{"isError" => true} = result}]} = call.()
        assert wait(text(result)) in 3_000..3_600
        assert HttpResponse.header(response, "retry-after") == nil
      end
    end

    test "#{kind}: the wait may be longer than a day" do
      session = HttpSession.open(HttpServers.start(unquote(kind), router: RateRouter))
      call = fn -> HttpSession.exchange(session, HttpRequests.legacy_call("monthly")) end
      assert {%{status: 200}, [%{"result" => result}]} = call.()
      assert text(result) == "done"
      assert {%{status: 429} = response, [%{"result" => %{"isError" => true} = result}]} = call.()
      assert wait(text(result)) in 2_591_000..2_592_000
      assert HttpResponse.header(response, "retry-after") == Integer.to_string(wait(text(result)))
    end

    test "#{kind}: a session and an address have buckets of their own" do
      server = HttpServers.start(unquote(kind), router: RateRouter)
      statuses = fn session -> elem(HttpSession.exchange(session, HttpRequests.legacy_call("session")), 0).status end
      [ada, bob] = [HttpSession.open(server), HttpSession.open(server)]
      assert for(session <- [ada, bob, ada, bob], do: statuses.(session)) == [200, 200, 429, 429]
    end
  end

  for revision <- @eras do
    test "#{revision}: each statement and each client has a bucket of its own" do
      call = fn name, who ->
        {:ok, result} = call_tool(name, %{"who" => who}, revision: unquote(revision))
        if result["isError"], do: :refused, else: text(result)
      end

      [ada, bob] = for name <- ["ada", "bob"], do: "#{name} #{unquote(revision)}"
      assert for(_n <- 1..3, do: call.("twice", ada)) == ["done", "done", :refused]
      assert for(_n <- 1..2, do: call.("once", ada)) == ["done", :refused]
      assert for(_n <- 1..3, do: call.("twice", bob)) == ["done", "done", :refused]
      # For this client the limit's function returns nil.
      assert for(_n <- 1..3, do: call.("once", "friend")) == ["done", "done", "done"]
    end
  end

  test "the generated callbacks count as well, by principal and by peer" do
    call = &RateRouter.call_tool(&1, &2, %{})
    [ada, bob] = for name <- ["ada", "bob"], do: %Conn{principal: {name, self()}}
    assert {:ok, [%{text: "done"}]} = call.(ada, "each")
    assert {:ok, [%{text: "done"}]} = call.(bob, "each")
    assert {:error, "Too many calls. Try again in " <> _seconds} = call.(ada, "each")

    # One IPv6 network counts as one client.
    [here, there, elsewhere] =
      for {a, b} <- [{1, 1}, {1, 2}, {2, 1}], do: %Conn{peer: {0x2001, 0xDB8, 0, a, 0, 0, 0, b}}

    assert {:ok, _done} = call.(here, "peer")
    assert {:error, _text} = call.(there, "peer")
    assert {:ok, _done} = call.(elsewhere, "peer")
  end

  test "the function of a task does not count again, and a task that is refused says so" do
    client = connect(revision: "2025-11-25")

    for {expected, id} <- [{"rendered", 1}, {:refused, 3}] do
      params = %{"name" => "film", "arguments" => %{"who" => "film"}, "task" => %{}}
      answer = request(%{"id" => id, "method" => "tools/call", "params" => params}, on: client)

      case answer do
        %{"result" => %{"task" => %{"taskId" => task}}} ->
          result = request(%{"id" => id + 1, "method" => "tasks/result", "params" => %{"taskId" => task}}, on: client)
          assert text(result["result"]) == expected

        # The client can read only a task or an error.
        %{"error" => %{"code" => -32603, "message" => refused}} ->
          assert expected == :refused
          assert wait(refused) in 3_000..3_600
      end
    end
  end

  describe "a call that asks the user" do
    @accepted %{"action" => "accept", "content" => %{}}

    @tag :tmp_dir
    test "counts once, on every way, and the next call is refused", %{tmp_dir: tmp_dir} do
      for {way, ask} <- ways(RateRouter, tmp_dir),
          {tool, done} <- [{"confirmed", "done"}, {"inner", "done"}, {"stateless", "done, nil"}] do
        params = %{"name" => tool, "arguments" => %{"who" => "asks #{way}"}}
        assert {%{"result" => result}, ["Sure?"]} = ask.("tools/call", params, @accepted)
        assert {way, text(result)} == {way, done}
        assert {%{"result" => %{"isError" => true} = refused}, []} = ask.("tools/call", params, @accepted)
        assert wait(text(refused)) in 3_000..3_600
      end
    end

    for revision <- @eras do
      test "#{revision}: counts again after ten answers" do
        test = self()

        answers = fn "elicitation/create", %{"message" => message} ->
          send(test, {:asked, message})
          @accepted
        end

        who = %{"who" => "insists #{unquote(revision)}"}
        assert {:ok, refused} = call_tool("insists", who, revision: unquote(revision), answers: answers)
        assert wait(text(refused)) in 3_000..3_600

        for n <- 1..11 do
          question = "#{n}?"
          assert_received {:asked, ^question}
        end

        refute_received {:asked, _question}
      end

      test "#{revision}: and continues as a task" do
        answers = %{"elicitation/create" => @accepted}
        who = %{"who" => "premiere #{unquote(revision)}"}
        assert {:ok, result} = call_tool("premiere", who, revision: unquote(revision), answers: answers)
        assert text(result) == "rendered, nil"
        assert {:ok, refused} = call_tool("premiere", who, revision: unquote(revision), answers: answers)
        assert wait(text(refused)) in 3_000..3_600
      end
    end

    test "is the handler's in the log if it cannot be sent" do
      log = capture_log(fn -> call_tool("nested", %{}, principal: "nested") end)
      # Other tests log meanwhile.
      [_before, said] = String.split(log, "McpServer.RateRouter.Handlers.nested/2 returned", parts: 2)
      refute said |> String.split("\n\n") |> hd() =~ "McpServer.RateLimit"
    end

    test "keeps its state if the client has no limit" do
      assert {:input_required, %{"sure" => _question}, nil} =
               RateRouter.call_tool(%Conn{}, "stateless", %{"who" => "friend"})
    end

    test "counts again if the client repeats an answer" do
      server = HttpServers.start(:listener, router: RateRouter)
      capable = [capabilities: %{"elicitation" => %{}}]
      call = &HttpClient.exchange(server, HttpRequests.modern("tools/call", &1, capable))
      params = %{"name" => "confirmed", "arguments" => %{"who" => "repeats"}}
      assert {%{status: 200}, [%{"result" => %{"requestState" => state}}]} = call.(params)
      answer = Map.merge(params, %{"inputResponses" => %{"confirm" => @accepted}, "requestState" => state})
      assert {%{status: 200}, [%{"result" => result}]} = call.(answer)
      assert text(result) == "done"
      assert {%{status: 429}, [%{"result" => %{"isError" => true} = refused}]} = call.(answer)
      assert wait(text(refused)) in 3_000..3_600
    end

    test "counts again if the client has no more room for unanswered questions, and other clients have" do
      share = 25_000
      held = fn name -> Quota.held(Quota.of_node(), :rate_limit_marks, Client.new(name, nil)) end

      call = fn name ->
        who = %{"who" => "answers as #{name}"}
        answers = %{"elicitation/create" => @accepted}
        {:ok, result} = call_tool("confirmed", who, principal: name, revision: "2026-07-28", answers: answers)
        text(result)
      end

      :ok = Quota.take_anyway(Quota.of_node(), :rate_limit_marks, Client.new("full of questions", nil), share)
      assert wait(call.("full of questions")) in 3_000..3_600
      assert {held.("full of questions"), call.("another"), held.("another")} == {share, "done", 0}
      :ok = Quota.give(Quota.of_node(), :rate_limit_marks, Client.new("full of questions", nil), share)
    end

    test "does not count again only for answers that the client made up" do
      conn = %Conn{client_capabilities: %{"elicitation" => %{}}, input_responses: %{"sure" => @accepted}}
      call = &RateRouter.call_tool(&1, "stateless", %{"who" => "makes up"})
      assert {:ok, [%{text: "done, nil"}]} = call.(conn)
      assert {:error, "Too many calls. Try again in " <> _seconds} = call.(conn)
    end
  end

  test "options that are wrong say what is allowed" do
    assert_raise ArgumentError, "McpServer.RateLimit needs limit: an integer from 1 to 10_000_000", fn ->
      RateLimit.init([])
    end

    assert_raise ArgumentError, ~r/\AMcpServer.RateLimit has no option :limits, did you mean limit\?/, fn ->
      RateLimit.init(limits: 3)
    end

    assert_raise ArgumentError, "expected :status to be 429 or 200, got: 503", fn ->
      RateLimit.init(limit: 3, status: 503)
    end

    assert_raise ArgumentError, ~r/\Aexpected :by to be :principal or :session or :peer or a function/, fn ->
      RateLimit.init(limit: 3, by: :user)
    end

    assert_raise ArgumentError,
                 ~r/\Aby: names McpServer.RateRouter.Handlers.whom\/1, which is not a public function/,
                 fn ->
                   RateLimit.init(limit: 3, by: {RateRouter.Handlers, :whom})
                 end
  end

  describe "a bucket" do
    setup do
      {:ok, table: :ets.new(:buckets, [:public]), quota: quota(100, 100)}
    end

    test "holds a burst, and fills up evenly", %{table: table, quota: quota} do
      rule = %{interval: 10, burst: 3}
      take = &Bucket.take(table, {:a, :ada}, :ada, rule, &1, quota)
      assert for(_n <- 1..4, do: take.(1_000)) == [:ok, :ok, :ok, {:wait, 10}]
      assert take.(1_009) == {:wait, 1}
      assert for(_n <- 1..2, do: take.(1_010)) == [:ok, {:wait, 10}]
      # The bucket never holds more than its size.
      assert for(_n <- 1..4, do: take.(9_000)) == [:ok, :ok, :ok, {:wait, 10}]
    end

    test "has the next token after an interval, also for a call that was overtaken", %{table: table, quota: quota} do
      rule = %{interval: 10, burst: 2}
      take = &Bucket.take(table, {:a, :ada}, :ada, rule, &1, quota)
      assert for(_n <- 1..2, do: take.(1_005)) == [:ok, :ok]
      assert take.(1_000) == {:wait, 10}
    end

    test "is one for all clients that come at the same time, and counts once", %{table: table, quota: quota} do
      rule = %{interval: 1_000, burst: 50}

      taken =
        1..8
        |> Enum.map(fn _n ->
          Task.async(fn -> for _n <- 1..20, do: Bucket.take(table, {:a, :ada}, :ada, rule, 0, quota) end)
        end)
        |> Task.await_many(30_000)
        |> List.flatten()

      assert Enum.count(taken, &(&1 == :ok)) == 50
      assert counted(quota) == 1
    end

    test "makes way when it is full, else newcomers share one", %{table: table} do
      quota = quota(3, 3)
      rule = %{interval: 1_000_000, burst: 1}
      take = &Bucket.take(table, {:a, &1}, &1, rule, &2, quota)
      assert for(n <- 1..3, do: take.(n, 0)) == [:ok, :ok, :ok]
      assert for(n <- 4..6, do: take.(n, 10)) == [:ok, {:wait, 999_999 + 1}, {:wait, 1_000_000}]
      # Buckets in use are unchanged.
      assert take.(1, 10) == {:wait, 999_990}
      assert :ets.info(table, :size) <= 5
      assert for(n <- 7..8, do: take.(n, 5_000_000)) == [:ok, :ok]
      assert {:ets.info(table, :size), counted(quota)} == {3, 2}
    end

    # Earlier, one client filled the table with sessions, and all newcomers to all statements shared its last bucket.
    test "of a client beyond its share is its own, in each statement", %{table: table} do
      quota = quota(6, 2)
      rule = %{interval: 1_000_000, burst: 1}
      take = fn statement, holder, client -> Bucket.take(table, {statement, holder}, client, rule, 0, quota) end
      assert for(n <- 1..4, do: take.(:a, {:session, n}, :eve)) == [:ok, :ok, :ok, {:wait, 1_000_000}]
      assert for(n <- 5..6, do: take.(:b, {:session, n}, :eve)) == [:ok, {:wait, 1_000_000}]
      assert for(client <- [:ada, :bob], do: take.(:a, client, client)) == [:ok, :ok]
      assert counted(quota) == 4
    end

    test "of those who have one does not take from newcomers, where there is no room", %{table: table} do
      quota = quota(2, 1)
      rule = %{interval: 1_000_000, burst: 1}
      take = fn holder, client -> Bucket.take(table, {:a, holder}, client, rule, 0, quota) end
      taken = for client <- [:eve, :mal], n <- 1..3, do: take.({client, n}, client)
      assert taken == [:ok, :ok, {:wait, 1_000_000}, :ok, :ok, {:wait, 1_000_000}]
      assert for(client <- [:ada, :bob], do: take.(client, client)) == [:ok, {:wait, 1_000_000}]
    end
  end

  defp quota(limit, share), do: Quota.put_bound(Quota.new(:node, %{}), :rate_limit_buckets, {limit, share})
  defp counted(quota), do: Quota.held(quota, :rate_limit_buckets)
end
