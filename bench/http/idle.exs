defmodule Bench.Http.Idle do
  @moduledoc "Holds many idle connections or streams open on one server, and measures their memory."

  alias Bench.Http.{Client, Server}

  # The memory of the first connections belongs to the server: buffers, code, threads.
  @first 100
  @at_once 32
  # Other open files of this program and a server.
  @other_files 500

  @doc "The most connections: each needs a file in this process and a file in the server."
  @spec count(pos_integer()) :: non_neg_integer()
  def count(wanted) do
    {limit, 0} = System.cmd("sh", ["-c", "ulimit -n"])

    case Integer.parse(limit) do
      {files, _newline} -> wanted |> min(files - @other_files - @first) |> max(0)
      :error -> wanted
    end
  end

  @doc "KiB of memory per connection with `count` open connections; `open` opens one on a port."
  @spec kib_each(Server.t(), pos_integer(), (:inet.port_number() -> :gen_tcp.socket())) :: float()
  def kib_each(server, count, open) do
    first = open(server, @first, open)
    before = settled_kib(server)
    sockets = open(server, count, open)
    growth = settled_kib(server) - before
    left = Enum.count(sockets, &Client.open?/1)
    Enum.each(first ++ sockets, &:gen_tcp.close/1)
    if left < count, do: raise("#{server.name} closed #{count - left} of #{count}")
    growth / count
  end

  @connections 2_000

  @doc "The server's microseconds of processor time and KiB of memory for opening a connection."
  @spec connection_cost(Server.t(), (:inet.port_number() -> (() -> :ok))) :: {float(), float()}
  def connection_cost(server, open) do
    first = for _i <- 1..@first, do: open.(server.port)
    memory = settled_kib(server)
    processor = Server.processor_us(server)
    connections = for _i <- 1..@connections, do: open.(server.port)
    processor = Server.processor_us(server) - processor
    memory = settled_kib(server) - memory
    Enum.each(first ++ connections, & &1.())
    {processor / @connections, Float.round(memory / @connections, 1)}
  end

  defp open(server, count, open) do
    owner = self()

    1..count
    |> Task.async_stream(fn _i -> open_for(owner, server.port, open) end, max_concurrency: @at_once, timeout: 60_000)
    |> Enum.map(fn {:ok, socket} -> socket end)
  end

  defp open_for(owner, port, open) do
    socket = open.(port)
    :ok = :gen_tcp.controlling_process(socket, owner)
    socket
  end

  defp settled_kib(server) do
    Process.sleep(2_000)
    Server.memory_kib(server)
  end
end
