defmodule McpServer.Protocol.VerdictsTest do
  # What an `authorize:` function of a declaration returns, and what the log says where that is no verdict.
  defmodule Hooks do
    def verdict(conn), do: conn.assigns.verdict
    def run(_conn, _arguments), do: {:ok, []}
  end

  defmodule Router do
    use McpServer.Router

    tool "guarded", "Only for some", Hooks, :run, authorize: {Hooks, :verdict}
  end

  use ExUnit.Case, async: false
  use McpServer.Test, router: Router

  import ExUnit.CaptureLog

  @forbidden %{"code" => -32600, "message" => "Forbidden"}

  defp asked(verdict), do: with_log(fn -> call_tool("guarded", %{}, assigns: %{verdict: verdict}) end)

  test "a verdict is not logged" do
    assert {{:ok, %{"isError" => false}}, ""} = asked(:ok)
    assert {{:error, @forbidden}, ""} = asked({:error, :forbidden})

    assert {{:error, %{"data" => %{"requiredScopes" => ["more"]}}}, ""} =
             asked({:error, {:insufficient_scope, ["more"]}})
  end

  for {returned, form} <- [
        {quote(do: true), "true"},
        {quote(do: {:ok, "ada"}), "{:ok, #String<3 bytes>}"},
        {quote(do: {:error, "text"}), "{:error, #String<4 bytes>}"},
        {quote(do: {:error, {:insufficient_scope, "more"}}), "{:error, {:insufficient_scope, #String<4 bytes>}}"},
        {quote(do: false), "false"}
      ] do
    test "#{Macro.to_string(returned)} refuses, and is an error in the log" do
      assert {{:error, @forbidden}, log} = asked(unquote(returned))

      assert log =~
               "MCP McpServer.Protocol.VerdictsTest.Hooks.verdict/1 returned #{unquote(form)}, which refuses the request. " <>
                 ~S'A function of `authorize:` returns :ok, {:error, :forbidden} or {:error, {:insufficient_scope, ["scope"]}}.'
    end
  end
end
