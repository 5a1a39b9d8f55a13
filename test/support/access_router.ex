defmodule McpServer.AccessRouter do
  # Tools, prompts, resources and templates with restricted access. The client is the principal over HTTP, and
  # `assigns.user` elsewhere. For a stranger this router equals `McpServer.AccessRouter.Bare`, byte for byte.
  @moduledoc false
  use McpServer.Router, name: "access"

  alias McpServer.AccessRouter.Handlers

  tool "open", "For everybody", Handlers, :echo

  tool "delete", "For staff", Handlers, :echo,
    authorize: &Handlers.staff?/1,
    task_support: :optional,
    requires: [:sampling] do
    input_field "id", "Which", :integer, required: true
  end

  tool "shown", "Shown to staff", Handlers, :echo, visible: {Handlers, :staff?} do
    input_field "region", "Where", :string, required: true
  end

  tool "role", "For a role", Handlers, :echo, authorize: {Handlers, :role?, ["admin"]}
  tool "inline", "For staff, said here", Handlers, :echo, authorize: fn conn -> Handlers.user(conn) == "staff" end
  tool "capture", "For staff, said here", Handlers, :echo, authorize: &(Handlers.user(&1) == "staff")
  tool "named", "For staff, said below", Handlers, :echo, visible: &here?/1

  prompt "staff", "For staff", authorize: {Handlers, :staff?} do
    argument "name", "Whom", required: true
    get Handlers, :greet
    complete Handlers, :complete
  end

  resource "open", "access://open" do
    read Handlers, :read
  end

  resource "secret", "access://notes/secret", authorize: {Handlers, :staff?} do
    read Handlers, :read
  end

  resource "staff_note", "access://staff/{id}", authorize: {Handlers, :staff?} do
    read Handlers, :read
    complete Handlers, :complete
  end

  resource "note", "access://notes/{id}" do
    read Handlers, :read
  end

  def here?(conn), do: Handlers.user(conn) == "staff"
end

defmodule McpServer.AccessRouter.Bare do
  # The entries for everybody. The last two give it the same capabilities as the full router.
  @moduledoc false
  use McpServer.Router, name: "access"

  alias McpServer.AccessRouter.Handlers

  tool "open", "For everybody", Handlers, :echo

  resource "open", "access://open" do
    read Handlers, :read
  end

  resource "note", "access://notes/{id}" do
    read Handlers, :read
  end

  def list_prompts(_conn), do: {:ok, []}
end

defmodule McpServer.AccessRouter.Handlers do
  @moduledoc false
  use McpServer.Controller

  def echo(_conn, arguments), do: {:ok, inspect(arguments)}
  def greet(_conn, %{"name" => name}), do: "Hello #{name}"
  def complete(_conn, name, prefix), do: [name, prefix]
  def read(_conn, variables), do: content("r", "access://read", text: inspect(variables))

  def staff?(conn), do: user(conn) == "staff"
  def role?(conn, role), do: conn |> user() |> to_string() |> String.starts_with?(role)
  def user(%{principal: nil, assigns: assigns}), do: assigns[:user]
  def user(%{principal: principal}), do: principal
end
