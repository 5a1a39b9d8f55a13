defmodule Stress.Hostile.Attacks.Abandoned do
  @moduledoc "Sends bodies of 40 to 200 KB, and closes before the server reads them."
  @behaviour Stress.Hostile.Attack

  alias Stress.Hostile.Wire

  @impl true
  def name, do: "bodies, then gone"

  @impl true
  def clients, do: 8

  @impl true
  def prepare(%{port: port}), do: List.to_tuple(for kilobytes <- 40..200//20, do: Wire.echo(kilobytes * 1_000, port))

  @impl true
  def attack(%{port: port}, requests) do
    peer = Wire.connect(port)
    Wire.send_request(peer, elem(requests, :rand.uniform(tuple_size(requests)) - 1))
    Wire.leave(peer)
    {1, requests}
  end
end

defmodule Stress.Hostile.Attacks.Unread do
  @moduledoc "Sends complete calls of 200 KB at full speed, and reads no answers."
  @behaviour Stress.Hostile.Attack

  alias Stress.Hostile.Wire

  @at_once 20

  @impl true
  def name, do: "answers unread"

  @impl true
  def clients, do: 8

  @impl true
  def prepare(%{port: port}), do: Wire.echo(200_000, port)

  @impl true
  def attack(%{port: port}, request) do
    peer = Wire.connect(port)
    sent = Enum.count(Enum.take_while(1..@at_once, fn _n -> Wire.send_request(peer, request) == :ok end))
    Wire.leave(peer)
    {max(sent, 1), request}
  end
end
