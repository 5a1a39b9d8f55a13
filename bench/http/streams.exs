defmodule Bench.Http.Streams do
  @moduledoc "Holds many idle streams open on one server, and sees what memory they take."

  alias Bench.Http.{Client, Request, Server}

  # What the first streams take is the server's, not theirs: buffers, code, threads.
  @first 100
  @at_once 32
  # Files this program and a server have open besides.
  @other_files 500

  @doc "How many streams fit: a stream takes a file in this process and one in the server's."
  @spec count(pos_integer()) :: non_neg_integer()
  def count(wanted) do
    {limit, 0} = System.cmd("sh", ["-c", "ulimit -n"])

    case Integer.parse(limit) do
      {files, _newline} -> wanted |> min(files - @other_files - @first) |> max(0)
      :error -> wanted
    end
  end

  @doc "KiB of memory per stream, once `count` of them are open and have had their first event."
  @spec kib_each(Server.t(), pos_integer()) :: float()
  def kib_each(server, count) do
    first = open(server, @first)
    before = settled_kib(server)
    streams = open(server, count)
    growth = settled_kib(server) - before
    open = Enum.count(streams, &Client.open?/1)
    Enum.each(first ++ streams, &:gen_tcp.close/1)
    if open < count, do: raise("#{server.name} closed #{count - open} of #{count} idle streams")
    growth / count
  end

  defp open(server, count) do
    owner = self()

    1..count
    |> Task.async_stream(fn _i -> open_for(owner, server.port) end, max_concurrency: @at_once, timeout: 60_000)
    |> Enum.map(fn {:ok, socket} -> socket end)
  end

  defp open_for(owner, port) do
    socket = Client.open_stream(port, Request.listen())
    :ok = :gen_tcp.controlling_process(socket, owner)
    socket
  end

  defp settled_kib(server) do
    Process.sleep(2_000)
    Server.memory_kib(server)
  end
end
