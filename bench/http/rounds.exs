defmodule Bench.Http.Rounds do
  @moduledoc "Asks every server the same, in turns, so that a slow moment hits all."

  alias Bench.Http.{Contenders, Request, Server, Wrk}

  @type figures :: %{
          per_second: float(),
          p50: number(),
          p99: number(),
          processor: float(),
          memory: pos_integer()
        }

  @doc """
  The medians of each server by its name: answers a second, the microseconds that half of them and 99 of 100 took at
  most, the microseconds of processor time and, as it is in the end, the KiB of memory.
  """
  @spec medians([Server.t()], Request.t(), pos_integer()) :: %{String.t() => figures()}
  def medians(servers, request, connections) do
    # Warms the server up, and shows how long a right answer is.
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

  # An error may ride on status 200. Ids that grow, and the answers that wrk did not wait for, make a small difference.
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

  @doc "How often each measurement is repeated."
  @spec rounds() :: pos_integer()
  def rounds, do: setting("BENCH_ROUNDS", 5)

  @doc "How long one takes."
  @spec seconds() :: pos_integer()
  def seconds, do: setting("BENCH_SECONDS", 3)

  @doc "A number from the environment."
  @spec setting(String.t(), pos_integer()) :: pos_integer()
  def setting(name, default), do: String.to_integer(System.get_env(name, "#{default}"))
end
