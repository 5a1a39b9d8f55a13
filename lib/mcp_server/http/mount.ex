defmodule McpServer.Http.Mount do
  @moduledoc false
  # One place where a router is served over HTTP: its options, checked, and what is made of them once.
  # Both servers have the same options; `McpServer.HttpServer` documents them.

  alias McpServer.Auth.{Cache, Plan, Refusal, Scopes, Tenants, Verification}
  alias McpServer.Http.{Hook, Route, Usage}
  alias McpServer.{Catalog, Conn, JSON, ServerOptions}
  alias McpServer.Protocol.HTTP

  @enforce_keys [:id, :router]
  defstruct [
              :id,
              :router,
              :policy,
              :identify,
              :auth,
              :init,
              :limits,
              :bounds,
              :places,
              :usage,
              :sockets,
              :service,
              :catalog,
              :routes,
              :name,
              :assigns
            ] ++ ServerOptions.http_settings()

  @typedoc """
  Beside the options, those of `http:` flat:

  * `:auth` – what tokens are checked with, where the server does it
  * `:bounds` – of calls, `:limits` – of messages, as the core takes them
  * `:places` – how many calls and streams there may be at once
  * `:usage` – what is in use of them
  * `:sockets`, `:service`, `:catalog` – of the own server: the limits of its sockets, what reads its requests, and the
    catalogue that they are admitted with
  """
  @type t :: %__MODULE__{}

  @policy [:path, :allowed_hosts, :allowed_origins, :resource_metadata]

  @doc "The mount of options that were checked."
  @spec new(id :: term(), %{atom() => term()}) :: t()
  def new(id, %{http: http} = options) do
    options = with_auth(options)
    bounds = ServerOptions.bounds(options)
    own = Map.take(options, [:router, :identify, :init, :assigns, :auth])

    mount =
      struct(__MODULE__, http)
      |> Map.merge(own)
      |> Map.merge(%{
        id: id,
        name: options.mount_name || name(id, options.path),
        policy: policy(Map.take(options, @policy), bounds),
        limits: ServerOptions.message_limits(bounds),
        bounds: bounds,
        places: %{calls: places(http.max_calls), streams: places(http.max_streams)},
        usage: Usage.new()
      })

    %{mount | routes: Route.new!(options.routes, mount, options)}
  end

  # Everything about tokens follows from `auth:`.
  defp with_auth(%{auth: nil} = options), do: options

  defp with_auth(%{identify: identify, resource_metadata: metadata}) when identify != nil or metadata != nil do
    raise ArgumentError, "auth: takes the place of identify: and resource_metadata:, so give either auth: or these"
  end

  defp with_auth(%{auth: auth} = options) do
    plan = Plan.new!(inspect(options.router), auth)
    %{options | auth: plan, identify: &Verification.identify(plan, &1), resource_metadata: Plan.document(plan)}
  end

  @doc """
  Raises `ArgumentError` for a router that asks tokens for scopes and a server that takes none: nobody could use it.
  """
  @spec protected!(%{atom() => term()}, Catalog.t()) :: :ok
  def protected!(%{auth: nil, identify: nil, init: nil, router: router}, catalog) do
    if Scopes.asked?(catalog) do
      raise ArgumentError,
            "#{inspect(router)} has `scopes:`, which only a token grants, and is served without auth: or identify:. " <>
              "Write auth: [resource: \"https://…\", issuer: \"https://…\"]"
    end

    :ok
  end

  def protected!(_options, _catalog), do: :ok

  defp places(for_each), do: for_each * System.schedulers_online()

  # The same on every node, whatever its ports and processes are.
  defp name({:plug, _options}, path), do: "plug #{path}"
  defp name(_server, path), do: "http #{path}"

  @typedoc "What is the same of a mount on every node that serves it."
  @type place :: {router :: module(), name :: String.t()}

  @doc "Which place a mount is, on whatever node."
  @spec place(t()) :: place()
  def place(%__MODULE__{router: router, name: name}), do: {router, name}

  @doc "What a handler's conn starts from, before `init:` or a plug adds to it."
  @spec base(t(), peer :: :inet.ip_address() | nil, Hook.identity()) :: Conn.t()
  def base(%__MODULE__{} = mount, peer, %{principal: principal, auth: auth}) do
    # An update shares the struct's keys: they are not made again, nor copied to the call.
    base = %Conn{transport: :http}
    %{base | assigns: mount.assigns, mount: mount.name, peer: peer, principal: principal, auth: auth}
  end

  defp policy(options, bounds) do
    options = Map.put(options, :max_body_bytes, bounds.max_message_bytes)

    case options |> with_metadata() |> HTTP.policy() do
      {:ok, policy} -> policy
      {:error, text} -> raise ArgumentError, text
    end
  end

  @doc "The mount of the own server with what reads requests, and admits them with the catalogue that they are dispatched with."
  @spec serving(t(), Catalog.t()) :: t()
  def serving(mount, catalog) do
    limits = Map.take(mount.sockets, [:max_head_bytes, :max_headers])
    guard = guard(mount.auth)
    hooks? = mount.init != nil or (mount.identify != nil and guard == nil)
    routes = Enum.map(mount.routes, & &1.path)
    service = HTTP.service(mount.policy, catalog, mount.limits, {hooks?, guard}, routes, limits)
    %{mount | catalog: catalog, service: service}
  end

  # Proofs of keys are not verified while a request is read, nor are they asked for there.
  defp guard(%{dpop: %{mode: false}, guard: guard}), do: guard
  defp guard(_no_guard), do: nil

  @doc "The same mount; with the present catalogue where its router has been compiled again."
  @spec current(t()) :: t()
  def current(mount), do: if(Catalog.current?(mount.catalog), do: mount, else: renew(mount))

  @doc "Publishes the mount with the present catalogue of its router."
  @spec renew(t()) :: t()
  def renew(mount) do
    mount = serving(mount, Catalog.fetch(mount.router))
    publish(mount)
    mount
  end

  @doc "Lets the mount be found by its id, from any process, without a copy."
  @spec publish(t()) :: :ok
  def publish(%__MODULE__{id: id} = mount), do: :persistent_term.put({__MODULE__, id}, mount)

  @doc "The mount with the id; where there is none yet, that of the options that `checked` answers."
  @spec ensure(term(), (() -> %{atom() => term()})) :: t()
  def ensure(id, checked) do
    case fetch(id) do
      {:ok, mount} -> mount
      :error -> :global.trans({{__MODULE__, id}, self()}, fn -> make(id, checked.()) end, [node()])
    end
  end

  # One after the other: requests that come first at the same time want the same mount.
  defp make(id, options) do
    with :error <- fetch(id) do
      protected!(options, Catalog.fetch(options.router))
      mount = new(id, options)
      publish(mount)
      {:ok, mount}
    end
    |> elem(1)
  end

  @doc "Takes a mount back that is served no longer."
  @spec withdraw(term()) :: :ok
  def withdraw(id) do
    with {:ok, %{auth: plan}} when plan != nil <- fetch(id) do
      Cache.clear(plan)
      Tenants.clear(plan)
    end

    :persistent_term.erase({__MODULE__, id})
    :ok
  end

  @doc "The mount with the id."
  @spec fetch(term()) :: {:ok, t()} | :error
  def fetch(id) do
    case :persistent_term.get({__MODULE__, id}, nil) do
      nil -> :error
      mount -> {:ok, mount}
    end
  end

  defp with_metadata(%{resource_metadata: nil} = options), do: Map.delete(options, :resource_metadata)

  defp with_metadata(%{resource_metadata: metadata} = options),
    do: %{options | resource_metadata: JSON.encode!(metadata)}

  @doc "How an answer stands in HTTP: status and headers of a JSON text."
  @spec standing(t(), McpServer.Connection.Transport.standing()) :: {pos_integer(), [{String.t(), String.t()}]}
  def standing(_mount, :ok), do: {200, json()}

  # To a client without a token, what is hidden needs one, as whatever does not exist.
  def standing(mount, {:status, 401}) do
    {status, headers, _body} = HTTP.answer(:unauthorized, challenge(mount, nil, mount.auth.scopes))
    {status, headers}
  end

  def standing(_mount, {:status, status}) when status in [429, 503], do: {status, [{"retry-after", "1"} | json()]}
  def standing(_mount, {:retry_after, seconds}), do: {429, [{"retry-after", Integer.to_string(seconds)} | json()]}
  def standing(_mount, {:status, status}), do: {status, json()}
  def standing(_mount, :forbidden), do: {403, json()}

  def standing(mount, {:insufficient_scope, scopes}) do
    # A client asks for exactly these, so those of the endpoint are among them.
    scopes = if mount.auth, do: Enum.uniq(mount.auth.scopes ++ scopes), else: scopes
    {403, [{"www-authenticate", HTTP.challenge(challenge(mount, "insufficient_scope", scopes))} | json()]}
  end

  @doc "What a client is told about how to be let in."
  @spec challenge(t(), String.t() | nil, [String.t()]) :: map()
  def challenge(mount, error, scopes) do
    schemes = if mount.auth, do: Refusal.schemes(mount.auth.dpop.mode), else: %{}
    Map.merge(schemes, %{resource_metadata: HTTP.metadata_url(mount.policy), error: error, scope: scopes})
  end

  @doc "The header of a JSON text."
  @spec json() :: [{String.t(), String.t()}]
  def json, do: [{"content-type", "application/json"}]

  @doc "Calls a hook of the user's."
  @spec call_hook((term() -> term()) | {module(), atom()}, term()) :: term()
  def call_hook({module, function}, argument), do: apply(module, function, [argument])
  def call_hook(hook, argument), do: hook.(argument)
end
