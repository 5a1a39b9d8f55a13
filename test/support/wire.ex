defmodule McpServer.Wire do
  # A client of `McpServer.Test` for single messages: it sends without waiting for the response.
  @moduledoc false

  alias McpServer.Connection.{Inbox, Outbox, State}
  alias McpServer.Processes
  alias McpServer.Test.Client

  # A call asks the server of tasks twice before it waits there, and then asks the client.
  @questions 3

  @doc "Opens a transport to `McpServer.RuntimeRouter` whose handlers run `fun`."
  def open(fun, options \\ []) do
    Client.open(McpServer.RuntimeRouter, [assigns: %{run: fun}] ++ options)
  end

  @doc "Sends a request with the id."
  def ask(client, id, method, params \\ %{}) do
    Client.push(client, Client.complete(client, %{"id" => id, "method" => method, "params" => params}))
  end

  @doc "Calls a tool of the runtime router."
  def tool(client, id, name \\ "run", arguments \\ %{}),
    do: ask(client, id, "tools/call", %{"name" => name, "arguments" => arguments})

  @doc "Sends a notification."
  def tell(client, method, params \\ %{}),
    do: Client.push(client, %{"jsonrpc" => "2.0", "method" => method, "params" => params})

  @doc "Sends several lines at once, like a pipelining client."
  def lines(client, lines) do
    send(client.connection, {:mcp_client_in, client.reference, {:lines, lines}})
  end

  @doc "The next message that is not a notification."
  def next(%{reference: reference}, timeout \\ 30_000) do
    receive do
      {:mcp_client, ^reference, message} -> message
    after
      timeout -> raise "nothing came within #{timeout} ms"
    end
  end

  @doc "Asserts that the connection and its calls have sent no message, now that they wait for the next event."
  def silent?(%{reference: reference} = client) do
    for _question <- 1..@questions do
      settle(client)
      for pid <- Processes.children(client.connection), do: Processes.idle(pid)
      :sys.get_state(McpServer.Tasks.Server)
    end

    settle(client)

    receive do
      {:mcp_client, ^reference, message} -> raise "unexpected: #{inspect(message)}"
    after
      0 -> true
    end
  end

  @doc "Ends the time of all running calls now. A short time could end before a handler has begun."
  def expire(client) do
    expired = fn {pid, call} -> {pid, %{call | deadline: State.now()}} end
    :sys.replace_state(client.connection, &%{&1 | calls: Map.new(&1.calls, expired)})
    send(client.connection, :mcp_deadline)
  end

  @doc "The text of a tool's result."
  def said(%{"result" => %{"content" => [%{"text" => text} | _]}}), do: text

  @doc "Waits until the connection has handled everything that was sent to it, and has written its messages."
  def settle(client) do
    _state = settled(client)
    :ok
  end

  @doc "The state of the connection when it has read ahead as far as permitted, and has nothing left to write."
  def settled(client) do
    state = :sys.get_state(client.connection)
    # Messages and changes wait until the mailbox is empty.
    written? = Outbox.empty?(state.outbox) and MapSet.size(state.changes) == 0
    if written? and not Inbox.ahead?(state), do: state, else: settled(client)
  end
end
