defmodule McpServer.FaultServer do
  # A router in a separate VM, over stdio or HTTP, with the same functions for both. The VM's log is a file.
  @moduledoc false

  import McpServer.HttpCase, only: [eventually: 1]

  alias McpServer.{HttpPeer, HttpRequests, HttpResponse, HttpServers, Invariant, JSON, StdioPeer}

  # A response may be as long as a tool's result may be.
  @most_bytes 128 * 1024 * 1024

  @enforce_keys [:transport, :peer]
  defstruct [:transport, :peer, :http]

  @type t :: %__MODULE__{transport: :stdio | :http, peer: %StdioPeer{}, http: HttpServers.t() | nil}

  @doc "The transports."
  @spec transports() :: [:stdio | :http]
  def transports, do: [:stdio, :http]

  @doc """
  Starts a VM. `options` are those of `McpServer.Stdio` or `McpServer.HttpServer`, with `:router`. Further options are
  `:logger`, the log level, `:flags` of `elixir`, and `:limit`, shell commands that run before it.
  """
  @spec start(:stdio | :http, Path.t(), keyword()) :: t()
  def start(transport, tmp_dir, options \\ []) do
    {router, options} = Keyword.pop(options, :router, McpServer.FaultRouter)
    {logger, options} = Keyword.pop(options, :logger, :debug)
    {flags, options} = Keyword.pop(options, :flags, "")
    {limit, options} = Keyword.pop(options, :limit)
    level = "Logger.configure(level: #{inspect(logger)}); "
    vm = StdioPeer.vm(level <> expression(transport, router, options), flags)
    command = if limit, do: "{ #{limit}; #{vm}; }", else: vm
    opened(transport, StdioPeer.start(command, tmp_dir: tmp_dir))
  end

  # Loads the complete library and rarely used modules before the figures of the VM are taken.
  @load "{:ok, modules} = :application.get_key(:mcp_server, :modules); :code.ensure_modules_loaded([:rand | modules]); "

  defp expression(:stdio, router, options) do
    "Application.load(:mcp_server); " <>
      @load <> "McpServer.Stdio.run(#{inspect(router)}, #{inspect([app: :mcp_server] ++ options)})"
  end

  # The first and only line of stdout is the port.
  defp expression(:http, router, options) do
    # The log line with the port is not a fault.
    "McpServer.FaultServer.log_to_stderr(); Logger.put_module_level(McpServer.HttpServer, :warning); " <>
      "{:ok, _} = Application.ensure_all_started(:mcp_server); " <>
      @load <>
      "{:ok, server} = McpServer.HttpServer.start_link(#{inspect([router: router, port: 0] ++ options)}); " <>
      "IO.puts(McpServer.HttpServer.port(server)); IO.read(:eof); System.halt(0)"
  end

  # Runs in the VM. Until Elixir 1.14 Logger has a console backend, later versions use a handler of Erlang.
  @doc false
  def log_to_stderr do
    case :logger.get_handler_config(:default) do
      {:ok, %{config: config} = handler} ->
        :ok = :logger.remove_handler(:default)
        :ok = :logger.add_handler(:default, handler.module, %{handler | config: %{config | type: :standard_error}})

      {:error, _none} ->
        apply(Logger, :configure_backend, [:console, [device: :standard_error]])
    end
  end

  defp opened(:stdio, peer), do: %__MODULE__{transport: :stdio, peer: peer}

  defp opened(:http, peer) do
    port = peer |> StdioPeer.line(60_000) |> String.to_integer()
    %__MODULE__{transport: :http, peer: peer, http: %HttpServers{kind: :listener, port: port}}
  end

  @doc "The response to a tool call."
  @spec call(t(), String.t(), map(), keyword()) :: map()
  def call(server, name, arguments \\ %{}, options \\ []) do
    id = System.unique_integer([:positive])
    server |> begin(id, name, arguments, options) |> await(id)
  end

  @doc "Sends a tool call without waiting. `await/2` reads its response."
  @spec begin(t(), integer(), String.t(), map(), keyword()) :: t()
  def begin(server, id, name, arguments \\ %{}, options \\ []) do
    request = HttpRequests.modern_call(name, arguments, [id: id] ++ options)
    write(server, id, request.body, request)
  end

  @doc "The response to a request of 2026-07-28. `options` are those of `McpServer.HttpRequests.modern/3`."
  @spec ask(t(), String.t(), map(), keyword()) :: map()
  def ask(server, method, params, options \\ []) do
    id = System.unique_integer([:positive])
    request = HttpRequests.modern(method, params, [id: id] ++ options)
    server |> write(id, request.body, request) |> await(id)
  end

  @doc "The response to any bytes. Over HTTP it is `{:status, status}` if it has no message."
  @spec send_bytes(t(), iodata(), [{String.t(), String.t()}]) :: map() | {:status, pos_integer()}
  def send_bytes(server, bytes, headers \\ []),
    do: server |> write(:bytes, bytes, HttpRequests.post(bytes, headers)) |> await(:bytes)

  defp write(%{transport: :stdio, peer: peer} = server, _id, bytes, _request) do
    StdioPeer.write_raw(peer, [bytes, ?\n])
    server
  end

  defp write(%{transport: :http, http: http} = server, id, _bytes, request) do
    peer = HttpPeer.connect(http.port)
    # A server may refuse a body without reading it.
    _sent_or_refused = HttpPeer.send_request(peer, request)
    Process.put({__MODULE__, id}, peer)
    server
  end

  @doc """
  The response to the request with that id. Drops notifications before it, and keeps other responses. Over stdio it
  waits for `timeout` milliseconds, over HTTP until the connection closes.
  """
  @spec await(t(), term(), timeout()) :: map() | {:status, pos_integer()}
  def await(server, id, timeout \\ 120_000)

  def await(%{transport: :stdio, peer: peer} = server, id, timeout) do
    with nil <- Process.delete({__MODULE__, peer, id}) do
      message = StdioPeer.message(peer, timeout)

      cond do
        # The response to unreadable bytes has no id.
        id == :bytes or message["id"] == id -> message
        is_map_key(message, "method") -> await(server, id, timeout)
        true -> keep(server, message, id, timeout)
      end
    end
  end

  def await(%{transport: :http}, id, _timeout) do
    peer = Process.delete({__MODULE__, id})
    response = HttpPeer.response(peer)
    message = message(peer, response)
    HttpPeer.close(peer)
    message
  end

  @doc "Cancels a started call like a client of 2026-07-28. Over HTTP such a client closes its connection."
  @spec cancel(t(), integer()) :: term()
  def cancel(%{transport: :stdio, peer: peer}, id) do
    note = %{"jsonrpc" => "2.0", "method" => "notifications/cancelled", "params" => %{"requestId" => id}}
    StdioPeer.write_raw(peer, [JSON.encode!(note), ?\n])
  end

  def cancel(%{transport: :http}, id), do: {__MODULE__, id} |> Process.delete() |> HttpPeer.close()

  defp keep(%{peer: peer} = server, message, id, timeout) do
    Process.put({__MODULE__, peer, message["id"]}, message)
    await(server, id, timeout)
  end

  defp message(peer, %{body: :stream}) do
    events =
      for %{data: data} <- HttpPeer.events(peer), data not in [nil, ""], do: JSON.decode!(data, max_bytes: @most_bytes)

    List.last(events) || {:status, 200}
  end

  defp message(_peer, %{body: ""} = response), do: {:status, response.status}
  defp message(_peer, response), do: HttpResponse.json(response)

  @doc "The figures of the VM. See `McpServer.Invariant`."
  @spec figures(t()) :: map()
  def figures(server), do: server |> call("figures") |> text() |> JSON.decode!()

  @doc "The text of a tool's result."
  @spec text(map()) :: String.t()
  def text(%{"result" => %{"content" => [%{"text" => text}]}}), do: text

  @doc "Asserts that `fun` keeps Invariant I of the VM, and that the VM still answers."
  @spec assert_kept(t(), (() -> result)) :: result when result: term()
  def assert_kept(server, fun) do
    # The first calls load modules, open files and fill caches.
    for _ <- 1..3, do: figures(server)
    Invariant.assert_kept(fn -> figures(server) end, fun)
  end

  @doc "The VM's log entries."
  @spec log(t()) :: [String.t()]
  def log(server) do
    ~r/^(?=\d\d:\d\d:\d\d\.\d{3} )/m |> Regex.split(StdioPeer.errors(server.peer), trim: true)
  end

  @doc "Ends the VM as its client would. Returns its exit status."
  @spec stop(t()) :: non_neg_integer()
  def stop(%{peer: peer}) do
    StdioPeer.eof(peer)
    StdioPeer.exit_status(peer, 60_000)
  end

  @doc "Waits for a VM that has answered and then ends by itself. Returns its exit status."
  @spec ended(t()) :: non_neg_integer()
  def ended(%{peer: peer} = server) do
    {:os_pid, shell} = Port.info(peer.port, :os_pid)
    # The other child writes to the VM's stdin. It does not notice that the VM has ended.
    eventually(fn -> length(children(shell)) == 1 end)
    stop(server)
  end

  defp children(pid), do: "/proc/#{pid}/task/#{pid}/children" |> File.read!() |> String.split()
end
