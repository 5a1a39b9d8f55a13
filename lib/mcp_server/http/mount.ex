defmodule McpServer.Http.Mount do
  @moduledoc false
  # One place where a router is served over HTTP: its options, checked, and what is made of them once.
  # Both servers have the same options; `McpServer.HttpServer` documents them.

  alias McpServer.Connection.Options
  alias McpServer.Http.Usage
  alias McpServer.{Conn, JSON, Limit}
  alias McpServer.Protocol.HTTP

  @enforce_keys [:id, :router, :policy, :options]
  defstruct [
    :id,
    :router,
    :policy,
    :authorize,
    :init,
    :options,
    :limits,
    :bounds,
    :places,
    :usage,
    :sockets,
    :service,
    :catalog,
    :rest,
    :name,
    assigns: %{},
    max_body_bytes: 4 * 1024 * 1024,
    max_sessions: 10_000,
    max_sessions_per_principal: 100,
    max_share: 25,
    idle_timeout: 1_800_000,
    session_lifetime: 86_400_000,
    max_events: 256,
    max_event_bytes: 1024 * 1024,
    max_queued_bytes: 1024 * 1024,
    keep_alive: 15_000,
    stream_after: 1_000,
    stall_timeout: 30_000,
    disconnect_check: 1_000,
    max_requests: 1_000,
    max_listeners: 20_000,
    max_hooks: 1_000
  ]

  @typedoc """
  Beside the options:

  * `:bounds` – of calls, `:limits` – of messages, as the core takes them
  * `:places` – how many calls and streams there may be at once
  * `:usage` – what is in use of them
  * `:sockets`, `:service`, `:catalog` – of the own server: the limits of its sockets, what reads its requests, and the
    catalogue that they are admitted with
  """
  @type t :: %__MODULE__{}

  # What is counted, or the most that it can be.
  @units %{
    max_body_bytes: :bytes,
    max_sessions: :count,
    max_sessions_per_principal: :count,
    # Percent.
    max_share: 100,
    idle_timeout: :milliseconds,
    session_lifetime: :milliseconds,
    max_events: 100_000,
    max_event_bytes: :bytes,
    max_queued_bytes: :bytes,
    keep_alive: :milliseconds,
    stream_after: :milliseconds,
    stall_timeout: :milliseconds,
    disconnect_check: :milliseconds,
    max_requests: :count,
    max_listeners: :count,
    max_hooks: :count
  }
  @counts Map.keys(@units)
  @policy [:path, :allowed_hosts, :allowed_origins, :resource_metadata, :sessions]
  @own @counts ++ @policy ++ [:router, :authorize, :init, :assigns, :mount_name]
  @max_name_bytes 256

  @doc "Every option of a mount."
  @spec names() :: [atom()]
  def names, do: Enum.sort(@own ++ Options.names())

  @doc """
  Splits options into those of a mount, checked, and the rest.

  Raises `ArgumentError` that says what was given and what is allowed. The result is plain data.
  """
  @spec options!(keyword()) :: {keyword(), rest :: keyword()}
  def options!(options) do
    Keyword.keyword?(options) || raise ArgumentError, "expected a keyword list, got: #{inspect(options)}"
    {own, rest} = Keyword.split(options, @own)
    Enum.each(own, &check!/1)
    (is_atom(own[:router]) and own[:router] != nil) or raise ArgumentError, "router: names the module to serve"
    {bounds, rest} = Keyword.split(rest, Options.names())
    {_checked, []} = Options.split(bounds)
    {own ++ bounds, rest}
  end

  defp check!({name, value}) when name in @counts, do: Limit.check!(name, value, @units[name])

  defp check!({name, value}) when name in [:allowed_hosts, :allowed_origins] do
    (is_list(value) and Enum.all?(value, &is_binary/1)) ||
      raise ArgumentError, "expected #{inspect(name)} to be a list of strings, got: #{inspect(value)}"
  end

  defp check!({name, value}) when name in [:authorize, :init] do
    is_function(value, 1) or match?({module, function} when is_atom(module) and is_atom(function), value) ||
      raise ArgumentError, "expected #{inspect(name)} to be a function of one argument, got: #{inspect(value)}"
  end

  defp check!({:mount_name, value}) do
    (is_binary(value) and byte_size(value) in 1..@max_name_bytes and String.valid?(value)) ||
      raise ArgumentError,
            "expected :mount_name to be a string of 1 to #{@max_name_bytes} bytes, got: #{inspect(value)}"
  end

  defp check!({:assigns, value}) do
    is_map(value) || raise ArgumentError, "expected :assigns to be a map, got: #{inspect(value)}"
  end

  defp check!({:resource_metadata, value}) do
    (is_map(value) and is_binary(value[:resource] || value["resource"])) ||
      raise ArgumentError,
            "expected :resource_metadata to be a map with at least resource: \"https://…\", got: #{inspect(value)}"
  end

  defp check!(_other), do: :ok

  @doc "The mount of options that `options!/1` has checked."
  @spec new(id :: term(), keyword()) :: t()
  def new(id, options) do
    {bounds, own} = Keyword.split(options, Options.names())
    {policy, own} = Keyword.split(own, @policy)
    {name, own} = Keyword.pop(own, :mount_name, name(id, policy[:path]))
    mount = struct!(%__MODULE__{id: id, router: own[:router], policy: nil, options: bounds, name: name}, own)
    {calls, []} = Options.split(Keyword.drop(bounds, [:max_calls, :max_streams]))

    %{
      mount
      | policy: policy(Map.new(policy), mount),
        limits: Options.message_limits(bounds),
        bounds: calls,
        places: %{calls: places(mount.max_requests), streams: places(mount.max_listeners)},
        usage: Usage.new()
    }
  end

  defp places(for_each), do: for_each * System.schedulers_online()

  # The same on every node, whatever its ports and processes are.
  defp name({:plug, _options}, path), do: "plug #{path}"
  defp name(_server, path), do: "http #{path}"

  @typedoc "What is the same of a mount on every node that serves it."
  @type place :: {router :: module(), name :: String.t()}

  @doc "Which place a mount is, on whatever node."
  @spec place(t()) :: place()
  def place(%__MODULE__{router: router, name: name}), do: {router, name}

  @doc "What a handler's conn starts from, before any hook or plug adds to it."
  @spec base(t()) :: Conn.t()
  def base(%__MODULE__{} = mount), do: %Conn{assigns: mount.assigns, mount: mount.name}

  defp policy(options, mount) do
    options = Map.put(options, :max_body_bytes, mount.max_body_bytes)

    case options |> with_metadata() |> HTTP.policy() do
      {:ok, policy} -> policy
      {:error, text} -> raise ArgumentError, text
    end
  end

  @doc "Lets the mount be found by its id, from any process, without a copy."
  @spec publish(t()) :: :ok
  def publish(%__MODULE__{id: id} = mount), do: :persistent_term.put({__MODULE__, id}, mount)

  @doc "The mount with the id; where there is none yet, that of options which `options!/1` has checked."
  @spec ensure(term(), keyword()) :: t()
  def ensure(id, options) do
    case fetch(id) do
      {:ok, mount} -> mount
      :error -> :global.trans({{__MODULE__, id}, self()}, fn -> make(id, options) end, [node()])
    end
  end

  # One after the other: requests that come first at the same time want the same mount.
  defp make(id, options) do
    with :error <- fetch(id) do
      mount = new(id, options)
      publish(mount)
      {:ok, mount}
    end
    |> elem(1)
  end

  @doc "Takes a mount back that is served no longer."
  @spec withdraw(term()) :: :ok
  def withdraw(id) do
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

  defp with_metadata(%{resource_metadata: metadata} = options),
    do: %{options | resource_metadata: JSON.encode!(metadata)}

  defp with_metadata(options), do: options

  @doc "How an answer stands in HTTP: status and headers of a JSON text."
  @spec standing(t(), McpServer.Connection.Transport.standing()) :: {pos_integer(), [{String.t(), String.t()}]}
  def standing(_mount, :ok), do: {200, json()}
  def standing(_mount, {:status, status}) when status in [429, 503], do: {status, [{"retry-after", "1"} | json()]}
  def standing(_mount, {:status, status}), do: {status, json()}
  def standing(_mount, :forbidden), do: {403, json()}

  def standing(mount, {:insufficient_scope, scopes}) do
    {403, [{"www-authenticate", HTTP.challenge(challenge(mount, "insufficient_scope", scopes))} | json()]}
  end

  @doc "What a client is told about how to be let in."
  @spec challenge(t(), String.t() | nil, [String.t()]) :: map()
  def challenge(mount, error, scopes),
    do: %{resource_metadata: HTTP.metadata_url(mount.policy), error: error, scope: scopes}

  @doc "The header of a JSON text."
  @spec json() :: [{String.t(), String.t()}]
  def json, do: [{"content-type", "application/json"}]

  @doc "Calls a hook of the user's."
  @spec call_hook((term() -> term()) | {module(), atom()}, term()) :: term()
  def call_hook({module, function}, argument), do: apply(module, function, [argument])
  def call_hook(hook, argument), do: hook.(argument)
end
