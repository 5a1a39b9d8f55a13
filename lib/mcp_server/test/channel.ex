defmodule McpServer.Test.Channel do
  @moduledoc false
  # A connection's channel whose other end is a test process. What the server sends arrives there as
  # `{:mcp_test, reference, message}`, decoded, notifications as `{:mcp_notification, method, params}`.

  use McpServer.Connection.OneLane

  alias McpServer.Connection.Channel
  alias McpServer.JSON

  @enforce_keys [:owner, :reference]
  defstruct [:owner, :reference]

  @impl true
  def open(%{owner: owner, reference: reference}), do: {:ok, %__MODULE__{owner: owner, reference: reference}}

  @impl true
  def event(%{reference: reference} = channel, {:mcp_test_in, reference, event}), do: {[event], channel}
  def event(_channel, _message), do: :unknown

  @impl true
  def credit(_channel, _wait_us), do: []

  @impl true
  def write(channel, entries) do
    for message <- Channel.messages(entries) do
      {:ok, decoded} = JSON.decode(IO.iodata_to_binary(message))
      send(channel.owner, arrival(channel, decoded))
    end

    {:ok, channel}
  end

  defp arrival(_channel, %{"method" => method} = message) when not is_map_key(message, "id"),
    do: {:mcp_notification, method, message["params"] || %{}}

  defp arrival(channel, message), do: {:mcp_test, channel.reference, message}

  @impl true
  def closed(channel, reason) do
    send(channel.owner, {:mcp_test, channel.reference, {:closed, reason}})
    :ok
  end

  @impl true
  def transport, do: :test
end
