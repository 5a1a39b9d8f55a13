defmodule McpServer.Http.Route do
  @moduledoc false
  # A module of `routes:`, which serves the paths below its own path, beside MCP messages. It resembles a plug, but
  # takes a `Sink` instead of a `Plug.Conn`, so that both servers can call it. The module must bound its own
  # concurrency.

  alias McpServer.Auth.Verification
  alias McpServer.Http.{Mount, Sink}
  alias McpServer.Protocol.HTTP

  @enforce_keys [:path, :module, :state]
  defstruct [:path, :module, :state]

  @type t :: %__MODULE__{path: String.t(), module: module(), state: term()}

  @typedoc """
  The place where the module is served.

    * `:id` – identifies the place on this node
    * `:supervised?` – whether the server starts the module's child; under a plug the module starts it on demand
    * `:identify` – the server's hook that identifies clients; `nil` if it has none
    * `:metadata_url` – the metadata that tells refused clients how to get access
  """
  @type site :: %{
          id: term(),
          path: String.t(),
          supervised?: boolean(),
          allowed_hosts: [String.t()],
          allowed_origins: [String.t()],
          metadata_url: String.t() | nil,
          identify: (term() -> term()) | nil
        }

  @doc "Checks the options. Raises a descriptive `ArgumentError` for invalid ones."
  @callback init(options :: term(), site()) :: state :: term()

  @doc "The process that the module needs."
  @callback child_spec(state :: term()) :: Supervisor.child_spec()

  @doc "Serves one request in the process that holds it. The head was not checked yet."
  @callback call(Sink.t(), state :: term()) :: Sink.t()

  @doc "The routes of a mount. Raises a descriptive `ArgumentError` for invalid ones."
  @spec new!(term(), Mount.t(), %{atom() => term()}) :: [t()]
  def new!(routes, mount, options) do
    is_list(routes) || refuse!(routes)
    routes = Enum.map(routes, &new(&1, mount, options))
    paths = [options.path | Enum.map(routes, & &1.path)]

    for {path, index} <- Enum.with_index(paths), other <- Enum.drop(paths, index + 1), path, do: apart!(path, other)
    routes
  end

  defp new({path, module}, mount, options) when is_atom(module), do: new({path, {module, []}}, mount, options)

  defp new({path, {module, own}}, mount, options) when is_binary(path) and is_atom(module) do
    path =~ ~r"\A(/[!-~]+)+(?<!/)\z" || refuse!({path, module})
    Code.ensure_loaded?(module) || raise ArgumentError, "routes: names #{inspect(module)}, which is no module"
    %__MODULE__{path: path, module: module, state: module.init(own, site(path, mount, options))}
  end

  defp new(other, _mount, _options), do: refuse!(other)

  @spec refuse!(term()) :: no_return()
  defp refuse!(given) do
    raise ArgumentError,
          ~s(expected :routes to be a list of {"/path", module} or {"/path", {module, options}}, got: #{inspect(given)})
  end

  defp site(path, %{id: id} = mount, options) do
    %{
      id: {id, path},
      path: path,
      supervised?: not match?({:plug, _options}, id),
      allowed_hosts: options.allowed_hosts,
      allowed_origins: options.allowed_origins,
      metadata_url: HTTP.metadata_url(mount.policy),
      identify: identify(mount)
    }
  end

  defp identify(%{identify: nil}), do: nil
  defp identify(%{auth: nil, identify: hook}), do: &Mount.call_hook(hook, &1)
  defp identify(%{auth: plan}), do: &identify_with_token(plan, &1)

  # A DPoP proof names the URL of its request, which differs from the endpoint's URL. `anonymous:` is about messages of
  # MCP.
  defp identify_with_token(plan, request) do
    with {:ok, nil} <- Verification.identify(plan, request, :beside),
         do: {:error, Verification.refuse_missing(plan)}
  end

  defp apart!(path, other) do
    if below?(path, other) or below?(other, path),
      do: raise(ArgumentError, "expected each of :routes to have a path of its own, got #{path} and #{other}")
  end

  defp below?(path, other), do: path == other or String.starts_with?(path, other <> "/")

  @doc "The route whose path is a prefix of this path."
  @spec find([t()], String.t()) :: t() | nil
  def find(routes, path), do: Enum.find(routes, &below?(path, &1.path))

  @doc "Starts the processes of the routes, linked to the calling process."
  @spec start_link([t()]) :: Supervisor.on_start()
  def start_link(routes) do
    children = for %{module: module, state: state} <- routes, do: Map.put(module.child_spec(state), :id, state)
    Supervisor.start_link(children, strategy: :one_for_one, max_restarts: 1_000, max_seconds: 5)
  end

  @doc "Serves a request."
  @spec call(t(), Sink.t()) :: Sink.t()
  def call(%__MODULE__{module: module, state: state}, sink), do: module.call(sink, state)
end
