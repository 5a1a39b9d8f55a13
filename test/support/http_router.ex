defmodule McpServer.HttpRouter do
  # The router of the HTTP tests. The test controls `perform` step by step.
  @moduledoc false
  use McpServer.Router, name: "http", version: "1.2.3"

  alias McpServer.HttpRouter.Handlers

  tool "echo", "Gives the text back", Handlers, :echo do
    input_field "text", "Any text", :string, required: true
  end

  tool "size", "The number of bytes of a text", Handlers, :size do
    input_field "text", "Any text", :string, required: true
  end

  tool "whoami", "The principal and the session", Handlers, :whoami
  tool "granted", "What the token grants", Handlers, :granted
  tool "perform", "Does what the test says", Handlers, :perform, input_schema: %{"type" => "object"}
  tool "fail", "Raises", Handlers, :fail
  tool "nothing", "Answers with nothing a tool may answer with", Handlers, :nothing
  tool "ask", "Asks for a name", Handlers, :ask
  tool "guarded", "Only for writers", Handlers, :whoami, authorize: {Handlers, :may_write}, listed: :always
  tool "forbidden", "For nobody", Handlers, :whoami, authorize: {Handlers, :never}, listed: :always

  tool "sleep", "Takes its time", Handlers, :sleep, task_support: :optional do
    input_field "ms", "Milliseconds", :integer, required: true
  end

  tool "remember", "Keeps a value in the session", Handlers, :remember
  tool "recall", "The value that the session keeps", Handlers, :recall

  tool "sampler", "Needs a model", Handlers, :whoami, requires: [:sampling]

  tool "route", "Its arguments travel in headers, too", Handlers, :route,
    input_schema: %{
      "type" => "object",
      "properties" => %{
        "region" => %{"type" => "string", "x-mcp-header" => "Region"},
        "zone" => %{"type" => "integer", "x-mcp-header" => "Zone"},
        "dry" => %{"type" => "boolean", "x-mcp-header" => "Dry-Run"},
        "at" => %{
          "type" => "object",
          "properties" => %{"host" => %{"type" => "string", "x-mcp-header" => "Host"}}
        }
      }
    }

  prompt "greet", "Greets" do
    argument "name", "Whom", required: true
    get Handlers, :greet
    complete Handlers, :complete
  end

  resource "fixed", "http-test://fixed" do
    description "Always there"
    read Handlers, :read
  end

  resource "row", "http-test://rows/{id}" do
    description "A row"
    read Handlers, :read
    complete Handlers, :complete
  end
end

defmodule McpServer.HttpRouter.Handlers do
  @moduledoc false
  use McpServer.Controller

  def echo(_conn, %{"text" => text}), do: {:ok, [text(text)]}
  def size(_conn, %{"text" => text}), do: {:ok, [text(Integer.to_string(byte_size(text)))]}

  def whoami(conn, _arguments) do
    info = conn.client_info["name"]
    {:ok, [text(inspect({conn.principal, conn.session_id, conn.protocol_version, info, conn.assigns}))]}
  end

  def granted(conn, _arguments), do: {:ok, [text(inspect({conn.principal, conn.auth.subject, conn.auth.scopes}))]}

  def may_write(%{principal: %{scopes: scopes}}),
    do: if("write" in scopes, do: :ok, else: {:error, {:insufficient_scope, ["write", "read"]}})

  def may_write(_nobody), do: {:error, {:insufficient_scope, ["write", "read"]}}
  def never(_conn), do: {:error, :forbidden}

  def sleep(_conn, %{"ms" => ms}) do
    Process.sleep(ms)
    {:ok, [text("slept")]}
  end

  def remember(conn, _arguments), do: {:ok, [text(inspect(McpServer.Session.put_session(conn, "kept", "value")))]}
  def recall(conn, _arguments), do: {:ok, [text(inspect(McpServer.Session.get_session(conn, "kept")))]}

  def fail(_conn, _arguments), do: raise("secret 42")
  def nothing(_conn, _arguments), do: nil
  def route(_conn, arguments), do: {:ok, [text(McpServer.JSON.encode!(arguments))]}

  @form %{"type" => "object", "properties" => %{"name" => %{"type" => "string"}}, "required" => ["name"]}

  def ask(conn, _arguments) do
    cond do
      form = accepted(conn, "name") -> {:ok, [text("Hello, #{form["name"]}! #{inspect(state(conn))}")]}
      declined?(conn, "name") -> {:error, "No name, no greeting"}
      true -> input_required([name: elicit("Your name?", @form)], state: :asked)
    end
  end

  # The test process sends the steps, see `McpServer.HttpScript`.
  def perform(conn, %{"test" => test} = arguments) do
    pid = test |> String.to_charlist() |> :erlang.list_to_pid()
    if tenant = arguments["tenant"], do: Logger.metadata(tenant: tenant)
    send(pid, {:performing, arguments["tag"], self(), conn})
    follow(conn)
  end

  defp follow(conn) do
    receive do
      {:answer, text} ->
        {:ok, [text(text)]}

      {:fail, reason} ->
        {:error, reason}

      {:progress, n} ->
        progress(conn, n, 1_000_000, "step #{n}")
        follow(conn)

      {:close_stream, ms} ->
        close_stream(conn, retry: ms)
        follow(conn)

      {:log, level, data} ->
        log(conn, level, data)
        follow(conn)
    end
  end

  def greet(_conn, %{"name" => name}), do: [message("user", "Hello #{name}!")]
  def read(_conn, variables), do: content("a.txt", "http-test://fixed", text: inspect(variables))
  def complete(_conn, name, prefix), do: completion([name, prefix], total: 2, has_more: false)
end

defmodule McpServer.HttpChangesRouter do
  # For tests that publish changes of lists. With a shared router these would reach the streams of all other tests.
  @moduledoc false
  use McpServer.Router, name: "changes"

  alias McpServer.HttpRouter.Handlers

  tool "whoami", "The principal and the session", Handlers, :whoami

  resource "fixed", "http-test://fixed" do
    description "Always there"
    read Handlers, :read
  end

  resource "row", "http-test://rows/{id}" do
    description "A row"
    read Handlers, :read
  end
end
