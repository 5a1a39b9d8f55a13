# The benchmark's server on this library over stdio: `mix run bench/stdio/serve.exs`.

McpServer.Stdio.take_over!()
for file <- ~w(support/workloads http/request http/router), do: Code.require_file("../#{file}.exs", __DIR__)
McpServer.Stdio.serve(router: Bench.Http.Router)
