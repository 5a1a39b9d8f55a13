defmodule Mix.Tasks.Mcp.AuthTest do
  use ExUnit.Case, async: true

  import ExUnit.CaptureIO

  alias McpServer.Test.Issuer

  @resource "http://localhost/mcp"

  setup do
    issuer = start_supervised!(Issuer)
    {:ok, issuer: issuer, url: Issuer.url(issuer)}
  end

  # The output, and the exit status.
  defp run(arguments, input \\ "") do
    me = self()

    printed =
      capture_io(input, fn ->
        status =
          try do
            Mix.Tasks.Mcp.Auth.run(arguments)
            0
          catch
            :exit, {:shutdown, status} -> status
          end

        send(me, {:status, status})
      end)

    receive do: ({:status, status} -> {status, String.split(printed, "\n", trim: true)})
  end

  test "prints what clients fetch, and the issuer's keys", %{url: url} do
    assert run(["--resource", @resource, "--issuer", url, "--scope", "a", "--scope", "b"]) ==
             {0,
              [
                "Metadata   http://localhost/.well-known/oauth-protected-resource/mcp",
                ~s(Document   {"authorization_servers":["#{url}"],"bearer_methods_supported":["header"],) <>
                  ~s("resource":"http://localhost/mcp","scopes_supported":["a","b"]}),
                ~s(Challenge  Bearer scope="a b", resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp"),
                "Issuer     #{url}: 1 keys can verify tokens, 0 cannot"
              ]}
  end

  test "says what a token grants, or why it is refused", %{issuer: issuer, url: url} do
    arguments = ["--resource", @resource, "--issuer", url, "--scope", "a", "--token", "-"]
    ask = fn options -> run(arguments, Issuer.token(issuer, options) <> "\n") end

    assert {0, lines} = ask.(audience: @resource, scopes: ["a"])
    assert List.last(lines) == ~s(Token      is good. Subject: "ada", client: "client", scopes: a)
    # A terminal obeys control characters.
    assert {0, lines} = ask.(audience: @resource, scopes: ["a", "\e]0;PWN\a\e[2J"])
    assert List.last(lines) == ~s(Token      is good. Subject: "ada", client: "client", scopes: a ]0;PWN[2J)
    assert {1, lines} = ask.(audience: "https://other.example", scopes: ["a"])
    assert List.last(lines) == "Token      is refused: The access token is for another resource"
    assert {1, lines} = ask.(audience: @resource)
    assert List.last(lines) == "Token      is refused: it lacks one of the scopes"
  end

  test "says that an issuer does not answer", %{issuer: issuer, url: url} do
    Issuer.fail(issuer)
    assert {1, lines} = run(["--resource", @resource, "--issuer", url])
    assert List.last(lines) == "Issuer     #{url}: localhost answered 500"
  end

  test "takes no token as an argument, and says what is wrong with others", %{url: url} do
    for arguments <- [["--token", "secret"], ["x"], ["--resource", @resource], ["--issuer", url, "--resource", "mcp"]] do
      error = assert_raise Mix.Error, fn -> Mix.Tasks.Mcp.Auth.run(arguments) end
      assert error.message =~ "usage: mix mcp.auth"
      refute error.message =~ "secret"
    end
  end
end
