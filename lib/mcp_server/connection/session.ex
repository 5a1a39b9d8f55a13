defmodule McpServer.Connection.Session do
  @moduledoc false
  # What a transport remembers of its peer, as a value: the session era's state (revision, client,
  # log level, subscriptions), the stateless era's streams, the ids in flight and the requests that
  # were put to the client. Holds no process and sends nothing; `McpServer.Connection` owns one.

  alias McpServer.{Protocol, Request, Share, Subscription}
  alias McpServer.Protocol.{ClientData, Revision}

  @log_levels ~w(debug info notice warning error critical alert emergency)
  @severity @log_levels |> Enum.with_index() |> Map.new()

  defstruct id: nil,
            revision: nil,
            initialized?: false,
            client_info: nil,
            client_capabilities: nil,
            log_level: "info",
            subscription: %Subscription{},
            listens: %{},
            in_flight: %{},
            asked: %{}

  @typedoc """
  What tells a request from all others in flight: its id, and where it came from when that is not one client.
  """
  @type key :: term()

  @typedoc "What is left of a `subscriptions/listen` request; its notifications take the stream of the connection."
  @type listen :: %{
          id: Request.id(),
          revision: String.t(),
          subscription: Subscription.t(),
          stream: term(),
          holder: Share.holder()
        }

  @typedoc "Where a request stands that has not been answered."
  @type place :: :waiting | {:running, pid()} | :listen

  @typedoc """
  * `:revision` – what `initialize` agreed on, `nil` before it
  * `:subscription` – what the session itself is told of
  * `:listens` – the open `subscriptions/listen` requests
  * `:in_flight` – every request that has not been answered
  * `:asked` – requests put to the client that it has not answered: id → call and key
  """
  @type t :: %__MODULE__{
          id: String.t() | nil,
          revision: String.t() | nil,
          initialized?: boolean(),
          client_info: ClientData.t() | nil,
          client_capabilities: ClientData.t() | nil,
          log_level: String.t(),
          subscription: Subscription.t(),
          listens: %{key() => listen()},
          in_flight: %{key() => place()},
          asked: %{Request.id() => {pid(), String.t()}}
        }

  @doc "A session nobody has opened yet. Without an id it is nobody's, and never will be opened."
  @spec new(String.t() | nil) :: t()
  def new(id), do: %__MODULE__{id: id}

  @doc "A random session id: 128 bits, URL-safe."
  @spec random_id() :: String.t()
  def random_id, do: Base.url_encode64(:crypto.strong_rand_bytes(16), padding: false)

  @doc "What `McpServer.Protocol.admit/4` needs to know of the session."
  @spec context(t()) :: Protocol.context()
  def context(%__MODULE__{} = session), do: %{revision: session.revision}

  @doc "The revision for a message that belongs to no request."
  @spec fallback_revision(t()) :: String.t()
  def fallback_revision(%__MODULE__{revision: revision}), do: revision || Revision.newest()

  @doc "The client has said `initialize`."
  @spec open(t(), Protocol.opening()) :: t()
  def open(%__MODULE__{} = session, opening) do
    %{
      session
      | revision: opening.revision,
        client_info: opening.client_info,
        client_capabilities: opening.client_capabilities
    }
  end

  @doc "The client has said `notifications/initialized`; before `initialize` that means nothing."
  @spec initialized(t()) :: t()
  def initialized(%__MODULE__{revision: nil} = session), do: session

  def initialized(%__MODULE__{} = session),
    do: %{session | initialized?: true, subscription: Subscription.put_lists(session.subscription)}

  @doc "Fills in what a request of the session era leaves to its session."
  @spec complete(t(), Request.t()) :: Request.t()
  def complete(%__MODULE__{} = session, %Request{client_capabilities: nil} = request) do
    %{
      request
      | client_info: session.client_info,
        client_capabilities: session.client_capabilities
    }
  end

  def complete(_session, request), do: request

  @doc "Whether the id belongs to a request that has not been answered."
  @spec in_flight?(t(), key()) :: boolean()
  def in_flight?(%__MODULE__{in_flight: in_flight}, key), do: is_map_key(in_flight, key)

  @doc "Notes where a request stands."
  @spec place(t(), key(), place()) :: t()
  def place(session, key, place), do: %{session | in_flight: Map.put(session.in_flight, key, place)}

  @doc "Where a request stands, `nil` when it is not in flight."
  @spec whereabouts(t(), key()) :: place() | nil
  def whereabouts(session, key), do: Map.get(session.in_flight, key)

  @doc "A request has been answered, or never will be."
  @spec finish(t(), key()) :: t()
  def finish(session, key), do: %{session | in_flight: Map.delete(session.in_flight, key)}

  @doc "Requests that `call` puts to the client, each under a key of the handler's."
  @spec ask(t(), pid(), [{Request.id(), String.t()}]) :: t()
  def ask(session, call, requests) do
    asked = for {id, key} <- requests, into: session.asked, do: {id, {call, key}}
    %{session | asked: asked}
  end

  @doc "The client has answered; an answer to nothing that was asked is `:unknown`."
  @spec answered(t(), Request.id()) :: {:ok, {pid(), String.t()}, t()} | :unknown
  def answered(session, id) do
    case Map.pop(session.asked, id) do
      {nil, _asked} -> :unknown
      {question, asked} -> {:ok, question, %{session | asked: asked}}
    end
  end

  @doc "A call wants its answers no longer: the ids of what it still waits for."
  @spec withdraw(t(), pid()) :: {[Request.id()], t()}
  def withdraw(%__MODULE__{asked: asked} = session, _call) when asked == %{}, do: {[], session}

  def withdraw(session, call) do
    ids = for {id, {^call, _key}} <- session.asked, do: id
    {Enum.sort(ids), %{session | asked: Map.drop(session.asked, ids)}}
  end

  @doc "The least severe level whose messages the client wants."
  @spec put_level(t(), String.t()) :: t()
  def put_level(session, level) when is_map_key(@severity, level), do: %{session | log_level: level}

  @doc "Whether a message of `level` reaches a client that asked for `threshold` and above."
  @spec logs?(threshold :: String.t(), level :: String.t()) :: boolean()
  def logs?(threshold, level), do: Map.get(@severity, level, 0) >= Map.fetch!(@severity, threshold)

  @doc "Log levels, least severe first."
  @spec log_levels() :: [String.t()]
  def log_levels, do: @log_levels

  @doc "Whether the session is subscribed to the resource."
  @spec subscribed?(t(), String.t()) :: boolean()
  def subscribed?(session, uri), do: Subscription.wants?(session.subscription, {:resource, uri})

  @doc "`resources/subscribe`, for at most `limit` resources."
  @spec subscribe(t(), String.t(), pos_integer()) :: {:ok, t()} | {:error, :too_many}
  def subscribe(%__MODULE__{subscription: %{uris: uris} = subscription} = session, uri, limit) do
    if MapSet.member?(uris, uri) or MapSet.size(uris) < limit,
      do: {:ok, %{session | subscription: Subscription.put_uri(subscription, uri)}},
      else: {:error, :too_many}
  end

  @doc "`resources/unsubscribe`; of something never subscribed to is fine."
  @spec unsubscribe(t(), String.t()) :: t()
  def unsubscribe(session, uri),
    do: %{session | subscription: Subscription.delete_uri(session.subscription, uri)}

  @doc "`subscriptions/listen`, at most `limit` at once."
  @spec listen(t(), key(), listen(), pos_integer()) :: {:ok, t()} | {:error, :too_many}
  def listen(%__MODULE__{listens: listens}, _key, _listen, limit) when map_size(listens) >= limit,
    do: {:error, :too_many}

  def listen(session, key, listen, _limit) do
    session = %{session | listens: Map.put(session.listens, key, listen)}
    {:ok, place(session, key, :listen)}
  end

  @doc "A stream has ended."
  @spec unlisten(t(), key()) :: t()
  def unlisten(session, key),
    do: finish(%{session | listens: Map.delete(session.listens, key)}, key)
end
