defmodule McpServer.DualResponse.AccessTest do
  use ExUnit.Case, async: true

  import McpServer.DualResponses

  alias McpServer.DualResponse
  alias McpServer.DualResponse.Error

  @ada %{tenant: "acme", subject: "ada"}

  # The responses of all access functions to this identity.
  defp asked(name, id, identity) do
    [
      DualResponse.lookup(name, id, identity),
      DualResponse.fetch(name, id, %{offset: 0}, identity),
      DualResponse.stream(name, id, %{}, identity),
      DualResponse.pin(name, id, identity),
      DualResponse.delete(name, id, identity)
    ]
  end

  describe "a resource that is bound" do
    @describetag req: ["Q5", "SEC-06", "R1"]
    for {whom, identity} <- [
          {"another subject", %{tenant: "acme", subject: "eve"}},
          {"another tenant", %{tenant: "evil", subject: "ada"}},
          {"a tenant of another type", %{tenant: :acme, subject: "ada"}},
          {"nobody", %{}},
          {"half of it", %{subject: "ada"}}
        ] do
      test "reads to #{whom} as one that does not exist" do
        name = server()
        test = self()

        options = [
          tenant: "acme",
          subject: "ada",
          execute: fn _ ->
            send(test, :executed)
            []
          end
        ]

        id = create!(name, 3, options).resource_id
        assert_received :executed
        identity = unquote(Macro.escape(identity))

        assert asked(name, id, identity) == asked(name, String.duplicate("0", 32), identity)
        assert {:error, %Error{code: :resource_not_found}} = DualResponse.lookup(name, id, identity)
        assert DualResponse.get_resource(name, id, identity) == nil
        refute DualResponse.pin_resource(name, id, identity)
        refute DualResponse.delete_resource(name, id, identity)
        # No user code ran, no access was counted, and the expiry is unchanged.
        refute_received :executed
        assert %{access_count: 0, expires_at: %DateTime{}} = DualResponse.get_resource(name, id, @ada)
      end
    end

    test "is there for those whose it is" do
      name = server()
      id = create!(name, 3, tenant: "acme", subject: "ada").resource_id
      assert %{id: ^id} = DualResponse.get_resource(name, id, @ada)
      assert {:ok, %{returned_count: 3}} = DualResponse.fetch(name, id, %{}, @ada)
      assert DualResponse.pin_resource(name, id, @ada)
      assert DualResponse.delete_resource(name, id, @ada)
    end

    test "to a tenant is there for all its subjects" do
      name = server()
      id = create!(name, 3, tenant: "acme").resource_id
      assert %{id: ^id} = DualResponse.get_resource(name, id, %{tenant: "acme", subject: "bob"})
      assert DualResponse.get_resource(name, id, %{tenant: "evil", subject: "bob"}) == nil
    end

    test "is there for a caller that has judged for itself" do
      name = server()
      test = self()

      options = [
        tenant: "acme",
        subject: "ada",
        execute: fn options ->
          send(test, options.context)
          []
        end
      ]

      id = create!(name, 3, options).resource_id
      assert_received @ada
      assert {:ok, _page} = DualResponse.fetch(name, id, %{}, :any)
      assert_received @ada
    end
  end

  @tag req: "Q5"
  test "one that is bound to nobody is for whoever has its id" do
    name = server()
    id = create!(name, 3).resource_id
    assert {:ok, _page} = DualResponse.fetch(name, id, %{}, %{tenant: "acme", subject: "eve"})
    assert {:ok, _page} = DualResponse.fetch(name, id)
  end

  @tag req: "Q5"
  test "the query is told who asks, for the sample as for every page" do
    name = server()
    test = self()

    execute = fn options ->
      send(test, options.context)
      []
    end

    id = create!(name, 3, tenant: "acme", execute: execute).resource_id
    assert_received %{tenant: "acme", subject: nil}
    DualResponse.fetch(name, id, %{}, @ada)
    assert_received @ada
  end

  describe "conn:" do
    @describetag req: "Q5"
    test "binds to the principal, unless there is a hook" do
      name = server()
      id = create!(name, 1, conn: %McpServer.Conn{principal: "ada"}).resource_id
      assert %{tenant: nil, subject: "ada"} = DualResponse.get_resource(name, id, %{subject: "ada"})
      assert DualResponse.get_resource(name, id, %{subject: "eve"}) == nil
    end

    test "binds to nobody where nobody was authenticated" do
      name = server()
      id = create!(name, 1, conn: %McpServer.Conn{}).resource_id
      assert %{tenant: nil, subject: nil} = DualResponse.get_resource(name, id)
    end

    test "binds to what the hook makes of it; tenant: and subject: go before" do
      name = server(bind: fn conn -> %{tenant: conn.assigns.org, subject: conn.principal.id} end)
      conn = %McpServer.Conn{principal: %{id: 7}, assigns: %{org: "acme"}}
      id = create!(name, 1, conn: conn).resource_id
      assert %{tenant: "acme", subject: 7} = DualResponse.get_resource(name, id, DualResponse.identity(name, conn))
      id = create!(name, 1, conn: conn, tenant: "other").resource_id
      assert %{tenant: "other", subject: 7} = DualResponse.get_resource(name, id, %{tenant: "other", subject: 7})
    end

    # Earlier, such a resource counted as unbound, and any client could read it.
    test "refuses what the hook makes of it in another form" do
      for wrong <- [nil, %{}, %{"tenant" => "acme"}, {:ok, "acme"}] do
        name = server(bind: fn _conn -> wrong end)
        assert_raise ArgumentError, ~r/bind:/, fn -> create!(name, 1, conn: %McpServer.Conn{}) end
      end
    end
  end

  test "two servers know nothing of each other's resources" do
    [one, other] = [server(), server()]
    id = create!(one, 1).resource_id
    assert DualResponse.get_resource(other, id) == nil
  end
end
