defmodule Stress.Auth do
  @moduledoc """
  A server with `auth:` and its issuer, under attacks that cause too many fetches, too much reading or late answers.

  Tokens with unknown keys, and the expiry of the keys, each cost one fetch, also with concurrent requests. Of a key set
  of 1 GB the server reads hardly more than the limit. During a flood of garbage, clients with valid tokens see no
  error; in the long form their p99 stays within twice that of a quiet server.
  """

  for file <- ~w(wire attackers others attacks/tokens), do: Code.require_file("hostile/#{file}.exs", __DIR__)

  alias McpServer.Auth.{Plan, Verification}
  alias McpServer.{HttpPeer, HttpRequests, HttpServer, HttpVm, JSON}
  alias McpServer.Test.Issuer
  alias Stress.Hostile.{Attackers, Attacks, Others}
  alias Stress.Report

  @resource "http://localhost/mcp"
  @bogus 1_000
  @at_once 10_000
  @stale_seconds 6
  @gigabyte 1_000_000_000
  # The limit is 128 KiB; system buffers take the rest.
  @most_read 8_000_000
  @times 2

  @doc "Runs it; `STRESS_SECONDS` sets the length of the flood."
  @spec run(boolean()) :: [{String.t(), boolean()} | {String.t(), boolean(), :timed}]
  def run(short?) do
    vm = HttpVm.launch()
    HttpVm.call(vm, Code, :require_file, [Path.join(__DIR__, "support/report.exs")])
    HttpVm.call(vm, Code, :require_file, [__ENV__.file])
    findings = bogus(vm) ++ expiry(vm) ++ huge(vm) ++ garbage(vm, short?)
    HttpVm.stop(vm)
    findings
  end

  defp bogus(vm) do
    {:ok, issuer} = Issuer.start_link()
    port = serve(vm, Issuer.url(issuer), min_refresh: 600)
    tokens = for n <- 1..@bogus, do: token(issuer, header: %{"kid" => "bogus-#{n}"})
    statuses = tokens |> Task.async_stream(&status(port, &1), max_concurrency: 64, timeout: :infinity) |> frequencies()
    found = "#{inspect(statuses)}, #{Issuer.fetches(issuer)} fetch"
    [{"auth: #{@bogus} made-up keys: #{found}", statuses == %{401 => @bogus} and Issuer.fetches(issuer) == 1}]
  end

  # Runs in the server's VM, so that all calls start at once: sockets would arrive one after the other.
  defp expiry(vm) do
    {:ok, issuer} = Issuer.start_link()
    tokens = for n <- 1..100, do: token(issuer, subject: "user-#{n}")
    auth = auth(Issuer.url(issuer), max_stale: @stale_seconds)
    %{ok: 1} = HttpVm.call(vm, __MODULE__, :identify_here, [auth, tokens, 1])
    Process.sleep((@stale_seconds + 1) * 1_000)
    before = Issuer.fetches(issuer)
    {microseconds, verdicts} = :timer.tc(HttpVm, :call, [vm, __MODULE__, :identify_here, [auth, tokens, @at_once]])
    fetches = Issuer.fetches(issuer) - before
    # On a slow machine the keys expire again.
    allowed = 1 + div(microseconds, @stale_seconds * 1_000_000)
    sound? = fetches in 1..allowed and is_map_key(verdicts, :ok) and Map.keys(verdicts) -- [:ok, :unavailable] == []
    [{"auth: #{@at_once} at once when keys end: #{inspect(verdicts)}, #{fetches} fetch", sound?}]
  end

  # Runs in the VM.
  @doc false
  def identify_here(auth, tokens, count) do
    plan = Plan.new!("the stress test", auth)
    all = Stream.cycle(tokens) |> Enum.take(count)
    parent = self()

    clients =
      for token <- all do
        headers = [{"authorization", "Bearer " <> token}]
        request = %{request_path: "/mcp", query_string: "", req_headers: headers, remote_ip: {127, 0, 0, 1}}

        spawn_link(fn ->
          receive(do: (:go -> send(parent, {:verdict, verdict(Verification.identify(plan, request))})))
        end)
      end

    for client <- clients, do: send(client, :go)
    Enum.frequencies(for _client <- clients, do: receive(do: ({:verdict, verdict} -> verdict)))
  end

  defp verdict({:ok, _auth}), do: :ok
  defp verdict({:error, {:unavailable, _seconds}}), do: :unavailable
  defp verdict({:error, refusal}), do: refusal.reason

  defp huge(vm) do
    for {form, head} <- [length: "content-length: #{@gigabyte}", chunks: "transfer-encoding: chunked", end: "x: y"] do
      {url, server} = flooding(head)
      before = HttpVm.call(vm, :erlang, :memory, [:total])
      port = serve(vm, url, [])
      status = status(port, forged(url))
      sent = Task.await(server, 60_000)
      more = HttpVm.call(vm, :erlang, :memory, [:total]) - before
      text = "auth: a key set of 1 GB (#{form}): #{status}, #{sent} bytes were sent, #{max(more, 0)} more are in use"
      {text, status == 503 and sent < @most_read and more < @most_read}
    end
  end

  # An issuer with an endless key set: counts the bytes that were read.
  defp flooding(head) do
    {:ok, listener} = :gen_tcp.listen(0, [:binary, ip: {127, 0, 0, 1}, active: false, reuseaddr: true])
    {:ok, port} = :inet.port(listener)
    url = "http://localhost:#{port}"
    metadata = JSON.encode!(%{"issuer" => url, "jwks_uri" => url <> "/keys"})

    server =
      Task.async(fn ->
        answer(listener, fn socket ->
          :gen_tcp.send(socket, "HTTP/1.1 200 OK\r\ncontent-length: #{byte_size(metadata)}\r\n\r\n" <> metadata)
        end)

        answer(listener, fn socket ->
          :ok = :gen_tcp.send(socket, "HTTP/1.1 200 OK\r\n#{head}\r\n\r\n")
          flood(socket, piece(head), 0)
        end)
      end)

    {url, server}
  end

  defp answer(listener, with_socket) do
    {:ok, socket} = :gen_tcp.accept(listener)
    {:ok, _request} = :gen_tcp.recv(socket, 0)
    result = with_socket.(socket)
    :gen_tcp.close(socket)
    result
  end

  defp piece("transfer-encoding" <> _chunked), do: "10000\r\n" <> String.duplicate(" ", 65_536) <> "\r\n"
  defp piece(_whole), do: String.duplicate(" ", 65_536)

  defp flood(socket, piece, sent) do
    if sent < @gigabyte and :gen_tcp.send(socket, piece) == :ok,
      do: flood(socket, piece, sent + byte_size(piece)),
      else: sent
  end

  # Valid except for its key and its signature.
  defp forged(issuer) do
    claims = %{"iss" => issuer, "aud" => @resource, "sub" => "ada", "exp" => System.system_time(:second) + 600}
    segments = [JSON.encode!(%{"alg" => "ES256", "kid" => "k"}), JSON.encode!(claims), <<0::512>>]
    Enum.map_join(segments, ".", &Base.url_encode64(&1, padding: false))
  end

  defp garbage(vm, short?) do
    duration = if short?, do: 2_000, else: 1_000 * String.to_integer(System.get_env("STRESS_SECONDS", "60"))
    {:ok, issuer} = Issuer.start_link()
    port = serve(vm, Issuer.url(issuer), [])
    good = token(issuer, expires_in: 3_600)

    bad = [
      [expires_in: -100],
      [audience: "http://other.example"],
      [claims: %{"iss" => "https://evil.example"}],
      [header: %{"alg" => "none"}]
    ]

    attackers = Attackers.launch()
    others = Others.start(port, [{"authorization", "Bearer " <> good}])
    Process.sleep(if short?, do: 300, else: 5_000)
    quiet = Others.take(others)

    {requests, found} =
      Attackers.run(
        attackers,
        [Attacks.Tokens],
        %{port: port, good: good, bad: for(options <- bad, do: token(issuer, options))},
        duration
      )

    flooded = Others.take(others)
    Others.stop(others)
    Attackers.stop(attackers)
    [before, during] = for %{latencies: latencies} <- [quiet, flooded], do: p99(latencies)
    Report.line("garbage tokens", ["#{requests} requests", "p99 #{before} us", "then #{during} us"])
    errors = Enum.uniq(quiet.errors ++ flooded.errors ++ found)
    factor = Float.round(during / max(before, 1), 1)

    [
      {Enum.join(["auth: a flood of garbage: #{length(errors)} errors of others" | errors], "; "), errors == []},
      {"auth: p99 of others is #{factor} times that of a quiet server, #{@times} at most", factor <= @times, :timed}
    ]
  end

  defp p99(latencies), do: latencies |> Enum.sort() |> Enum.at(div(length(latencies) * 99, 100))

  defp token(issuer, options), do: Issuer.token(issuer, Keyword.merge([audience: @resource], options))

  defp auth(url, options), do: [resource: @resource, issuer: url] ++ options

  defp serve(vm, url, options), do: HttpVm.call(vm, __MODULE__, :serve_here, [auth(url, options)])

  # Runs in the VM, as a child of the supervisor that `HttpVm` has started.
  @doc false
  def serve_here(auth) do
    options = [router: McpServer.HttpRouter, port: 0, auth: auth]
    {:ok, pid} = Supervisor.start_child(HttpVm, Supervisor.child_spec({HttpServer, options}, id: make_ref()))
    HttpServer.port(pid)
  end

  defp status(port, token) do
    peer = HttpPeer.connect(port)
    response = HttpPeer.request(peer, HttpRequests.as(HttpRequests.modern_call("echo", %{"text" => "x"}), token))
    HttpPeer.close(peer)
    response.status
  end

  defp frequencies(results), do: results |> Enum.map(fn {:ok, status} -> status end) |> Enum.frequencies()
end
