defmodule McpServer.Connection.Session do
  @moduledoc false
  # The state of a peer, as a value: revision, client, log level and subscriptions (session era), streams (stateless
  # era), the ids in flight and the requests to the client. It has no process and sends nothing. `McpServer.Connection`
  # owns it.

  alias McpServer.{Protocol, Quota, Request, Subscription}
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
  Identifies a request among all in flight: its id, and its stream if streams have different clients.
  """
  @type key :: term()

  @typedoc "The state of a `subscriptions/listen` request. Its notifications take the stream of the connection."
  @type listen :: %{
          id: Request.id(),
          revision: String.t(),
          subscription: Subscription.t(),
          stream: term(),
          client: Quota.Client.t()
        }

  @typedoc "The state of an unanswered request."
  @type place :: :waiting | {:running, pid()} | :listen

  @typedoc """
  * `:revision` – the revision agreed in `initialize`, `nil` before it
  * `:subscription` – the changes that the session is notified of
  * `:listens` – the open `subscriptions/listen` requests
  * `:in_flight` – all unanswered requests
  * `:asked` – requests to the client that it has not answered: id → call and key
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

  @doc "A session that is not open yet. Without an id it belongs to no client and is never opened."
  @spec new(String.t() | nil) :: t()
  def new(id), do: %__MODULE__{id: id}

  @doc "A random session id: 128 bits, URL-safe."
  @spec random_id() :: String.t()
  def random_id, do: Base.url_encode64(:crypto.strong_rand_bytes(16), padding: false)

  @doc "The session's context for `McpServer.Protocol.admit/4`."
  @spec context(t()) :: Protocol.context()
  def context(%__MODULE__{} = session), do: %{revision: session.revision}

  @doc "The revision for a message that belongs to no request."
  @spec fallback_revision(t()) :: String.t()
  def fallback_revision(%__MODULE__{revision: revision}), do: revision || Revision.newest()

  @doc "Opens the session after `initialize`."
  @spec open(t(), Protocol.opening()) :: t()
  def open(%__MODULE__{} = session, opening) do
    %{
      session
      | revision: opening.revision,
        client_info: opening.client_info,
        client_capabilities: opening.client_capabilities
    }
  end

  @doc "Handles `notifications/initialized`. It has no effect before `initialize`."
  @spec initialized(t()) :: t()
  def initialized(%__MODULE__{revision: nil} = session), do: session

  def initialized(%__MODULE__{} = session),
    do: %{session | initialized?: true, subscription: Subscription.put_lists(session.subscription)}

  @doc "Fills in the values that a request of the session era takes from its session."
  @spec complete(t(), Request.t()) :: Request.t()
  def complete(%__MODULE__{} = session, %Request{client_capabilities: nil} = request) do
    %{client_info: info, client_capabilities: capabilities} = session
    %{request | client_info: info, client_capabilities: capabilities}
  end

  def complete(_session, request), do: request

  @doc "Whether an unanswered request has the key."
  @spec in_flight?(t(), key()) :: boolean()
  def in_flight?(%__MODULE__{in_flight: in_flight}, key), do: is_map_key(in_flight, key)

  @doc "Stores the state of a request."
  @spec place(t(), key(), place()) :: t()
  def place(%{in_flight: in_flight} = session, key, place), do: %{session | in_flight: Map.put(in_flight, key, place)}

  @doc "The state of a request, `nil` if it is not in flight."
  @spec whereabouts(t(), key()) :: place() | nil
  def whereabouts(session, key), do: Map.get(session.in_flight, key)

  @doc "Removes a request that was answered or gets no answer."
  @spec finish(t(), key()) :: t()
  def finish(%{in_flight: in_flight} = session, key), do: %{session | in_flight: Map.delete(in_flight, key)}

  @doc "Stores the requests of `call` to the client, each under a key of the handler."
  @spec ask(t(), pid(), [{Request.id(), String.t()}]) :: t()
  def ask(session, call, requests) do
    asked = for {id, key} <- requests, into: session.asked, do: {id, {call, key}}
    %{session | asked: asked}
  end

  @doc "Takes the request that the client has answered. `:unknown` if there is none."
  @spec answered(t(), Request.id()) :: {:ok, {pid(), String.t()}, t()} | :unknown
  def answered(session, id) do
    case Map.pop(session.asked, id) do
      {nil, _asked} -> :unknown
      {question, asked} -> {:ok, question, %{session | asked: asked}}
    end
  end

  @doc "Removes the unanswered requests of a call, and returns their ids."
  @spec withdraw(t(), pid()) :: {[Request.id()], t()}
  def withdraw(%__MODULE__{asked: asked} = session, _call) when asked == %{}, do: {[], session}

  def withdraw(session, call) do
    ids = for {id, {^call, _key}} <- session.asked, do: id
    {Enum.sort(ids), %{session | asked: Map.drop(session.asked, ids)}}
  end

  @doc "Sets the least severe log level that the client wants."
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
  def subscribed?(session, uri), do: Subscription.to?(session.subscription, uri)

  @doc "`resources/subscribe`, for at most `limit` resources."
  @spec subscribe(t(), String.t(), pos_integer()) :: {:ok, t()} | {:error, :too_many}
  def subscribe(%__MODULE__{subscription: %{uris: uris} = subscription} = session, uri, limit) do
    if Subscription.to?(subscription, uri) or map_size(uris) < limit,
      do: {:ok, %{session | subscription: Subscription.put_uri(subscription, uri)}},
      else: {:error, :too_many}
  end

  @doc "`resources/unsubscribe`. It has no effect without a subscription."
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

  @doc "Removes a stream that has ended."
  @spec unlisten(t(), key()) :: t()
  def unlisten(session, key),
    do: finish(%{session | listens: Map.delete(session.listens, key)}, key)
end
