defmodule McpServer.Connection.SessionTest do
  use ExUnit.Case, async: true

  alias McpServer.{Request, Subscription}
  alias McpServer.Connection.Session
  alias McpServer.Protocol.Revision

  @opening %{
    id: 1,
    revision: "2025-06-18",
    client_info: %{"name" => "c", "version" => "1"},
    client_capabilities: %{"roots" => %{}}
  }

  defp session, do: Session.open(Session.new("s"), @opening)
  defp request(fields), do: struct!(%Request{id: 1, method: "tools/call", revision: "2025-06-18", kind: :tool}, fields)

  test "ids are 128 random bits in the URL alphabet" do
    ids = for _ <- 1..50, do: Session.random_id()
    assert length(Enum.uniq(ids)) == 50
    assert Enum.all?(ids, &(&1 =~ ~r/\A[A-Za-z0-9_-]{22}\z/))
  end

  describe "eras" do
    test "2026-07-28 is the first stateless revision" do
      refute Revision.stateless?("2025-11-25")
      assert Revision.stateless?("2026-07-28")
    end

    test "what belongs to no request is worded in the session's revision, or the newest" do
      assert Session.fallback_revision(Session.new("s")) == "2026-07-28"
      assert Session.fallback_revision(session()) == "2025-06-18"
    end

    test "a request of the session era takes client and capabilities from its session" do
      assert %{client_info: %{"name" => "c"}, client_capabilities: %{"roots" => %{}}} =
               Session.complete(session(), request(%{}))
    end

    test "a stateless request keeps its own, whatever session shares the transport" do
      own = request(%{revision: "2026-07-28", client_capabilities: %{}, client_info: %{"name" => "d"}})
      assert Session.complete(session(), own) == own
    end

    test "initialized means nothing before initialize" do
      refute Session.initialized(Session.new("s")).initialized?
      assert Session.initialized(session()).initialized?
    end
  end

  describe "ids in flight" do
    @tag req: "M7"
    test "an id is in flight until its request is answered, and its text is another" do
      session = Session.place(session(), 7, :waiting)
      assert Session.in_flight?(session, 7)
      refute Session.in_flight?(session, "7")
      refute session |> Session.finish(7) |> Session.in_flight?(7)
    end

    @tag req: "M25"
    test "nothing is known of an id that is not in flight" do
      assert Session.whereabouts(session(), 7) == nil
    end
  end

  describe "log levels" do
    test "info and above by default" do
      assert Session.logs?(session().log_level, "info")
      assert Session.logs?(session().log_level, "emergency")
      refute Session.logs?(session().log_level, "debug")
    end

    test "each level passes itself and what is more severe" do
      for {threshold, at} <- Enum.with_index(Session.log_levels()),
          {level, index} <- Enum.with_index(Session.log_levels()) do
        assert Session.logs?(threshold, level) == index >= at
      end
    end
  end

  describe "bounds" do
    test "subscriptions: as many as allowed, the same one again costs nothing" do
      {:ok, session} = Session.subscribe(session(), "a:1", 2)
      {:ok, session} = Session.subscribe(session, "a:2", 2)
      assert {:ok, ^session} = Session.subscribe(session, "a:1", 2)
      assert Session.subscribe(session, "a:3", 2) == {:error, :too_many}
      assert {:ok, _session} = session |> Session.unsubscribe("a:1") |> Session.subscribe("a:3", 2)
    end

    test "streams" do
      stream = %{revision: "2026-07-28", subscription: %Subscription{}, stream: :session, holder: nil}
      listen = fn session, id -> Session.listen(session, id, Map.put(stream, :id, id), 2) end
      {:ok, session} = listen.(session(), 1)
      {:ok, session} = listen.(session, 2)
      assert listen.(session, 3) == {:error, :too_many}
      assert {:ok, _session} = session |> Session.unlisten(1) |> listen.(3)
    end
  end

  describe "requests put to the client" do
    test "an answer finds the call and the key, once" do
      call = make_ref()
      session = Session.ask(session(), call, [{"1-1", "name"}, {"1-2", "age"}])
      assert {:ok, {^call, "age"}, session} = Session.answered(session, "1-2")
      assert Session.answered(session, "1-2") == :unknown
      assert {:ok, {^call, "name"}, _session} = Session.answered(session, "1-1")
    end

    test "what a call still waits for is withdrawn with it, and nothing else" do
      {one, other} = {make_ref(), make_ref()}
      session = session() |> Session.ask(one, [{"1-1", "a"}, {"1-2", "b"}]) |> Session.ask(other, [{"2-1", "a"}])
      assert {["1-1", "1-2"], session} = Session.withdraw(session, one)
      assert {:ok, {^other, "a"}, _session} = Session.answered(session, "2-1")
      assert Session.answered(session, "1-1") == :unknown
    end
  end
end
