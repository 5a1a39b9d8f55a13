defmodule Stress.Stdio do
  @moduledoc """
  S2, S5 and S6 in full: a line of 1 GB, a million requests of a client that does not read, a hundred thousand requests
  in one write. The server is a separate OS process, which reports its peak memory.
  """

  alias McpServer.{FaultServer, StdioPeer}
  alias Stress.Report

  # 10 MiB in addition to the buffer of a line, which has 10 MiB. In KiB.
  @most_for_a_line 20 * 1024
  # Requests that wait in pipes, mailboxes and queues, in KiB.
  @most_unread 128 * 1024
  # Prints the number of different ids, and the two answers with the id 0.
  @count_ids ~S"""
  match($0, /"id":[0-9]+/) { id = substr($0, RSTART + 5, RLENGTH - 5); if (id == 0) kept[++n] = $0; else if (!seen[id]++) different++ }
  END { print different; print kept[1]; print kept[2] }
  """

  def run(short?) do
    Enum.concat([
      long_line(if(short?, do: 50_000_000, else: 1_000_000_000)),
      unread(if(short?, do: 20_000, else: 1_000_000)),
      one_write(if(short?, do: 10_000, else: 100_000))
    ])
  end

  # A shell writes the line: `StdioPeer` puts a `sed` before stdin, which would buffer the whole line.
  defp long_line(bytes) do
    {up, begin} = begins()
    [first, last] = for id <- 1..2, do: StdioPeer.quoted(StdioPeer.call(id, "peak"))
    line = "head -c #{bytes} /dev/zero | tr '\\000' x; echo"
    peer = StdioPeer.start(StdioPeer.vm(), input: "{ #{begin}; echo #{first}; sleep 1; #{line}; echo #{last}; }")
    %{"up" => _touched, 1 => before} = two_answers(peer)
    %{nil => refusal, 2 => now} = two_answers(peer)
    refused? = match?(%{"error" => %{"code" => -32700}}, refusal)
    grown = kib(now) - kib(before)
    status = StdioPeer.exit_status(peer, 60_000)
    File.rm!(up)
    Report.line("S2: a line", ["#{div(bytes, 1_000_000)} MB", "#{div(grown, 1024)} MiB more"])

    [
      {"S2: a line of #{div(bytes, 1_000_000)} MB has one answer, -32700, and the next line its own",
       refused? and status == 0},
      {"S2: it takes less than 20 MiB (#{div(grown, 1024)} MiB)", grown < @most_for_a_line}
    ]
  end

  # Keyed by id, because answers arrive in the order in which the calls end.
  defp two_answers(peer) do
    for _ <- 1..2, message = StdioPeer.message(peer, 600_000), into: %{}, do: {message["id"], message}
  end

  # The VM creates a file when it is ready; until then its `:user` process would read the transport's input.
  defp begins do
    up = Path.join(System.tmp_dir!(), "stress-#{System.unique_integer([:positive])}")
    touch = StdioPeer.quoted(StdioPeer.call("up", "touch", %{"file" => up}))
    {up, "echo #{touch}; #{until_there(up)}"}
  end

  defp until_there(file), do: "until [ -e #{file} ]; do sleep 0.1; done"

  # A shell reads late and counts its input: a port of this VM would read at once.
  defp unread(count) do
    {up, begin} = begins()
    request = "&" |> StdioPeer.call("echo", %{"text" => String.duplicate("x", 200)}) |> String.replace(~s("&"), "&")
    peaks = StdioPeer.quoted(StdioPeer.call(0, "peak"))
    input = "{ #{begin}; echo #{peaks}; seq 1 #{count} | sed 's|.*|#{request}|'; sleep 2; echo #{peaks}; }"

    peer =
      StdioPeer.start(StdioPeer.vm(), input: input, output: "{ #{until_there(up)}; sleep 5; awk '#{@count_ids}'; }")

    different = peer |> StdioPeer.line(1_200_000) |> String.to_integer()
    [before, most] = for _ <- 1..2, do: kib(StdioPeer.message(peer, 600_000))
    status = StdioPeer.exit_status(peer)
    File.rm!(up)
    grown = most - before
    Report.line("S5: unread", ["#{count} requests", "#{div(grown, 1024)} MiB more"])

    [
      {"S5: #{count} requests of a client that reads late are all answered", different == count and status == 0},
      {"S5: they take less than 128 MiB (#{div(grown, 1024)} MiB)", grown < @most_unread}
    ]
  end

  defp one_write(count) do
    server = FaultServer.start(:stdio, System.tmp_dir!())
    %{"processes" => _count} = FaultServer.figures(server)
    StdioPeer.write_raw(server.peer, lines(1..count))
    ids = for _ <- 1..count, do: StdioPeer.message(server.peer, 600_000)["id"]
    Report.line("S6: one write", ["#{count} requests"])

    [
      {"S6: #{count} requests of one write are all answered once",
       Enum.sort(ids) == Enum.to_list(1..count) and FaultServer.stop(server) == 0}
    ]
  end

  defp lines(ids), do: for(id <- ids, do: [StdioPeer.call(id, "echo", %{"text" => String.duplicate("x", 200)}), ?\n])
  defp kib(answer), do: answer |> StdioPeer.text() |> String.to_integer()
end
