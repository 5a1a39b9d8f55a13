defmodule McpServer.Generator.Phoenix.Code do
  @moduledoc false
  # The texts of the router and its tools, for each kind of users.

  alias McpServer.Generator

  @doc "The files, formatted."
  @spec files(Generator.project(), Generator.Phoenix.users()) :: [{Path.t(), String.t()}]
  def files(%{app: app, module: module}, users) do
    [
      {"lib/#{app}/mcp.ex", Generator.formatted(router(app, module, users))},
      {"lib/#{app}/mcp/tools.ex", Generator.formatted(tools(module, users))}
    ]
  end

  defp router(app, module, users) do
    """
    defmodule #{module}.MCP do
      @moduledoc "What #{app} offers to models."
      use McpServer.Router, name: "#{app}", version: "0.1.0", context: {__MODULE__, :context}

      tool "whoami", "Says who is calling", #{module}.MCP.Tools, :whoami,
        hints: [:read_only, :closed_world]

      @doc "Fills the conn of each request, before `authorize:`, `visible:` and the tools get it."
      #{context(module, users)}
    end
    """
  end

  defp context(_module, :none), do: "def context(conn), do: McpServer.Conn.assign(conn, :current_user, conn.principal)"

  defp context(module, users) do
    {key, value} = assigned(module, users)

    """
    # Over stdio, and in commands without `--as`. The endpoint lets nobody in without a token.
    def context(%{principal: nil} = conn), do: McpServer.Conn.assign(conn, :#{key}, nil)

    def context(%{principal: id} = conn) do
      case #{module}.Repo.get(#{module}.Accounts.User, id) do
        nil -> {:error, "This account no longer exists"}
        user -> McpServer.Conn.assign(conn, :#{key}, #{value})
      end
    end
    """
  end

  defp assigned(module, :scope), do: {:current_scope, "#{module}.Accounts.Scope.for_user(user)"}
  defp assigned(_module, :user), do: {:current_user, "user"}

  defp tools(module, users) do
    {key, name, text} = shown(users)

    """
    defmodule #{module}.MCP.Tools do
      @moduledoc "The tools of the MCP server."
      use McpServer.Controller

      def whoami(%{assigns: %{#{key}: nil}}, _arguments), do: {:error, "Nobody is signed in"}
      def whoami(%{assigns: %{#{key}: #{name}}}, _arguments), do: {:ok, [text(#{text})]}
    end
    """
  end

  defp shown(:none), do: {:current_user, "user", "to_string(user)"}
  defp shown(:user), do: {:current_user, "user", "user.email"}
  defp shown(:scope), do: {:current_scope, "scope", "scope.user.email"}
end
