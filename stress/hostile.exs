defmodule Stress.Hostile do
  @moduledoc """
  Every known attack on servers of this kind, each together with well-behaved clients.

  The server, the attackers and the well-behaved clients each have a VM; the clients' VM is this one. The clients must
  see no error. Half a minute after the last attacker has left, which is how long a client may not read, memory,
  processes, ports, atoms and open requests must be as before. In the long form the clients' p99 must stay within five times
  that of a quiet server.
  """

  for file <- ~w(wire attackers others attacks/bodies attacks/hoards attacks/places attacks/sockets shares) do
    Code.require_file("hostile/#{file}.exs", __DIR__)
  end

  alias Stress.Hostile.{Attackers, Attacks, Others, Shares}
  alias Stress.{Report, Server}

  @attacks [
    Attacks.Abandoned,
    Attacks.Unread,
    Attacks.Listens,
    Attacks.Sessions,
    Attacks.Hooks,
    Attacks.Places,
    Attacks.Departures,
    Attacks.UnreadTls,
    Attacks.Drips,
    Attacks.Streams,
    Attacks.HalfClosed,
    Attacks.Pipelines,
    Attacks.Lengths
  ]

  @quiet_ms 5_000
  @warm_ms 2_000
  @times 5
  # The default of `stall_timeout:`, until which a client that does not read keeps its connection.
  @settling_ms 30_000

  @doc "Runs the attacks one by one, then all at once; `STRESS_SECONDS` sets the length of each run."
  @spec run(boolean()) :: [{String.t(), boolean()} | {String.t(), boolean(), :timed}]
  def run(short?) do
    duration = if short?, do: 2_000, else: 1_000 * String.to_integer(System.get_env("STRESS_SECONDS", "240"))
    quiet = if short?, do: 300, else: min(@quiet_ms, duration)
    attackers = Attackers.launch()
    findings = on_server(chosen(@attacks), attackers, {quiet, duration})
    of_owners = Shares.run(attackers, chosen(Shares.attacks()), duration)
    Attackers.stop(attackers)
    findings ++ of_owners
  end

  defp on_server([], _attackers, _times), do: []

  defp on_server(attacks, attackers, times) do
    Report.line("", ["requests", "errors", "p99 quiet", "p99 ms", "memory MB", "RSS MB", "processes"])
    rounds = for(attack <- attacks, do: {attack.name(), [attack]}) ++ [{"all together", attacks}]

    {findings, server} =
      Enum.flat_map_reduce(rounds, nil, fn {name, attacks}, server ->
        server = server || warmed(Server.launch(), attackers, attacks)
        {findings, held?} = round(name, attacks, {server, attackers}, times)
        {findings, if(held?, do: server, else: stopped(server))}
      end)

    stopped(server)
    findings
  end

  # Allocators keep their first growth; only repeated growth is a leak. So the measurements start after every attack
  # has run once.
  defp warmed(server, attackers, attacks) do
    before = Server.figures(server)
    Attackers.run(attackers, attacks, Server.ports(server), @warm_ms)
    Server.settled(server, before)
    server
  end

  # `STRESS_ATTACKS` selects attacks by a part of their names.
  defp chosen(attacks) do
    case System.get_env("STRESS_ATTACKS") do
      nil -> attacks
      names -> named(attacks, Regex.compile!(names))
    end
  end

  defp named(attacks, pattern) do
    all = @attacks ++ Shares.attacks()

    if Enum.any?(all, &(&1.name() =~ pattern)),
      do: Enum.filter(attacks, &(&1.name() =~ pattern)),
      else: raise("STRESS_ATTACKS matches no attack; there are: #{Enum.map_join(all, "; ", & &1.name())}")
  end

  # The effects of an attack must not count for the next attack.
  defp stopped(nil), do: nil

  defp stopped(server) do
    Server.stop(server)
    nil
  end

  defp round(name, attacks, {server, attackers}, {quiet, duration}) do
    before = Server.figures(server)
    Server.watch(server)
    others = Others.start(server.port)
    Process.sleep(quiet)
    undisturbed = Others.take(others)
    {requests, found} = Attackers.run(attackers, attacks, Server.ports(server), duration)
    disturbed = Others.take(others)
    Others.stop(others)
    peak = Server.peak(server)
    {now, missed} = Server.settled(server, before, @settling_ms)
    print(name, requests, {undisturbed, disturbed}, {before, peak, now})
    judged(name, {undisturbed, disturbed}, missed ++ found)
  catch
    :exit, reason -> {[{"#{name}: the server goes on (#{inspect(reason, limit: 5)})", false}], false}
  end

  defp print(name, requests, {undisturbed, disturbed}, {before, peak, now}) do
    Report.line(name, [
      "#{requests}",
      "#{length(disturbed.errors)}/#{length(disturbed.latencies)}",
      ms(p99(undisturbed)),
      ms(p99(disturbed)),
      Enum.map_join([before, peak, now], "/", &megabytes(&1.memory)),
      Enum.map_join([before, peak, now], "/", &megabytes(&1.rss)),
      Enum.map_join([before, peak, now], "/", &to_string(&1.processes))
    ])

    errors = for error <- undisturbed.errors, do: "before: " <> error

    for {error, count} <- (errors ++ disturbed.errors) |> Enum.frequencies() |> Enum.take(3),
        do: IO.puts("      #{count} x #{error}")
  end

  defp judged(name, {undisturbed, disturbed}, missed) do
    errors = undisturbed.errors ++ disturbed.errors
    # The VM's resident memory depends on other programs; the memory in use does not.
    {resident, missed} = Enum.split_with(missed, &String.starts_with?(&1, "rss "))
    held? = errors == [] and missed == [] and disturbed.latencies != []
    text = Enum.join(["#{name}: #{length(errors)} errors of others" | missed], "; ")
    factor = p99(disturbed) / max(p99(undisturbed), 1)
    timed = "#{name}: p99 of others is #{Float.round(factor, 1)} times that of a quiet server, #{@times} at most"
    size = Enum.join(["#{name}: resident memory is back" | resident], "; ")
    {[{text, held?}, {size, resident == [], :timed}, {timed, factor <= @times, :timed}], held?}
  end

  defp p99(%{latencies: []}), do: 0
  defp p99(%{latencies: all}), do: all |> Enum.sort() |> Enum.at(div(length(all) * 99, 100))

  defp ms(microseconds), do: :erlang.float_to_binary(microseconds / 1_000, decimals: 2)
  defp megabytes(bytes), do: to_string(div(bytes, 1_000_000))
end
