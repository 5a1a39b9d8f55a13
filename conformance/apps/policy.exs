# Prints the policies for declarations of `csp`, each given as JSON (`null` for none), a line each:
#
#     mix run --no-start conformance/apps/policy.exs '{"connectDomains":["https://api.example.com"]}' …

for declared <- System.argv() do
  declared |> McpServer.JSON.decode!() |> McpServer.App.CSP.generate(sandbox: true) |> IO.puts()
end
