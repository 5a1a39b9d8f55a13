defmodule Stress.Hostile.Attacks.Tokens do
  @moduledoc "Sends invalid access tokens: garbage, expired and forged tokens, and tokens of another issuer."
  @behaviour Stress.Hostile.Attack

  alias McpServer.{HttpPeer, HttpRequests}
  alias Stress.Hostile.Wire

  @on_a_connection 20

  @impl true
  def name, do: "garbage tokens"

  @impl true
  def clients, do: 8

  @impl true
  def prepare(%{good: good, bad: bad}), do: {good, bad}

  @impl true
  def attack(%{port: port}, tokens) do
    peer = Wire.connect(port)

    statuses =
      for _request <- 1..@on_a_connection, uniq: true do
        request = HttpRequests.as(HttpRequests.modern_call("echo", %{"text" => "x"}), garbage(tokens))
        HttpPeer.request(peer, request).status
      end

    Wire.leave(peer)

    if statuses == [401],
      do: {@on_a_connection, tokens},
      else: {@on_a_connection, tokens, "answered #{inspect(statuses)}"}
  end

  # A token with only a bad signature is different each time, so that no cache applies.
  defp garbage({good, bad}) do
    case :rand.uniform(length(bad) + 2) do
      1 -> Base.encode16(:crypto.strong_rand_bytes(40))
      2 -> String.replace(good, ~r/[^.]+\z/, Base.url_encode64(:crypto.strong_rand_bytes(64), padding: false))
      place -> Enum.at(bad, place - 3)
    end
  end
end
