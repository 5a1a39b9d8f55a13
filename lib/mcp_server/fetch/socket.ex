defmodule McpServer.Fetch.Socket do
  @moduledoc false
  # A connection to one server, with TLS for https URLs, and a time budget for all waits for the server together. A slow
  # caller does not use up the budget.
  #
  # The address is looked up once, checked and used for the connection. A second lookup could return another machine.

  alias McpServer.Fetch.Address
  alias McpServer.Fetch.TLS

  @enforce_keys [:module, :socket, :budget]
  defstruct [:module, :socket, :budget, buffer: ""]

  @typedoc "`budget` is in native time units. `buffer` has the bytes that were read but not used."
  @type t :: %__MODULE__{module: :gen_tcp | :ssl, socket: term(), budget: integer(), buffer: binary()}

  # `buffer` limits one read. `recbuf` limits the unread bytes in the kernel before the server has to wait.
  @options [:binary, active: false, nodelay: true, buffer: 64 * 1024, recbuf: 128 * 1024, send_timeout_close: true]

  @doc "Connects to the host of a URL, within the request's time and to its allowed addresses."
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

  # The system's resolver has its own timeout, so it runs in a process that is waited for within the budget. The process
  # is not a `Task`, because a caller that traps exits would receive its exit message.
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

  # All addresses are checked: an attacker may mix public and private ones, so that a retry uses the private one.
  defp allowed(addresses, scope) do
    if Enum.all?(addresses, &Address.within?(&1, scope)), do: :ok, else: {:error, {:address, scope}}
  end

  defp first([], _uri, _tls, _budget, reason), do: {:error, reason}

  defp first([address | others], uri, tls, budget, _reason) do
    # The time for one address, so that time is left for the others.
    share = div(budget, length(others) + 1)
    {opened, left} = timed(share, &open(address, uri, tls, &1))

    case opened do
      {:ok, module, socket} -> {:ok, %__MODULE__{module: module, socket: socket, budget: budget - share + left}}
      # The server was reached, so its reason is reported, not the connection error of another address.
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

  @doc "Writes all bytes."
  @spec write(t(), iodata()) :: {:ok, t()} | {:error, term()}
  def write(socket, bytes) do
    {result, budget} = timed(socket.budget, fn _timeout -> socket.module.send(socket.socket, bytes) end)
    with :ok <- result, do: {:ok, %{socket | budget: budget}}
  end

  @doc "Adds the server's next bytes to the buffer."
  @spec read(t()) :: {:ok, t()} | {:error, term()}
  def read(socket) do
    {result, budget} = timed(socket.budget, &socket.module.recv(socket.socket, 0, &1))
    with {:ok, bytes} <- result, do: {:ok, %{socket | budget: budget, buffer: append(socket.buffer, bytes)}}
  end

  defp append("", bytes), do: bytes
  defp append(buffer, bytes), do: buffer <> bytes

  @doc "Closes the socket."
  @spec close(t()) :: :ok
  def close(socket) do
    _result = socket.module.close(socket.socket)
    :ok
  end

  # Runs a wait with the remaining milliseconds, and subtracts its time from the budget.
  defp timed(budget, _wait) when budget <= 0, do: {{:error, :timeout}, 0}

  defp timed(budget, wait) do
    start = System.monotonic_time()
    result = wait.(max(1, System.convert_time_unit(budget, :native, :millisecond)))
    {result, budget - (System.monotonic_time() - start)}
  end
end
