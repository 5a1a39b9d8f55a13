defmodule Stress.Hostile.Shares.Router do
  @moduledoc "Tools with which clients let the server hold something."
  use McpServer.Router, name: "shares"

  alias Stress.Hostile.Shares.Handlers

  tool "echo", "Gives the text back", Handlers, :echo do
    input_field "text", "Any text", :string, required: true
  end

  tool "sleep", "Takes its time", Handlers, :sleep, timeout: 300_000, task_support: :optional do
    input_field "ms", "Milliseconds", :integer, required: true
  end

  tool "doze", "Takes its time, too", Handlers, :sleep, timeout: 300_000 do
    input_field "ms", "Milliseconds", :integer, required: true
  end

  tool "store", "Stores a result of some rows", Handlers, :store do
    input_field "rows", "How many", :integer, required: true
  end

  tool "ask", "Asks two questions", Handlers, :ask, task_support: :optional, timeout: 300_000 do
    input_field "text", "Any text", :string
  end

  tool "long", "Answers at length", Handlers, :long
  tool "tidy", "Cleans up for long", Handlers, :tidy, cancel_grace: 20_000

  tool "compute", "Computes", Handlers, :compute, task_support: :optional do
    input_field "ms", "Milliseconds", :integer, required: true
  end

  tool "lattice", "Checks its argument in 2^20 ways", Handlers, :echo,
    input_schema: McpServer.FaultRouter.Schemas.lattice()

  tool "keep", "Keeps a value in the session", Handlers, :keep
  tool "kept", "The kept value", Handlers, :kept
  tool "hidden", "Nobody may see it", Handlers, :echo, visible: {Handlers, :nobody}
end

defmodule Stress.Hostile.Shares.Handlers do
  @moduledoc false
  use McpServer.Controller

  alias McpServer.{DualResponse, Session}
  alias Stress.Hostile.Shares.Results

  @row String.duplicate("x", 2_000)
  @form %{"type" => "object", "properties" => %{"n" => %{"type" => "string"}}}

  def nobody(_conn), do: false
  def echo(_conn, arguments), do: {:ok, arguments["text"] || "echo"}

  def sleep(_conn, %{"ms" => ms}) do
    Process.sleep(ms)
    {:ok, "slept"}
  end

  def ask(conn, _arguments) do
    if input(conn, "b"), do: {:ok, "thanks"}, else: input_required(a: elicit("A?", @form), b: elicit("B?", @form))
  end

  def long(_conn, _arguments), do: {:ok, String.duplicate("l", 8_000_000)}

  def tidy(_conn, _arguments) do
    Process.flag(:trap_exit, true)
    receive do: ({:EXIT, _pid, _reason} -> Process.sleep(20_000))
    {:ok, "tidied"}
  end

  def compute(_conn, %{"ms" => ms}), do: compute_until(System.monotonic_time(:millisecond) + ms)

  defp compute_until(due) do
    Enum.sum(1..10_000)
    if System.monotonic_time(:millisecond) < due, do: compute_until(due), else: {:ok, "computed"}
  end

  def store(conn, %{"rows" => count}) do
    {:ok, response} =
      DualResponse.create_response(Results,
        name: "Rows",
        columns: [%{name: "n", type: "number"}, %{name: "text", type: "string"}],
        rows: for(n <- 1..count, do: %{"n" => n, "text" => @row}),
        subject: conn.principal
      )

    {:ok, response.resource_id}
  end

  def keep(conn, _arguments), do: {:ok, inspect(Session.put_session(conn, "kept", conn.principal))}
  def kept(conn, _arguments), do: {:ok, inspect(Session.get_session(conn, "kept"))}
end

defmodule Stress.Hostile.Shares.Site do
  @moduledoc """
  A server whose clients have principals, sessions that survive, tasks, and stored results at a REST endpoint.

  Its limits are low, so that a client reaches them in seconds.
  """

  alias McpServer.DualResponse
  alias McpServer.DualResponse.{Rest, SessionStore}
  alias McpServer.{HttpServer, HttpVm}
  alias Stress.Hostile.Shares.{Results, Router}

  @secret String.duplicate("shares secret ", 3)

  @doc "Starts it in a VM. Returns the VM and the port."
  @spec launch() :: {HttpVm.t(), :inet.port_number()}
  def launch do
    vm = HttpVm.launch(secret: @secret)
    HttpVm.call(vm, Application, :put_env, [:mcp_server, :session_store, {SessionStore, server: Results}])
    for file <- ["../../support/server.exs", "site.exs"], do: HttpVm.call(vm, Code, :require_file, [file, __DIR__])
    {vm, HttpVm.call(vm, __MODULE__, :start, [])}
  end

  # Runs in the VM. The servers must survive the call that starts them.
  @doc false
  def start do
    caller = self()

    spawn(fn ->
      send(caller, {__MODULE__, serve()})
      Process.sleep(:infinity)
    end)

    receive do: ({__MODULE__, port} -> port)
  end

  defp serve do
    limits = [max_resources: 1_000, max_bytes: 64 * 1024 * 1024]
    {:ok, _results} = DualResponse.start_link([name: Results, base_url: "http://localhost/resources"] ++ limits)

    {:ok, server} =
      HttpServer.start_link(
        router: Router,
        port: 0,
        identify: &__MODULE__.identify/1,
        routes: [{"/resources", {Rest, server: Results, max_requests: 32, identify: &__MODULE__.subject/1}}],
        http: [
          max_calls: 50,
          max_sessions: 400,
          max_sessions_per_principal: 100,
          stream_after: 50,
          max_connections: 1_600,
          max_body_bytes_in_flight: 192 * 1024 * 1024
        ]
      )

    HttpServer.port(server)
  end

  # Some identities take long to find.
  @doc false
  def subject(request) do
    if List.keymember?(request.req_headers, "x-slow", 0), do: Process.sleep(500)
    with {:ok, name} <- identify(request), do: %{subject: name}
  end

  @doc false
  def identify(request) do
    case List.keyfind(request.req_headers, "authorization", 0) do
      {_name, "Bearer " <> name} -> {:ok, name}
      nil -> {:ok, nil}
    end
  end
end
