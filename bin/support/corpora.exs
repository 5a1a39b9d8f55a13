# Runs the public test suites through the public functions, and prints a table: corpus, cases, passed, exceptions.
#
#     mix run --no-start bin/support/corpora.exs FOLDER CORE
#
# CORE is a file with the lines that the core's own tests of corpora printed. What is no pass is an exception, and all
# of them are pinned in `corpora/pins.json`, by name and with the reason. Exits with 1 when a case's outcome is another
# than the pinned one, when there are more or fewer cases, or when a pinned corpus is not there.

[folder, core] = System.argv()

for part <- ~w(report json schemas strings signatures tokens core),
    do: Code.require_file("corpora/#{part}.exs", __DIR__)

pins = Path.join(__DIR__, "corpora/pins.json") |> File.read!() |> McpServer.JSON.decode!()

rows =
  Corpora.Json.rows(folder) ++
    Corpora.Schemas.rows(folder) ++
    Corpora.Strings.rows(folder) ++
    Corpora.Signatures.rows(folder) ++ Corpora.Tokens.rows(folder) ++ Corpora.Core.rows(core)

unless Corpora.Report.print(rows, pins), do: System.halt(1)
