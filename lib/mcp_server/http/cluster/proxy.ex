defmodule McpServer.Http.Cluster.Proxy do
  @moduledoc false
  # A request of a session that lives on another node of the cluster: served there, answered here.
  #
  # The process that holds the request carries out an exchange that the other node answers. Head and body go over as
  # they came, and are judged there again: during a deployment the two nodes may not serve the same definition. That the
  # other node has the session, at this place and for this principal, it has said before (`Sessions.find/4`); it looks
  # again when it serves.

  alias McpServer.{Auth, Conn}
  alias McpServer.Http.{Exchange, Hook, Mount, Pipeline, Sessions, Sink}
  alias McpServer.Http.Cluster.FarSink

  @typedoc "What the receiving node knows of a request: who asks, at which place, and what a handler's conn starts from."
  @type known :: %{principal: term(), auth: Auth.t() | nil, place: Mount.place(), base: Conn.t()}

  @doc "Has `node` answer the request."
  @spec forward(node(), session_id :: String.t(), map(), Sink.t()) :: Sink.t()
  def forward(_node, id, _request, %FarSink{} = sink) do
    refuse(id, sink)
    sink
  end

  def forward(node, id, request, sink) do
    head = Sink.head(sink)

    Pipeline.with_body(request, sink, fn body, sink ->
      Hook.with_base(request, sink, fn base, sink ->
        exchange = Exchange.new()
        head = Map.take(head, [:method, :target, :authority, :headers, :peer])
        known = %{principal: request.principal, auth: request.auth, place: Mount.place(request.mount), base: base}
        :erpc.cast(node, __MODULE__, :serve, [exchange, id, head, known, body])
        Exchange.run(exchange, sink, nil, on_failure(id, request, body), ends_at(request))
      end)
    end)
  end

  # The other node may let go of the session meanwhile, because it stops: then the session is looked for once more.
  defp on_failure(id, %{body: _tried_already}, _body), do: Exchange.session_gone(id)

  defp on_failure(id, request, body) do
    again = fn sink -> Pipeline.find(Map.put(request, :body, body), sink) end
    Map.put(Exchange.session_gone(id), :elsewhere, again)
  end

  # Of a call the answer is awaited.
  defp ends_at(%{context: %{verb: :get}} = request), do: Pipeline.ends_at(request.mount, request.auth)
  defp ends_at(_request), do: :infinity

  @doc "Serves what another node has forwarded."
  @spec serve(Exchange.t(), session_id :: String.t(), Pipeline.head(), known(), binary()) :: :ok
  def serve(exchange, id, head, known, body) do
    sink = %FarSink{exchange: exchange, head: head, body: body, known: known}

    with {:ok, mount_id} <- Sessions.mount_of(id, known.place, known.principal),
         {:ok, mount} <- Mount.fetch(mount_id) do
      Pipeline.serve(mount, sink)
    else
      :error -> refuse(id, sink)
    end

    :ok
  end

  defp refuse(id, %{exchange: exchange} = sink) do
    case Sessions.gone_answer(id) do
      {404, headers, body} -> Sink.reply(sink, 404, headers, body)
      _opened_again -> Exchange.elsewhere(exchange)
    end
  end
end
