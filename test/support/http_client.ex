defmodule McpServer.HttpClient do
  # A correct client of the HTTP servers: one connection per request, with every message checked against its schema.
  @moduledoc false

  alias McpServer.{HttpPeer, HttpRequests, HttpResponse, HttpServers, HttpWire, JSON}

  @type message :: map() | [map()]

  @doc "Sends a request on a new connection. Returns the response and its messages."
  @spec exchange(HttpServers.t(), HttpPeer.request()) :: {HttpResponse.t(), [message()]}
  def exchange(server, request) do
    {peer, response} = open(server, request)
    messages = messages(peer, response)
    HttpPeer.close(peer)
    {response, messages}
  end

  @doc "The one message that answers a request. Messages before it are dropped."
  @spec answer(HttpServers.t(), HttpPeer.request()) :: message()
  def answer(server, request) do
    {_response, messages} = exchange(server, request)
    List.last(messages) || raise "no answer to #{inspect(request)}"
  end

  @doc "Sends a request and leaves the connection open, for a stream or after a complete response."
  @spec open(HttpServers.t(), HttpPeer.request(), keyword()) :: {HttpPeer.t(), HttpResponse.t()}
  def open(server, request, options \\ []) do
    peer = start(server, request, options)
    {peer, HttpPeer.response(peer)}
  end

  @doc "Sends a request without waiting. `HttpPeer.response/1` reads the response."
  @spec start(HttpServers.t(), HttpPeer.request(), keyword()) :: HttpPeer.t()
  def start(server, request, options \\ []) do
    peer = HttpPeer.connect(server.port, options)
    Process.put({__MODULE__, peer}, transport(request, peer))
    # The bytes of a chunked body are not its message.
    message = request[:message] || request.body
    if message, do: HttpWire.sent(transport(request, peer), message)
    :ok = HttpPeer.send_request(peer, request)
    peer
  end

  # A session is one transport on all its connections.
  defp transport(request, peer), do: List.keyfind(request.headers, "mcp-session-id", 0, {nil, peer.socket}) |> elem(1)

  @doc "The messages of a response. Of a stream, all up to its end."
  @spec messages(HttpPeer.t(), HttpResponse.t()) :: [message()]
  def messages(peer, %{body: :stream}) do
    case message(peer) do
      :end -> []
      message -> [message | messages(peer, %{body: :stream})]
    end
  end

  def messages(_peer, %{body: ""}), do: []

  # An early refusal knows no session, so its message is not checked as part of one.
  def messages(_peer, %{body: ~s({"jsonrpc":"2.0","error") <> _rest = body, status: status}) when status >= 400,
    do: [received(make_ref(), body)]

  def messages(peer, %{body: body}), do: [received(Process.get({__MODULE__, peer}), body)]

  @doc "The next message of a stream, or `:end`. Events without a message are skipped."
  @spec message(HttpPeer.t()) :: message() | :end
  def message(peer) do
    case message_event(peer) do
      :end -> :end
      {_id, message} -> message
    end
  end

  @doc "The next message of a stream with its event id, or `:end`."
  @spec message_event(HttpPeer.t()) :: {String.t() | nil, message()} | :end
  def message_event(peer) do
    case HttpPeer.event(peer) do
      :end -> :end
      %{data: empty} when empty in [nil, ""] -> message_event(peer)
      %{data: data, id: id} -> {id, received(Process.get({__MODULE__, peer}), data)}
    end
  end

  defp received(transport, text) do
    HttpWire.received(transport, text)
    {:ok, message} = JSON.decode(text)
    message
  end

  @doc "The text of a tool's result."
  @spec text(message()) :: String.t()
  def text(%{"result" => %{"content" => [%{"text" => text}]}}), do: text

  @doc "The response to a tool call of 2026-07-28."
  @spec call(HttpServers.t(), String.t(), map(), keyword()) :: message()
  def call(server, name, arguments \\ %{}, options \\ []),
    do: answer(server, HttpRequests.modern_call(name, arguments, options))
end
