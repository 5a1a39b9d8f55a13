defmodule Stress.Hostile.Wire do
  @moduledoc "The attackers' sockets, all from one address that no other client uses."

  alias McpServer.{HttpPeer, HttpRequests}

  @options [reuseaddr: true, send_timeout: 2_000, send_timeout_close: true, recbuf: 8_192]

  @doc "Connects to a port of the server."
  @spec connect(:inet.port_number()) :: HttpPeer.t()
  def connect(port), do: HttpPeer.connect(port, [ip: address()] ++ @options)

  @doc "An address of this machine outside loopback: the server does not separate clients on loopback."
  @spec address() :: :inet.ip4_address()
  def address do
    with nil <- :persistent_term.get(__MODULE__, nil) do
      {:ok, interfaces} = :inet.getifaddrs()
      addresses = for {_name, options} <- interfaces, {:addr, {a, _, _, _} = address} <- options, a != 127, do: address
      address = List.first(addresses) || {127, 0, 0, 66}
      :persistent_term.put(__MODULE__, address)
      address
    end
  end

  @doc "Whether this machine has such an address, so that the attackers' address has a share."
  @spec shared?() :: boolean()
  def shared?, do: not match?({127, _, _, _}, address())

  @doc "Sends a request, even if the server does not read all of it."
  @spec send_request(HttpPeer.t(), iodata()) :: :ok | {:error, term()}
  def send_request(peer, bytes), do: HttpPeer.write(peer, bytes)

  @doc "The bytes of a request with the port in its `host`."
  @spec bytes(HttpPeer.request(), :inet.port_number()) :: binary()
  def bytes(request, port), do: %HttpPeer{socket: nil, port: port} |> HttpPeer.bytes(request) |> IO.iodata_to_binary()

  @doc "The bytes of a call of `echo` with this number of bytes."
  @spec echo(non_neg_integer(), :inet.port_number()) :: binary()
  def echo(length, port),
    do: "echo" |> HttpRequests.modern_call(%{"text" => String.duplicate("x", length)}) |> bytes(port)

  @doc "The bytes of a call of `sleep`."
  @spec sleep(pos_integer(), :inet.port_number()) :: binary()
  def sleep(milliseconds, port), do: "sleep" |> HttpRequests.modern_call(%{"ms" => milliseconds}) |> bytes(port)

  @doc "Waits for the first bytes of an answer, or for the end, up to a number of milliseconds."
  @spec glance(HttpPeer.t(), non_neg_integer()) :: {:ok, binary()} | {:error, term()}
  def glance(peer, milliseconds), do: HttpPeer.raw(peer, 0, milliseconds)

  @doc "Closes the connection, every second one with a reset."
  @spec leave(HttpPeer.t()) :: :ok
  def leave(peer), do: if(:rand.uniform(2) == 1, do: HttpPeer.close(peer), else: HttpPeer.cut(peer))
end
