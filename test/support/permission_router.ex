defmodule McpServer.PermissionRouter do
  # Resources and a prompt with restricted access. The client is the principal over HTTP, and `assigns.user` elsewhere.
  @moduledoc false
  use McpServer.Router, name: "permission"

  alias McpServer.PermissionRouter.Handlers

  tool "whoami", "Who asks", Handlers, :whoami

  prompt "greet", "Greets staff", authorize: {Handlers, :staff}, listed: :always do
    argument "name", "Whom", required: true
    get Handlers, :greet
    complete Handlers, :complete
  end

  prompt "scoped", "Needs a scope", authorize: {Handlers, :scope}, completion: false do
    get Handlers, :hello
  end

  resource "open", "perm://open" do
    read Handlers, :read
  end

  resource "staff", "perm://staff", authorize: {Handlers, :staff}, listed: :always do
    read Handlers, :read
  end

  resource "scoped", "perm://scoped", authorize: {Handlers, :scope} do
    read Handlers, :read
  end

  resource "broken", "perm://broken", authorize: {Handlers, :broken} do
    read Handlers, :read
  end

  resource "own", "perm://users/{id}/{part}", authorize: {Handlers, :own} do
    read Handlers, :read
    complete Handlers, :complete
  end
end

defmodule McpServer.PermissionRouter.Handlers do
  @moduledoc false
  use McpServer.Controller

  alias McpServer.Conn

  def whoami(conn, _arguments), do: {:ok, [text(inspect(user(conn)))]}
  def greet(_conn, %{"name" => name}), do: [message("user", "Hello #{name}!")]
  def hello(_conn, _arguments), do: [message("user", "Hello!")]
  def read(conn, variables), do: content("r", "perm://read", text: inspect({user(conn), variables}))
  def complete(_conn, name, prefix), do: completion([name, prefix])

  def staff(conn) do
    report(conn, :staff)
    if user(conn) == "staff", do: :ok, else: {:error, :forbidden}
  end

  def scope(_conn), do: {:error, {:insufficient_scope, ["more"]}}
  def broken(_conn), do: raise("the hook's own fault")
  def undecided(_conn, _variables), do: :perhaps

  def own(conn, variables) do
    report(conn, {Conn.get_private(conn, :uri), variables})
    if variables["id"] == user(conn), do: :ok, else: {:error, :forbidden}
  end

  # Reports the process of the check to tests that need it.
  defp report(%{assigns: %{test: test}}, what), do: send(test, {:asked, what, self()})
  defp report(_conn, _what), do: :ok

  defp user(%{principal: nil, assigns: assigns}), do: assigns[:user]
  defp user(%{principal: principal}), do: principal
end
