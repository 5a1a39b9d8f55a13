# Writes the data set, a JSON object a line: `mix run --no-start generate.exs institutions.ndjson`
[path] = System.argv()
lines = for row <- Institutions.Generator.rows(), do: [McpServer.JSON.encode!(row), "\n"]
File.write!(path, lines)
