# Runs the scripts named on the command line, or all of them: `bin/stress`, `bin/stress --short ticker calls`.
# Each returns its findings as `{text, held?}`, or `{text, held?, :timed}` if a busy machine can change the result.

for file <- ~w(report ticker inputs traffic server), do: Code.require_file("support/#{file}.exs", __DIR__)

scripts = [
  ticker: Stress.Ticking,
  calls: Stress.Calls,
  stdio: Stress.Stdio,
  ceiling: Stress.Ceiling,
  upgrade: Stress.Upgrade,
  hostile: Stress.Hostile,
  computing: Stress.Computing,
  auth: Stress.Auth,
  soak: Stress.Soak
]

{options, names} = OptionParser.parse!(System.argv(), strict: [short: :boolean])
known = Enum.map(scripts, fn {name, _module} -> to_string(name) end)
unknown = names -- known

if unknown != [] do
  IO.puts(:stderr, "unknown script #{hd(unknown)}; there are: #{Enum.join(known, ", ")}")
  System.halt(2)
end

short? = Keyword.get(options, :short, false)
{:ok, _started} = Application.ensure_all_started(:mcp_server)
IO.puts(Stress.Report.machine())

findings =
  for {name, module} <- scripts, names == [] or to_string(name) in names do
    Code.require_file("#{name}.exs", __DIR__)
    IO.puts("\n#{name}")
    module.run(short?)
  end

System.halt(if Stress.Report.held?(Enum.concat(findings), short?), do: 0, else: 1)
