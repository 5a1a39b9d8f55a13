# Runs the benchmarks named on the command line, or all of them: `bin/bench`, `bin/bench json stdio`.
# Each returns its targets as `{text, met?}`, or none if this machine lacks its yardstick.

for file <- ~w(measure native workloads), do: Code.require_file("support/#{file}.exs", __DIR__)

benchmarks = [
  json: Bench.Json,
  refusals: Bench.Refusals,
  schema: Bench.Schema,
  lists: Bench.Lists,
  grants: Bench.Grants,
  results: Bench.Results,
  stdio: Bench.Stdio,
  http: Bench.Http,
  rest: Bench.Rest,
  auth: Bench.Auth,
  startup: Bench.Startup
]

names = Enum.map(benchmarks, fn {name, _module} -> to_string(name) end)
unknown = System.argv() -- names

if unknown != [] do
  IO.puts(:stderr, "unknown benchmark #{hd(unknown)}; there are: #{Enum.join(names, ", ")}")
  System.halt(2)
end

IO.puts(Bench.Measure.machine())

targets =
  for {name, module} <- benchmarks, System.argv() == [] or to_string(name) in System.argv() do
    Code.require_file("#{name}.exs", __DIR__)
    module.run()
  end
  |> Enum.concat()

IO.puts("\nTargets")
for {text, met?} <- targets, do: IO.puts("  #{if met?, do: "met   ", else: "MISSED"}  #{text}")
IO.puts("\n#{Enum.count(targets, &elem(&1, 1))} of #{length(targets)} targets met")
