defmodule Bench.Http.Rounds do
  @moduledoc "Sends the same requests to every server in turns, so that a slow moment affects all servers."

  alias Bench.Http.{Contenders, Request, Server, Wrk}

  @type figures :: %{
          per_second: float(),
          p50: number(),
          p99: number(),
          processor: float(),
          memory: pos_integer()
        }

  @doc """
  The medians of each server by its name: answers a second, p50 and p99 in microseconds, microseconds of processor
  time, and KiB of memory at the end.
  """
  @spec medians([Server.t()], Request.t(), pos_integer()) :: %{String.t() => figures()}
  def medians(servers, request, connections) do
    # Warms the server up, and returns the length of a correct answer.
    sizes = Map.new(servers, &{&1.name, run(&1, request, 1, 1).bytes})

    for(_round <- 1..rounds(), server <- servers, do: {server, one_run(server, request, connections, sizes)})
    |> Enum.group_by(&elem(&1, 0), &elem(&1, 1))
    |> Map.new(fn {server, runs} -> {server.name, Map.put(median(runs), :memory, Server.memory_kib(server))} end)
  end

  defp one_run(server, request, connections, sizes) do
    before = Server.processor_us(server)
    figures = run(server, request, connections, seconds())
    processor = Server.processor_us(server) - before
    same_answers!(server, request, figures.bytes, sizes[server.name])
    Map.put(figures, :processor, processor / figures.requests)
  end

  defp run(server, request, connections, seconds) do
    Wrk.run(Server.url(server), request, Contenders.sessions(server, request), connections, seconds)
  end

  # An error may have status 200. Growing ids, and answers after the end of wrk, change the size a little.
  defp same_answers!(server, request, bytes, size) do
    if abs(bytes - size) > size * 0.1 do
      raise "#{server.name} gave other answers to #{request.name} under load: #{bytes} bytes in place of #{size}"
    end
  end

  defp median(runs) do
    for figure <- [:per_second, :p50, :p99, :processor], into: %{} do
      {figure, runs |> Enum.map(& &1[figure]) |> Enum.sort() |> Enum.at(div(length(runs), 2))}
    end
  end

  @doc "The number of repetitions of each measurement."
  @spec rounds() :: pos_integer()
  def rounds, do: setting("BENCH_ROUNDS", 5)

  @doc "The length of a measurement."
  @spec seconds() :: pos_integer()
  def seconds, do: setting("BENCH_SECONDS", 3)

  @doc "A number from the environment."
  @spec setting(String.t(), pos_integer()) :: pos_integer()
  def setting(name, default), do: String.to_integer(System.get_env(name, "#{default}"))
end
