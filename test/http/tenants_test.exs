defmodule McpServer.HttpTenantsTest do
  # `issuers:` of `auth:`: a function returns the issuers of tenants, on both servers.
  use McpServer.HttpCase, async: true

  alias McpServer.Auth.Issuer, as: Keys
  alias McpServer.Auth.{Plan, Tenants}
  alias McpServer.Auth.Tenants.Places
  alias McpServer.{FromAddress, HttpRouter}
  alias McpServer.Test.Issuer

  @resource "http://localhost/mcp"
  @tail ~s(scope="mcp:use", resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp")

  setup context do
    issuers = for name <- [:own, :one, :two], into: %{}, do: {name, start_supervised!(Issuer, id: name)}
    urls = Map.new(issuers, fn {name, issuer} -> {name, Issuer.url(issuer)} end)
    test = self()
    one = urls.one

    tenants = fn issuer ->
      send(test, {:asked, issuer})
      if issuer == one, do: {:ok, scope_claims: ["roles"]}, else: :error
    end

    server = if kind = context[:kind], do: serve(kind, issuer: urls.own, issuers: tenants)
    {:ok, issuers: issuers, urls: urls, server: server, tenants: tenants}
  end

  defp serve(kind, auth) do
    HttpServers.start(kind, router: HttpRouter, auth: [resource: @resource, scopes: ["mcp:use"]] ++ auth)
  end

  defp ask(server, token) do
    {response, [message]} =
      HttpClient.exchange(server, with_headers(modern_call("granted"), [{"authorization", "Bearer " <> token}]))

    {response.status, HttpResponse.header(response, "www-authenticate"), message}
  end

  defp token(issuer, options \\ []),
    do: Issuer.token(issuer, Keyword.merge([audience: @resource, scopes: ["mcp:use"]], options))

  defp refused(text), do: ~s(Bearer error="invalid_token", error_description="#{text}", #{@tail})

  @tag req: ["R8", "T17"]
  on_both "a token chooses by its issuer, and none is asked that nobody knows", %{issuers: issuers} = context do
    %{server: server, urls: urls} = context
    assert {200, nil, message} = ask(server, token(issuers.own))
    assert HttpClient.text(message) == inspect({{urls.own, "ada", "client"}, "ada", ["mcp:use"]})
    refute_received {:asked, _issuer}

    # This tenant's scopes are in another claim.
    roles = %{"roles" => ["mcp:use", "admin"]}
    assert {200, nil, message} = ask(server, token(issuers.one, claims: roles))
    assert HttpClient.text(message) == inspect({{urls.one, "ada", "client"}, "ada", ["mcp:use", "admin"]})
    forbidden = %{"jsonrpc" => "2.0", "error" => %{"code" => -32600, "message" => "Forbidden"}}
    assert ask(server, token(issuers.one)) == {403, ~s(Bearer error="insufficient_scope", #{@tail}), forbidden}
    assert_received {:asked, asked}
    assert asked == urls.one
    refute_received {:asked, _issuer}

    unauthorized = %{"jsonrpc" => "2.0", "error" => %{"code" => -32600, "message" => "Unauthorized"}}
    unknown = refused("The issuer of the access token is not known")
    assert ask(server, token(issuers.two)) == {401, unknown, unauthorized}
    assert Issuer.fetches(issuers.two) == 0

    # An issuer cannot sign for another issuer, even if their keys have the same ids.
    wrong = refused("The signature of the access token is wrong")
    assert ask(server, token(issuers.one, claims: %{"iss" => urls.own})) == {401, wrong, unauthorized}
  end

  # Earlier, an issuer that hung could hold all hooks of the server, and no token was checked.
  on_both "that hangs holds at most a quarter of the hooks", %{kind: kind, urls: urls, issuers: issuers} do
    hanging = urls.one
    auth = [resource: @resource, scopes: ["mcp:use"], issuer: [urls.own, hanging], timeout: 60_000, wait: 60_000]
    server = HttpServers.start(kind, router: HttpRouter, auth: auth, http: [max_hooks: 8])
    :ok = Issuer.stall(issuers.one)
    token = token(issuers.one)
    for _waiting <- 1..2, do: start_supervised!({Task, fn -> ask(server, token) end}, id: make_ref())

    eventually(fn ->
      keys = Registry.select(McpServer.Http.Registry, [{{{Keys, hanging, :_}, :"$1", :_}, [], [:"$1"]}])
      for(process <- keys, do: length(:sys.get_state(process).waiting)) == [2]
    end)

    unavailable = %{"jsonrpc" => "2.0", "error" => %{"code" => -32603, "message" => "The token cannot be checked now"}}
    assert ask(server, token) == {503, nil, unavailable}
    assert {200, nil, _message} = ask(server, token(issuers.own))
    :ok = Keys.forget_url(hanging)
  end

  @tag req: ["T17", "T40"]
  on_both "what is no URL is unknown, whatever the function would say", %{kind: kind, urls: urls, issuers: issuers} do
    me = self()

    hook = fn issuer ->
      send(me, {:asked, issuer})
      {:ok, []}
    end

    server = serve(kind, issuer: urls.own, issuers: hook)
    unauthorized = %{"jsonrpc" => "2.0", "error" => %{"code" => -32600, "message" => "Unauthorized"}}
    unknown = refused("The issuer of the access token is not known")

    for issuer <- [
          "file:///etc/passwd",
          urls.one <> "/t HTTP/1.1\r\nX-Injected: 1\r\nX: ",
          urls.one <> "/a b",
          urls.one <> "/é",
          "https://user@login.example",
          "https://login.example/#fragment"
        ] do
      assert {issuer, ask(server, token(issuers.one, claims: %{"iss" => issuer}))} ==
               {issuer, {401, unknown, unauthorized}}
    end

    assert Issuer.fetches(issuers.one) == 0
    refute_received {:asked, _issuer}
  end

  # A token without a valid signature, that anybody can write.
  defp unsigned(issuer) do
    [%{"alg" => "ES256", "kid" => "k"}, %{"iss" => issuer}]
    |> Enum.map(&McpServer.JSON.encode!/1)
    |> Enum.concat([<<0::512>>])
    |> Enum.map_join(".", &Base.url_encode64(&1, padding: false))
  end

  defp invented(n), do: "http://localhost:9/t#{n}"

  # The tenants of a plan, without their keys.
  defp rows(plan_id), do: :ets.select_count(Tenants, [{{{plan_id, :_}, :_, :_, :_}, [], [true]}])
  # The plan of the test's server, which is the only one with this issuer.
  defp plan_of(issuer), do: [{{{:"$1", issuer}, :_, :_, :_}, [], [:"$1"]}] |> then(&:ets.select(Tenants, &1)) |> hd()

  # A function that accepts everything, and tells the test.
  defp all(test \\ self()) do
    fn issuer ->
      send(test, {:asked, issuer})
      {:ok, []}
    end
  end

  # Earlier, such tokens pushed out the keys of tenants in use, and with them what these keys had verified.
  on_both "that was proven stays, whatever is named in tokens without a signature", %{kind: kind} = context do
    %{urls: urls, issuers: issuers} = context
    server = serve(kind, issuer: urls.own, issuers: all())
    one = for name <- ["ada", "bob"], do: token(issuers.one, subject: name)
    for token <- one, do: assert({200, nil, _message} = ask(server, token))
    assert Issuer.fetches(issuers.one) == 1

    1..300
    |> Task.async_stream(&ask(server, unsigned(invented(&1))), max_concurrency: 30, timeout: 60_000)
    |> Enum.each(fn {:ok, {status, _challenge, _message}} -> assert status in [401, 503] end)

    for token <- [token(issuers.one, subject: "cyd") | one], do: assert({200, nil, _message} = ask(server, token))
    assert Issuer.fetches(issuers.one) == 1
    one = urls.one
    assert_received {:asked, ^one}
    refute_received {:asked, ^one}
  end

  # Earlier, callers at the same time dropped the same row, and each added one.
  on_both "there are at most 100 that tokens only name, also of 200 at once", %{kind: kind} = context do
    %{urls: urls, issuers: issuers} = context
    test = self()

    together = fn issuer ->
      send(test, {:asked, issuer, self()})
      if issuer != urls.one, do: receive(do: (:go -> :ok))
      {:ok, []}
    end

    server = serve(kind, issuer: urls.own, issuers: together)
    assert {200, nil, _message} = ask(server, token(issuers.one))
    tasks = for n <- 1..200, do: Task.async(fn -> ask(server, unsigned(invented(n))) end)

    waiting =
      for n <- 1..200 do
        issuer = invented(n)
        assert_receive {:asked, ^issuer, process}, 60_000
        process
      end

    for process <- waiting, do: send(process, :go)
    statuses = for {status, _challenge, _message} <- Task.await_many(tasks, 60_000), do: status
    # The proven one has a place of its own.
    assert rows(plan_of(urls.one)) == 101
    assert Enum.frequencies(statuses) == %{401 => 100, 503 => 100}
  end

  on_both "that is only named keeps its place while its keys may be fetched", %{kind: kind, urls: urls} do
    server = serve(kind, issuer: urls.own, issuers: all())
    for n <- 1..100, do: assert({401, _challenge, _message} = ask(server, unsigned(invented(n))))
    unavailable = %{"jsonrpc" => "2.0", "error" => %{"code" => -32603, "message" => "The token cannot be checked now"}}
    assert ask(server, unsigned(invented(101))) == {503, nil, unavailable}
    for n <- 1..101, issuer = invented(n), do: assert_received({:asked, ^issuer})
    for n <- 1..100, do: assert({401, _challenge, _message} = ask(server, unsigned(invented(n))))
    refute_received {:asked, _issuer}

    # After this time the oldest one gives way.
    test = self()

    impatient = fn issuer ->
      send(test, {:asked, issuer})
      {:ok, wait: 1}
    end

    server = serve(kind, issuer: urls.own, issuers: impatient)
    for n <- 1..100, do: assert({401, _challenge, _message} = ask(server, unsigned(invented(n))))
    eventually(fn -> elem(ask(server, unsigned(invented(101))), 0) == 401 end)
    for n <- 1..100, issuer = invented(n), do: assert_received({:asked, ^issuer})
    assert {401, _challenge, _message} = ask(server, unsigned(invented(100)))
    hundredth = invented(100)
    refute_received {:asked, ^hundredth}
    first = invented(1)
    eventually(fn -> elem(ask(server, unsigned(first)), 0) == 401 end)
    assert_received {:asked, ^first}
  end

  # Earlier, an address could displace what others had named.
  test "that an address has named goes when this address names more than its share", %{urls: urls} do
    auth = [resource: @resource, issuer: urls.own, issuers: all()]
    server = FromAddress.start(router: HttpRouter, auth: auth)

    name = fn address, n ->
      headers = [{"authorization", "Bearer " <> unsigned(invented(n))}, {"x-from", address}]
      assert {%{status: 401}, _list} = HttpClient.exchange(server, with_headers(modern_call("granted"), headers))
    end

    asked? = fn n ->
      issuer = invented(n)

      receive do
        {:asked, ^issuer} -> true
      after
        0 -> false
      end
    end

    for {address, n} <- [{"198.51.100.3", 1}, {"192.0.2.7", 2}, {"198.51.100.3", 2}], do: name.(address, n)
    for n <- 3..120, do: name.("192.0.2.7", n)
    assert Enum.filter(1..120, asked?) == Enum.to_list(1..120)

    # Both that this one has named, and the last twelve of the other.
    for n <- [1, 2], do: name.("198.51.100.3", n)
    for n <- 109..120, do: name.("192.0.2.7", n)
    assert Enum.filter(1..120, asked?) == []
    name.("192.0.2.7", 108)
    assert Enum.filter(1..120, asked?) == [108]
  end

  @keys [%{"kty" => "OKP", "crv" => "Ed25519", "x" => "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]
  @login %{authorization_servers: ["https://login.example"]}

  # A plan whose function accepts everything, and tells the test. Fixed keys need no time to be fetched.
  defp plan do
    test = self()

    known = fn issuer ->
      send(test, {:asked, issuer})
      {:ok, keys: @keys}
    end

    Plan.new!("the test", resource: @resource, issuers: known, metadata: @login)
  end

  defp name(plan, issuer), do: assert({:ok, {_policy, {:fixed, _keys}}} = Tenants.fetch(plan, issuer, nil))

  test "at most 100 that are only named are kept, and of a plan that has gone none" do
    plan = plan()
    assert Plan.document(plan)["authorization_servers"] == ["https://login.example"]
    for n <- 1..101, do: name(plan, invented(n))
    assert rows(plan.id) == 100
    Tenants.clear(plan)
    assert rows(plan.id) == 0
  end

  test "at most 100 proven ones are kept, and the one that is used least goes" do
    plan = plan()

    prove = fn n ->
      name(plan, invented(n))
      assert Tenants.verified(plan, invented(n)) == :ok
      assert_received {:asked, _issuer}
    end

    for n <- 1..100, do: prove.(n)
    for n <- 201..299, do: name(plan, invented(n))
    assert rows(plan.id) == 199
    for n <- 201..299, issuer = invented(n), do: assert_received({:asked, ^issuer})

    # The answer about one is not valid any more, as after 300 seconds.
    past = System.monotonic_time(:second) - 1
    for n <- [7, 8], do: true = :ets.update_element(Tenants, {plan.id, invented(n)}, {3, past})
    name(plan, invented(8))
    assert_received {:asked, _renewed}
    prove.(101)
    for n <- [8 | Enum.to_list(201..299)], do: assert(:ets.member(Tenants, {plan.id, invented(n)}))
    gone = fn -> for n <- 1..102, not :ets.member(Tenants, {plan.id, invented(n)}), do: n end
    assert gone.() == [7, 102]
    prove.(102)
    assert gone.() == [1, 7]
    Tenants.clear(plan)
  end

  test "that was displaced while its token was verified comes back as a proven one" do
    plan = plan()
    for n <- 1..101, do: name(plan, invented(n))
    Tenants.verified(plan, invented(1))
    for n <- 201..300, do: name(plan, invented(n))
    assert :ets.member(Tenants, {plan.id, invented(1)})
    assert rows(plan.id) == 101
    Tenants.clear(plan)
  end

  # Earlier, a tenant that went at one mount took away the keys of another one.
  on_both "has its own keys at each mount", %{kind: kind, urls: urls, issuers: issuers} do
    [first, second] = for leeway <- [30, 31], do: serve(kind, issuer: urls.own, issuers: all(), leeway: leeway)
    assert {200, nil, _message} = ask(first, token(issuers.one))
    token = token(issuers.one)
    assert {200, nil, _message} = ask(second, token)
    assert Issuer.fetches(issuers.one) == 2
    one = urls.one
    assert [_first, _second] = plans = :ets.select(Tenants, [{{{:"$1", one}, :_, :_, :_}, [], [:"$1"]}])

    for plan <- plans do
      Places.clear(plan)
      # The other one still has its keys, or none has.
      held = for {%{issuer: ^one}, _keys, _until} <- :ets.tab2list(Keys), do: one
      assert length(held) == Enum.count(plans, &:ets.member(Tenants, {&1, one}))
    end
  end

  # Earlier, a request that was late started a process that nothing ended.
  test "that was displaced gets no process for its keys, nor one whose options have changed", %{urls: urls} do
    one = urls.one
    {:ok, options} = Agent.start_link(fn -> [wait: 1_000] end)

    plan =
      Plan.new!("the test", resource: @resource, issuer: urls.own, issuers: fn _ -> {:ok, Agent.get(options, & &1)} end)

    processes = fn -> Registry.select(McpServer.Http.Registry, [{{{Keys, one, :_}, :"$1", :_}, [], [:"$1"]}]) end

    {:ok, {_policy, {:fetched, source}}} = Tenants.fetch(plan, one, nil)
    Tenants.clear(plan)
    assert Keys.keys(source) == {:error, {:unavailable, 5}}
    eventually(fn -> processes.() == [] end)

    {:ok, {_policy, {:fetched, source}}} = Tenants.fetch(plan, one, nil)
    Agent.update(options, fn _ -> [wait: 60_000] end)
    true = :ets.update_element(Tenants, {plan.id, one}, {3, System.monotonic_time(:second) - 1})
    {:ok, {_policy, {:fetched, renewed}}} = Tenants.fetch(plan, one, nil)
    assert Keys.keys(source) == {:error, {:unavailable, 5}}
    assert {:ok, _keys} = Keys.keys(renewed)
    eventually(fn -> match?([_process], processes.()) end)
    Tenants.clear(plan)
    eventually(fn -> processes.() == [] end)
  end

  # Earlier, the fetch went on: an address that named one tenant after the other had as many fetches as it liked.
  test "that goes ends the fetch of its keys", %{urls: urls, issuers: issuers} do
    one = urls.one
    slow = [timeout: 60_000, wait: 60_000]
    plan = Plan.new!("the test", [resource: @resource, issuer: urls.own, issuers: fn _ -> {:ok, []} end] ++ slow)
    {:ok, {_policy, {:fetched, source}}} = Tenants.fetch(plan, one, nil)
    :ok = Issuer.stall(issuers.one)
    waits = Task.async(fn -> Keys.keys(source) end)

    fetch =
      eventually(fn ->
        case Registry.select(McpServer.Http.Registry, [{{{Keys, one, :_}, :"$1", :_}, [], [:"$1"]}]) do
          [process] -> process |> :sys.get_state() |> Map.fetch!(:fetch)
          [] -> nil
        end
      end)

    monitor = Process.monitor(fetch)
    Tenants.clear(plan)
    assert_receive {:DOWN, ^monitor, :process, ^fetch, :shutdown}, 30_000
    assert Task.await(waits) == {:error, {:unavailable, 5}}
  end

  test "the places are known to the process that follows one that was killed" do
    plan = plan()
    name(plan, invented(1))
    Tenants.verified(plan, invented(1))
    for n <- 2..101, do: name(plan, invented(n))
    {:reply, :ok, plans} = Places.handle_call({:drop, {plan.id, invented(0)}}, nil, elem(Places.init(nil), 1))
    assert map_size(plans[plan.id]) == 101
    assert {:proven, _used} = plans[plan.id][invented(1)]
    assert Map.take(plans, [plan.id]) == Map.take(:sys.get_state(Places), [plan.id])
    Tenants.clear(plan)
    refute is_map_key(:sys.get_state(Places), plan.id)
  end

  test "the options are checked" do
    known = fn _issuer -> :error end

    for {auth, text} <- [
          {[issuers: known], "auth: issuers: needs issuer:, or metadata:"},
          {[issuers: :nobody, issuer: "https://auth.example"], "a function of one argument or {module, function}"}
        ] do
      error = assert_raise ArgumentError, fn -> Plan.new!("the test", [resource: @resource] ++ auth) end

      assert Exception.message(error) =~ text
    end
  end
end
