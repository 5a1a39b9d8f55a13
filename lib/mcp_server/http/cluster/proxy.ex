defmodule McpServer.Http.Cluster.Proxy do
  @moduledoc false
  # Forwards a request to the cluster node of its session. The other node serves it, and this node writes the response.
  #
  # The process that holds the request runs an exchange that the other node answers. Head and body are sent unchanged,
  # and the other node checks them again: during a deployment the two nodes may serve different definitions.
  # `Sessions.find/4` has already confirmed that the other node has the session, at this place and for this principal.
  # The other node checks this again when it serves the request.

  alias McpServer.{Auth, Conn}
  alias McpServer.Http.{Exchange, Hook, Mount, Pipeline, Sessions, Sink}
  alias McpServer.Http.Cluster.FarSink

  @typedoc "The receiving node's knowledge of a request: principal, place and the initial conn of a handler."
  @type known :: %{principal: term(), auth: Auth.t() | nil, place: Mount.place(), base: Conn.t()}

  @doc "Lets `node` answer the request."
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
        gone = Exchange.session_gone(id, Sink.client(sink, request.principal), nil)
        terms = gone |> Map.merge(%{drain: drain(request), mailbox: true}) |> again(request, body)
        Exchange.run(exchange, sink, nil, terms, ends_at(request))
      end)
    end)
  end

  # The other node may stop and release the session meanwhile. Then the session is looked up once more.
  defp again(terms, %{body: _tried_already}, _body), do: terms

  defp again(terms, request, body),
    do: Map.put(terms, :elsewhere, fn sink -> Pipeline.find(Map.put(request, :body, body), sink) end)

  # The answer to a call is awaited, the stream of a session is not.
  defp drain(%{context: %{verb: :get}}), do: :at_once
  defp drain(_request), do: :at_end

  # A call has no end time: its answer is awaited.
  defp ends_at(%{context: %{verb: :get}} = request), do: Pipeline.ends_at(request.mount, request.auth)
  defp ends_at(_request), do: :infinity

  @doc "Serves a request that another node has forwarded."
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
