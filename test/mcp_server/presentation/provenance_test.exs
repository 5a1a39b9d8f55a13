defmodule McpServer.Presentation.ProvenanceTest do
  use ExUnit.Case, async: true

  alias McpServer.{Presentation, PresentationView}

  defp public(members), do: Presentation.provenance(PresentationView, members)

  @tag req: "S0-57"
  test "local paths are left out, relative ones stay" do
    for path <- [
          "/etc/passwd",
          "/x",
          "C:\\data\\x.json",
          "c:/data",
          "file:///srv/x",
          "FILE:///x",
          "~/data",
          "\\\\host\\share",
          "read from /srv/x",
          "source:/srv/x",
          "('/srv/x')"
        ] do
      assert public(source: "API", path: path) == %{"source" => "API"}, path
    end

    for path <- [
          "data/x.json",
          "./x",
          "../x",
          "https://example.com/a/b",
          "and/or",
          "1 / 2",
          "application/json",
          "a:b",
          "/"
        ] do
      assert public(path: path) == %{"path" => path}, path
    end
  end

  @tag req: "S0-57"
  test "secrets are left out, by their name, their form, or as they are configured" do
    for name <- [:api_key, :apiKey, "X-Api-Key", :password, :token, :client_secret, :Authorization, :cookie] do
      assert public([{name, "x"}, {:source, "API"}]) == %{"source" => "API"}, inspect(name)
    end

    for value <- [
          "Bearer abc",
          "Authorization: Basic dTpw",
          "https://user:pw@example.com/x",
          "sk-0123456789abcdef",
          "ghp_0123456789abcdef0123",
          "AKIA0123456789ABCDEF",
          "-----BEGIN PRIVATE KEY-----",
          "the word is hunter2",
          "s3cret"
        ] do
      assert public(source: value) == %{}, value
    end

    for value <- ["Effect Patterns API", "the bearer", "sk-short", "mail@example.com", "https://example.com/@user:x"],
        do: assert(public(source: value) == %{"source" => value})
  end

  @tag req: "S0-57"
  test "inside of maps and lists as well; and what has no form is left out" do
    members = %{
      source: "API",
      nested: %{path: "/x", ok: "y", token: "t"},
      list: ["/x", "y"],
      count: 3,
      live: true,
      at: nil,
      pid: self(),
      bytes: <<255>>,
      version: :v2
    }

    assert public(members) ==
             %{
               "source" => "API",
               "nested" => %{"ok" => "y"},
               "list" => ["y"],
               "count" => 3,
               "live" => true,
               "version" => "v2"
             }
  end

  @tag req: "S0-38"
  test "times are written as everywhere" do
    assert public(timestamp: ~U[2026-01-22 21:30:00Z], naive: ~N[2026-01-22 21:30:00.25]) ==
             %{"timestamp" => "2026-01-22T21:30:00.000Z", "naive" => "2026-01-22T21:30:00.250Z"}
  end
end
