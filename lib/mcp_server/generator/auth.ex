defmodule McpServer.Generator.Auth do
  @moduledoc false
  # The file contents for a server that requires access tokens.

  @doc "The module with the options."
  @spec code(String.t(), String.t()) :: String.t()
  def code(app, module) do
    """
    defmodule #{module}.MCP.Auth do
      @moduledoc "Which access tokens the server takes: `resource:` and `issuer:` are configured."

      @doc "The options `auth:` of the server."
      def options do
        Keyword.merge([scopes: ["mcp:use"]], Application.fetch_env!(:#{app}, __MODULE__))
      end
    end
    """
  end

  @doc "Its test, with a test issuer."
  @spec test(String.t(), String.t()) :: String.t()
  def test(app, module) do
    """
    defmodule #{module}.MCP.AuthTest do
      # Not async: the configuration is global.
      use ExUnit.Case, async: false

      alias McpServer.Test.Issuer
      alias #{module}.MCP.Auth

      @resource "http://localhost/mcp"

      setup do
        before = Application.get_env(:#{app}, Auth, [])
        on_exit(fn -> Application.put_env(:#{app}, Auth, before) end)
        issuer = start_supervised!(Issuer)
        Application.put_env(:#{app}, Auth, resource: @resource, issuer: Issuer.url(issuer))
        options = [router: #{module}.MCP, port: 0, auth: {Auth, :options}]
        server = start_supervised!({McpServer.HttpServer, options})
        %{issuer: issuer, port: McpServer.HttpServer.port(server)}
      end

      test "a request without a token is refused, and one with a token is served", context do
        token = &Issuer.token(context.issuer, Keyword.merge([audience: @resource], &1))
        assert status(context.port, []) == "401"
        assert status(context.port, token.(scopes: [])) == "403"
        assert status(context.port, token.(scopes: ["mcp:use"])) == "200"
        assert status(context.port, token.(scopes: ["mcp:use"], audience: "http://other")) == "401"
      end

      defp status(port, token) do
        authorization = if token == [], do: "", else: "authorization: Bearer \#{token}\\r\\n"
        meta = "io.modelcontextprotocol/"

        body =
          ~s({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{) <>
            ~s("\#{meta}protocolVersion":"2026-07-28","\#{meta}clientCapabilities":{}}}})

        {:ok, socket} = :gen_tcp.connect({127, 0, 0, 1}, port, [:binary, active: false])

        :ok =
          :gen_tcp.send(socket, [
            "POST /mcp HTTP/1.1\\r\\nhost: localhost\\r\\ncontent-type: application/json\\r\\n",
            "accept: application/json, text/event-stream\\r\\nmcp-protocol-version: 2026-07-28\\r\\n",
            "mcp-method: tools/list\\r\\n\#{authorization}content-length: \#{byte_size(body)}\\r\\n\\r\\n\#{body}"
          ])

        {:ok, "HTTP/1.1 " <> <<status::binary-size(3)>> <> _rest} = :gen_tcp.recv(socket, 0, 5_000)
        :gen_tcp.close(socket)
        status
      end
    end
    """
  end
end
