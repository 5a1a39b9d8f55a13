# Runs the public test suites through the public functions, and prints a table: corpus, cases, passed, exceptions.
#
#     mix run --no-start bin/support/corpora.exs FOLDER CORE
#
# CORE is a file with the output of the core's corpora tests. Cases that do not pass are exceptions;
# `corpora/pins.json` pins them by name, with the reason. It exits with 1 if an outcome differs from its pin, if the
# number of cases changed, or if a pinned corpus is missing.

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
