defmodule McpServer.Subscription do
  @moduledoc false
  # The changes that one subscriber wants: a session, or one `subscriptions/listen` stream. It is a value, stored by the
  # process that owns the client's connection.

  alias McpServer.{Changes, Protocol, Request}

  # What is kept beside the bytes of a URI: an element of a map and a row in each of two tables, with a copy of a short URI.
  @uri_bytes 512

  defstruct tools: false, prompts: false, resources: false, uris: %{}

  @typedoc """
  `:tools`, `:prompts` and `:resources` subscribe to the lists. `:uris` are single resources: the text of the client by
  the normal form of the URI. Changes have the normal form, and the client is told its own text.
  """
  @type t :: %__MODULE__{
          tools: boolean(),
          prompts: boolean(),
          resources: boolean(),
          uris: %{(normal :: String.t()) => String.t()}
        }

  @doc "The subscription that the filter of a `subscriptions/listen` request describes."
  @spec from_filter(filter :: map()) :: t()
  def from_filter(filter) do
    lists = %__MODULE__{
      tools: filter["toolsListChanged"] == true,
      prompts: filter["promptsListChanged"] == true,
      resources: filter["resourcesListChanged"] == true
    }

    filter |> Map.get("resourceSubscriptions", []) |> Enum.reduce(lists, &put_uri(&2, &1))
  end

  @doc "Adds the changes of all lists."
  @spec put_lists(t()) :: t()
  def put_lists(subscription), do: %{subscription | tools: true, prompts: true, resources: true}

  @doc "The subscription to one resource."
  @spec to(String.t()) :: t()
  def to(uri), do: put_uri(%__MODULE__{}, uri)

  @doc "Adds a resource. Of two forms of its URI the first stays."
  @spec put_uri(t(), String.t()) :: t()
  def put_uri(subscription, uri),
    do: %{subscription | uris: Map.put_new(subscription.uris, Protocol.normal_uri(uri), uri)}

  @doc "Removes a resource, if it is there. Any form of its URI names it."
  @spec delete_uri(t(), String.t()) :: t()
  def delete_uri(subscription, uri), do: %{subscription | uris: Map.delete(subscription.uris, Protocol.normal_uri(uri))}

  @doc "The part of the subscription that `delete_uri/2` removes."
  @spec only(t(), String.t()) :: t()
  def only(subscription, uri), do: %__MODULE__{uris: Map.take(subscription.uris, [Protocol.normal_uri(uri)])}

  @doc "Whether the resource is there. Any form of its URI names it."
  @spec to?(t(), String.t()) :: boolean()
  def to?(subscription, uri), do: wants?(subscription, {:resource, Protocol.normal_uri(uri)})

  @doc "The accounted bytes of the subscription."
  @spec cost(t()) :: non_neg_integer()
  def cost(%__MODULE__{uris: uris}) do
    Enum.reduce(uris, 0, fn
      {uri, uri}, bytes -> bytes + byte_size(uri) + @uri_bytes
      {normal, uri}, bytes -> bytes + byte_size(normal) + byte_size(uri) + @uri_bytes
    end)
  end

  @doc "Whether the subscriber wants the change."
  @spec wants?(t(), Changes.change()) :: boolean()
  def wants?(subscription, {:resource, normal}), do: is_map_key(subscription.uris, normal)
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

  @doc "The changes of single resources that the subscriber wants, in order."
  @spec resources(t()) :: [Changes.change()]
  def resources(%{uris: uris}), do: for(normal <- uris |> Map.keys() |> Enum.sort(), do: {:resource, normal})

  @doc """
  The notification of a change that the subscriber wants. `stream` is the id of the listening request, `nil` in a session.
  """
  @spec notification(t(), Changes.change(), revision :: String.t(), stream :: Request.id() | nil) :: Protocol.message()
  def notification(subscription, change, revision, stream) do
    {kind, fields} = kind(subscription, change)
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

  defp kind(_subscription, :tools), do: {:tools_list_changed, %{}}
  defp kind(_subscription, :prompts), do: {:prompts_list_changed, %{}}
  defp kind(_subscription, :resources), do: {:resources_list_changed, %{}}
  defp kind(%{uris: uris}, {:resource, normal}), do: {:resource_updated, %{uri: Map.fetch!(uris, normal)}}

  defp message(revision, kind, fields, stream) do
    {:ok, message} = Protocol.notification(revision, kind, fields, stream)
    message
  end
end
