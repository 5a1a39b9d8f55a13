defmodule Stress.Hostile.Attacks.Drips do
  @moduledoc "Sends heads and bodies a byte at a time, on one connection per client."
  @behaviour Stress.Hostile.Attack

  alias Stress.Hostile.Wire

  @drops 60
  @pause_ms 20

  @impl true
  def name, do: "dripping requests"

  @impl true
  def clients, do: 200

  @impl true
  def prepare(%{port: port}), do: Wire.echo(60_000, port)

  # The slow bytes start at any position of the head or the body.
  @impl true
  def attack(%{port: port}, request) do
    at = if :rand.uniform(2) == 1, do: :rand.uniform(300), else: 1_000 + :rand.uniform(50_000)
    {begin, <<drops::binary-size(@drops), _rest::binary>>} = :erlang.split_binary(request, at)
    peer = Wire.connect(port)
    Wire.send_request(peer, begin)

    Enum.take_while(String.graphemes(drops), fn drop ->
      Process.sleep(@pause_ms)
      Wire.send_request(peer, drop) == :ok
    end)

    Wire.leave(peer)
    {1, request}
  end
end

defmodule Stress.Hostile.Attacks.Streams do
  @moduledoc "Makes calls with answers on streams, and reads none of them."
  @behaviour Stress.Hostile.Attack

  alias McpServer.HttpRequests
  alias Stress.Hostile.Wire

  @impl true
  def name, do: "streams unread"

  @impl true
  def clients, do: 50

  @impl true
  def prepare(%{port: port}) do
    listen = HttpRequests.modern("subscriptions/listen", %{"notifications" => %{"toolsListChanged" => true}})
    {Wire.bytes(listen, port), Wire.sleep(1_500, port), Wire.echo(500_000, port)}
  end

  @impl true
  def attack(%{port: port}, requests) do
    peer = Wire.connect(port)
    Wire.send_request(peer, elem(requests, :rand.uniform(tuple_size(requests)) - 1))
    Process.sleep(:rand.uniform(2_000))
    Wire.leave(peer)
    {1, requests}
  end
end

defmodule Stress.Hostile.Attacks.HalfClosed do
  @moduledoc "Half-closes the connection after a request, within a request, or before any request."
  @behaviour Stress.Hostile.Attack

  alias McpServer.HttpPeer
  alias Stress.Hostile.Wire

  @impl true
  def name, do: "half-closed sockets"

  @impl true
  def clients, do: 50

  @impl true
  def prepare(%{port: port}) do
    whole = Wire.echo(5_000, port)
    {"", binary_part(whole, 0, 100), binary_part(whole, 0, 3_000), whole, Wire.sleep(200, port)}
  end

  @impl true
  def attack(%{port: port}, requests) do
    peer = Wire.connect(port)
    Wire.send_request(peer, elem(requests, :rand.uniform(tuple_size(requests)) - 1))
    HttpPeer.half_close(peer)
    Wire.glance(peer, 300)
    Wire.leave(peer)
    {1, requests}
  end
end

defmodule Stress.Hostile.Attacks.Pipelines do
  @moduledoc "Sends a thousand requests at once, and reads a little of the answers."
  @behaviour Stress.Hostile.Attack

  alias McpServer.HttpRequests
  alias Stress.Hostile.Wire

  @at_once 1_000

  @impl true
  def name, do: "pipelined floods"

  @impl true
  def clients, do: 8

  @impl true
  def prepare(%{port: port}) do
    list = Wire.bytes(HttpRequests.modern("tools/list"), port)
    {String.duplicate(Wire.echo(10, port), @at_once), String.duplicate(list, @at_once)}
  end

  @impl true
  def attack(%{port: port}, floods) do
    peer = Wire.connect(port)
    Wire.send_request(peer, elem(floods, :rand.uniform(tuple_size(floods)) - 1))
    Wire.glance(peer, 1_000)
    Process.sleep(:rand.uniform(200))
    Wire.leave(peer)
    {@at_once, floods}
  end
end

defmodule Stress.Hostile.Attacks.Lengths do
  @moduledoc """
  Sends a request with two lengths after a valid request, cut at each byte in turn, so that the server's reads
  end at every position. The server must run neither this request nor the bytes after it.
  """
  @behaviour Stress.Hostile.Attack

  alias McpServer.HttpRequests
  alias Stress.Hostile.Wire

  @hidden String.duplicate("x", 20)
  @wait_ms 300

  @impl true
  def name, do: "two lengths, cut"

  @impl true
  def clients, do: 8

  @impl true
  def prepare(%{port: port}) do
    call = HttpRequests.modern_call("echo", %{"text" => @hidden})
    chunk = [Integer.to_string(byte_size(call.body), 16), "\r\n", call.body, "\r\n0\r\n\r\n"]
    lengths = [{"content-length", to_string(IO.iodata_length(chunk))}, {"transfer-encoding", "chunked"}]
    ambiguous = %{call | body: chunk} |> HttpRequests.with_headers(lengths) |> Wire.bytes(port)
    bytes = Wire.echo(10, port) <> ambiguous <> Wire.bytes(call, port)
    {bytes, :rand.uniform(byte_size(bytes)) - 1}
  end

  @impl true
  def attack(%{port: port}, {bytes, at}) do
    {first, rest} = :erlang.split_binary(bytes, at)
    peer = Wire.connect(port)
    Wire.send_request(peer, first)
    Process.sleep(1)
    Wire.send_request(peer, rest)
    answers = read(peer, "")
    Wire.leave(peer)
    next = {bytes, rem(at + 1, byte_size(bytes))}

    if answers =~ @hidden,
      do: {1, next, "a request with two lengths, or one behind it, was carried out"},
      else: {1, next}
  end

  defp read(peer, answers) do
    case Wire.glance(peer, @wait_ms) do
      {:ok, bytes} -> read(peer, answers <> bytes)
      {:error, _closed} -> answers
    end
  end
end

defmodule Stress.Hostile.Attacks.UnreadTls do
  @moduledoc """
  Starts a slow call over TLS, sends a megabyte behind it, and closes. The server holds back what it need not read, and
  the call ends with its client.
  """
  @behaviour Stress.Hostile.Attack

  alias Stress.Hostile.Wire

  @call_ms 240_000
  @record String.duplicate("x", 16_384)
  @records 64
  @connect_ms 5_000

  @impl true
  def name, do: "unread bytes over TLS"

  @impl true
  def clients, do: 8

  @impl true
  def prepare(%{tls_port: port}) do
    {:ok, _started} = Application.ensure_all_started(:ssl)
    Wire.sleep(@call_ms, port)
  end

  @impl true
  def attack(%{tls_port: port}, slow) do
    options = [:binary, ip: Wire.address(), active: false, verify: :verify_none, send_timeout: 200]
    {:ok, socket} = :ssl.connect({127, 0, 0, 1}, port, options, @connect_ms)
    :ok = :ssl.send(socket, slow)
    Enum.take_while(1..@records, fn _record -> :ssl.send(socket, @record) == :ok end)
    :ssl.close(socket)
    {1, slow}
  end
end
