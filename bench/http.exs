for file <- ~w(request client server contenders wrk rounds idle), do: Code.require_file("http/#{file}.exs", __DIR__)

defmodule Bench.Http do
  @moduledoc """
  Compares the library over HTTP with servers on the official SDKs: requests a second, latencies, processor time
  and memory, and the cost of an idle connection and an idle stream. With Bandit on the code path, it also compares
  the plug with an empty plug.

  wrk runs on the same machine and uses a part of the processors. `BENCH_ROUNDS` and `BENCH_SECONDS` set the number and
  the length of the measurements, `BENCH_STREAMS` the number of idle streams.
  """

  alias Bench.Http.{Client, Contenders, Idle, Request, Rounds, Server}
  alias Bench.Measure

  @measured [echo: 1, echo: 16, echo: 64, echo: 256, echo_in_session: 16, ping: 16, list: 16]

  # Multiples of rmcp's figures: at least for requests a second, at most for processor time and p99.
  @targets [
    # One connection leaves both cores idle between messages, so the wake-up time of a scheduler decides.
    {"listener, default", :echo, 1, per_second: 1.0},
    {"listener", :echo, 16, per_second: 1.2, processor: 0.75},
    {"listener", :echo, 64, per_second: 1.2, processor: 0.75},
    {"listener", :echo, 256, processor: 0.75},
    {"listener, bound", :echo, 16, p99: 1.0},
    {"listener, bound", :echo, 64, p99: 1.0},
    {"listener", :echo_in_session, 16, per_second: 1.0},
    {"listener", :ping, 16, per_second: 4.0},
    {"listener, bound", :ping, 16, p99: 1.0},
    {"listener", :list, 16, per_second: 1.8, p99: 1.0},
    {"plug", :echo, 16, per_second: 1.0}
  ]
  # The same server with other flags, which do not affect idle connections.
  @flags_alone ["listener, bound", "listener, default"]
  @sessions 64
  @connection_kib 8
  @stream_kib 10
  @plug_us 12

  def run do
    case Contenders.build() do
      {:ok, contenders} ->
        met = speed(contenders) ++ plug_cost() ++ connections(contenders) ++ streams(contenders)
        tls_cost()
        met

      {:error, reason} ->
        IO.puts("HTTP is not measured: #{reason}")
        []
    end
  end

  defp requests do
    [
      echo: Request.echo(:stateless),
      echo_in_session: Request.echo(:session),
      ping: Request.ping(),
      list: Request.list()
    ]
  end

  defp speed(contenders) do
    IO.puts("\nHTTP: medians of #{Rounds.rounds()} rounds of #{Rounds.seconds()} s, wrk on the same machine")
    servers = for {name, command} <- contenders, do: Contenders.open_sessions(Server.start(name, command), @sessions)
    for server <- servers, {_key, request} <- requests(), do: :ok = Contenders.check!(server, request)

    results =
      for {key, connections} <- @measured, into: %{} do
        medians = Rounds.medians(servers, requests()[key], connections)
        print(title(key, connections), servers, medians)
        {{key, connections}, medians}
      end

    Enum.each(servers, &Server.stop/1)
    for target <- @targets, line <- speed_targets(target, results), do: line
  end

  defp title(key, 1), do: "#{requests()[key].name}, 1 connection"
  defp title(key, connections), do: "#{requests()[key].name}, #{connections} connections"

  defp print(title, servers, %{"rmcp" => rmcp} = medians) do
    rows = for server <- servers, do: row(server.name, medians[server.name], rmcp)
    Measure.table(title, ["", "req/s", "of rmcp's", "p50 ms", "p99 ms", "CPU µs", "memory MiB"], rows)
  end

  defp row(name, figures, rmcp) do
    ratio = "#{Float.round(figures.per_second / rmcp.per_second, 2)}×"
    times = [ms(figures.p50), ms(figures.p99), Measure.us(figures.processor)]
    [name, "#{round(figures.per_second)}", ratio] ++ times ++ ["#{div(figures.memory, 1024)}"]
  end

  defp ms(us), do: "#{Float.round(us / 1000, 2)}"

  defp speed_targets({contender, key, connections, bounds}, results) do
    case results[{key, connections}] do
      %{^contender => ours, "rmcp" => rmcp} ->
        for {figure, bound} <- bounds, do: target("#{contender}, #{title(key, connections)}", figure, bound, ours, rmcp)

      _not_measured ->
        []
    end
  end

  defp target(what, figure, bound, ours, rmcp) do
    reached = Map.fetch!(ours, figure) / Map.fetch!(rmcp, figure)
    {name, word, met?} = judge(figure, reached, bound)
    {"#{what}: #{name} #{Float.round(reached, 2)}× rmcp's, #{word} #{bound}×", met?}
  end

  defp judge(:per_second, reached, least), do: {"req/s", "at least", reached >= least}
  defp judge(:processor, reached, most), do: {"CPU", "at most", reached <= most}
  defp judge(:p99, reached, most), do: {"p99", "at most", reached <= most}

  defp plug_cost do
    case Contenders.plugs() do
      [] ->
        []

      plugs ->
        servers = for {name, command} <- plugs, do: Server.start(name, command)
        medians = Rounds.medians(servers, requests()[:echo], 16)
        Enum.each(servers, &Server.stop/1)
        rows = for {name, figures} <- medians, do: [name, "#{round(figures.per_second)}", Measure.us(figures.processor)]
        Measure.table("#{title(:echo, 16)}, beside a plug that does nothing", ["", "req/s", "CPU µs"], rows)
        cost = Float.round(medians["plug"].processor - medians["bare plug"].processor, 1)
        [{"plug: its own part takes #{cost} µs of CPU, at most #{@plug_us} µs", cost <= @plug_us}]
    end
  end

  # No target: the cost of TLS belongs to OTP and OpenSSL.
  defp tls_cost do
    {:ok, _applications} = Application.ensure_all_started(:ssl)
    [plain, tls] = for {name, command} <- Contenders.encrypted(), do: Server.start(name, command)
    tls = %{tls | scheme: "https"}
    medians = Rounds.medians([plain, tls], requests()[:echo], 16)

    rows =
      for {server, open} <- [{plain, &Client.connect/1}, {tls, &Client.connect_encrypted/1}] do
        {processor, kib} = Idle.connection_cost(server, open)
        figures = medians[server.name]
        [server.name, "#{round(figures.per_second)}", Measure.us(figures.processor), Measure.us(processor), "#{kib}"]
      end

    Enum.each([plain, tls], &Server.stop/1)
    head = ["", "req/s", "CPU µs", "CPU µs a connection", "KiB a connection"]
    Measure.table("#{title(:echo, 16)}, without and with TLS", head, rows)
  end

  defp connections(contenders) do
    open = &Client.open_connection(&1, Request.ping())
    idle("idle connections", Enum.reject(contenders, &match?({"python", _command}, &1)), open, @connection_kib)
  end

  defp streams(contenders),
    do: idle("idle streams", contenders, &Client.open_stream(&1, Request.listen()), @stream_kib)

  defp idle(what, contenders, open, most) do
    count = Idle.count(Rounds.setting("BENCH_STREAMS", 10_000))
    contenders = Enum.reject(contenders, fn {name, _command} -> name in @flags_alone end)
    each = for {name, command} <- contenders, do: {name, idle_kib(name, command, count, open)}
    rows = for {name, kib} <- each, do: [name, "#{Float.round(kib, 1)}"]
    Measure.table("#{count} #{what}", ["", "KiB each"], rows)

    for {"listener", kib} <- each,
        do: {"listener, #{what}: #{Float.round(kib, 1)} KiB each, at most #{most} KiB", kib <= most}
  end

  # Measured on a new server, whose memory has no free room from earlier work.
  defp idle_kib(name, command, count, open) do
    server = Server.start(name, command)
    kib = Idle.kib_each(server, count, open)
    Server.stop(server)
    kib
  end
end
