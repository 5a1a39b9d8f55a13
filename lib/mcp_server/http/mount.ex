defmodule McpServer.Http.Mount do
  @moduledoc false
  # One place where a router is served over HTTP: its checked options, and values built from them once.
  # `McpServer.HttpServer` and `McpServer.HttpPlug` have the same options; `McpServer.HttpServer` documents them.

  require Logger

  alias McpServer.Auth.{Cache, Plan, Refusal, Scopes, Tenants, Verification}
  alias McpServer.Http.{Hook, Route, Usage}
  alias McpServer.{Catalog, Conn, JSON, Limit, ServerOptions}
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
              :usage,
              :sockets,
              :service,
              :catalog,
              :routes,
              :name,
              :assigns
            ] ++ ServerOptions.http_settings()

  @typedoc """
  The options, with those of `http:` on the same level, and:

  * `:auth` – the plan for token checks, if the server makes them
  * `:bounds` – the limits of calls; `:limits` – the limits of messages, as the core takes them
  * `:usage` – what clients have taken of the mount, with its limits
  * `:sockets`, `:service`, `:catalog` – only of `HttpServer`: the limits of its sockets, the native service that reads
    its requests, and the catalogue that admits them
  """
  @type t :: %__MODULE__{}

  @policy [:path, :allowed_hosts, :allowed_origins, :resource_metadata]

  @doc "The mount for checked options."
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
        usage: Usage.new(Map.merge(bounds, http))
      })

    %{mount | routes: Route.new!(options.routes, mount, options)}
  end

  # `auth:` decides everything about tokens.
  defp with_auth(%{auth: nil} = options), do: options

  defp with_auth(%{identify: identify, resource_metadata: metadata}) when identify != nil or metadata != nil do
    raise ArgumentError, "auth: takes the place of identify: and resource_metadata:, so give either auth: or these"
  end

  defp with_auth(%{auth: auth} = options) do
    plan = options.router |> inspect() |> Plan.new!(auth) |> Plan.for_hooks(options.http.max_hooks)
    %{options | auth: plan, identify: &Verification.identify(plan, &1), resource_metadata: Plan.document(plan)}
  end

  @doc """
  Raises `ArgumentError` if the router requires scopes and the server accepts no tokens: no client could use it.
  """
  @spec protected!(%{atom() => term()}, Catalog.t()) :: :ok
  def protected!(%{auth: nil, identify: nil, router: router}, catalog) do
    if Scopes.asked?(catalog) do
      raise ArgumentError,
            "#{inspect(router)} has `scopes:`, which only a token grants, and is served without auth: or identify:. " <>
              "Write auth: [resource: \"https://…\", issuer: \"https://…\"]"
    end

    :ok
  end

  def protected!(_options, _catalog), do: :ok

  # The name is the same on every node, whatever its ports and processes are.
  defp name({:plug, _options}, path), do: "plug #{path}"
  defp name(_server, path), do: "http #{path}"

  @typedoc "Identifies a mount on every node that serves it."
  @type place :: {router :: module(), name :: String.t()}

  @doc "The place of a mount, the same on every node."
  @spec place(t()) :: place()
  def place(%__MODULE__{router: router, name: name}), do: {router, name}

  @doc "The initial conn of a handler, before `init:` or a plug adds to it."
  @spec base(t(), peer :: :inet.ip_address() | nil, Hook.identity()) :: Conn.t()
  def base(%__MODULE__{} = mount, peer, %{principal: principal, auth: auth}) do
    # An update shares the keys of the literal struct: they are neither rebuilt nor copied to the call.
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

  @doc "The mount of `HttpServer` with its native service, which admits requests with the catalogue of their dispatch."
  @spec serving(t(), Catalog.t()) :: t()
  def serving(mount, catalog) do
    limits = Map.take(mount.sockets, [:max_head_bytes, :max_headers])
    guard = guard(mount.auth)
    hooks? = mount.init != nil or (mount.identify != nil and guard == nil)
    routes = Enum.map(mount.routes, & &1.path)
    service = HTTP.service(mount.policy, catalog, mount.limits, {hooks?, guard}, routes, limits)
    %{mount | catalog: catalog, service: service}
  end

  # The native service neither verifies nor requires DPoP proofs.
  defp guard(%{dpop: %{mode: false}, guard: guard}), do: guard
  defp guard(_no_guard), do: nil

  @doc "The mount, with the current catalogue if its router was recompiled."
  @spec current(t()) :: t()
  def current(mount), do: if(Catalog.current?(mount.catalog), do: mount, else: renew(mount))

  @doc "Publishes the mount with the current catalogue of its router."
  @spec renew(t()) :: t()
  def renew(mount) do
    mount = serving(mount, Catalog.fetch(mount.router))
    publish(mount)
    mount
  end

  @doc "Publishes the mount under its id. Any process can read it without a copy."
  @spec publish(t()) :: :ok
  def publish(%__MODULE__{id: id} = mount), do: :persistent_term.put({__MODULE__, id}, mount)

  @doc "The mount with the id. If there is none yet, it is made from the options that `checked` returns."
  @spec ensure(term(), (() -> %{atom() => term()})) :: t()
  def ensure(id, checked) do
    case fetch(id) do
      {:ok, mount} -> mount
      :error -> :global.trans({{__MODULE__, id}, self()}, fn -> make(id, checked.()) end, [node()])
    end
  end

  # Serialized: simultaneous first requests want the same mount.
  defp make(id, options) do
    with :error <- fetch(id) do
      protected!(options, Catalog.fetch(options.router))
      mount = new(id, options)
      :ok = warn_of_slash(mount)
      publish(mount)
      {:ok, mount}
    end
    |> elem(1)
  end

  @doc """
  Warns of a resource that ends with a slash. The server accepts requests with and without it, but clients compare the
  resource with the URL that they were given (RFC 9728 section 3.3).
  """
  @spec warn_of_slash(t()) :: :ok
  def warn_of_slash(%__MODULE__{policy: policy, router: router}) do
    url = HTTP.metadata_url(policy)

    if url && String.ends_with?(url, "/") do
      Logger.warning(
        "MCP: the resource of #{inspect(router)} ends with a slash. Clients compare it with the URL that they were " <>
          "given: leave the slash out of resource:, or give all clients the URL with it."
      )
    end

    :ok
  end

  @doc "Removes a mount that is no longer served."
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

  @doc """
  The longest time that a session of the router may live, in milliseconds. It is the largest allowed value on a node that
  does not serve the router.
  """
  @spec longest_lifetime(router :: module()) :: pos_integer()
  def longest_lifetime(router) do
    lifetimes =
      for {{__MODULE__, _id}, %{router: ^router} = mount} <- :persistent_term.get(), do: mount.session_lifetime

    Enum.max(lifetimes, fn -> Limit.most(:milliseconds) end)
  end

  defp with_metadata(%{resource_metadata: nil} = options), do: Map.delete(options, :resource_metadata)

  defp with_metadata(%{resource_metadata: metadata} = options),
    do: %{options | resource_metadata: JSON.encode!(metadata)}

  @doc "The HTTP status and headers of a JSON answer with this standing."
  @spec standing(t(), McpServer.Connection.Transport.standing()) :: {pos_integer(), [{String.t(), String.t()}]}
  def standing(_mount, :ok), do: {200, json()}

  # A client without a token gets the same 401 for hidden and for missing entries.
  def standing(mount, {:status, 401}) do
    {status, headers, _body} = HTTP.answer(:unauthorized, challenge(mount, nil, mount.auth.scopes))
    {status, headers}
  end

  def standing(mount, {:status, status}) when status in [429, 503],
    do: {status, retry_after(Usage.retry_after(mount.usage))}

  def standing(_mount, {:retry_after, seconds}), do: {429, retry_after(seconds)}
  def standing(_mount, {:status, status}), do: {status, json()}
  def standing(_mount, :forbidden), do: {403, json()}

  def standing(mount, {:insufficient_scope, scopes}) do
    # A client requests exactly the scopes of the challenge, so the endpoint's scopes are included.
    scopes = if mount.auth, do: Enum.uniq(mount.auth.scopes ++ scopes), else: scopes
    {403, [{"www-authenticate", HTTP.challenge(challenge(mount, "insufficient_scope", scopes))} | json()]}
  end

  defp retry_after(seconds), do: [{"retry-after", Integer.to_string(seconds)} | json()]

  @doc "The challenge that tells a client how to get access."
  @spec challenge(t(), String.t() | nil, [String.t()]) :: map()
  def challenge(mount, error, scopes) do
    schemes = if mount.auth, do: Refusal.schemes(mount.auth.dpop.mode), else: %{}
    Map.merge(schemes, %{resource_metadata: HTTP.metadata_url(mount.policy), error: error, scope: scopes})
  end

  @doc "The header of a JSON text."
  @spec json() :: [{String.t(), String.t()}]
  def json, do: [{"content-type", "application/json"}]

  @doc "Calls a hook of the application."
  @spec call_hook((term() -> term()) | {module(), atom()}, term()) :: term()
  def call_hook({module, function}, argument), do: apply(module, function, [argument])
  def call_hook(hook, argument), do: hook.(argument)
end
