defmodule McpServer.RunTimeRouter do
  # A router that gets tools while it is served. Each test defines a separate router, because tools are stored per
  # router.
  @moduledoc false

  defmacro __using__(_options) do
    quote do
      use McpServer.Router, name: "run-time", page_size: 3
      plug McpServer.RunTimeRouter.Seen
      tool "declared", "Is declared", McpServer.RunTimeRouter.Handlers, :echo
    end
  end
end

defmodule McpServer.RunTimeRouter.Seen do
  @moduledoc false
  def call(conn, next), do: next.(McpServer.Conn.assign(conn, :seen, conn.called.name))
end

defmodule McpServer.RunTimeRouter.Handlers do
  @moduledoc false
  use McpServer.Controller

  def echo(conn, arguments), do: {:ok, inspect({conn.assigns.seen, conn.principal, arguments})}
  def sum(_conn, %{"a" => a, "b" => b}), do: {:ok, %{"sum" => a + b}}
  def wrong(_conn, _arguments), do: {:ok, %{"sum" => "three"}}
end
