defmodule Stress.Hostile.Shares.Greed do
  @moduledoc "What one principal does to get what belongs to others. Each is a `Stress.Hostile.Attack`."

  alias McpServer.HttpRequests
  alias Stress.Hostile.Wire

  @doc "The bytes of a request of the greedy principal."
  @spec bytes(McpServer.HttpPeer.request(), :inet.port_number()) :: binary()
  def bytes(request, port), do: request |> HttpRequests.as("eve") |> Wire.bytes(port)

  @doc "Opens a session. Returns its id, or `nil` if it was refused."
  @spec open(:inet.port_number(), capabilities :: map(), revision :: String.t()) :: String.t() | nil
  def open(port, capabilities \\ %{}, revision \\ "2025-11-25") do
    session_id(exchange(HttpRequests.initialize(revision, capabilities: capabilities), port))
  end

  @doc "The id of the session that this response opens, or `nil`."
  @spec session_id(binary()) :: String.t() | nil
  def session_id(response),
    do: with([_line, id] <- Regex.run(~r/^mcp-session-id: (\S+)\r$/mi, response), do: id)

  @doc "Sends a request on a connection of its own. Returns the first bytes of the response."
  @spec exchange(McpServer.HttpPeer.request(), :inet.port_number(), wait :: non_neg_integer()) :: binary()
  def exchange(request, port, wait \\ 1_000), do: request |> bytes(port) |> send_bytes(port, wait)

  @doc "Sends bytes on a connection of their own. Returns the first bytes of the response that come in time."
  @spec send_bytes(binary(), :inet.port_number(), wait :: non_neg_integer()) :: binary()
  def send_bytes(bytes, port, wait) do
    peer = Wire.connect(port)
    Wire.send_request(peer, bytes)
    response = Wire.glance(peer, wait)
    Wire.leave(peer)
    with {:ok, bytes} <- response, do: bytes, else: (_closed -> "")
  end

  @doc "Opens a session and starts ten tasks in it. `ask` sends a request. Returns how many requests that makes."
  @spec start_tasks(task :: map(), ask :: (McpServer.HttpPeer.request() -> binary())) :: pos_integer()
  def start_tasks(task, ask) do
    params = %{"name" => "sleep", "arguments" => %{"ms" => 60_000}, "task" => task}

    if id = session_id(ask.(HttpRequests.initialize())) do
      for _ <- 1..10, do: ask.(HttpRequests.of_session(HttpRequests.legacy("tools/call", params), id))
    end

    11
  end
end

defmodule Stress.Hostile.Shares.EndedSessions do
  @moduledoc "Opens sessions and ends them: each ended one is remembered."
  @behaviour Stress.Hostile.Attack

  alias McpServer.HttpRequests
  alias Stress.Hostile.Shares.Greed

  @impl true
  def name, do: "ended sessions"

  @impl true
  def clients, do: 8

  @impl true
  def prepare(_target), do: nil

  @impl true
  def attack(%{port: port}, nil) do
    if id = Greed.open(port), do: Greed.exchange(HttpRequests.of_session(HttpRequests.delete(), id), port)
    {2, nil}
  end
end

defmodule Stress.Hostile.Shares.Stored do
  @moduledoc "Stores results, and values in sessions."
  @behaviour Stress.Hostile.Attack

  alias McpServer.HttpRequests
  alias Stress.Hostile.Shares.Greed

  @impl true
  def name, do: "stored results and values"

  @impl true
  def clients, do: 8

  @impl true
  def prepare(_target), do: nil

  @impl true
  def attack(%{port: port}, nil) do
    Greed.exchange(HttpRequests.modern_call("store", %{"rows" => 100}), port)
    if id = Greed.open(port), do: Greed.exchange(HttpRequests.of_session(HttpRequests.legacy_call("keep"), id), port)
    {3, nil}
  end
end

defmodule Stress.Hostile.Shares.Tasks do
  @moduledoc "Starts tasks in many sessions."
  @behaviour Stress.Hostile.Attack

  alias Stress.Hostile.Shares.Greed

  @impl true
  def name, do: "tasks in many sessions"

  @impl true
  def clients, do: 8

  @impl true
  def prepare(_target), do: nil

  @impl true
  def attack(%{port: port}, nil), do: {Greed.start_tasks(%{}, &Greed.exchange(&1, port)), nil}
end

defmodule Stress.Hostile.Shares.AnonymousTasks do
  @moduledoc "Starts tasks in many sessions, without a principal."
  @behaviour Stress.Hostile.Attack

  alias Stress.Hostile.Shares.Greed
  alias Stress.Hostile.Wire

  @impl true
  def name, do: "tasks of nobody in many sessions"

  @impl true
  def clients, do: 8

  @impl true
  def prepare(_target), do: nil

  @impl true
  def attack(%{port: port}, nil), do: {Greed.start_tasks(%{"ttl" => 3_600_000}, &ask(&1, port)), nil}

  defp ask(request, port), do: request |> Wire.bytes(port) |> Greed.send_bytes(port, 1_000)
end

defmodule Stress.Hostile.Shares.Calls do
  @moduledoc "Makes slow calls in sessions, which go on when their connections are closed."
  @behaviour Stress.Hostile.Attack

  alias McpServer.HttpRequests
  alias Stress.Hostile.Shares.Greed

  @impl true
  def name, do: "slow calls in sessions"

  @impl true
  def clients, do: 16

  @impl true
  def prepare(%{port: port}), do: Greed.open(port)

  @impl true
  def attack(%{port: port}, nil), do: {1, Greed.open(port)}

  def attack(%{port: port}, session) do
    id = Integer.to_string(System.unique_integer([:positive]))
    call = HttpRequests.legacy_call("sleep", %{"ms" => 5_000}, id: id)
    Greed.exchange(HttpRequests.of_session(call, session), port, 20)
    {1, session}
  end
end

defmodule Stress.Hostile.Shares.SlowReaders do
  @moduledoc "Reads stored results slowly, and other pages of them, so that pages are cached."
  @behaviour Stress.Hostile.Attack

  alias McpServer.HttpRequests
  alias Stress.Hostile.Shares.Greed
  alias Stress.Hostile.Wire

  @impl true
  def name, do: "slow readers"

  @impl true
  def clients, do: 64

  @impl true
  def prepare(%{port: port}) do
    response = Greed.exchange(HttpRequests.modern_call("store", %{"rows" => 500}), port)
    with [_text, id] <- Regex.run(~r/"text":"([^"]+)"/, response), do: id
  end

  @impl true
  def attack(target, nil), do: {1, prepare(target)}

  def attack(%{port: port}, id) do
    request = %{method: "POST", target: "/resources/" <> id, headers: [{"accept", "application/x-ndjson"}], body: nil}
    peer = Wire.connect(port)
    Wire.send_request(peer, Greed.bytes(request, port))
    Process.sleep(2_000)
    Wire.leave(peer)
    page = ~s({"offset": #{:rand.uniform(400)}, "limit": #{:rand.uniform(100)}})
    Greed.exchange(%{request | headers: [{"content-type", "application/json"}], body: page}, port)
    {2, id}
  end
end

defmodule Stress.Hostile.Shares.LongWork do
  @moduledoc """
  Sends what takes long on dirty schedulers, from many connections: long messages, short calls whose arguments take
  millions of steps to check, and batches of those.
  """
  @behaviour Stress.Hostile.Attack

  alias McpServer.{HttpRequests, JSON}
  alias Stress.Hostile.Shares.Greed

  @hostile %{"value" => "hostile"}

  @impl true
  def name, do: "long work on dirty schedulers"

  @impl true
  def clients, do: 60

  @impl true
  def prepare(%{port: port}) do
    values = %{"text" => "x", "more" => for(n <- 1..90_000, do: [n])}
    calls = [HttpRequests.modern_call("echo", values), HttpRequests.modern_call("lattice", @hostile)]
    for request <- calls ++ batches(port), do: Greed.bytes(request, port)
  end

  defp batches(port) do
    if id = Greed.open(port, %{}, "2025-03-26") do
      call = &HttpRequests.message("tools/call", %{"name" => "lattice", "arguments" => @hostile}, id: &1)
      [HttpRequests.of_session(HttpRequests.in_session(JSON.encode!(Enum.map(1..10, call))), id)]
    else
      []
    end
  end

  @impl true
  def attack(%{port: port}, requests) do
    Greed.send_bytes(Enum.random(requests), port, 5_000)
    {1, requests}
  end
end

defmodule Stress.Hostile.Shares.OthersSessions do
  @moduledoc "Uses the ids of sessions of others."
  @behaviour Stress.Hostile.Attack

  alias McpServer.HttpRequests
  alias Stress.Hostile.Shares.Greed

  @impl true
  def name, do: "sessions of others"

  @impl true
  def clients, do: 4

  # The session of another principal, whose id has leaked.
  @impl true
  def prepare(%{port: port}) do
    response =
      McpServer.HttpPeer.request(Stress.Hostile.Wire.connect(port), HttpRequests.as(HttpRequests.initialize(), "carol"))

    McpServer.HttpResponse.header(response, "mcp-session-id")
  end

  @impl true
  def attack(%{port: port}, session) do
    requests = [
      HttpRequests.legacy_call("kept"),
      HttpRequests.delete(),
      HttpRequests.request("GET", [{"accept", "text/event-stream"}])
    ]

    statuses = for request <- requests, do: status(Greed.exchange(HttpRequests.of_session(request, session), port))

    if Enum.any?(statuses, &String.starts_with?(&1, "2")),
      do: {3, session, "another's session was used: #{inspect(statuses)}"},
      else: {3, session}
  end

  defp status("HTTP/1.1 " <> <<status::binary-size(3), _rest::binary>>), do: status
  defp status(_none), do: ""
end
