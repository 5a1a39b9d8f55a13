defmodule McpServer.Generator.PhoenixTest do
  use ExUnit.Case, async: true

  alias McpServer.Generator

  @router """
  defmodule ShopWeb.Router do
    use ShopWeb, :router

    scope "/", ShopWeb do
      pipe_through :browser
    end

    scope "/admin", ShopWeb do
    end
  end
  """

  @endpoint """
    plug Plug.Parsers,
      parsers: [:urlencoded, :multipart, :json],
      pass: ["*/*"],
      json_decoder: Phoenix.json_library()
  """

  @application """
      children = [
        Shop.Repo,
        ShopWeb.Endpoint
      ]
  """

  @texts %{
    "lib/shop_web/router.ex" => @router,
    "lib/shop_web/endpoint.ex" => @endpoint,
    "lib/shop/application.ex" => @application,
    ".formatter.exs" => "[import_deps: [:ecto, :phoenix], inputs: []]\n"
  }

  @user %{"lib/shop/accounts/user_token.ex" => ""}
  @scope Map.put(@user, "lib/shop/accounts/scope.ex", "")

  defp plan(texts), do: Generator.Phoenix.plan(Generator.project(:shop), &texts[&1])

  test "the lines are added where they belong" do
    changed = for {:changed, path, text} <- plan(@texts).changes, into: %{}, do: {path, text}

    assert changed == %{
             "lib/shop_web/router.ex" => """
             defmodule ShopWeb.Router do
               use ShopWeb, :router

               # Clients of MCP send neither cookies nor CSRF tokens: no pipeline.
               forward "/mcp", McpServer.HttpPlug, router: Shop.MCP, identify: {ShopWeb.MCPAuth, :identify}

               scope "/", ShopWeb do
                 pipe_through :browser
               end

               scope "/admin", ShopWeb do
               end
             end
             """,
             "lib/shop_web/endpoint.ex" => """
               plug Plug.Parsers,
                 parsers: [:urlencoded, :multipart, :json],
                 pass: ["*/*"],
                 body_reader: {McpServer.HttpPlug.BodyReader, :read_body, []},
                 json_decoder: Phoenix.json_library()
             """,
             "lib/shop/application.ex" => """
                 children = [
                   Shop.Repo,
                   ShopWeb.Endpoint,
                   {McpServer.HttpPlug.Drainer, router: Shop.MCP}
                 ]
             """,
             ".formatter.exs" => "[import_deps: [:ecto, :phoenix, :mcp_server], inputs: []]\n"
           }

    # They are not added again.
    assert plan(Map.merge(@texts, changed)).changes == []
  end

  test "a line is as long as mix format allows" do
    mount = fn app, module ->
      texts = %{"lib/#{app}_web/router.ex" => "  scope \"/\", #{module}Web do\n"}
      [{:changed, _path, text} | _others] = Generator.Phoenix.plan(Generator.project(app), &texts[&1]).changes
      [_comment, mount] = String.split(text, "no pipeline.\n")
      String.replace_suffix(mount, "\n\n  scope \"/\", #{module}Web do\n", "")
    end

    assert mount.(:fabric, "Fabric") ==
             ~s(  forward "/mcp", McpServer.HttpPlug, router: Fabric.MCP, identify: {FabricWeb.MCPAuth, :identify})

    assert mount.(:factory, "Factory") ==
             ~s(  forward "/mcp", McpServer.HttpPlug,\n    router: Factory.MCP,\n    identify: {FactoryWeb.MCPAuth, :identify})
  end

  test "lines without a place are shown" do
    assert plan(%{"lib/shop_web/router.ex" => "defmodule ShopWeb.Router do\nend\n"}).changes == [
             {:by_hand, "lib/shop_web/router.ex",
              ~s(forward "/mcp", McpServer.HttpPlug, router: Shop.MCP, identify: {ShopWeb.MCPAuth, :identify})},
             {:by_hand, "lib/shop_web/endpoint.ex",
              "plug Plug.Parsers,\n  body_reader: {McpServer.HttpPlug.BodyReader, :read_body, []},"},
             {:by_hand, "lib/shop/application.ex", "ShopWeb.Endpoint,\n{McpServer.HttpPlug.Drainer, router: Shop.MCP}"},
             {:by_hand, ".formatter.exs", "import_deps: [:phoenix, :mcp_server],"}
           ]
  end

  test "an application without Phoenix is refused" do
    assert {:error, "there is no lib/shop_web/router.ex, so this is no Phoenix application" <> _} = plan(%{})
  end

  test "the users of mix phx.gen.auth have stored tokens and their scope" do
    files = fn users -> for {path, text, 0o644} <- plan(Map.merge(@texts, users)).files, into: %{}, do: {path, text} end

    for {users, paths, assigned} <- [
          {%{}, ~w(lib/shop/mcp.ex lib/shop/mcp/tools.ex), "assign(conn, :current_user, conn.principal)"},
          {@user, ~w(lib/shop/mcp.ex lib/shop/mcp/tokens.ex lib/shop/mcp/tools.ex),
           "assign(conn, :current_user, user)"},
          {@scope, ~w(lib/shop/mcp.ex lib/shop/mcp/tokens.ex lib/shop/mcp/tools.ex),
           "assign(conn, :current_scope, Shop.Accounts.Scope.for_user(user))"}
        ] do
      files = files.(users)
      assert Map.keys(files) == paths ++ ~w(lib/shop_web/mcp_auth.ex test/shop_web/mcp_test.exs)
      assert files["lib/shop/mcp.ex"] =~ assigned
      tokens = if users == %{}, do: "Phoenix.Token.verify", else: "Shop.MCP.Tokens.fetch_user"
      assert files["lib/shop_web/mcp_auth.ex"] =~ tokens
    end
  end

  test "the files are formatted" do
    {formatter, _binding} = Code.eval_file(".formatter.exs")
    options = [locals_without_parens: formatter[:export][:locals_without_parens] ++ [from: 2]]

    for users <- [%{}, @user, @scope], {path, text, _mode} <- plan(Map.merge(@texts, users)).files do
      assert {path, IO.iodata_to_binary([Code.format_string!(text, options), ?\n])} == {path, text}
    end
  end
end
