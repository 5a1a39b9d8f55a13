defmodule McpServer.HttpAuthSecretsTest do
  # Tokens and their contents never appear in a log, a crash report, an event of telemetry or the status of a process,
  # whatever fails. A stand-in for telemetry is loaded, so these tests are not async.
  use McpServer.HttpCase, async: false

  alias McpServer.{HttpRouter, HttpSecretsLog, JSON, TelemetryStandIn}
  alias McpServer.Test.Issuer

  @resource "http://localhost/mcp"
  @subject "subject-8c1f0a7e"
  @fixed "fixed-token-3d9a5b17c2e84f60a1b2c3d4"
  @foreign "opaque-77e0d1c3b5a94826"
  @password "tls-password-64fd2e"

  defmodule Handlers do
    def run(conn, %{"way" => "returns"}), do: {:unknown, conn, conn.auth.claims}
    def run(conn, %{"way" => "match"}), do: {:never, _} = Tuple.duplicate(conn.auth, 2)
    def run(conn, %{"way" => "says"}), do: raise(ArgumentError, "nobody is #{inspect(conn.auth.subject)}")
    def run(conn, %{"way" => "exit"}), do: exit({:noproc, {GenServer, :call, [:nobody, {:load, conn.auth}, 5_000]}})
    def run(_conn, %{"way" => "works"}), do: {:ok, "done"}
  end

  defmodule Router do
    use McpServer.Router

    tool "run", "Fails", Handlers, :run, scopes: ["run"] do
      input_field("way", "How", :string, required: true)
    end
  end

  defmodule Tokens do
    @behaviour McpServer.Auth.Verifier

    @impl true
    def verify("opaque-" <> _rest = token, request, _options), do: raise("#{token} of #{inspect(request.req_headers)}")
    def verify(token, _request, _options), do: {:unknown, token}
  end

  def principal(auth),
    do: if(auth.claims["way"] == "hook", do: raise("no user for #{inspect(auth.claims)}"), else: {:ok, 1})

  setup do
    {:ok, table: HttpSecretsLog.start()}
  end

  defp call(way), do: modern_call("run", %{"way" => way})

  @tag :capture_log
  @tag req: ["T34", "R15"]
  on_both "nothing of a token is told to anybody", %{kind: kind, table: table} do
    # Handlers of telemetry get the conn, like handlers of tools. `inspect/1` shows no secret of it.
    TelemetryStandIn.load(fn event, measurements, metadata ->
      HttpSecretsLog.note(table, {event, measurements, Map.replace(metadata, :conn, inspect(metadata[:conn]))})
    end)

    issuer = start_supervised!(Issuer)

    auth = [
      resource: @resource,
      issuer: Issuer.url(issuer),
      tokens: %{@fixed => [subject: @subject, scopes: ["run"]]},
      verifier: Tokens,
      principal: &__MODULE__.principal/1,
      tls: [password: @password]
    ]

    # A plug accepts secrets only from a function.
    :persistent_term.put(__MODULE__, auth)
    server = HttpServers.start(kind, router: Router, auth: {__MODULE__, :auth})
    minted = &Issuer.token(issuer, [audience: @resource, subject: @subject] ++ &1)
    good = minted.(scopes: ["run"])
    narrow = minted.([])
    expired = minted.(expires_in: -100)
    forged = minted.(signature: :wrong)
    bogus = minted.(header: %{"kid" => @subject})
    hooked = minted.(claims: %{"way" => "hook"})
    ask = fn token, way -> server |> HttpClient.exchange(as(call(way), token)) |> elem(0) |> Map.fetch!(:status) end

    for way <- ~w(works returns match says exit), token <- [good, @fixed], do: assert(ask.(token, way) == 200)
    for token <- [expired, forged, bogus], do: assert(ask.(token, "works") == 401)
    assert ask.(narrow, "works") == 403

    for token <- [hooked, @foreign, String.replace(@foreign, "opaque", "other")],
        do: assert(ask.(token, "works") == 500)

    session = HttpSession.open(server, "2025-11-25", headers: [{"authorization", "Bearer " <> good}])
    assert %{"result" => _done} = HttpSession.call(session, "run", %{"way" => "works"})

    for process <- processes(server) do
      HttpSecretsLog.note(table, :sys.get_status(process))
    end

    crash(Issuer.url(issuer))
    Process.exit(:ets.lookup_element(McpServer.Http.Sessions, session.id, 2), :kill)
    Issuer.fail(issuer)
    assert ask.(bogus, "works") == 503

    said = HttpSecretsLog.said(table)
    assert Enum.any?(said, &(&1 =~ "cannot be fetched"))
    assert Enum.any?(said, &(&1 =~ "{:gen_server, :terminate}"))
    assert Enum.any?(said, &(&1 =~ ~s([:mcp_server, :auth, :refused])))
    assert Enum.count(said, &(&1 =~ "failed (error id ")) >= 11

    for secret <- secrets([good, narrow, expired, forged, bogus, hooked]), text <- said do
      assert {secret, text =~ secret} == {secret, false}, String.slice(text, 0, 2_000)
    end
  end

  def auth, do: :persistent_term.get(__MODULE__)

  # The claims and the signature of each token; all tokens have the same header.
  defp secrets(tokens) do
    parts = for token <- tokens, [_header | parts] = String.split(token, "."), part <- parts, do: part
    digest = :crypto.hash(:sha256, @fixed)

    Enum.uniq(parts) ++
      [@subject, @fixed, @foreign, @password, Base.encode16(digest), inspect(digest, limit: :infinity)]
  end

  defp processes(server) do
    children =
      for supervisor <- [McpServer.Http.SessionSupervisor, McpServer.Http.RouteSupervisor],
          do: {supervisor, DynamicSupervisor.which_children(supervisor)}

    own = if server.pid, do: [server.pid], else: []

    own ++
      for {supervisor, children} <- children, pid <- [supervisor | for({_, pid, _, _} <- children, do: pid)], do: pid
  end

  # Crashes the process with the issuer's keys.
  defp crash(url) do
    [pid] =
      for {_, pid, _, [McpServer.Auth.Issuer]} <- DynamicSupervisor.which_children(McpServer.Http.RouteSupervisor),
          :sys.get_state(pid).source.issuer == url,
          do: pid

    monitor = Process.monitor(pid)
    GenServer.cast(pid, {:unknown, @password})
    assert_receive {:DOWN, ^monitor, :process, ^pid, _reason}
  end

  test "what is printed of options and of what is made of them has no secret" do
    secret = String.duplicate("s3cr3t-", 6)

    options = [
      resource: @resource,
      issuer: "https://auth.example",
      secret: secret,
      tokens: %{@fixed => [subject: "ci"]}
    ]

    plan = McpServer.Auth.Plan.new!("the test", options)

    for text <- [inspect(plan), JSON.encode!(McpServer.Auth.Plan.document(plan))],
        do: refute(text =~ secret)
  end

  @tag req: "T34"
  test "a supervisor prints no secret of the servers that it starts" do
    {:ok, supervisor} = start_supervised({DynamicSupervisor, strategy: :one_for_one})
    auth = [resource: @resource, tokens: %{@fixed => [subject: "ci"]}]
    options = [router: HttpRouter, port: 0, auth: auth]
    results = [name: __MODULE__, base_url: "http://localhost", signed_urls: [secret: @fixed]]
    {:ok, server} = DynamicSupervisor.start_child(supervisor, {McpServer.HttpServer, options})
    {:ok, kept} = DynamicSupervisor.start_child(supervisor, {McpServer.DualResponse, results})
    served = %HttpServers{kind: :listener, port: McpServer.HttpServer.port(server), pid: server}
    assert {%{status: 200}, _messages} = HttpClient.exchange(served, as(modern("tools/list"), @fixed))

    shown = [
      McpServer.HttpServer.child_spec(options ++ [tls: [password: @fixed, certfile: "cert.pem", keyfile: "key.pem"]])
      | for(pid <- [supervisor, server, kept], do: {:sys.get_state(pid), :sys.get_status(pid)})
    ]

    refute inspect(shown, limit: :infinity, printable_limit: :infinity) =~ @fixed
  end

  @tag req: "T34"
  test "plugs, which keep their options in compiled code, take no secret" do
    good = [resource: @resource, issuer: "https://auth.example"]

    for plug <- [McpServer.HttpPlug, McpServer.HttpPlug.ResourceMetadata],
        secret <- [
          [secret: @fixed],
          [tokens: %{@fixed => [subject: "ci"]}],
          [introspection: [client_id: "mcp", client_secret: @fixed]],
          [tls: [password: @fixed]]
        ] do
      router = if plug == McpServer.HttpPlug, do: [router: HttpRouter], else: []
      error = assert_raise ArgumentError, fn -> plug.init(router ++ [auth: good ++ secret]) end

      assert Exception.message(error) ==
               "auth: of #{inspect(plug)} has a secret in it, which a Phoenix router would keep in compiled code. " <>
                 "Write auth: {MyApp.Auth, :options}, a function that returns these options"

      assert plug.init(router ++ [auth: good ++ [tls: [cacertfile: "ca.pem"]]])[:auth]
    end
  end
end
