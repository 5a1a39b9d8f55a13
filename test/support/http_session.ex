defmodule McpServer.HttpSession do
  # The client's side of a session of the session era.
  @moduledoc false

  alias McpServer.Connection.InFlight
  alias McpServer.Http.Sessions
  alias McpServer.{HttpCase, HttpClient, HttpPeer, HttpRequests, HttpResponse, HttpServers, HttpWire}

  @enforce_keys [:server, :id, :revision]
  defstruct [:server, :id, :revision, headers: []]

  @type t :: %__MODULE__{
          server: HttpServers.t(),
          id: String.t(),
          revision: String.t(),
          headers: [{String.t(), String.t()}]
        }

  @doc "Opens a session. Each of its requests has `:headers`. `:capabilities` and `:info` describe the client."
  @spec open(HttpServers.t(), String.t(), keyword()) :: t()
  def open(server, revision \\ "2025-11-25", options \\ []) do
    headers = options[:headers] || []
    {%{status: 200} = response, [message]} = HttpClient.exchange(server, HttpRequests.initialize(revision, options))
    %{"result" => %{"protocolVersion" => ^revision}} = message
    id = HttpResponse.header(response, "mcp-session-id")
    HttpWire.keep(id, HttpWire.new(revision))
    session = %__MODULE__{server: server, id: id, revision: revision, headers: headers}
    {%{status: 202}, []} = exchange(session, HttpRequests.legacy("notifications/initialized", %{}, id: nil))
    session
  end

  @doc "Ends all sessions of this VM, so that none of an earlier test ends while a test counts them."
  @spec end_all() :: :ok
  def end_all do
    for [pid] <- :ets.match(Sessions, {:_, :"$1", :_, :_, :_, :_, :_}), do: Process.exit(pid, :kill)
    HttpCase.eventually(fn -> Sessions.count() == 0 end)
    :ok
  end

  @doc "Sends a request of this session on a new connection."
  @spec exchange(t(), HttpPeer.request()) :: {HttpResponse.t(), [HttpClient.message()]}
  def exchange(session, request), do: HttpClient.exchange(session.server, of(session, request))

  @doc "The response to a request of this session."
  @spec answer(t(), HttpPeer.request()) :: HttpClient.message()
  def answer(session, request), do: HttpClient.answer(session.server, of(session, request))

  @doc "The status of a request of this session."
  @spec status(t(), HttpPeer.request()) :: pos_integer()
  def status(session, request) do
    {peer, response} = open_stream(session, request)
    if response.body != :stream, do: HttpClient.messages(peer, response)
    HttpPeer.close(peer)
    response.status
  end

  @doc "Calls a tool."
  @spec call(t(), String.t(), map(), keyword()) :: HttpClient.message()
  def call(session, name, arguments \\ %{}, options \\ []),
    do: answer(session, HttpRequests.legacy_call(name, arguments, options))

  @doc "Sends a request of this session and leaves the connection open."
  @spec open_stream(t(), HttpPeer.request()) :: {HttpPeer.t(), HttpResponse.t()}
  def open_stream(session, request), do: HttpClient.open(session.server, of(session, request))

  @doc "Sends a request of this session without waiting for a response."
  @spec start(t(), HttpPeer.request()) :: HttpPeer.t()
  def start(session, request), do: HttpClient.start(session.server, of(session, request))

  @doc """
  The session's own stream. `last` resumes it after that event.

  A server may notice late that the earlier connection is gone, so the request is repeated.
  """
  @spec get(t(), String.t() | nil) :: HttpPeer.t()
  def get(session, last \\ nil, left \\ 500) do
    headers = if last, do: [{"last-event-id", last}], else: []

    case open_stream(session, HttpRequests.get_stream(headers)) do
      {peer, %{status: 200, body: :stream}} ->
        peer

      {peer, %{status: 409}} when left > 0 ->
        HttpPeer.close(peer)
        Process.sleep(20)
        get(session, last, left - 1)

      {_peer, response} ->
        raise "no stream: #{inspect(response)}"
    end
  end

  @doc "Ends the session."
  @spec delete(t()) :: HttpResponse.t()
  def delete(session), do: session |> exchange(HttpRequests.delete()) |> elem(0)

  @doc """
  What a session of this VM does when that many milliseconds have passed since its client's last request: `:stays` or
  `:ends`. No time has to pass: the message of its timer contains the time.
  """
  @spec unused_for(id :: String.t(), non_neg_integer()) :: :stays | :ends
  def unused_for(id, milliseconds) do
    {pid, in_flight} = process(id)
    tell(pid, {:mcp_http_idle, InFlight.seen_at(in_flight) + milliseconds})
  end

  @doc "The same for all sessions of this VM."
  @spec all_unused_for(non_neg_integer()) :: [:stays | :ends]
  def all_unused_for(milliseconds) do
    ids = :ets.match(Sessions, {:"$1", :_, :_, :_, :_, :_, :_})
    for [id] <- ids, do: unused_for(id, milliseconds)
  end

  @doc "Lets the timer of a session's lifetime fire."
  @spec outlived(id :: String.t()) :: :stays | :ends
  def outlived(id) do
    {pid, _in_flight} = process(id)
    tell(pid, :mcp_http_lifetime)
  end

  @doc "The session's process, and its requests in flight."
  @spec process(String.t()) :: {pid(), McpServer.Connection.InFlight.t()}
  def process(id) do
    [{^id, pid, %{in_flight: in_flight}, _place, _principal, _mount, _paid}] = :ets.lookup(Sessions, id)
    {pid, in_flight}
  end

  # A process that replies has handled the message.
  defp tell(pid, message) do
    send(pid, message)
    :sys.get_state(pid, 30_000)
    :stays
  catch
    :exit, {reason, {:sys, :get_state, _arguments}} when reason in [:normal, :noproc] -> :ends
  end

  @doc "The request with the session's headers. It names the session's revision unless it has a revision already."
  @spec of(t(), HttpPeer.request()) :: HttpPeer.request()
  def of(session, request) do
    named? = List.keymember?(request.headers, "mcp-protocol-version", 0)
    version = if named?, do: [], else: [{"mcp-protocol-version", session.revision}]
    request |> HttpRequests.of_session(session.id) |> HttpRequests.with_headers(version ++ session.headers)
  end
end
