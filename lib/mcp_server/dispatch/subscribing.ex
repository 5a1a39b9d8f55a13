defmodule McpServer.Dispatch.Subscribing do
  @moduledoc false
  # Requests for changes of resources, in the process of a call: which of the resources the client may read.
  # Whoever keeps the subscription is told in the outcome, and answers.

  alias McpServer.{Catalog, Conn, Request}
  alias McpServer.Dispatch.{Answer, Failure, Permission}

  @uris "resourceSubscriptions"

  @typedoc "What is subscribed to: the URI of `resources/subscribe` or `resources/unsubscribe`, the filter of `subscriptions/listen`."
  @type outcome :: {:subscribe | :unsubscribe, String.t()} | {:listen, filter :: map()}

  @doc "Whether somebody has to be asked before the request is carried out."
  @spec guarded?(Catalog.t(), Request.t()) :: boolean()
  def guarded?(%Catalog{guarded?: guarded?}, %Request{kind: kind}) when kind in [:subscribe, :unsubscribe], do: guarded?

  def guarded?(%Catalog{guarded?: guarded?}, %Request{kind: :listen, arguments: filter}),
    do: guarded? and is_map_key(filter, @uris)

  def guarded?(_catalog, _request), do: false

  @doc "What the client gets of what it asked for. Where that is nothing, the answer is that of an unknown resource."
  @spec run(Catalog.t(), Request.t(), Conn.t()) :: {outcome(), []} | Answer.t()
  def run(catalog, request, conn) do
    subscribe(catalog, request, conn)
  catch
    kind, reason -> Answer.failure(catalog, request, Failure.new(kind, reason, __STACKTRACE__))
  end

  defp subscribe(catalog, %Request{kind: kind, name: uri} = request, conn) when kind in [:subscribe, :unsubscribe] do
    if Permission.readable?(catalog, request, conn, uri),
      do: {{kind, uri}, []},
      else: Answer.encode(catalog, request, {:error, :not_found})
  end

  defp subscribe(catalog, %Request{kind: :listen, arguments: filter} = request, conn) do
    case Enum.filter(Map.get(filter, @uris, []), &Permission.readable?(catalog, request, conn, &1)) do
      [] -> {{:listen, Map.delete(filter, @uris)}, []}
      uris -> {{:listen, Map.put(filter, @uris, uris)}, []}
    end
  end
end
