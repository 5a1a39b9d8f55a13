defmodule Stress.Hostile.Shares.Hidden do
  @moduledoc """
  Whether a client can tell a hidden tool from one that does not exist: by the answers, or by the time that they take.

  The two are called in turn, in random order, so that whatever else the machine does delays both. If they take the same
  time, each is the slower one of a pair equally often: the deviation from that, in standard deviations, is a figure.
  """

  alias McpServer.{HttpPeer, HttpRequests}
  alias Stress.Hostile.Wire

  # The calls of the greedy principal may still run.
  @principal "mallory"
  # Equal times exceed this once in 15,000 runs.
  @most 4.0
  # All places of the principal: those that one tool may have, and the rest.
  @slow [sleep: 19, doze: 6]

  @type finding :: {String.t(), boolean()} | {String.t(), boolean(), :timed}

  @doc "Compares so many pairs while the principal has places, and while it has none."
  @spec run(:inet.port_number(), pos_integer()) :: [finding()]
  def run(port, pairs) do
    free = compare(port, pairs, "with places")
    held = fill(port)
    none = compare(port, pairs, "without places")
    Enum.each(held, &HttpPeer.close/1)
    free ++ none
  end

  defp fill(port) do
    for {tool, count} <- @slow, n <- 1..count do
      call = HttpRequests.modern_call(to_string(tool), %{"ms" => 200_000}, id: n)
      peer = Wire.connect(port)
      HttpPeer.send_request(peer, HttpRequests.as(call, @principal))
      # A stream opens after a moment, and then the call has its place.
      {:ok, "HTTP/1.1 200" <> _head} = Wire.glance(peer, 10_000)
      peer
    end
  end

  defp compare(port, pairs, state) do
    peer = Wire.connect(port)
    [hidden, absent] = for name <- ["hidden", "absent"], do: HttpRequests.as(HttpRequests.modern_call(name), @principal)
    results = for _ <- 1..pairs, do: pair(peer, hidden, absent)
    HttpPeer.close(peer)
    slower = Enum.count(results, fn {{time, _}, {other, _}} -> time > other end)
    faster = Enum.count(results, fn {{time, _}, {other, _}} -> time < other end)
    deviation = abs(slower - faster) / :math.sqrt(max(slower + faster, 1))
    answers = for pair <- results, {_time, answer} <- Tuple.to_list(pair), uniq: true, do: answer
    rounded = Float.round(deviation, 1)

    [
      {"hidden names, #{state}: #{length(answers)} kinds of answers, 1 at most", length(answers) == 1},
      {"hidden names, #{state}: the times of #{pairs} pairs deviate by #{rounded}, #{@most} at most",
       deviation <= @most, :timed}
    ]
  end

  defp pair(peer, hidden, absent) do
    if :rand.uniform(2) == 1 do
      first = timed(peer, hidden)
      {first, timed(peer, absent)}
    else
      first = timed(peer, absent)
      {timed(peer, hidden), first}
    end
  end

  # The answer without the name, which the client knows.
  defp timed(peer, request) do
    began = System.monotonic_time()
    response = HttpPeer.request(peer, request)
    time = System.monotonic_time() - began
    {time, {response.status, String.replace(response.body, ~r/hidden|absent/, "NAME")}}
  end
end
