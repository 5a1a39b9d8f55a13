defmodule McpServer.Subscription do
  @moduledoc false
  # The changes that one subscriber wants: a session, or one `subscriptions/listen` stream. It is a value, stored by the
  # process that owns the client's connection.

  alias McpServer.{Changes, Protocol, Request}

  # What is kept beside the bytes of a URI: an element of a set and a row in each of two tables, with a copy of a short URI.
  @uri_bytes 512

  defstruct tools: false, prompts: false, resources: false, uris: MapSet.new()

  @typedoc "`:tools`, `:prompts` and `:resources` subscribe to the lists, `:uris` to single resources."
  @type t :: %__MODULE__{
          tools: boolean(),
          prompts: boolean(),
          resources: boolean(),
          uris: MapSet.t(String.t())
        }

  @doc "The subscription that the filter of a `subscriptions/listen` request describes."
  @spec from_filter(filter :: map()) :: t()
  def from_filter(filter) do
    %__MODULE__{
      tools: filter["toolsListChanged"] == true,
      prompts: filter["promptsListChanged"] == true,
      resources: filter["resourcesListChanged"] == true,
      uris: MapSet.new(Map.get(filter, "resourceSubscriptions", []))
    }
  end

  @doc "Adds the changes of all lists."
  @spec put_lists(t()) :: t()
  def put_lists(subscription), do: %{subscription | tools: true, prompts: true, resources: true}

  @doc "Adds a resource."
  @spec put_uri(t(), String.t()) :: t()
  def put_uri(subscription, uri), do: %{subscription | uris: MapSet.put(subscription.uris, uri)}

  @doc "Removes a resource, if it is there."
  @spec delete_uri(t(), String.t()) :: t()
  def delete_uri(subscription, uri), do: %{subscription | uris: MapSet.delete(subscription.uris, uri)}

  @doc "The accounted bytes of a subscription to these resources."
  @spec cost(t() | [String.t()]) :: non_neg_integer()
  def cost(%__MODULE__{uris: uris}), do: uris |> MapSet.to_list() |> cost()
  def cost(uris) when is_list(uris), do: Enum.reduce(uris, 0, &(byte_size(&1) + @uri_bytes + &2))

  @doc "Whether the subscriber wants the change."
  @spec wants?(t(), Changes.change()) :: boolean()
  def wants?(subscription, {:resource, uri}), do: MapSet.member?(subscription.uris, uri)
  def wants?(subscription, :tools), do: subscription.tools
  def wants?(subscription, :prompts), do: subscription.prompts
  def wants?(subscription, :resources), do: subscription.resources

  @doc "The changes that the subscriber wants, in order. `:all` is everything that it may want."
  @spec wanted(t(), MapSet.t(Changes.notice())) :: [Changes.change()]
  def wanted(subscription, changes) do
    if MapSet.member?(changes, :all),
      do: for(list <- [:prompts, :resources, :tools], wants?(subscription, list), do: list) ++ resources(subscription),
      else: for(change <- Enum.sort(changes), wants?(subscription, change), do: change)
  end

  defp resources(%{uris: uris}), do: for(uri <- Enum.sort(uris), do: {:resource, uri})

  @doc "The notification of a change. `stream` is the id of the listening request, `nil` in a session."
  @spec notification(Changes.change(), revision :: String.t(), stream :: Request.id() | nil) :: Protocol.message()
  def notification(change, revision, stream) do
    {kind, fields} = kind(change)
    message(revision, kind, fields, stream)
  end

  @doc "The first message of a stream, with the accepted filter."
  @spec acknowledgement(filter :: map(), revision :: String.t(), stream :: Request.id()) :: Protocol.message()
  def acknowledgement(filter, revision, stream),
    do: message(revision, :subscriptions_acknowledged, %{notifications: filter}, stream)

  @doc "The last notification of a stream that the server ends."
  @spec cancellation(revision :: String.t(), stream :: Request.id()) :: Protocol.message()
  def cancellation(revision, stream),
    do: message(revision, :cancelled, %{requestId: stream, reason: "The server ends the stream"}, stream)

  defp kind(:tools), do: {:tools_list_changed, %{}}
  defp kind(:prompts), do: {:prompts_list_changed, %{}}
  defp kind(:resources), do: {:resources_list_changed, %{}}
  defp kind({:resource, uri}), do: {:resource_updated, %{uri: uri}}

  defp message(revision, kind, fields, stream) do
    {:ok, message} = Protocol.notification(revision, kind, fields, stream)
    message
  end
end
