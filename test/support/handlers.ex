defmodule McpServer.Handlers do
  @moduledoc false
  # Handlers for test routers, one for each kind of result.

  use McpServer.Controller

  def echo(_conn, arguments), do: {:ok, [text(Map.get(arguments, "message", ""))]}
  def bare(_conn, _arguments), do: [text("bare")]
  def structured(_conn, _arguments), do: {:ok, %{"n" => 1}}
  def refuse(_conn, _arguments), do: {:error, "No."}
  def ask(_conn, _arguments), do: input_required([folders: list_roots()], state: 1)
  def session(conn, _arguments), do: {:ok, [text(conn.session_id)]}

  def result(_conn, _arguments) do
    {:ok, McpServer.Tool.CallResult.new(content: [text("x")], structured_content: %{"x" => 1})}
  end

  def greet(_conn, %{"name" => name}), do: [message("user", "Hello #{name}!")]
  def greeting(_conn, _arguments), do: {:ok, [message("assistant", "Hello!")]}
  def complete(_conn, name, prefix), do: completion([name, prefix], total: 2, has_more: false)

  def read(_conn, variables), do: content("a.txt", "file:///a.txt", text: inspect(variables))
  def missing(_conn, _variables), do: {:error, :not_found}
end
