defmodule Stress.Hostile.Shares.Owners do
  @moduledoc """
  Well-behaved clients that own something: a session with a value, stored results, and a task. They use it all the time,
  and nobody may take it from them.
  """

  alias McpServer.{HttpPeer, HttpRequests, HttpResponse}

  @names ~w(ada bob)
  @results 20
  @pause_ms 5
  @address {127, 0, 0, 2}
  @patience 60_000

  # An owner that is refused comes back, as a client does.
  @come_back_ms 100

  @type t :: [pid()]

  @doc "Starts them. Each has what it owns."
  @spec start(:inet.port_number()) :: t()
  def start(port) do
    caller = self()
    owners = for name <- @names, do: spawn_link(fn -> name |> settle_in(port) |> begin(caller) end)
    for owner <- owners, do: receive(do: ({:begun, ^owner} -> :ok))
    owners
  end

  defp begin(owner, caller) do
    send(caller, {:begun, self()})
    go_on(owner, none())
  end

  @doc "The longest wait in milliseconds and the errors since the last call."
  @spec take(t()) :: %{longest: non_neg_integer(), requests: non_neg_integer(), errors: [String.t()]}
  def take(owners) do
    for(owner <- owners, do: ask(owner, :take))
    |> Enum.reduce(fn one, other ->
      %{
        longest: max(one.longest, other.longest),
        requests: one.requests + other.requests,
        errors: one.errors ++ other.errors
      }
    end)
  end

  @doc "What is no longer theirs. Stops them."
  @spec lost(t()) :: [String.t()]
  def lost(owners), do: Enum.flat_map(owners, &ask(&1, :lost))

  defp ask(owner, question) do
    send(owner, {question, self()})

    receive do
      {:owner, ^owner, answer} -> answer
    after
      @patience -> exit(:an_owner_waits_for_ever)
    end
  end

  defp none, do: %{longest: 0, requests: 0, errors: []}

  defp settle_in(name, port) do
    owner = %{name: name, port: port, session: nil, task: nil, results: []}
    opened = send_request(owner, HttpRequests.initialize())
    owner = %{owner | session: HttpResponse.header(opened, "mcp-session-id")}
    202 = in_session(owner, HttpRequests.legacy("notifications/initialized", %{}, id: nil)).status
    ":ok" = text(in_session(owner, HttpRequests.legacy_call("keep")))
    task = %{"name" => "sleep", "arguments" => %{"ms" => 1}, "task" => %{"ttl" => 3_600_000}}
    %{"result" => %{"task" => %{"taskId" => task}}} = json(in_session(owner, HttpRequests.legacy("tools/call", task)))
    store = HttpRequests.modern_call("store", %{"rows" => 5})
    %{owner | task: task, results: for(_ <- 1..@results, do: text(send_request(owner, store)))}
  end

  defp go_on(owner, noted) do
    receive do
      {:take, caller} ->
        send(caller, {:owner, self(), noted})
        go_on(owner, none())

      {:lost, caller} ->
        send(caller, {:owner, self(), Enum.flat_map([:session, :task | owner.results], &lost(owner, &1))})
    after
      @pause_ms -> go_on(owner, used(owner, noted))
    end
  end

  # A use begins with its first request, and ends with the answer, however often the client was sent back.
  defp used(owner, noted) do
    use = Enum.random([&call/1, &call_in_session/1, &read/1, &open_and_end/1, &large/1])
    {microseconds, result} = :timer.tc(fn -> until_served(owner, use) end)
    noted = %{noted | longest: max(noted.longest, div(microseconds, 1_000)), requests: noted.requests + 1}
    if result == :ok, do: noted, else: %{noted | errors: ["#{owner.name}: #{result}" | noted.errors]}
  end

  defp until_served(owner, use) do
    case use.(owner) do
      %{status: status} when status in [200, 204] ->
        :ok

      %{status: status} when status in [429, 503] ->
        Process.sleep(@come_back_ms)
        until_served(owner, use)

      response ->
        "#{response.status}: #{String.slice(inspect(response.body), 0, 100)}"
    end
  rescue
    error -> String.slice(Exception.message(error), 0, 100)
  end

  defp call(owner), do: send_request(owner, HttpRequests.modern_call("echo", %{"text" => "x"}))
  defp call_in_session(owner), do: in_session(owner, HttpRequests.legacy_call("echo", %{"text" => "x"}))
  defp read(owner), do: send_request(owner, result(Enum.random(owner.results)))

  # A message that is parsed on a dirty scheduler.
  defp large(owner),
    do: send_request(owner, HttpRequests.modern_call("echo", %{"text" => String.duplicate("x", 200_000)}))

  defp open_and_end(owner) do
    case send_request(owner, HttpRequests.initialize()) do
      %{status: 200} = opened ->
        send_request(
          owner,
          HttpRequests.of_session(HttpRequests.delete(), HttpResponse.header(opened, "mcp-session-id"))
        )

      refused ->
        refused
    end
  end

  defp lost(owner, :session) do
    kept = inspect(owner.name)
    response = in_session(owner, HttpRequests.legacy_call("kept"))
    if response.status == 200 and text(response) == kept, do: [], else: ["the session of #{owner.name}"]
  end

  defp lost(owner, :task) do
    case json(in_session(owner, HttpRequests.legacy("tasks/result", %{"taskId" => owner.task}))) do
      %{"result" => %{"content" => [%{"text" => "slept"}]}} -> []
      _error -> ["the task of #{owner.name}"]
    end
  end

  defp lost(owner, id),
    do: if(send_request(owner, result(id)).status == 200, do: [], else: ["a result of #{owner.name}"])

  defp result(id), do: %{method: "POST", target: "/resources/" <> id, headers: [], body: nil}

  defp in_session(owner, request), do: send_request(owner, HttpRequests.of_session(request, owner.session))

  defp send_request(owner, request) do
    peer = HttpPeer.connect(owner.port, ip: @address, reuseaddr: true)
    response = HttpPeer.request(peer, HttpRequests.as(request, owner.name))
    HttpPeer.close(peer)
    response
  end

  defp json(response), do: HttpResponse.json(response)

  defp text(response) do
    %{"result" => %{"content" => [%{"text" => text}]}} = json(response)
    text
  end
end
