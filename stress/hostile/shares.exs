defmodule Stress.Hostile.Shares do
  @moduledoc """
  One greedy principal against clients that own something.

  Whatever it does, nobody else loses a result, a session or a task, or waits longer than a second for a place, and the
  server's memory stays in its limits. It cannot tell a hidden tool from one that does not exist. The server, the greedy principal and the owners each have a VM.
  """

  for file <- ~w(site greed hoards owners hidden), do: Code.require_file("shares/#{file}.exs", __DIR__)

  alias McpServer.HttpVm
  alias Stress.Hostile.Attackers
  alias Stress.Hostile.Shares
  alias Stress.Hostile.Shares.{Hidden, Owners, Site}
  alias Stress.Hostile.Wire
  alias Stress.{Report, Server}

  @attacks [
    Shares.EndedSessions,
    Shares.Stored,
    Shares.Tasks,
    Shares.AnonymousTasks,
    Shares.Connections,
    Shares.Calls,
    Shares.SlowReaders,
    Shares.LongWork,
    Shares.OthersSessions,
    Shares.Questions,
    Shares.UnreadAnswers,
    Shares.Cleanups,
    Shares.LateIdentities,
    Shares.TaskAnswers,
    Shares.Computing
  ]

  @longest_ms 1_000
  # What the greedy principal's share can come to here: 25 answers of 8 MB, twice while they are sent, or all else.
  @unread_megabytes 550
  @most_megabytes 250
  # 10,000 pairs in four minutes.
  @ms_per_pair 24

  @doc "The attacks."
  @spec attacks() :: [module()]
  def attacks, do: @attacks

  @doc "Runs these attacks one by one, then all at once, each for `duration` milliseconds."
  @spec run(HttpVm.t(), [module()], pos_integer()) :: [{String.t(), boolean()} | {String.t(), boolean(), :timed}]
  def run(_attackers, [], _duration), do: []

  def run(attackers, attacks, duration) do
    Report.line("", ["requests", "of owners", "errors", "longest ms", "memory MB", "lost"])
    {vm, port} = Site.launch()
    owners = Owners.start(port)
    attacks = possible(attacks)
    rounds = for(attack <- attacks, do: {attack.name(), [attack]}) ++ [{"all of them", attacks}]

    findings =
      Enum.flat_map(rounds, fn {name, attacks} -> round(name, attacks, attackers, {vm, port, owners}, duration) end)

    lost = Owners.lost(owners)
    hidden = Hidden.run(port, div(duration, @ms_per_pair))
    HttpVm.stop(vm)
    Report.line("at the end", ["", "", "", "", "", "#{length(lost)}"])
    [{Enum.join(["nobody has lost anything to another" | Enum.uniq(lost)], "; "), lost == []} | findings] ++ hidden
  end

  # On loopback alone, nobody could tell the attackers' connections from those of the owners.
  defp possible(attacks) do
    if Wire.shared?() do
      attacks
    else
      IO.puts("  without an address outside loopback, these are left out: #{Shares.Connections.name()}")
      attacks -- [Shares.Connections]
    end
  end

  defp round(name, attacks, attackers, {vm, port, owners}, duration) do
    _before = Owners.take(owners)
    HttpVm.call(vm, Server, :watch_here, [])
    {requests, found} = Attackers.run(attackers, attacks, %{port: port}, duration)
    %{longest: longest, requests: of_owners, errors: errors} = Owners.take(owners)
    most = if Shares.UnreadAnswers in attacks, do: @unread_megabytes, else: @most_megabytes
    memory = div(HttpVm.call(vm, Server, :peak_here, []).memory, 1_000_000)
    Report.line(name, ["#{requests}", "#{of_owners}", "#{length(errors)}", "#{longest}", "#{memory}", ""])
    for {error, count} <- errors |> Enum.frequencies() |> Enum.take(3), do: IO.puts("      #{count} x #{error}")

    [
      {Enum.join(["#{name}: #{length(errors)} errors of owners" | found], "; "), errors == [] and found == []},
      {"#{name}: #{memory} MB of memory, #{most} at most", memory <= most},
      {"#{name}: an owner waits #{longest} ms for a place, #{@longest_ms} at most", longest <= @longest_ms, :timed}
    ]
  end
end
