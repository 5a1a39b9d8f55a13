for file <- ~w(http/request http/router), do: Code.require_file("#{file}.exs", __DIR__)

defmodule Bench.Auth do
  @moduledoc """
  The cost of access tokens: a call with a known token, compared with a call of an open server; refused requests;
  and new tokens.

  Server, client and issuer run in this VM. Each answer is checked before the measurements. Times are microseconds of
  processor time, with wall time in brackets. Over sockets they include server and client.
  """

  alias Bench.Http.{Request, Router}
  alias Bench.Measure
  alias McpServer.Auth.{Plan, Verification}
  alias McpServer.HttpServer
  alias McpServer.Protocol.HTTP
  alias McpServer.Test.Issuer

  @resource "http://localhost/mcp"
  @algorithms ["RS256", "PS256", "ES256", "EdDSA"]
  # The most microseconds to refuse a request by a rule, and the most that a known token adds to a request.
  @at_most_us 5
  # The least rate of a protected call, as a part of the open call's rate.
  @at_least 0.9
  # The most microseconds to verify a token: 1,000 tokens a second must be possible.
  @verified_us 1_000

  def run do
    {:ok, issuer} = Issuer.start_link()
    options = [resource: @resource, issuer: Issuer.url(issuer)]
    # The issuer creates its keys at the first signature, and the servers fetch them once.
    for algorithm <- @algorithms, do: token(issuer, alg: algorithm)
    token = token(issuer)
    [open, guarded] = for options <- [[], [auth: options]], do: start(options)
    for {server, token} <- [{open, nil}, {guarded, token}], do: "HTTP/1.1 200" <> _answer = ask(server, call(token))
    for {_name, token} <- refused(issuer), do: "HTTP/1.1 401" <> _answer = ask(guarded, call(token))
    calls(open, guarded, token) ++ requests(open, guarded, issuer, token) ++ new_tokens(issuer, options)
  end

  defp token(issuer, options \\ []), do: Issuer.token(issuer, Keyword.merge([audience: @resource], options))

  # A rule refuses each of these, without verifying a signature.
  defp refused(issuer) do
    [
      {"no token", nil},
      {"garbage", String.duplicate("abc", 200)},
      {"of another issuer", token(issuer, claims: %{"iss" => "https://other.example"})},
      {"for another resource", token(issuer, audience: "http://localhost/other")},
      {"expired", token(issuer, expires_in: -300)}
    ]
  end

  defp start(options) do
    {:ok, server} = HttpServer.start_link([router: Router, ip: :any, port: 0] ++ options)
    {:ok, socket} = :gen_tcp.connect(address(), HttpServer.port(server), [:binary, active: false, nodelay: true])
    %{socket: socket, service: :sys.get_state(server).mount.service}
  end

  # No limit per address applies to clients on loopback without a token, so an open server would do less work.
  defp address do
    {:ok, interfaces} = :inet.getifaddrs()
    addresses = for {_name, facts} <- interfaces, {:addr, {first, _, _, _} = own} <- facts, first != 127, do: own
    List.first(addresses, {127, 0, 0, 1})
  end

  defp call(token) do
    request = Request.echo(:stateless)
    authorization = if token, do: [{"Authorization", "Bearer #{token}"}], else: []
    length = {"Content-Length", Integer.to_string(byte_size(request.body))}
    headers = [{"Host", "localhost"}, length] ++ authorization ++ request.headers

    IO.iodata_to_binary([
      "POST /mcp HTTP/1.1\r\n",
      for({n, v} <- headers, do: [n, ": ", v, "\r\n"]),
      "\r\n",
      request.body
    ])
  end

  # The answers are small enough for one read.
  defp ask(%{socket: socket}, request) do
    :ok = :gen_tcp.send(socket, request)
    {:ok, answer} = :gen_tcp.recv(socket, 0, 5_000)
    answer
  end

  defp calls(open, guarded, token) do
    [bare, warm] = [call(nil), call(token)]
    names = ["open", "with a known token", "refused, no token"]
    times = measure(names, [fn -> ask(open, bare) end, fn -> ask(guarded, warm) end, fn -> ask(guarded, bare) end])
    print("tools/call over HTTP, 2026-07-28, one connection, µs", names, times)
    rate = times["open"].cpu / times["with a known token"].cpu
    [{"a protected call: #{Float.round(rate, 2)} of the open one's rate, at least #{@at_least}", rate >= @at_least}]
  end

  # Judges the bytes of a request, without a socket.
  defp requests(open, guarded, issuer, token) do
    [bare, warm] = [call(nil), call(token)]
    refused = refused(issuer)
    names = ["open", "with a known token" | Enum.map(refused, &elem(&1, 0))]
    read = fn server, bytes -> fn -> HTTP.next(server.service, bytes, 0) end end
    judged = [read.(open, bare), read.(guarded, warm) | for({_name, token} <- refused, do: read.(guarded, call(token)))]
    times = measure(names, judged)
    print("The bytes of such a request judged, µs", names, times)
    known = times["with a known token"].cpu - times["open"].cpu

    [target("a known token adds", known, @at_most_us)] ++
      for {name, _token} <- refused, do: target("refused, #{name}:", times[name].cpu, @at_most_us)
  end

  defp target(text, us, most), do: {"#{text} #{Measure.us(us)} µs, at most #{most} µs", us <= most}

  # With a cache no token would be verified twice.
  defp new_tokens(issuer, options) do
    plan = Plan.new!("bench", [cache: false] ++ options)
    heads = for algorithm <- @algorithms, do: head(token(issuer, alg: algorithm))
    times = measure(@algorithms, for(head <- heads, do: fn -> {:ok, _auth} = Verification.identify(plan, head) end))
    print("A token verified, µs", @algorithms, times)
    [target("RS256 verified in", times["RS256"].cpu, @verified_us)]
  end

  defp head(token), do: %{request_path: "/mcp", query_string: "", req_headers: [{"authorization", "Bearer #{token}"}]}

  defp measure(names, functions), do: Measure.timings(Enum.zip(names, functions))

  defp print(title, names, times),
    do: Measure.table(title, ["", "ours"], for(name <- names, do: [name, Measure.both(times[name])]))
end
