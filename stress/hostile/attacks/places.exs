defmodule Stress.Hostile.Attacks.Hooks do
  @moduledoc "Has a slow hook asked who it is, and goes before the hook knows."
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
    # Long enough for the request to be there.
    Wire.glance(peer, 1)
    Wire.leave(peer)
    {1, request}
  end
end

defmodule Stress.Hostile.Attacks.Places do
  @moduledoc "Takes every place there is, from one address, with calls that take their time."
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

    # Where there is no place, another client may have left one in a while.
    case Wire.glance(peer, 3 * @call_ms) do
      {:ok, "HTTP/1.1 200" <> _rest} -> :ok
      _refused -> Process.sleep(100)
    end

    Wire.leave(peer)
    {1, request}
  end
end
