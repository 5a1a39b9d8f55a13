defmodule Bench.Http.Wrk do
  @moduledoc "Runs wrk against one server."

  alias Bench.Http.Request

  @script Path.join(__DIR__, "wrk.lua")

  @type figures :: %{requests: pos_integer(), per_second: float(), bytes: float(), p50: integer(), p99: integer()}

  @doc """
  Sends each request right after an answer. Returns requests, requests per second, bytes per answer, and p50 and p99
  in microseconds. Raises if an answer is missing or has a status of 400 or more.
  """
  @spec run(url :: String.t(), Request.t() | map(), [String.t()], pos_integer(), number()) :: figures()
  def run(url, request, sessions, connections, seconds) do
    threads = min(connections, max(div(System.schedulers_online(), 2), 1))
    arguments = ["-t#{threads}", "-c#{connections}", "-d#{seconds}", "--timeout", "20", "-s", @script, url]

    {output, 0} = System.cmd("wrk", arguments, env: environment(request, sessions), stderr_to_stdout: true)
    figures(output)
  end

  defp environment(request, sessions) do
    headers = for {name, value} <- request.headers, do: "#{name}: #{value}\n"
    ids = Enum.join(sessions, "\n")
    method = Map.get(request, :method, "POST")

    [
      {"BENCH_METHOD", method},
      {"BENCH_HEADERS", to_string(headers)},
      {"BENCH_BODY", request.body},
      {"BENCH_SESSIONS", ids}
    ]
  end

  defp figures(output) do
    [_all | figures] = Regex.run(~r/^figures (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$/m, output) || raise(output)
    [requests, duration, bytes, p50, p99, errors] = Enum.map(figures, &String.to_integer/1)
    if requests == 0 or errors > 0, do: raise("#{requests} answers and #{errors} errors:\n#{output}")

    %{
      requests: requests,
      per_second: requests * 1_000_000 / duration,
      bytes: bytes / requests,
      p50: p50,
      p99: p99
    }
  end
end
