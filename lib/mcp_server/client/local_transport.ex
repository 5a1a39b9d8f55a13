defmodule McpServer.Client.LocalTransport do
  @moduledoc false
  # A transport to a client in the same VM.

  use McpServer.Connection.OneStream

  alias McpServer.Client.{Lenient, Link}
  alias McpServer.Connection.Transport

  @enforce_keys [:owner, :reference]
  defstruct [:owner, :reference]

  @impl true
  def open(%{owner: owner, reference: reference}), do: {:ok, %__MODULE__{owner: owner, reference: reference}}

  @impl true
  def event(%{reference: reference} = transport, {:mcp_client_in, reference, event}), do: {[event], transport}
  def event(_transport, _message), do: :unknown

  @impl true
  def credit(_transport, _wait_us), do: []

  @impl true
  def write(transport, entries) do
    for message <- Transport.messages(entries) do
      {:ok, decoded} = Lenient.decode(IO.iodata_to_binary(message))
      Link.deliver(transport.owner, transport.reference, decoded)
    end

    {:ok, transport}
  end

  @impl true
  def closed(transport, reason), do: Link.closed(transport.owner, transport.reference, reason)

  @impl true
  def name, do: :test
end
