defmodule McpServer.Wire do
  # A client of `McpServer.Test` used message by message: what is sent is not waited for.
  @moduledoc false

  alias McpServer.Connection.Inbox
  alias McpServer.Test.Client

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

  @doc "Several lines in one go, as a pipelining client sends them."
  def lines(client, lines) do
    send(client.connection, {:mcp_client_in, client.reference, {:lines, lines}})
  end

  @doc "The next message that is no notification."
  def next(%{reference: reference}, timeout \\ 10_000) do
    receive do
      {:mcp_client, ^reference, message} -> message
    after
      timeout -> raise "nothing came within #{timeout} ms"
    end
  end

  @doc "That no message comes."
  def silent?(%{reference: reference}, milliseconds \\ 50) do
    receive do
      {:mcp_client, ^reference, message} -> raise "unexpected: #{inspect(message)}"
    after
      milliseconds -> true
    end
  end

  @doc "The text of a tool's answer."
  def said(%{"result" => %{"content" => [%{"text" => text} | _]}}), do: text

  @doc "Waits until the connection has handled everything sent to it so far."
  def settle(client) do
    _state = settled(client)
    :ok
  end

  @doc "The state of the connection when it has read as far ahead as it may."
  def settled(client) do
    state = :sys.get_state(client.connection)
    if Inbox.ahead?(state), do: settled(client), else: state
  end
end
