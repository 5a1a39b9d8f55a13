defmodule Stress.Traffic do
  @moduledoc "Requests of every kind, each with unknown names."

  alias McpServer.{HttpPeer, HttpRequests, HttpResponse}

  @kinds [
    echo: 30,
    wrong_arguments: 10,
    unknown_tool: 10,
    unknown_method: 10,
    no_json: 5,
    no_request: 5,
    notification: 10,
    cancellation: 5,
    progress: 2,
    list: 5,
    prompt: 5,
    resource: 5,
    raise: 1,
    large: 1
  ]
  @cycle List.to_tuple(for({kind, share} <- @kinds, _n <- 1..share, do: kind))

  @doc "The kinds of requests and their weights, of about a hundred in all."
  @spec kinds() :: keyword(pos_integer())
  def kinds, do: @kinds

  @doc "The request of this number, and whether it gets an answer."
  @spec request(pos_integer()) :: {HttpPeer.request(), boolean()}
  def request(number) do
    kind = elem(@cycle, rem(number * 37, tuple_size(@cycle)))
    {request(kind, number), kind not in [:notification, :cancellation]}
  end

  defp request(:echo, n), do: HttpRequests.modern_call("echo", unheard_of(10), id: n)
  defp request(:wrong_arguments, n), do: HttpRequests.modern_call("texts", %{"items" => [n, random()]}, id: n)
  defp request(:unknown_tool, n), do: HttpRequests.modern_call(random(), unheard_of(5), id: n)
  defp request(:unknown_method, n), do: HttpRequests.modern(random(), unheard_of(5), id: n)
  defp request(:no_json, _n), do: HttpRequests.post(~s({"#{random()}":#{random()}}))
  defp request(:no_request, _n), do: HttpRequests.post(~s({"#{random()}":"#{random()}"}))
  defp request(:notification, _n), do: HttpRequests.modern("notifications/#{random()}", unheard_of(3), id: nil)

  defp request(:cancellation, _n),
    do: HttpRequests.modern("notifications/cancelled", %{"requestId" => random()}, id: nil)

  defp request(:progress, n) do
    HttpRequests.modern_call("progress", %{"from" => "itself", "count" => 5},
      id: n,
      meta: %{"progressToken" => random()}
    )
  end

  defp request(:list, n), do: HttpRequests.modern("tools/list", %{}, id: n)
  defp request(:raise, n), do: HttpRequests.modern_call("fail", %{"how" => "raise"}, id: n)
  defp request(:large, n), do: HttpRequests.modern_call("large", %{"bytes" => 100_000}, id: n)

  defp request(:prompt, n),
    do: HttpRequests.modern("prompts/get", %{"name" => "echo", "arguments" => %{"text" => random()}}, id: n)

  defp request(:resource, n), do: HttpRequests.modern("resources/read", %{"uri" => "faults://rows/#{random()}"}, id: n)

  defp unheard_of(count), do: for(_n <- 1..count, into: %{}, do: {random(), random()})
  defp random, do: Integer.to_string(:rand.uniform(1_000_000_000_000_000), 36)

  @doc "Sends the requests over one connection, one after the other, and reads their answers."
  @spec over_http(:inet.port_number(), Enumerable.t()) :: :ok
  def over_http(port, numbers) do
    peer = HttpPeer.connect(port)
    for number <- numbers, do: ask(peer, number)
    HttpPeer.close(peer)
  end

  # Every hundredth request opens, uses and ends a session.
  defp ask(peer, number) when rem(number, 100) == 0 do
    opened = HttpPeer.request(peer, HttpRequests.initialize())
    id = HttpResponse.header(opened, "mcp-session-id")
    in_session = &HttpPeer.request(peer, HttpRequests.of_session(&1, id))
    202 = in_session.(HttpRequests.legacy("notifications/initialized", %{}, id: nil)).status
    200 = in_session.(HttpRequests.legacy_call("echo", unheard_of(10), id: number)).status
    204 = in_session.(HttpRequests.delete()).status
  end

  defp ask(peer, number) do
    {request, _answered?} = request(number)

    case HttpPeer.request(peer, request) do
      %{body: :stream} -> HttpPeer.events(peer)
      %{status: status} when status in [200, 202, 400, 404] -> :ok
    end
  end
end
