defmodule McpServer.Connection.OneLane do
  @moduledoc false
  # What a channel says of lanes that has one for everything: one peer, whose ids are its own, and who holds back
  # whoever writes to it.

  defmacro __using__(_options) do
    quote do
      @behaviour McpServer.Connection.Channel

      @impl true
      def congested?(_channel, _lane), do: false

      @impl true
      def reachable?(_channel, _lane), do: true

      @impl true
      def key(_channel, _lane, id), do: id

      # What is left of the last messages is given back when nothing comes any more.
      @impl true
      def idle?(_channel), do: true
    end
  end
end
