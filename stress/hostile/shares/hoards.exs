defmodule Stress.Hostile.Shares.Questions do
  @moduledoc "Lets calls with long arguments wait for its answers in many sessions, and leaves."
  @behaviour Stress.Hostile.Attack

  alias McpServer.HttpRequests
  alias Stress.Hostile.Shares.Greed

  @impl true
  def name, do: "questions that nobody answers"

  @impl true
  def clients, do: 8

  @impl true
  def prepare(_target), do: String.duplicate("x", 1_000_000)

  @impl true
  def attack(%{port: port}, long) do
    if id = Greed.open(port, %{"elicitation" => %{}}) do
      for n <- 1..10 do
        call = HttpRequests.legacy_call("ask", %{"text" => long}, id: n)
        Greed.exchange(HttpRequests.of_session(call, id), port, 20)
      end
    end

    {11, long}
  end
end

defmodule Stress.Hostile.Shares.UnreadAnswers do
  @moduledoc "Reads none of its long answers: of calls in a session, of a batch, and of pages."
  @behaviour Stress.Hostile.Attack

  alias McpServer.{HttpPeer, HttpRequests, JSON}
  alias Stress.Hostile.Shares.Greed
  alias Stress.Hostile.Wire

  @answers [:call, :call, :call, :call, :call, :call, :batch, :page]

  @impl true
  def name, do: "long answers unread"

  @impl true
  def clients, do: 32

  @impl true
  def prepare(%{port: port}) do
    response = Greed.exchange(HttpRequests.modern_call("store", %{"rows" => 500}), port)
    id = with [_text, id] <- Regex.run(~r/"text":"([^"]+)"/, response), do: id
    {Greed.open(port), batching(port), id}
  end

  defp batching(port), do: Greed.open(port, %{}, "2025-03-26")

  @impl true
  def attack(target, {session, batching, result}) when nil in [session, batching, result],
    do: {1, prepare(target)}

  def attack(%{port: port}, {session, batching, result} = state) do
    peers = for answer <- @answers, do: send_request(port, request(answer, session, batching, result))
    Process.sleep(3_000)
    Enum.each(peers, &HttpPeer.cut/1)
    {length(@answers), state}
  end

  defp request(:call, session, _batching, _result),
    do: HttpRequests.of_session(HttpRequests.legacy_call("long", %{}, id: unique()), session)

  defp request(:batch, _session, batching, _result) do
    calls = for _ <- 1..10, do: call("long", %{})
    batch = HttpRequests.in_session(JSON.encode!([call("sleep", %{"ms" => 1_000}) | calls]))
    HttpRequests.of_session(batch, batching)
  end

  defp request(:page, _session, _batching, result) do
    headers = [{"content-type", "application/json"}]
    page = ~s({"offset":0,"limit":500})
    %{method: "POST", target: "/resources/" <> result, headers: headers, body: page}
  end

  defp call(name, arguments),
    do: HttpRequests.message("tools/call", %{"name" => name, "arguments" => arguments}, id: unique())

  defp unique, do: Integer.to_string(System.unique_integer([:positive]))

  defp send_request(port, request) do
    peer = Wire.connect(port)
    Wire.send_request(peer, Greed.bytes(request, port))
    peer
  end
end

defmodule Stress.Hostile.Shares.Cleanups do
  @moduledoc "Cancels calls whose handlers clean up for long, as fast as it can."
  @behaviour Stress.Hostile.Attack

  alias McpServer.HttpRequests
  alias Stress.Hostile.Shares.Greed

  @impl true
  def name, do: "calls that clean up"

  @impl true
  def clients, do: 16

  @impl true
  def prepare(%{port: port}), do: Greed.bytes(HttpRequests.modern_call("tidy"), port)

  @impl true
  def attack(%{port: port}, bytes) do
    Greed.send_bytes(bytes, port, 5)
    {1, bytes}
  end
end

defmodule Stress.Hostile.Shares.LateIdentities do
  @moduledoc "Is identified slowly at the REST endpoint, on many connections."
  @behaviour Stress.Hostile.Attack

  alias McpServer.HttpRequests
  alias Stress.Hostile.Shares.Greed

  @impl true
  def name, do: "slow identities at the REST endpoint"

  @impl true
  def clients, do: 64

  @impl true
  def prepare(%{port: port}) do
    request = %{method: "GET", target: "/resources/" <> String.duplicate("0", 32), headers: [], body: nil}
    request |> HttpRequests.with_headers([{"x-slow", "1"}]) |> Greed.bytes(port)
  end

  @impl true
  def attack(%{port: port}, bytes) do
    Greed.send_bytes(bytes, port, 1_000)
    {1, bytes}
  end
end

defmodule Stress.Hostile.Shares.TaskAnswers do
  @moduledoc "Starts tasks with long arguments, answers one of their questions at length, and cancels some."
  @behaviour Stress.Hostile.Attack

  alias McpServer.HttpRequests
  alias Stress.Hostile.Shares.Greed

  @extensions %{"elicitation" => %{}, "extensions" => %{"io.modelcontextprotocol/tasks" => %{}}}

  @impl true
  def name, do: "answers to questions of tasks"

  @impl true
  def clients, do: 8

  @impl true
  def prepare(_target), do: String.duplicate("x", 1_000_000)

  @impl true
  def attack(%{port: port}, long) do
    created = Greed.exchange(modern("tools/call", %{"name" => "ask", "arguments" => %{"text" => long}}), port)

    with [_text, id] <- Regex.run(~r/"taskId":"([^"]+)"/, created) do
      answer = %{"action" => "accept", "content" => %{"n" => long}}
      Greed.exchange(modern("tasks/update", %{"taskId" => id, "inputResponses" => %{"a" => answer}}), port)
      for _ <- 1..10, do: Greed.exchange(modern("tasks/get", %{"taskId" => id}), port)
    end

    {12, long}
  end

  defp modern(method, params), do: HttpRequests.modern(method, params, capabilities: @extensions)
end

defmodule Stress.Hostile.Shares.Computing do
  @moduledoc "Starts as many tasks that compute as it may."
  @behaviour Stress.Hostile.Attack

  alias McpServer.HttpRequests
  alias Stress.Hostile.Shares.Greed

  @extensions %{"extensions" => %{"io.modelcontextprotocol/tasks" => %{}}}

  @impl true
  def name, do: "tasks that compute"

  @impl true
  def clients, do: 8

  @impl true
  def prepare(%{port: port}) do
    Greed.bytes(HttpRequests.modern_call("compute", %{"ms" => 500}, capabilities: @extensions), port)
  end

  @impl true
  def attack(%{port: port}, bytes) do
    Greed.send_bytes(bytes, port, 1_000)
    {1, bytes}
  end
end

defmodule Stress.Hostile.Shares.Connections do
  @moduledoc "Holds more connections than the server has, every second one with a long body that never ends."
  @behaviour Stress.Hostile.Attack

  alias McpServer.HttpRequests
  alias Stress.Hostile.Shares.Greed
  alias Stress.Hostile.Wire

  # The connections of each client.
  @held 100
  @pause_ms 10

  @impl true
  def name, do: "connections and bodies held"

  @impl true
  def clients, do: 20

  @impl true
  def prepare(%{port: port}) do
    call = Greed.bytes(HttpRequests.modern_call("echo", %{"text" => String.duplicate("x", 1_000_000)}), port)
    {[], binary_part(call, 0, byte_size(call) - 100)}
  end

  @impl true
  def attack(%{port: port}, {held, begun}) do
    peer = Wire.connect(port)
    if :rand.uniform(2) == 1, do: Wire.send_request(peer, begun)
    Process.sleep(@pause_ms)
    {held, over} = Enum.split([peer | held], @held)
    Enum.each(over, &Wire.leave/1)
    {1, {held, begun}}
  end
end
