defmodule McpServer.Fetch.AddressTest do
  use ExUnit.Case, async: true

  alias McpServer.DualResponse.Client.Target
  alias McpServer.DualResponse.Error
  alias McpServer.Fetch.Address

  defp ip(text) do
    {:ok, ip} = text |> to_charlist() |> :inet.parse_strict_address()
    ip
  end

  # The first and last address of each network, and the public addresses next to them.
  @tag req: "Y11"
  test "addresses that are not the internet's, IPv4" do
    for {inside, outside} <- [
          {["0.0.0.0", "0.255.255.255"], ["1.0.0.0"]},
          {["10.0.0.0", "10.255.255.255"], ["9.255.255.255", "11.0.0.0"]},
          {["100.64.0.0", "100.127.255.255"], ["100.63.255.255", "100.128.0.0"]},
          {["127.0.0.0", "127.0.0.1", "127.255.255.255"], ["126.255.255.255", "128.0.0.0"]},
          {["169.254.0.0", "169.254.169.254", "169.254.255.255"], ["169.253.255.255", "169.255.0.0"]},
          {["172.16.0.0", "172.31.255.255"], ["172.15.255.255", "172.32.0.0"]},
          {["192.0.0.0", "192.0.0.255"], ["191.255.255.255", "192.0.1.0"]},
          {["192.0.2.0", "192.0.2.255"], ["192.0.1.255", "192.0.3.0"]},
          {["192.88.99.0", "192.88.99.255"], ["192.88.98.255", "192.88.100.0"]},
          {["192.168.0.0", "192.168.255.255"], ["192.167.255.255", "192.169.0.0"]},
          {["198.18.0.0", "198.19.255.255"], ["198.17.255.255", "198.20.0.0"]},
          {["198.51.100.0", "198.51.100.255"], ["198.51.99.255", "198.51.101.0"]},
          {["203.0.113.0", "203.0.113.255"], ["203.0.112.255", "203.0.114.0"]},
          {["224.0.0.0", "240.0.0.1", "255.255.255.255"], ["223.255.255.255"]}
        ] do
      for text <- inside, do: refute(Address.public?(ip(text)), text)
      for text <- outside, do: assert(Address.public?(ip(text)), text)
    end
  end

  @tag req: "Y11"
  test "addresses that are not the internet's, IPv6" do
    for text <- [
          "::",
          "::1",
          "::7f00:1",
          "100::1",
          "fe80::1",
          "febf::1",
          "fc00::1",
          "fdff::1",
          "fec0::1",
          "ff02::1",
          "1fff::1",
          "4000::1",
          "2001::1",
          "2001:1ff:ffff::1",
          "2001:db8::1",
          "2002:a9fe:a9fe::1",
          "3fff::1",
          "3fff:fff::1",
          "::ffff:10.0.0.1",
          "::ffff:127.0.0.1",
          "::ffff:169.254.169.254",
          "64:ff9b::a9fe:a9fe",
          "64:ff9b:1::8.8.8.8"
        ],
        do: refute(Address.public?(ip(text)), text)

    for text <- [
          "2000::1",
          "2001:200::1",
          "2606:4700::1111",
          "2a00::1",
          "3ffe::1",
          "::ffff:8.8.8.8",
          "64:ff9b::8.8.8.8"
        ],
        do: assert(Address.public?(ip(text)), text)
  end

  @tag req: "Q1"
  test "loopback by address and by name" do
    for host <-
          ["127.0.0.1", "127.9.9.9", "127.1", "0x7f.0.0.1", "2130706433", "::1", "::ffff:127.0.0.1"] ++
            ["localhost", "localhost.", "app.localhost"],
        do: assert(Address.loopback_host?(host), host)

    for host <- ["0.0.0.0", "10.0.0.1", "::", "localhost.example.com", "example.com", "notlocalhost"],
        do: refute(Address.loopback_host?(host), host)
  end

  describe "where a URL may lead" do
    @describetag req: "Q1"
    @trusted %{trusted: [{"https", "api.example.com", 443}], allow_insecure: false}

    defp judge(url, rules \\ @trusted) do
      case Target.judge(rules, url) do
        {:ok, target} -> {target.trusted?, target.addresses}
        {:error, %Error{code: :fetch_error}} -> :refused
      end
    end

    @tag req: "Q1"
    test "an origin is scheme, host and port" do
      for url <- ["https://api.example.com/x", "https://API.example.com:443/", "https://api.example.com?a=b"],
          do: assert(judge(url) == {true, :any}, url)

      for url <- [
            "https://api.example.com:8443/x",
            "https://api.example.com.evil.example/x",
            "https://evil.example/api.example.com",
            "https://example.com/",
            "https://api.example.com./"
          ],
          do: assert(judge(url) == {false, :public}, url)
    end

    @tag req: "Q1"
    test "plain http goes to loopback only, unless allow_insecure" do
      assert judge("http://api.example.com/") == :refused
      assert judge("http://api.example.com/", %{@trusted | allow_insecure: true}) == {false, :public}

      rules = %{@trusted | trusted: [{"http", "localhost", 3001}, {"http", "10.0.0.5", 80}]}
      assert judge("http://localhost:3001/resources/a", rules) == {true, :loopback}
      assert judge("http://10.0.0.5/", rules) == :refused
      assert judge("http://10.0.0.5/", %{rules | allow_insecure: true}) == {true, :any}
    end

    @tag req: "Q1"
    test "a private host is refused in every spelling, unless its origin is allowed" do
      for host <- [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "localhost",
            "x.localhost",
            "10.1.2.3",
            "169.254.169.254",
            "[::1]",
            "[::ffff:10.0.0.1]",
            "[fe80::1]",
            "0.0.0.0"
          ] do
        assert judge("https://#{host}/") == :refused, host
        assert judge("http://#{host}/") == :refused, host
      end

      allowed = %{@trusted | trusted: [{"https", "10.1.2.3", 443}]}
      assert judge("https://10.1.2.3/", allowed) == {true, :any}
      assert judge("https://10.1.2.3:8443/", allowed) == :refused
      assert judge("https://8.8.8.8/") == {false, :public}
    end

    @tag req: "Q1"
    test "what is no http URL, or has credentials in it, is refused" do
      for url <- [
            "",
            "x",
            "//api.example.com/",
            "ftp://api.example.com/",
            "file:///etc/passwd",
            "https:///x",
            "https://user@api.example.com/",
            "https://user:pw@api.example.com/",
            "https://api.example.com:0/",
            "https://api.example.com:99999/",
            "https://api example.com/",
            "https://api.example.com/\r\nx: y",
            "https://[::1",
            <<"https://api.example.com/", 255>>,
            "https://api.example.com/" <> String.duplicate("a", 8 * 1024)
          ],
          do: assert(judge(url) == :refused, url)
    end

    @tag req: "Q1"
    test "any bytes at all are judged without a crash" do
      McpServer.Properties.seed_random()

      for _round <- 1..2_000 do
        bytes = :rand.bytes(:rand.uniform(12))
        for url <- [bytes, "https://" <> bytes, "https://[" <> bytes], do: Target.judge(@trusted, url)
        {:ok, target} = Target.judge(@trusted, "https://api.example.com/a")
        Target.redirect(target, bytes)
        Target.redirect(target, "https://" <> bytes)
      end
    end
  end
end
