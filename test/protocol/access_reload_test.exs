defmodule McpServer.Protocol.AccessReloadTest do
  # The function of `authorize:` is recompiled with another arity while its router is served. Not async: the compiler's
  # options are global.
  use ExUnit.Case, async: false

  alias McpServer.Test

  @auth "McpServer.Protocol.AccessReloadTest.Auth"
  @conn_alone "def may(conn), do: conn.principal == \"ada\""
  @arguments "def may(conn, arguments), do: conn.principal == \"ada\" or arguments == %{\"n\" => 1}"

  defp define(function) do
    Code.put_compiler_option(:ignore_module_conflict, true)
    Code.compile_string("defmodule #{@auth} do\n#{function}\nend", "auth.ex")
  after
    Code.put_compiler_option(:ignore_module_conflict, false)
  end

  setup_all do
    define(@conn_alone)

    [{router, _code}] =
      Code.compile_string("""
      defmodule McpServer.Protocol.AccessReloadTest.MCP do
        use McpServer.Router
        tool "guarded", "Is guarded", McpServer.Handlers, :echo, authorize: {#{@auth}, :may} do
          input_field "n", "Which", :integer
        end
      end
      """)

    {:ok, router: router}
  end

  for revision <- ["2025-11-25", "2026-07-28"] do
    test "#{revision}: what it says decides about lists and calls as it is now", %{router: router} do
      eve = [revision: unquote(revision), principal: "eve"]
      call = &Test.call_tool(router, "guarded", %{"n" => &1}, eve)

      for _time <- 1..2 do
        define(@conn_alone)
        assert Test.list_tools(router, eve) == {:ok, []}
        assert {:error, %{"message" => "Tool 'guarded' not found"}} = call.(1)

        define(@arguments)
        assert {:ok, [%{"name" => "guarded"}]} = Test.list_tools(router, eve)
        assert {:ok, %{"isError" => false}} = call.(1)
        assert {:error, %{"message" => "Forbidden"}} = call.(2)
      end
    end
  end
end
