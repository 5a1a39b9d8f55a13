defmodule McpServer.HttpServers do
  # The two ways to serve a router over HTTP, with the same functions for both.
  @moduledoc false

  import ExUnit.Callbacks, only: [start_supervised!: 2, stop_supervised!: 1]

  alias McpServer.Http.{Mount, Usage}
  alias McpServer.Test.PlugServer

  # Loaded at run time, because the installed packages decide which server runs the plug.
  @compile {:no_warn_undefined, [McpServer.HttpServer, PlugServer]}

  @enforce_keys [:kind, :port]
  defstruct [:kind, :port, :pid, :id]

  @type kind :: :listener | :plug
  @type t :: %__MODULE__{kind: kind(), port: :inet.port_number(), pid: pid() | nil, id: term()}

  # The long time keeps slow calls on a busy machine from becoming streams.
  @http [stream_after: 30_000]

  # In milliseconds. On a busy machine a fetch of keys can take longer than the defaults.
  @fetch_time 60_000

  @doc "Starts a server that ends with the calling test, or with the tests of the calling module."
  @spec start(kind(), keyword()) :: t()
  def start(kind, options \\ []), do: serve(kind, patient(options) ++ [router: McpServer.HttpRouter])

  @doc "The options of a server, with times that a busy machine can keep unless they are given."
  @spec patient(keyword()) :: keyword()
  def patient(options) do
    options = options ++ [http: @http]

    case options[:auth] do
      [_option | _options] = auth -> Keyword.put(options, :auth, patient_auth(auth))
      _none_or_function -> options
    end
  end

  defp patient_auth(auth), do: Keyword.merge([timeout: @fetch_time, wait: @fetch_time], auth)

  @doc "`auth:` with secrets. A plug accepts secrets only from a function."
  @spec secret_auth(kind(), keyword()) :: keyword() | {module(), :auth}
  def secret_auth(:listener, auth), do: auth

  def secret_auth(:plug, auth) do
    module = :"#{__MODULE__}.Auth#{System.unique_integer([:positive])}"
    body = quote(do: def(auth, do: unquote(Macro.escape(patient_auth(auth)))))
    Module.create(module, body, Macro.Env.location(__ENV__))
    {module, :auth}
  end

  defp serve(:listener, options) do
    options = options ++ [port: 0]
    id = {__MODULE__, make_ref()}
    child = Supervisor.child_spec({McpServer.HttpServer, options}, shutdown: 120_000)
    pid = start_supervised!(child, id: id)
    %__MODULE__{kind: :listener, port: McpServer.HttpServer.port(pid), pid: pid, id: id}
  end

  defp serve(:plug, options) do
    {router, options} = Keyword.pop!(options, :router)
    port = PlugServer.start(router, options)
    %__MODULE__{kind: :plug, port: port, id: {:plug, [router: router] ++ options}}
  end

  @doc "The counters of a server that has served a request."
  @spec stats(t()) :: %{atom() => integer()}
  def stats(%__MODULE__{kind: :listener, pid: pid}), do: McpServer.HttpServer.stats(pid)
  def stats(%__MODULE__{kind: :plug, id: id}), do: Usage.stats(Mount.ensure(id, fn -> raise "not served" end).usage)

  @doc "Gives a listener or a drainer a minute for the final responses of its calls. A busy machine can need it."
  @spec unhurried(pid()) :: pid()
  def unhurried(pid) do
    :sys.replace_state(pid, &Map.replace!(&1, :last_words, 60_000))
    pid
  end

  @doc "Stops a listener like its supervisor."
  @spec stop(t()) :: :ok
  def stop(%__MODULE__{kind: :listener, id: id}), do: stop_supervised!(id)
end
