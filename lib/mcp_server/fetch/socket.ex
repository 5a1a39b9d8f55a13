defmodule McpServer.Fetch.Socket do
  @moduledoc false
  # A connection to one server, with TLS where the URL says so, and a budget: the time that may be spent waiting for
  # the server, all waits together. Who reads slowly uses up none of it.
  #
  # The address is looked up once, judged, and connected to, so that a name cannot mean another machine the second
  # time it is looked up.

  alias McpServer.Fetch.Address
  alias McpServer.Fetch.TLS

  @enforce_keys [:module, :socket, :budget]
  defstruct [:module, :socket, :budget, buffer: ""]

  @typedoc "`budget` is in native time units; `buffer` is what was read and not used."
  @type t :: %__MODULE__{module: :gen_tcp | :ssl, socket: term(), budget: integer(), buffer: binary()}

  # How much one read brings at most, and what the kernel holds before the server has to wait.
  @options [:binary, active: false, nodelay: true, buffer: 64 * 1024, recbuf: 128 * 1024, send_timeout_close: true]

  @doc "Connects to the host of a URL, within the request's time and to addresses that it allows."
  @spec connect(URI.t(), McpServer.Fetch.request(), tls :: keyword()) :: {:ok, t()} | {:error, term()}
  def connect(uri, request, tls) do
    budget = System.convert_time_unit(request.timeout, :millisecond, :native)
    {found, budget} = timed(budget, &addresses(uri.host, &1))

    with {:ok, addresses} <- found,
         :ok <- allowed(addresses, request.addresses) do
      first(addresses, uri, tls, budget, :timeout)
    end
  end

  defp addresses(host, timeout) do
    with :name <- Address.known(host), do: look_up(to_charlist(host), timeout)
  end

  # The system's resolver keeps to a time of its own, so it is waited for no longer than there is time. Not a task:
  # a caller that traps exits would be told of its end.
  defp look_up(host, timeout) do
    {pid, monitor} = spawn_monitor(fn -> exit({:found, Enum.flat_map([:inet, :inet6], &addresses_of(host, &1))}) end)

    receive do
      {:DOWN, ^monitor, :process, ^pid, {:found, [_one | _others] = addresses}} -> {:ok, addresses}
      {:DOWN, ^monitor, :process, ^pid, _nothing} -> {:error, :nxdomain}
    after
      timeout ->
        Process.demonitor(monitor, [:flush])
        Process.exit(pid, :kill)
        {:error, :timeout}
    end
  end

  defp addresses_of(host, family) do
    case :inet.getaddrs(host, family) do
      {:ok, addresses} -> addresses
      {:error, _unknown} -> []
    end
  end

  # All of them: who answers with a public and a private address hopes for the second attempt.
  defp allowed(addresses, scope) do
    if Enum.all?(addresses, &Address.within?(&1, scope)), do: :ok, else: {:error, {:address, scope}}
  end

  defp first([], _uri, _tls, _budget, reason), do: {:error, reason}

  defp first([address | others], uri, tls, budget, _reason) do
    # What an address that does not answer may take, if there are others to try.
    share = div(budget, length(others) + 1)
    {opened, left} = timed(share, &open(address, uri, tls, &1))

    case opened do
      {:ok, module, socket} -> {:ok, %__MODULE__{module: module, socket: socket, budget: budget - share + left}}
      # The server was reached: the reason is told, and not that of an address where nobody listens.
      {:error, {:tls_alert, _alert} = reason} -> {:error, reason}
      {:error, reason} -> first(others, uri, tls, budget - share + left, reason)
    end
  end

  defp open(address, %{scheme: "http", port: port}, _tls, timeout) do
    with {:ok, socket} <- :gen_tcp.connect(address, port, family(address) ++ options(timeout), timeout),
         do: {:ok, :gen_tcp, socket}
  end

  defp open(address, %{scheme: "https", host: host, port: port}, tls, timeout) do
    with {:ok, tls} <- TLS.options(host, tls),
         {:ok, socket} <- :ssl.connect(address, port, family(address) ++ options(timeout) ++ tls, timeout),
         do: {:ok, :ssl, socket}
  end

  defp options(timeout), do: [{:send_timeout, timeout} | @options]

  defp family({_, _, _, _}), do: [:inet]
  defp family(_ipv6), do: [:inet6]

  @doc "Writes all of some bytes."
  @spec write(t(), iodata()) :: {:ok, t()} | {:error, term()}
  def write(socket, bytes) do
    {result, budget} = timed(socket.budget, fn _timeout -> socket.module.send(socket.socket, bytes) end)
    with :ok <- result, do: {:ok, %{socket | budget: budget}}
  end

  @doc "Adds what the server sends next to the buffer."
  @spec read(t()) :: {:ok, t()} | {:error, term()}
  def read(socket) do
    {result, budget} = timed(socket.budget, &socket.module.recv(socket.socket, 0, &1))
    with {:ok, bytes} <- result, do: {:ok, %{socket | budget: budget, buffer: append(socket.buffer, bytes)}}
  end

  defp append("", bytes), do: bytes
  defp append(buffer, bytes), do: buffer <> bytes

  @doc "Closes it."
  @spec close(t()) :: :ok
  def close(socket) do
    _result = socket.module.close(socket.socket)
    :ok
  end

  # Runs a wait with the milliseconds that are left, and takes what it needed off the budget.
  defp timed(budget, _wait) when budget <= 0, do: {{:error, :timeout}, 0}

  defp timed(budget, wait) do
    start = System.monotonic_time()
    result = wait.(max(1, System.convert_time_unit(budget, :native, :millisecond)))
    {result, budget - (System.monotonic_time() - start)}
  end
end
