defmodule McpServer.Test.Transport do
  @moduledoc false
  # A connection's transport whose other end is a test process. What the server sends arrives there as
  # `{:mcp_test, reference, message}`, decoded, notifications as `{:mcp_notification, method, params}`.

  use McpServer.Connection.OneStream

  alias McpServer.Connection.Transport
  alias McpServer.JSON

  @enforce_keys [:owner, :reference]
  defstruct [:owner, :reference]

  @impl true
  def open(%{owner: owner, reference: reference}), do: {:ok, %__MODULE__{owner: owner, reference: reference}}

  @impl true
  def event(%{reference: reference} = transport, {:mcp_test_in, reference, event}), do: {[event], transport}
  def event(_transport, _message), do: :unknown

  @impl true
  def credit(_transport, _wait_us), do: []

  @impl true
  def write(transport, entries) do
    for message <- Transport.messages(entries) do
      {:ok, decoded} = JSON.decode(IO.iodata_to_binary(message))
      send(transport.owner, arrival(transport, decoded))
    end

    {:ok, transport}
  end

  defp arrival(_transport, %{"method" => method} = message) when not is_map_key(message, "id"),
    do: {:mcp_notification, method, message["params"] || %{}}

  defp arrival(transport, message), do: {:mcp_test, transport.reference, message}

  @impl true
  def closed(transport, reason) do
    send(transport.owner, {:mcp_test, transport.reference, {:closed, reason}})
    :ok
  end

  @impl true
  def name, do: :test
end
