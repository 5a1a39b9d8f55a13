defmodule Stress.Hostile.Attacks.Listens do
  @moduledoc "Opens streams with the largest messages, with a large `_meta` or 1,000 URIs, and keeps them open."
  @behaviour Stress.Hostile.Attack

  alias McpServer.HttpRequests
  alias Stress.Hostile.Wire

  @meta_bytes 2_900_000
  @uri_bytes 2_500
  # The open streams of each client.
  @open 6

  @impl true
  def name, do: "large listens"

  @impl true
  def clients, do: 6

  @impl true
  def prepare(%{port: port}) do
    uris = for n <- 1..1_000, do: "http-test://rows/#{n}-" <> String.duplicate("u", @uri_bytes)
    changes = %{"notifications" => %{"toolsListChanged" => true}}
    subscribed = %{"notifications" => %{"resourceSubscriptions" => uris}}
    padded = [meta: %{"padding" => String.duplicate("p", @meta_bytes)}]
    named = [meta: %{"io.modelcontextprotocol/clientInfo" => client_info()}]
    listen = fn params, options -> Wire.bytes(HttpRequests.modern("subscriptions/listen", params, options), port) end
    {[], {listen.(changes, padded), listen.(subscribed, []), listen.(changes, named)}}
  end

  defp client_info, do: Map.put(HttpRequests.info(), "title", String.duplicate("t", @meta_bytes))

  @impl true
  def attack(%{port: port}, {open, requests}) do
    peer = Wire.connect(port)
    Wire.send_request(peer, elem(requests, :rand.uniform(tuple_size(requests)) - 1))
    Wire.glance(peer, 1_000)
    {kept, over} = Enum.split([peer | open], @open)
    Enum.each(over, &Wire.leave/1)
    {1, {kept, requests}}
  end
end

defmodule Stress.Hostile.Attacks.Sessions do
  @moduledoc "Opens sessions with 2.88 MB of client data, and never uses them."
  @behaviour Stress.Hostile.Attack

  alias McpServer.HttpRequests
  alias Stress.Hostile.Wire

  @info_bytes 2_880_000

  @impl true
  def name, do: "large sessions"

  @impl true
  def clients, do: 6

  @impl true
  def prepare(%{port: port}) do
    large = Map.put(HttpRequests.info(), "title", String.duplicate("t", @info_bytes))
    opening = fn info -> Wire.bytes(HttpRequests.initialize("2025-11-25", info: info), port) end
    {opening.(large), opening.(HttpRequests.info())}
  end

  # Most are small, so that thousands of sessions open faster.
  @impl true
  def attack(%{port: port}, {large, small} = requests) do
    peer = Wire.connect(port)
    Wire.send_request(peer, if(:rand.uniform(4) == 1, do: large, else: small))
    Wire.glance(peer, 1_000)
    Wire.leave(peer)
    {1, requests}
  end
end
