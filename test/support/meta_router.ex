defmodule McpServer.MetaRouter do
  # Returns the data that a handler has about its request.
  @moduledoc false
  use McpServer.Router, name: "meta"

  alias McpServer.MetaRouter.Handlers

  tool "meta", "The request's _meta, its trace and its id", Handlers, :meta
  tool "who", "Who asks", Handlers, :who
  tool "image", "An image and a text", Handlers, :picture
  tool "fail", "Fails", Handlers, :fail

  prompt "meta", "The same", completion: false do
    get Handlers, :meta_text
  end

  resource "meta", "meta://it" do
    read Handlers, :meta_content
  end
end

defmodule McpServer.MetaRouter.Handlers do
  @moduledoc false
  use McpServer.Controller

  alias McpServer.Conn

  def meta(conn, _arguments),
    do: {:ok, %{meta: conn.meta, trace: Map.new(Conn.trace_context(conn)), id: conn.request_id}}

  def meta_text(conn, _arguments), do: inspect(conn.meta)
  def meta_content(conn, _variables), do: content("meta", "meta://it", text: inspect(conn.meta))
  def who(conn, _arguments), do: {:ok, inspect(conn.principal)}
  def picture(_conn, _arguments), do: {:ok, [text("a dot"), image("dot", "image/png")]}
  def fail(_conn, _arguments), do: {:error, "no such note"}
end
