defmodule McpServer.DualResponse.Client.TLSTest do
  # Q1: the default fetch function refuses servers that cannot prove their identity.
  use ExUnit.Case, async: true

  import McpServer.ScriptedResource
  import McpServer.ScriptedServer

  alias McpServer.Fetch.TLS
  alias McpServer.DualResponse.Client.Parsed
  alias McpServer.DualResponse.Error

  # By default `pkix_test_data` signs with SHA-1, which TLS refuses since Erlang/OTP 26.
  @signed [key: {:namedCurve, :secp256r1}, digest: :sha256]

  # A server's certificate for these names, its key, and the authority that issued it.
  defp certificate(names) do
    extension = {:Extension, {2, 5, 29, 17}, false, names}

    %{server_config: server, client_config: client} =
      :public_key.pkix_test_data(%{
        server_chain: %{root: @signed, intermediates: [], peer: @signed ++ [extensions: [extension]]},
        client_chain: %{root: @signed, intermediates: [], peer: @signed}
      })

    {[log_level: :none] ++ Keyword.take(server, [:cert, :key]), Keyword.take(client, [:cacerts])}
  end

  defp serve(names, host) do
    {server, authority} = certificate(names)
    {start(fn _request -> json(page([], 0, 0)) end, tls: server, host: host), authority}
  end

  defp fetch(server, options), do: server |> parsed(options) |> Parsed.fetch()

  @tag req: "Q1"
  test "a certificate for the host, from an authority that is trusted" do
    {server, authority} = serve([{:dNSName, ~c"localhost"}], "localhost")
    assert {:ok, %{data: []}} = fetch(server, tls: authority)
    assert {"host", "localhost:" <> _port} = List.keyfind(requested(server).headers, "host", 0)

    {server, authority} = serve([{:iPAddress, <<127, 0, 0, 1>>}], "127.0.0.1")
    assert {:ok, %{data: []}} = fetch(server, tls: authority)
  end

  @tag req: "Q1"
  test "an authority that is not trusted: nothing is sent" do
    {server, _authority} = serve([{:dNSName, ~c"localhost"}], "localhost")
    {_server, another} = certificate([{:dNSName, ~c"localhost"}])

    for options <- [[tls: another], []] do
      assert {:error, %Error{code: :fetch_error, message: message}} = fetch(server, options)
      assert message =~ "TLS failed: unknown_ca"
    end

    assert all_requested(server) == []
  end

  @tag req: "Q1"
  test "a certificate for another host: nothing is sent" do
    for {names, host} <- [
          {[{:dNSName, ~c"example.com"}], "localhost"},
          {[{:iPAddress, <<127, 0, 0, 2>>}], "127.0.0.1"},
          {[{:dNSName, ~c"localhost"}], "127.0.0.1"}
        ] do
      {server, authority} = serve(names, host)
      assert {:error, %Error{code: :fetch_error, message: message}} = fetch(server, tls: authority)
      assert message =~ "TLS failed"
      assert all_requested(server) == []
    end
  end

  @tag req: "Q1"
  test "a refused certificate is the reason, whatever the host's other addresses say" do
    # Like `localhost` with the second address `::1`: nothing listens at the second address.
    lookup = :inet_db.res_option(:lookup)
    :inet_db.set_lookup([:file | lookup])
    for last <- [1, 2], do: :inet_db.add_host({127, 0, 0, last}, [~c"two.test"])

    on_exit(fn ->
      :inet_db.set_lookup(lookup)
      for last <- [1, 2], do: :inet_db.del_host({127, 0, 0, last})
    end)

    assert :inet.getaddrs(~c"two.test", :inet) == {:ok, [{127, 0, 0, 1}, {127, 0, 0, 2}]}
    {server, authority} = serve([{:dNSName, ~c"example.com"}], "two.test")
    assert {:error, %Error{code: :fetch_error, message: message}} = fetch(server, tls: authority)
    assert message =~ "TLS failed"
    assert all_requested(server) == []
  end

  @tag req: "Q1"
  test "a wildcard stands for one label, as RFC 6125 has it" do
    {server, authority} = serve([{:dNSName, ~c"*.localhost"}], "localhost")
    assert {:error, %Error{code: :fetch_error}} = fetch(server, tls: authority)
  end

  @tag req: "Q1"
  test "a server that speaks no TLS is told nothing" do
    server = start(fn _request -> json(%{}) end)
    https = %{server | url: String.replace(server.url, "http:", "https:")}
    assert {:error, %Error{code: :timeout}} = fetch(https, timeout: 200)
    assert all_requested(server) == []
  end

  @tag req: "Q1"
  test "the options: certificates are verified against the system's authorities, and the name is sent" do
    assert {:ok, options} = TLS.options("api.example.com", [])
    assert options[:verify] == :verify_peer
    assert options[:server_name_indication] == ~c"api.example.com"
    assert options[:versions] == [:"tlsv1.3", :"tlsv1.2"]
    assert options[:cacerts] != [] or is_binary(options[:cacertfile])

    assert {:ok, options} = TLS.options("127.0.0.1", cacertfile: "ca.pem")
    assert options[:cacertfile] == "ca.pem"
    refute Keyword.has_key?(options, :cacerts)
    refute Keyword.has_key?(options, :server_name_indication)
  end
end
