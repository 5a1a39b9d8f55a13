defmodule Stress.Hostile.Others do
  @moduledoc "Well-behaved clients: each calls a tool repeatedly, and records latencies and errors."

  alias McpServer.{HttpPeer, HttpRequests, HttpResponse}

  @type noted :: %{latencies: [non_neg_integer()], errors: [String.t()]}

  # Three clients without a session, on permanent connections; one opens and ends sessions repeatedly.
  @clients [:call, :call, :call, :session]
  @pause_ms 5
  # A separate address: closed sockets of the attackers keep their ports for a minute, and may use up all ports.
  @address {127, 0, 0, 2}
  @patience 60_000

  @doc "Starts the clients; they send the headers with each request."
  @spec start(:inet.port_number(), [{String.t(), String.t()}]) :: [pid()]
  def start(port, headers \\ []),
    do: for(kind <- @clients, do: spawn_link(fn -> go_on(kind, {port, headers}, nil, none()) end))

  @doc "The records since the last call."
  @spec take([pid()]) :: noted()
  def take(clients) do
    for client <- clients, do: send(client, {:take, self()})
    clients |> Enum.map(&await/1) |> Enum.reduce(none(), &Map.merge(&1, &2, fn _name, one, other -> one ++ other end))
  end

  defp await(client) do
    receive do
      {:noted, ^client, noted} -> noted
    after
      @patience -> exit(:a_client_waits_for_ever)
    end
  end

  @doc "Stops the clients."
  @spec stop([pid()]) :: :ok
  def stop(clients) do
    for client <- clients do
      monitor = Process.monitor(client)
      send(client, :stop)
      receive do: ({:DOWN, ^monitor, :process, _pid, _reason} -> :ok)
    end

    :ok
  end

  defp none, do: %{latencies: [], errors: []}

  defp go_on(kind, server, peer, noted) do
    receive do
      {:take, caller} ->
        send(caller, {:noted, self(), noted})
        go_on(kind, server, peer, none())

      :stop ->
        :ok
    after
      @pause_ms ->
        {peer, noted} = once(kind, server, peer, noted)
        go_on(kind, server, peer, noted)
    end
  end

  defp once(kind, {port, headers}, peer, noted) do
    peer = peer || HttpPeer.connect(port, ip: @address, reuseaddr: true)

    {microseconds, :ok} =
      :timer.tc(fn -> ask(kind, &HttpPeer.request(peer, HttpRequests.with_headers(&1, headers))) end)

    {peer, %{noted | latencies: [microseconds | noted.latencies]}}
  rescue
    error ->
      if peer, do: HttpPeer.close(peer)
      {nil, %{noted | errors: [String.slice(Exception.message(error), 0, 100) | noted.errors]}}
  end

  defp ask(:call, request) do
    text = Integer.to_string(System.unique_integer())
    text!(request.(HttpRequests.modern_call("echo", %{"text" => text})), text)
  end

  defp ask(:session, request) do
    opened = request.(HttpRequests.initialize())
    expect!(opened, 200)
    id = HttpResponse.header(opened, "mcp-session-id")
    in_session = &request.(HttpRequests.of_session(&1, id))
    expect!(in_session.(HttpRequests.legacy("notifications/initialized", %{}, id: nil)), 202)
    text!(in_session.(HttpRequests.legacy_call("echo", %{"text" => "in a session"})), "in a session")
    expect!(in_session.(HttpRequests.delete()), 204)
  end

  defp text!(response, text) do
    expect!(response, 200)

    case HttpResponse.json(response) do
      %{"result" => %{"content" => [%{"text" => ^text}]}} -> :ok
      other -> raise "not the echo, but #{inspect(other)}"
    end
  end

  defp expect!(%{status: status}, status), do: :ok
  defp expect!(response, status), do: raise("#{response.status} instead of #{status}: #{inspect(response.body)}")
end
