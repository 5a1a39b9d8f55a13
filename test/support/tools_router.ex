defmodule McpServer.ToolsRouter do
  # A server that adds tools while it runs, and hides them by their tags.
  @moduledoc false
  use McpServer.Router, name: "tools"

  alias McpServer.ToolsRouter.Handlers

  tool "setup", "Puts the tools", Handlers, :setup

  tool "switch", "Says for whom a tag is enabled", Handlers, :switch do
    input how: {:string, "enable, disable or reset", required: true},
          whom: {:string, "router, session or principal", required: true}
  end

  tool "say", "Tells the session something" do
    input level: {:string, "How bad", required: true}

    run fn conn, %{"level" => level} ->
      :ok = McpServer.notify({conn.router, session: conn.session_id}, log: "said", level: level, logger: "tests")
      "done"
    end
  end

  tool("declared", "Has a tag", Handlers, :echo, tags: ["admin"])
  tool("both", "Has two tags", Handlers, :echo, tags: ["admin", "beta"])
  tool("open", "Has none", Handlers, :echo)
  tool("of_ada", "Is for Ada", Handlers, :echo, visible: {Handlers, :ada?})
  tool("of_editors", "Is for editors", Handlers, :echo, authorize: {Handlers, :role?, ["editor"]})
end

defmodule McpServer.ToolsRouter.Note do
  @moduledoc false
  defstruct [:title, stars: 1]
end

defmodule McpServer.ToolsRouter.Handlers do
  @moduledoc false
  use McpServer.Controller

  alias McpServer.{Conn, Tools}

  @tools [
    {:echo,
     name: "typed",
     description: "Gets Elixir values",
     arguments: :atoms,
     input: [
       since: {:date, "Since when", required: true},
       limit: {:integer, "How many", default: 10, minimum: 1},
       nested: {%{tags: {[:string], "Which", default: []}}, "More", default: %{}}
     ]},
    {:echo,
     name: "note",
     description: "Gets a struct",
     struct: McpServer.ToolsRouter.Note,
     input: [title: {:string, "The title", required: true}, stars: {:integer, "How many", default: 3}]},
    {:slow, name: "slow", description: "Takes its time", timeout: 50},
    {:later, name: "later", description: "May be a task", task_support: :optional, input: [n: {:integer, "Which"}]},
    {:later, name: "only", description: "Is a task", task_support: :required},
    {:echo, name: "needy", description: "Asks", requires: [:sampling]},
    {:echo, name: "tagged", description: "Has a tag", tags: ["admin"]},
    {:echo, name: "mine", description: "Is for Ada", visible: {McpServer.ToolsRouter.Handlers, :ada?}},
    {:echo,
     name: "role", description: "Is for editors", authorize: {McpServer.ToolsRouter.Handlers, :role?, ["editor"]}}
  ]

  def setup(_conn, _arguments) do
    for {function, fields} <- @tools, do: :ok = Tools.put(McpServer.ToolsRouter, fields, {__MODULE__, function})
    "#{length(@tools)} tools"
  end

  def switch(conn, %{"how" => how, "whom" => whom}) do
    scope =
      case whom do
        "router" -> conn.router
        "session" -> {conn.router, session: conn.session_id}
        "principal" -> {conn.router, principal: conn.principal}
      end

    case how do
      "enable" -> said(Tools.enable(scope, tag: "admin"))
      "disable" -> said(Tools.disable(scope, tag: "admin"))
      "reset" -> said(Tools.reset(scope, tag: "admin"))
    end
  end

  defp said(:ok), do: "done"
  defp said({:error, text}), do: {:error, text}

  def echo(_conn, arguments), do: {:ok, inspect(arguments)}

  def slow(_conn, _arguments) do
    Process.sleep(:infinity)
  end

  def later(_conn, arguments), do: {:ok, "later " <> inspect(arguments)}

  def ada?(conn), do: conn.principal == "ada"
  def role?(%Conn{assigns: assigns}, _arguments, role), do: assigns[:role] == role
end
