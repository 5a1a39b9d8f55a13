defmodule McpServer.Protocol.StdioAuthTest do
  # A router with scopes over stdio, in a separate VM. Authorization is part of HTTP; over stdio credentials come from
  # the environment.
  use ExUnit.Case, async: true

  import McpServer.StdioPeer

  @moduletag :tmp_dir

  @router ~S'''
  defmodule Scoped do
    use McpServer.Router, name: "scoped", scopes: ["files:read"]

    tool "default", "Needs the scope of the router" do
      run fn conn, _arguments -> {:ok, inspect({conn.principal, conn.auth, System.get_env("FILES_KEY")})} end
    end

    tool "granted", "Listed for who has the scope", scopes: ["admin"], listed: :granted do
      run fn _conn, _arguments -> {:ok, "done"} end
    end
  end
  '''

  @tag req: "R22"
  test "no scope is asked, no token is looked at, and nobody has one, in both eras", context do
    serve = @router <> "McpServer.Stdio.run(Scoped, app: :mcp_server)"
    peer = start(vm(serve), tmp_dir: context.tmp_dir, env: [{"FILES_KEY", "from the environment"}])
    # The server ignores tokens in a message.
    meta = %{"authorization" => "Bearer abc", "access_token" => "abc"}
    session = &request(&1, "tools/call", %{"name" => &2, "arguments" => %{}, "_meta" => meta})
    known = ~s({nil, nil, "from the environment"})

    write(peer, call(1, "default"))
    assert %{"id" => 1, "result" => %{"content" => [%{"type" => "text", "text" => ^known}]}} = read(peer, 30_000)
    write(peer, call(2, "granted"))
    assert text(read(peer)) == "done"

    write(peer, initialize(3, "2025-11-25"))
    assert %{"id" => 3, "result" => %{"protocolVersion" => "2025-11-25"}} = read(peer)
    write(peer, session.(4, "default"))
    assert text(read(peer)) == known
    write(peer, session.(5, "granted"))
    assert text(read(peer)) == "done"
    write(peer, request(6, "tools/list"))
    assert %{"id" => 6, "result" => %{"tools" => tools}} = read(peer)
    assert Enum.map(tools, & &1["name"]) == ["default", "granted"]
    eof(peer)
    assert exit_status(peer) == 0
  end
end
