Code.require_file("../../native/build.exs", __DIR__)

defmodule McpServer.NativeBuild.TlsTest do
  # A release host with a certificate from the test's authority, reached directly or through a proxy.
  use ExUnit.Case, async: true

  alias McpServer.NativeBuild.{Download, Proxy}
  alias McpServer.ReleaseHost

  # A chroot may have no /etc/hosts. httpc verifies no certificate of an address before Erlang/OTP 26.
  @moduletag McpServer.Installed.tags(:localhost)
  @moduletag :tmp_dir

  # By default `pkix_test_data` signs with SHA-1, which TLS refuses since Erlang/OTP 26.
  @signed [key: {:namedCurve, {1, 2, 840, 10_045, 3, 1, 7}}, digest: :sha256]
  @alternative_names {2, 5, 29, 17}

  # The server's options, and the file with its authority.
  defp certificate(context, name) do
    names = {:Extension, @alternative_names, false, [{:dNSName, name}]}

    %{server_config: server, client_config: client} =
      :public_key.pkix_test_data(%{
        server_chain: %{root: @signed, intermediates: [], peer: @signed ++ [extensions: [names]]},
        client_chain: %{root: @signed, intermediates: [], peer: @signed}
      })

    file = Path.join(context.tmp_dir, "authorities.pem")
    File.write!(file, :public_key.pem_encode(for der <- client[:cacerts], do: {:Certificate, der, :not_encrypted}))
    {[log_level: :none] ++ Keyword.take(server, [:cert, :key]), file}
  end

  defp host(context, name \\ ~c"localhost", answer \\ fn "/file" -> {200, [], "released"} end) do
    {tls, file} = certificate(context, name)
    {ReleaseHost.start(answer, tls), file}
  end

  test "the authority of HEX_CACERTS_PATH is trusted", context do
    {address, authorities} = host(context)
    assert Download.get("#{address}/file", %{"HEX_CACERTS_PATH" => authorities}) == {:ok, "released"}
  end

  test "an authority that the system does not know is refused", context do
    {address, _authorities} = host(context)
    assert Download.get("#{address}/file", %{}) == {:error, "#{address}/file cannot be reached (TLS: unknown_ca)"}
  end

  test "a certificate of another host is refused", context do
    {address, authorities} = host(context, ~c"example.invalid")

    # The alerts of newer and of older versions of Erlang/OTP.
    assert Download.get("#{address}/file", %{"HEX_CACERTS_PATH" => authorities}) in [
             {:error, "#{address}/file cannot be reached (TLS: bad_certificate)"},
             {:error, "#{address}/file cannot be reached (TLS: handshake_failure)"}
           ]
  end

  test "HEX_CACERTS_PATH names no file", context do
    {address, _authorities} = host(context)

    assert Download.get("#{address}/file", %{"HEX_CACERTS_PATH" => "/nowhere"}) ==
             {:error, "#{address}/file cannot be checked: HEX_CACERTS_PATH names no file (/nowhere)"}
  end

  test "no redirect leads to an address in the clear", context do
    answer = fn "/file" -> {302, [{"location", "http://localhost/file"}], ""} end
    {address, authorities} = host(context, ~c"localhost", answer)

    assert Download.get("#{address}/file", %{"HEX_CACERTS_PATH" => authorities}) ==
             {:error, "#{address}/file redirects to http://localhost, which does not keep its releases"}
  end

  test "HTTPS_PROXY is used, with its user, and NO_PROXY goes round it", context do
    {address, authorities} = host(context)
    env = %{"HEX_CACERTS_PATH" => authorities, "HTTPS_PROXY" => "http://user:p%40ss@#{proxy()}"}

    assert Download.get("#{address}/file", env) == {:ok, "released"}
    assert_received {:proxied, request}
    assert request =~ ~r"\ACONNECT #{String.replace(address, "https://", "")} HTTP/1.1\r\n"
    assert request =~ "\r\nproxy-authorization: Basic #{Base.encode64("user:p@ss")}\r\n"

    assert Download.get("#{address}/file", Map.put(env, "NO_PROXY", "example.invalid,localhost")) == {:ok, "released"}
    refute_received {:proxied, _request}
  end

  test "a proxy that does not answer is no secret's teller", context do
    {address, authorities} = host(context)
    env = %{"HEX_CACERTS_PATH" => authorities, "HTTPS_PROXY" => "http://user:secret@127.0.0.1:#{closed_port()}"}
    assert Download.get("#{address}/file", env) == {:error, "#{address}/file cannot be reached (econnrefused)"}
  end

  test "how proxies are written" do
    assert Proxy.for_https(%{}) == nil
    assert Proxy.for_https(%{"HTTPS_PROXY" => ""}) == nil
    direct = %{address: {~c"proxy", 3128}, credentials: nil, direct: []}
    assert Proxy.for_https(%{"https_proxy" => "proxy:3128"}) == direct
    assert Proxy.for_https(%{"HTTPS_PROXY" => "http://proxy:3128/"}) == direct

    assert Proxy.for_https(%{"HTTPS_PROXY" => "http://user@proxy:3128", "no_proxy" => "a.example, .b.example"}) ==
             %{direct | credentials: {~c"user", ~c""}, direct: [~c"a.example", ~c"*.b.example"]}
  end

  # Reports each request to the test, and connects.
  defp proxy do
    test = self()

    spawn_link(fn ->
      {:ok, listener} = :gen_tcp.listen(0, [:binary, active: false, ip: {127, 0, 0, 1}])
      {:ok, port} = :inet.port(listener)
      send(test, {:proxy, port})
      {:ok, client} = :gen_tcp.accept(listener)
      {:ok, request} = :gen_tcp.recv(client, 0)
      send(test, {:proxied, request})
      [_all, port] = Regex.run(~r/:(\d+) HTTP/, request)
      {:ok, server} = :gen_tcp.connect({127, 0, 0, 1}, String.to_integer(port), [:binary, active: true])
      :ok = :gen_tcp.send(client, "HTTP/1.1 200 Connected\r\n\r\n")
      :ok = :inet.setopts(client, active: true)
      relay(client, server)
    end)

    receive do: ({:proxy, port} -> "127.0.0.1:#{port}")
  end

  defp relay(client, server) do
    receive do
      {:tcp, ^client, bytes} -> :gen_tcp.send(server, bytes)
      {:tcp, ^server, bytes} -> :gen_tcp.send(client, bytes)
      {:tcp_closed, _socket} -> exit(:normal)
    end

    relay(client, server)
  end

  defp closed_port do
    {:ok, listener} = :gen_tcp.listen(0, ip: {127, 0, 0, 1})
    {:ok, port} = :inet.port(listener)
    :gen_tcp.close(listener)
    port
  end
end
