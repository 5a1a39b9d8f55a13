defmodule McpServer.ConnTest do
  use ExUnit.Case, async: true

  alias McpServer.Conn

  doctest McpServer.Conn

  @tag req: "S4-50"
  test "a session id and private values" do
    conn = Conn.put_private(%Conn{session_id: "s"}, :user, 1)
    assert Conn.get_session_id(conn) == "s"
    assert Conn.get_private(conn, :user) == 1
    assert Conn.get_private(conn, :other) == nil
    assert Conn.get_private(conn, :other, 2) == 2
    assert conn.private == %{user: 1}
  end

  @tag req: "S4-50"
  test "assigns are apart from private values" do
    conn = %Conn{} |> Conn.assign(:a, 1) |> Conn.assign(%{b: 2}) |> Conn.assign(c: 3)
    assert {conn.assigns, conn.private} == {%{a: 1, b: 2, c: 3}, %{}}
  end
end
