defmodule McpServer.App.CSPTest do
  use ExUnit.Case, async: true

  alias McpServer.App.{CSP, UIResourceMeta}

  doctest CSP

  @strictest "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " <>
               "img-src 'self' data:; media-src 'self' data:; connect-src 'none'"

  @tag req: ["S4-46", "RES-57"]
  test "without a declaration the view reaches nothing" do
    assert CSP.generate(nil) == @strictest
    assert CSP.generate(%UIResourceMeta{}) == @strictest
  end

  @tag req: "S4-46"
  test "every list widens its own directives" do
    meta =
      UIResourceMeta.new(
        csp: [
          connect_domains: ["api.example.com", "wss://ws.example.com"],
          resource_domains: ["cdn.example.com"],
          frame_domains: ["frame.example.com"],
          base_uri_domains: ["base.example.com"]
        ]
      )

    assert String.split(CSP.generate(meta), "; ") == [
             "default-src 'none'",
             "script-src 'self' 'unsafe-inline' cdn.example.com",
             "style-src 'self' 'unsafe-inline' cdn.example.com",
             "img-src 'self' data: cdn.example.com",
             "media-src 'self' data: cdn.example.com",
             "font-src 'self' cdn.example.com",
             "connect-src 'self' api.example.com wss://ws.example.com",
             "frame-src frame.example.com",
             "base-uri base.example.com"
           ]
  end

  @tag req: "S4-46"
  test "a sandbox leaves nothing to the browser" do
    assert CSP.generate(nil, sandbox: true) == @strictest <> "; frame-src 'none'; base-uri 'self'; object-src 'none'"

    assert CSP.generate(%{"frameDomains" => ["a.example"], "baseUriDomains" => []}, sandbox: true) ==
             String.replace(@strictest, "; connect-src", "; font-src 'self'; connect-src") <>
               "; frame-src a.example; base-uri 'none'; object-src 'none'"

    assert_raise ArgumentError, fn -> CSP.generate(nil, sandboxed: true) end
  end

  @tag req: "S4-46"
  test "what is declared can be checked without an exception" do
    assert CSP.validate(nil) == :ok
    assert CSP.validate(UIResourceMeta.new(csp: [connect_domains: ["wss://*.example.com:8443"]])) == :ok

    assert CSP.validate(%{resource_domains: ["a.example", "data:"]}) ==
             {:error, "resourceDomains[1] is a scheme without a host"}

    assert CSP.validate(%{connect_domains: List.duplicate("a.example", 100)}) == :ok

    assert CSP.validate(%{connect_domains: List.duplicate("a.example", 101)}) ==
             {:error, "connectDomains has more than 100 entries"}

    assert {:error, _text} = CSP.validate(%{connect_domains: "a.example"})
  end

  @tag req: "S4-46"
  test "a domain cannot bring a directive of its own" do
    assert_raise ArgumentError, ~r/\Ano Content-Security-Policy can be made: frameDomains\[0\] /, fn ->
      CSP.generate(%{frame_domains: ["x; script-src *"]})
    end
  end
end
