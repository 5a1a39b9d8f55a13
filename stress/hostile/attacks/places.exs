defmodule Stress.Hostile.Attacks.Hooks do
  @moduledoc "Starts a slow hook, and disconnects before the hook returns."
  @behaviour Stress.Hostile.Attack

  alias Stress.Hostile.Wire

  @impl true
  def name, do: "slow hooks"

  @impl true
  def clients, do: 12

  @impl true
  def prepare(%{hooks_port: port}), do: Wire.echo(10, port)

  @impl true
  def attack(%{hooks_port: port}, request) do
    peer = Wire.connect(port)
    Wire.send_request(peer, request)
    # Long enough for the request to arrive.
    Wire.glance(peer, 1)
    Wire.leave(peer)
    {1, request}
  end
end

defmodule Stress.Hostile.Attacks.Departures do
  @moduledoc """
  Starts a slow call, sends more packets than the server reads ahead, and closes. The call has to end with its client.
  """
  @behaviour Stress.Hostile.Attack

  alias Stress.Hostile.Wire

  @call_ms 240_000
  @packets 40

  @impl true
  def name, do: "departures behind packets"

  @impl true
  def clients, do: 8

  @impl true
  def prepare(%{port: port}), do: {Wire.sleep(@call_ms, port), Wire.echo(10, port)}

  @impl true
  def attack(%{port: port}, {slow, small} = requests) do
    peer = Wire.connect(port)
    Wire.send_request(peer, slow)

    for _ <- 1..@packets do
      Wire.send_request(peer, small)
      # So that each is a packet.
      Process.sleep(1)
    end

    Wire.leave(peer)
    {1 + @packets, requests}
  end
end

defmodule Stress.Hostile.Attacks.Places do
  @moduledoc "Occupies all places of the server from one address, with slow calls."
  @behaviour Stress.Hostile.Attack

  alias Stress.Hostile.Wire

  @call_ms 1_000

  @impl true
  def name, do: "all places taken"

  @impl true
  def clients, do: 500

  @impl true
  def prepare(%{port: port}), do: Wire.sleep(@call_ms, port)

  @impl true
  def attack(%{port: port}, request) do
    peer = Wire.connect(port)
    Wire.send_request(peer, request)

    # If all places are taken, another client may free one soon.
    case Wire.glance(peer, 3 * @call_ms) do
      {:ok, "HTTP/1.1 200" <> _rest} -> :ok
      _refused -> Process.sleep(100)
    end

    Wire.leave(peer)
    {1, request}
  end
end
