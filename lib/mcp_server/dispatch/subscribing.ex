defmodule McpServer.Dispatch.Subscribing do
  @moduledoc false
  # Subscription requests in a call's process: checks which resources the client may read. The owner of the subscription
  # receives the outcome, and answers.

  alias McpServer.{Catalog, Conn, Request}
  alias McpServer.Dispatch.{Answer, Failure, Permission}

  @uris "resourceSubscriptions"

  @typedoc "The URI of `resources/subscribe` or `resources/unsubscribe`, or the filter of `subscriptions/listen`."
  @type outcome :: {:subscribe | :unsubscribe, String.t()} | {:listen, filter :: map()}

  @doc "Whether access must be checked before the request is executed."
  @spec guarded?(Catalog.t(), Request.t()) :: boolean()
  def guarded?(%Catalog{guarded?: guarded?}, %Request{kind: kind}) when kind in [:subscribe, :unsubscribe], do: guarded?

  def guarded?(%Catalog{server: %{context: context}}, %Request{kind: :listen}) when context != nil, do: true

  def guarded?(%Catalog{guarded?: guarded?}, %Request{kind: :listen, arguments: filter}),
    do: guarded? and is_map_key(filter, @uris)

  def guarded?(_catalog, _request), do: false

  @doc """
  The part of the request that the client may have. If it may have nothing, the answer is that of an unknown resource.
  """
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
