defmodule McpServer.Connection.OneStream do
  @moduledoc false
  # What a transport says of streams that has one for everything: one peer, whose ids are its own, and who holds back
  # whoever writes to it.

  defmacro __using__(_options) do
    quote do
      @behaviour McpServer.Connection.Transport

      @impl true
      def congested?(_transport, _stream), do: false

      @impl true
      def reachable?(_transport, _stream), do: true

      @impl true
      def key(_transport, _stream, id), do: id

      # What is left of the last messages is given back when nothing comes any more.
      @impl true
      def idle?(_transport), do: true
    end
  end
end
