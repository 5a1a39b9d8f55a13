defmodule McpServer.LimitsPeers do
  # One way to send requests over all three transports: a message is sent as given, and the text of its response is
  # returned.
  @moduledoc false

  alias McpServer.{HttpPeer, HttpRequests, HttpServers, LimitsRouter, StdioPeer}

  @meta ~s("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{})

  @doc "The transports."
  def kinds, do: [:stdio, :listener, :plug]

  @doc "Starts a server of `McpServer.LimitsRouter`. `longest` is the maximum size of a message in bytes."
  def start(kind, context, options \\ [])

  def start(:stdio, context, options) do
    {longest, options} = Keyword.pop(options, :longest)
    options = [app: :mcp_server] ++ if(longest, do: [limits: [max_message_bytes: longest]], else: []) ++ options
    serve = "McpServer.Stdio.run(McpServer.LimitsRouter, #{inspect(options, limit: :infinity)})"
    {:stdio, StdioPeer.start(StdioPeer.vm(serve), tmp_dir: context.tmp_dir)}
  end

  def start(kind, _context, options) do
    {longest, options} = Keyword.pop(options, :longest)
    options = options ++ if(longest, do: [limits: [max_message_bytes: longest]], else: [])
    {kind, HttpServers.start(kind, [router: LimitsRouter] ++ options)}
  end

  @doc "The text of a request of 2026-07-28. `parts` are JSON texts: `:id`, `:meta` and members of `params`."
  def request(method, params, parts \\ []) do
    meta = Enum.join([@meta | List.wrap(parts[:meta])], ",")
    id = Keyword.get(parts, :id, "1")
    ~s({"jsonrpc":"2.0","id":#{id},"method":"#{method}","params":{#{params},"_meta":{#{meta}}}})
  end

  @doc "The text of a call of `back` with these arguments."
  def call(arguments, parts \\ []), do: request("tools/call", ~s("name":"back","arguments":#{arguments}), parts)

  @doc "Sends a message. Returns `{status, text}`. Over stdio the status is `nil`."
  def ask({:stdio, peer}, text, _head) do
    StdioPeer.write_raw(peer, [text, ?\n])
    {nil, StdioPeer.line(peer)}
  end

  def ask({_kind, server}, text, {method, name}) do
    headers = [{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", method}, {"mcp-name", name}]
    peer = HttpPeer.connect(server.port)
    response = HttpPeer.request(peer, HttpRequests.post(text, headers))
    HttpPeer.close(peer)
    {response.status, response.body}
  end
end
