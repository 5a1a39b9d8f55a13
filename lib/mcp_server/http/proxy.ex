defmodule McpServer.Http.Proxy do
  @moduledoc false
  # A request of a session that lives on another node of the cluster: served there, answered here.
  #
  # The process that received it becomes the far end of an exchange that the other node answers, with
  # messages instead of a socket. Head and body go over as they came, and are judged there again: during a
  # deployment the two nodes may not serve the same definition. That the other node has the session, at this
  # place and for this principal, it has said before (`Sessions.find/3`); it looks again when it serves.

  alias McpServer.Conn
  alias McpServer.Http.{Exchange, Ingress, Mount, Relay, Sessions}
  alias McpServer.Protocol.HTTP

  @typedoc "What the receiving node knows of a request: who asks, at which place, and what a handler's conn starts from."
  @type known :: %{principal: term(), place: Mount.place(), base: Conn.t()}

  @doc "Has `node` answer the exchange. A relay is left to the process whose it is."
  @spec forward(node(), Exchange.t(), session_id :: String.t(), Ingress.head(), known(), binary()) :: :ok
  def forward(node, %Exchange{module: Relay} = exchange, id, head, known, body),
    do: cast(node, exchange, id, head, known, body)

  def forward(node, exchange, id, head, known, body) do
    with {:ok, exchange} <- Exchange.own(exchange) do
      relay = Relay.new()
      :ok = cast(node, relay, id, head, known, body)
      Relay.run(relay, &execute/2, exchange)
    end

    :ok
  end

  defp cast(node, exchange, id, head, known, body) do
    head = head |> Map.take([:method, :target, :authority, :headers, :peer]) |> Map.put(:known, known)
    :erpc.cast(node, __MODULE__, :serve, [exchange, id, head, body])
  end

  @doc "Serves what another node has forwarded."
  @spec serve(Exchange.t(), session_id :: String.t(), Ingress.head(), binary()) :: :ok
  def serve(exchange, id, %{known: known} = head, body) do
    with {:ok, mount_id} <- Sessions.mount_of(id, known.place, known.principal),
         {:ok, mount} <- Mount.fetch(mount_id) do
      Ingress.serve(mount, exchange, head, fn _max, nil -> {:ok, body, nil} end, nil)
    else
      :error -> refuse(exchange)
    end

    :ok
  end

  defp refuse(exchange) do
    {status, headers, body} = HTTP.answer(:session_not_found)
    Exchange.reply(exchange, status, headers, body)
  end

  defp execute({:reply, status, headers, body}, exchange),
    do: done(Exchange.reply(exchange, status, headers, body), exchange)

  defp execute({:stream, status, headers, first}, exchange),
    do: done(Exchange.stream(exchange, status, headers, first), exchange)

  defp execute({:chunk, bytes}, exchange), do: done(Exchange.chunk(exchange, bytes), exchange)
  defp execute(:finish, exchange), do: done(Exchange.finish(exchange), exchange)

  # The node is gone; what the client gets depends on how much it has already.
  defp execute({:fail, _reason}, exchange) do
    refuse(exchange)
    done(Exchange.finish(exchange), exchange)
  end

  defp done(:ok, exchange), do: {:ok, exchange}
  defp done(:closed, exchange), do: {:closed, exchange}
end
