defmodule McpServer.Generator.Phoenix.Auth do
  @moduledoc false
  # The texts of the API tokens, of the hook that reads them, and of the test of both.

  alias McpServer.Generator

  @doc "The files, formatted."
  @spec files(Generator.project(), Generator.Phoenix.users()) :: [{Path.t(), String.t()}]
  def files(%{app: app, module: module}, :none) do
    [
      {"lib/#{app}_web/mcp_auth.ex", Generator.formatted(signed(module))},
      {"test/#{app}_web/mcp_test.exs", Generator.formatted(test(module, signed_tests(module)))}
    ]
  end

  def files(%{app: app, module: module}, _users) do
    [
      {"lib/#{app}/mcp/tokens.ex", Generator.formatted(tokens(module))},
      {"lib/#{app}_web/mcp_auth.ex", Generator.formatted(stored(module))},
      {"test/#{app}_web/mcp_test.exs", Generator.formatted(test(module, stored_tests(module)))}
    ]
  end

  defp signed(module) do
    hook(module, %{
      about: "A signed token names the principal.",
      found: "{:ok, principal} <- Phoenix.Token.verify(Endpoint, @salt, token, max_age: @valid_seconds)",
      principal: "principal",
      before: """
      alias #{module}Web.Endpoint

      @salt "mcp"
      @valid_seconds 30 * 24 * 60 * 60

      @doc "A token for a principal, such as the id of a user. It cannot be revoked before it expires."
      def token(principal), do: Phoenix.Token.sign(Endpoint, @salt, principal)
      """
    })
  end

  defp stored(module) do
    hook(module, %{
      about: "It is the user of an API token.",
      found: "{:ok, user} <- #{module}.MCP.Tokens.fetch_user(token)",
      principal: "user.id",
      before: ""
    })
  end

  defp hook(module, lookup) do
    """
    defmodule #{module}Web.MCPAuth do
      @moduledoc "Finds who sends a request to the MCP endpoint. #{lookup.about}"

      import Plug.Conn, only: [get_req_header: 2]

      #{lookup.before}

      # An open stream ends after this time. Its client opens it again, and the token is checked again.
      @stream_seconds 300

      @doc "The `identify:` hook of the MCP endpoint, called before the body of a request is read."
      def identify(conn) do
        with [<<scheme::binary-size(6), " ", token::binary>>] <- get_req_header(conn, "authorization"),
             "bearer" <- String.downcase(scheme),
             #{lookup.found} do
          expires_at = System.system_time(:second) + @stream_seconds
          {:ok, %McpServer.Auth{principal: #{lookup.principal}, expires_at: expires_at}}
        else
          _nobody -> {:error, :unauthorized}
        end
      end
    end
    """
  end

  defp tokens(module) do
    """
    defmodule #{module}.MCP.Tokens do
      @moduledoc \"\"\"
      API tokens for the MCP clients of users. Only their hashes are stored, with the tokens of `mix phx.gen.auth`: a new
      password deletes them, too.
      \"\"\"

      import Ecto.Query

      alias #{module}.Accounts.{User, UserToken}
      alias #{module}.Repo

      @context "mcp"
      @valid_days 365

      @doc "Creates a token. Only now it can be shown."
      def create(%User{id: id}) do
        token = :crypto.strong_rand_bytes(32)
        Repo.insert!(%UserToken{token: hash(token), context: @context, user_id: id})
        Base.url_encode64(token, padding: false)
      end

      @doc "The user of a valid token."
      def fetch_user(token) do
        with {:ok, token} <- Base.url_decode64(token, padding: false),
             %User{} = user <- Repo.one(user_query(token)) do
          {:ok, user}
        else
          _nobody -> :error
        end
      end

      defp user_query(token) do
        from token in UserToken,
          join: user in assoc(token, :user),
          where: token.token == ^hash(token) and token.context == @context,
          where: token.inserted_at > ago(@valid_days, "day"),
          select: user
      end

      @doc "Deletes all tokens of a user."
      def delete_all(%User{id: id}) do
        Repo.delete_all(from token in UserToken, where: token.user_id == ^id and token.context == @context)
        :ok
      end

      defp hash(token), do: :crypto.hash(:sha256, token)
    end
    """
  end

  # The database of an asynchronous test is open to the calls of its requests.
  defp test(module, tests) do
    """
    defmodule #{module}Web.MCPTest do
      use #{module}Web.ConnCase, async: true

      test "a request without a token is refused, and told how to send one", %{conn: conn} do
        conn = call_tool(conn, "whoami")
        assert conn.status == 401
        assert ["Bearer" <> _challenge] = get_resp_header(conn, "www-authenticate")
      end

      #{tests}

      defp text(conn) do
        assert %{"result" => %{"content" => [%{"text" => text}]}} = json_response(conn, 200)
        text
      end

      # A call as a client sends it.
      defp call_tool(conn, name, arguments \\\\ %{}, token \\\\ nil) do
        {headers, body} = McpServer.Test.http_request("tools/call", %{"name" => name, "arguments" => arguments})
        # A test's host is www.example.com, which `allowed_hosts:` of the endpoint has not.
        conn = %{conn | host: "localhost"}
        headers = if token, do: [{"authorization", "Bearer " <> token} | headers], else: headers

        headers
        |> Enum.reduce(conn, fn {name, value}, conn -> put_req_header(conn, name, value) end)
        |> post("/mcp", body)
      end
    end
    """
  end

  defp signed_tests(module) do
    """
    test "a tool knows whose token was sent", %{conn: conn} do
      token = #{module}Web.MCPAuth.token("ada")
      assert conn |> call_tool("whoami", %{}, token) |> text() == "ada"
      assert call_tool(conn, "whoami", %{}, token <> "x").status == 401
    end
    """
  end

  defp stored_tests(module) do
    """
    test "a tool knows whose token was sent, until it is deleted", %{conn: conn} do
      user = #{module}.AccountsFixtures.user_fixture()
      token = #{module}.MCP.Tokens.create(user)
      assert conn |> call_tool("whoami", %{}, token) |> text() == user.email
      :ok = #{module}.MCP.Tokens.delete_all(user)
      assert call_tool(conn, "whoami", %{}, token).status == 401
    end
    """
  end
end
