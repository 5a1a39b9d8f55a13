defmodule McpServer.Connection.OneStream do
  @moduledoc false
  # The stream callbacks of a transport with a single stream: it has one peer, so request ids are unique, and writes to
  # a slow peer block.

  defmacro __using__(_options) do
    quote do
      @behaviour McpServer.Connection.Transport

      @impl true
      def congested?(_transport, _stream), do: false

      @impl true
      def reachable?(_transport, _stream), do: true

      @impl true
      def key(_transport, _stream, id), do: id

      # A pause frees the memory of the last messages.
      @impl true
      def idle?(_transport), do: true
    end
  end
end
