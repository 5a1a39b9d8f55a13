defmodule McpServer.PlugRouter do
  # Plugs around all kinds of calls. `Trace` collects names in `assigns.trace`, and the handlers return them.
  @moduledoc false
  use McpServer.Router, name: "plugs"

  alias McpServer.PlugRouter.{Bad, Guard, Handlers, Measure, Options, Retry, Trace}

  tool "outside", "In no scope", Handlers, :trace

  plug Trace

  scope do
    plug Options, name: "scope"

    tool "inside", "In a scope", Handlers, :trace do
      plug Options, name: "own"
    end

    scope do
      plug Options, name: "inner"
      tool "deep", "In two scopes", Handlers, :trace
    end

    prompt "greet", "A prompt" do
      argument "name", "Whom", required: true
      get Handlers, :greet
      complete Handlers, :complete
    end
  end

  tool "guarded", "Answered by a plug", Handlers, :never do
    plug Guard
  end

  tool "flaky", "Works the second time", Handlers, :flaky do
    plug Retry
  end

  tool "rescued", "Raises", Handlers, :boom do
    plug Retry
  end

  tool "bad", "A plug returns nonsense", Handlers, :trace do
    plug Bad
  end

  tool "measured", "Seen by a plug", Handlers, :trace do
    input_field "n", "A number", :integer, required: true
    plug Measure
  end

  tool "later", "Begins a task", Handlers, :later, task_support: :optional, task_start: :handler do
    plug Options, name: "own"
  end

  resource "note", "plug://notes/{id}" do
    plug Options, name: "own"
    read Handlers, :read
    complete Handlers, :complete
  end
end

defmodule McpServer.PlugRouter.Handlers do
  @moduledoc false
  use McpServer.Controller

  def trace(conn, _arguments), do: {:ok, traced(conn)}
  def never(_conn, _arguments), do: raise("the plug answers")
  def greet(conn, %{"name" => name}), do: "#{name} #{traced(conn)}"
  def read(conn, %{"id" => id}), do: content("note", "plug://notes/#{id}", text: traced(conn))
  def complete(conn, _name, _prefix), do: [traced(conn)]
  def boom(_conn, _arguments), do: raise("boom")
  def later(_conn, _arguments), do: as_task(&{:ok, traced(&1)})

  # Fails at the first call in each process.
  def flaky(conn, _arguments) do
    if Process.put(:tried, true), do: {:ok, "tried again, #{traced(conn)}"}, else: {:error, "not yet"}
  end

  defp traced(%{assigns: assigns, called: nil}), do: assigns |> Map.get(:trace, []) |> Enum.reverse() |> Enum.join(" ")
end

defmodule McpServer.PlugRouter.Trace do
  @moduledoc false
  @behaviour McpServer.Plug

  alias McpServer.Conn

  @impl true
  def call(conn, next), do: next.(put(conn, "router"))

  def put(%{called: %{kind: kind, name: name}} = conn, who) do
    Conn.assign(conn, :trace, ["#{who}:#{kind}:#{name}" | Map.get(conn.assigns, :trace, [])])
  end
end

defmodule McpServer.PlugRouter.Options do
  @moduledoc false
  @behaviour McpServer.Plug

  @impl true
  def init(options), do: options |> Keyword.validate!([:name]) |> Keyword.fetch!(:name)

  @impl true
  def call(conn, next, name), do: next.(McpServer.PlugRouter.Trace.put(conn, name))
end

defmodule McpServer.PlugRouter.Guard do
  @moduledoc false
  @behaviour McpServer.Plug

  @impl true
  def call(_conn, _next), do: {:error, "Closed on Sundays"}
end

defmodule McpServer.PlugRouter.Retry do
  @moduledoc false
  @behaviour McpServer.Plug

  @impl true
  def call(conn, next) do
    with {:error, "not yet"} <- next.(conn), do: next.(conn)
  rescue
    error in RuntimeError -> {:error, "rescued: #{error.message}"}
  end
end

defmodule McpServer.PlugRouter.Bad do
  @moduledoc false
  @behaviour McpServer.Plug

  @impl true
  def call(_conn, _next), do: :nonsense
end

defmodule McpServer.PlugRouter.Measure do
  @moduledoc false
  @behaviour McpServer.Plug

  @impl true
  def call(conn, next) do
    {:ok, text} = next.(conn)
    {:ok, inspect({conn.called, self() == conn.assigns[:caller], text})}
  end
end
