defmodule McpServer.RegistryTest do
  use ExUnit.Case, async: true

  alias McpServer.Registry

  defmodule Handlers do
    def run(_conn, _arguments), do: {:ok, []}
  end

  defmodule Server do
    use McpServer.Router, name: "shop", title: "The shop", website_url: "https://example.com"
    tool "run", "Runs", Handlers, :run
  end

  @options %{
    name: "io.github.ada/shop",
    description: "Sells",
    version: "1.0.0",
    url: "https://example.com/mcp",
    headers: [],
    packages: []
  }

  test "a server at a URL, with a header" do
    assert Registry.document(Server, %{@options | headers: ["Authorization"]}) ==
             {:ok,
              %{
                "$schema" => "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
                "name" => "io.github.ada/shop",
                "title" => "The shop",
                "description" => "Sells",
                "version" => "1.0.0",
                "websiteUrl" => "https://example.com",
                "remotes" => [
                  %{
                    "type" => "streamable-http",
                    "url" => "https://example.com/mcp",
                    "headers" => [%{"name" => "Authorization", "isRequired" => true, "isSecret" => true}]
                  }
                ]
              }}
  end

  @tag :tmp_dir
  test "an image, and a bundle with its sum", %{tmp_dir: tmp_dir} do
    path = Path.join(tmp_dir, "shop.mcpb")
    File.write!(path, "abc")
    packages = [{:oci, "docker.io/ada/shop:1.0.0"}, {:mcpb, "https://example.com/shop.mcpb", path}]
    {:ok, document} = Registry.document(Server, %{@options | url: nil, packages: packages})
    refute is_map_key(document, "remotes")

    assert document["packages"] == [
             %{
               "registryType" => "oci",
               "identifier" => "docker.io/ada/shop:1.0.0",
               "transport" => %{"type" => "stdio"}
             },
             %{
               "registryType" => "mcpb",
               "identifier" => "https://example.com/shop.mcpb",
               "version" => "1.0.0",
               "transport" => %{"type" => "stdio"},
               "fileSha256" => "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
             }
           ]
  end

  test "what the registry would refuse" do
    for {changed, line} <- [
          {[name: "shop"],
           "/name: must be a string that matches the pattern ^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$ (pattern)"},
          {[description: String.duplicate("a", 101)],
           "/description: must be a string of at most 100 characters (maxLength)"},
          {[version: "^1.0.0"], "/version must be one exact version"},
          {[version: "latest"], "/version must be one exact version"},
          {[url: nil], "a server is offered with --url, --oci or --mcpb"}
        ],
        do: assert(Registry.document(Server, Map.merge(@options, Map.new(changed))) == {:error, [line]})

    assert {:error, [_line | _more]} = Registry.document(Server, %{@options | url: "ftp://example.com"})
  end

  # Rules of the registry's service, which its schema does not have.
  test "what only the service would refuse" do
    name = "/name must be two names of at least two characters with a slash between them"

    for refused <- ["io.github.ada/s", "i/shop", "io.github.ada/shop-", "io.github.ada/-shop", ".io/shop", "io./shop"] do
      assert {:error, [line]} = Registry.document(Server, %{@options | name: refused})
      assert {refused, String.starts_with?(line, name)} == {refused, true}
    end

    assert {:ok, _document} = Registry.document(Server, %{@options | name: "io/sh"})

    for {url, text} <- [
          {"http://example.com/mcp", "https URL"},
          {"https://localhost:4040/mcp", "not be on this machine"},
          {"https://shop.localhost/mcp", "not be on this machine"},
          {"https://127.0.0.1/mcp", "not be on this machine"},
          {"https://[::1]/mcp", "not be on this machine"},
          {"https://{tenant}.example.com/mcp", "a variable in {braces}"}
        ] do
      assert {:error, lines} = Registry.document(Server, %{@options | url: url})
      assert {url, Enum.any?(lines, &(&1 =~ text))} == {url, true}
    end

    packages = [{:oci, "docker.io/ada/my shop:1.0.0"}]
    assert {:error, [line]} = Registry.document(Server, %{@options | url: nil, packages: packages})
    assert line == ~s(/packages: an image or an address has no blanks: "docker.io/ada/my shop:1.0.0")
  end

  defmodule Blank do
    use McpServer.Router, name: "blank", title: "  ", website_url: "http://example.com"
    tool "run", "Runs", Handlers, :run
  end

  test "a blank title, and a website without TLS" do
    assert Registry.document(Blank, @options) ==
             {:error,
              ["/title must not be blank", "/websiteUrl must be an https URL: change website_url: of the router"]}
  end
end
