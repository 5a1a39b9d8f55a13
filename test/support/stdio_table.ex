defmodule McpServer.StdioTable do
  # The rows of `McpServer.HttpTable` about messages, over stdio: the same messages and responses, without a status.
  #
  # A row of a session runs on a connection with an open session of its revision, any other row on a connection without
  # a session. The rows share the connection, so a request follows each message, and its response ends the wait.
  @moduledoc false

  use GenServer

  alias McpServer.{HttpRequests, HttpTable, JSON, StdioPeer}

  # Rows that are about headers only, and rows whose message is not a line.
  @of_http [
    ~r/^not JSON: (empty|white space|BOM)/,
    ~r/^a session with the header/,
    ~r/^neither era, an older version in the header/,
    ~r/^(the version header|Mcp-Method|all headers) without _meta/,
    ~r/^initialize with the header/,
    ~r/^a version of the future without _meta/,
    ~r/^(GET|DELETE) with /
  ]

  # Rows with another response over stdio. Without headers these requests claim no era. A response is never answered. A
  # client without a session may be told that the method is unknown.
  @otherwise %{
    "_meta empty" => {:error, -32600, 1},
    "_meta a list" => {:error, -32600, 1},
    "no version" => {:error, -32600, 1},
    "a posted response" => :empty,
    "a posted error" => :empty,
    "a posted response of neither era" => :empty,
    "an unknown method without a session" => {:error, -32601, 1}
  }

  @doc "The rows with the expected responses over stdio."
  def rows do
    for row <- HttpTable.rows(), of_messages?(row.req), row.only == nil, not Enum.any?(@of_http, &(row.name =~ &1)) do
      %{row | body: Map.get(@otherwise, row.name, row.body)}
    end
  end

  # M21 is about headers.
  defp of_messages?(req), do: "M21" not in req and Enum.any?(req, &match?("M" <> _, &1))

  @doc "The row with that name."
  def fetch(name), do: Enum.find(rows(), &(&1.name == name)) || raise("there is no row #{inspect(name)}")

  @doc "Starts a VM with a connection. Opens a session of that revision unless it is `nil`."
  def start_link({revision, tmp_dir}), do: GenServer.start_link(__MODULE__, {revision, tmp_dir})

  def child_spec({revision, _tmp_dir} = argument),
    do: %{id: {__MODULE__, revision}, start: {__MODULE__, :start_link, [argument]}}

  @doc "Sends the message of a row and compares the response."
  def check(connection, row) do
    request = if is_function(row.request, 0), do: row.request.(), else: row.request
    expected = if row.body == :empty, do: 0, else: 1
    HttpTable.check_messages(row.body, exchange(connection, request.body, expected))
  end

  @doc "The responses to a line. Waits for at least `expected` messages."
  def exchange(connection, line, expected \\ 1), do: GenServer.call(connection, {:exchange, line, expected}, 60_000)

  @impl true
  def init({revision, tmp_dir}) do
    peer = StdioPeer.start(StdioPeer.vm(serve()), tmp_dir: tmp_dir)
    if revision, do: open(peer, revision)
    {:ok, peer}
  end

  defp serve, do: "McpServer.Stdio.run(McpServer.HttpRouter, app: :mcp_server)"

  defp open(peer, revision) do
    StdioPeer.write(peer, StdioPeer.initialize("open", revision))
    %{"id" => "open", "result" => %{"protocolVersion" => ^revision}} = StdioPeer.read(peer, 60_000)
  end

  @impl true
  def handle_call({:exchange, line, expected}, _from, peer) do
    fence = "fence-#{System.unique_integer([:positive])}"
    StdioPeer.write_raw(peer, [line, ?\n, HttpRequests.modern("server/discover", %{}, id: fence).body, ?\n])
    {:reply, until(peer, fence, expected), peer}
  end

  defp until(peer, fence, expected, messages \\ [], fenced? \\ false)
  defp until(_peer, _fence, expected, messages, true) when length(messages) >= expected, do: Enum.reverse(messages)

  defp until(peer, fence, expected, messages, fenced?) do
    case next(peer) do
      nil -> Enum.reverse(messages)
      %{"id" => ^fence} -> until(peer, fence, expected, messages, true)
      message -> until(peer, fence, expected, [message | messages], fenced?)
    end
  end

  # A missing response fails this row, and not the next ones.
  defp next(%{port: port} = peer) do
    receive do
      {^port, {:data, {:eol, line}}} -> JSON.decode!(line)
      {^port, {:exit_status, status}} -> raise "the server has exited with #{status}: #{StdioPeer.errors(peer)}"
    after
      30_000 -> nil
    end
  end
end
