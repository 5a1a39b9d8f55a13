# Runs the code of README.md, usage-rules.md and the guides as a reader would: pasted unchanged into a new project.
#
#     mix run --no-start bin/support/readme.exs
#
# A block whose first line is a comment with a path becomes that file. The cells of a notebook run in order, without the
# first cell, which installs the library. The README's two JSON-RPC blocks are a request and its exact answer, byte for
# byte. The HTTP server in the supervision tree must give the same answer. So must each server of a client
# configuration in the README and in the guide on clients over stdio. A block `console` is a terminal session, and each
# of its commands must print the text in the block.

Code.require_file("../../test/support/terminal.ex", __DIR__)

defmodule Readme do
  @root File.cwd!()
  @build Path.join(@root, "_build/readme")
  @place "/path/to/calculator"

  def run do
    project = new_project()
    readme = blocks("README.md")
    write_files(project, readme)
    for page <- ["usage-rules.md" | guides("{md,cheatmd}")], do: write_files(project, blocks(page))

    mix!(project, ~w(compile --warnings-as-errors))
    mix!(project, ~w(format --check-formatted))
    {request, answer} = exchange(readme)
    check!("mix mcp.stdio Calculator.MCP", ask("mix", ~w(mcp.stdio Calculator.MCP), project, request), answer)
    configurations = readme ++ blocks("guides/stdio_clients.md")
    for {command, arguments} <- commands(configurations, project), do: check_client(command, arguments, request, answer)
    check!("over HTTP", ask_http(readme, project, request), answer)
    mix!(project, ~w(test))
    for guide <- guides("md"), {"console", transcript} <- blocks(guide), do: check_transcript(transcript, project)
    for notebook <- guides("livemd"), do: run_notebook(project, notebook)
  end

  defp guides(extension) do
    pattern = Path.join(@root, "guides/**/*.#{extension}")
    pattern |> Path.wildcard() |> Enum.sort() |> Enum.map(&Path.relative_to(&1, @root))
  end

  # `Mix.install` hides no OTP applications, but since Elixir 1.15 a project does.
  @all_applications "if function_exported?(Mix, :ensure_application!, 1), do: Mix.ensure_application!(:inets)\n"

  defp run_notebook(project, notebook) do
    [{"elixir", "Mix.install" <> _rest} | cells] = blocks(notebook)
    script = Path.join(project, "notebook.exs")
    File.write!(script, [@all_applications | for({"elixir", code} <- cells, do: [code, ?\n])])
    mix!(project, ["run", script])
    IO.puts("runs: #{notebook}")
  end

  # The info string and the text of each code block, in order.
  defp blocks(file) do
    text = File.read!(Path.join(@root, file))
    for [_all, language, code] <- Regex.scan(~r/^```(\w+)\n(.*?)^```$/ms, text), do: {language, code}
  end

  defp new_project do
    parent = Path.join(System.tmp_dir!(), "mcp_server_readme_#{System.pid()}")
    System.at_exit(fn _status -> File.rm_rf!(parent) end)
    File.mkdir_p!(parent)
    project = Path.join(parent, "calculator")
    {_output, 0} = System.cmd("mix", ["new", "calculator"], cd: parent)
    File.rm!(Path.join(project, "test/calculator_test.exs"))
    mix_exs = Path.join(project, "mix.exs")
    dependency = "[{:mcp_server, path: #{inspect(@root)}}]\n"
    code = File.read!(mix_exs)
    changed = Regex.replace(~r/(defp deps do\n\s*)\[.*?\]\n/s, code, "\\1#{dependency}")
    changed != code || raise "`mix new` writes its dependencies in another way than this script expects"
    File.write!(mix_exs, changed)
    # Code on the pages is wider than the formatter's 98 columns.
    formatter = Path.join(project, ".formatter.exs")
    options = "[\n  import_deps: [:mcp_server],\n  line_length: 120,\n"
    File.write!(formatter, String.replace(File.read!(formatter), "[\n", options, global: false))
    project
  end

  defp write_files(project, blocks) do
    for {"elixir", code} <- blocks, [_all, path] <- [Regex.run(~r/\A# ((?:lib|test|config)\/\S+\.exs?)\n/, code)] do
      file = Path.join(project, path)
      File.mkdir_p!(Path.dirname(file))
      File.write!(file, code)
    end
  end

  defp exchange(readme) do
    [request, answer] = for {"json", code} <- readme, String.contains?(code, ~s("jsonrpc")), do: String.trim(code)
    {request, answer}
  end

  defp commands(blocks, project) do
    for {"json", code} <- blocks, not String.contains?(code, ~s("jsonrpc")) do
      {:ok, configuration} = McpServer.JSON.decode(String.replace(code, @place, project))
      [server] = configuration |> Map.take(["mcpServers", "servers"]) |> Map.values()
      %{"calculator" => %{"command" => command, "args" => arguments}} = server
      {command, arguments}
    end
  end

  # A client may start a server in any folder.
  defp check_client(command, arguments, request, answer) do
    check!(Enum.join([command | arguments], " "), ask(command, arguments, System.tmp_dir!(), request), answer)
  end

  # The server's whole stdout, for one line of stdin.
  defp ask(command, arguments, folder, request) do
    script = ~S(printf '%s\n' "$REQUEST" | "$@")
    options = [cd: folder, env: [{"REQUEST", request} | environment()]]
    {output, status} = System.cmd("sh", ["-c", script, "sh", command | arguments], options)
    status == 0 || raise "#{command} ended with status #{status}"
    output
  end

  # On another port: the README's port may be in use.
  @client ~S"""
  Logger.configure(level: :warning)
  {:ok, supervisor} = Supervisor.start_link([CHILD], strategy: :one_for_one)
  [{_id, server, _type, _modules}] = Supervisor.which_children(supervisor)
  {:ok, socket} = :gen_tcp.connect({127, 0, 0, 1}, McpServer.HttpServer.port(server), [:binary, active: false])
  body = System.fetch_env!("REQUEST")

  head = [
    "POST /mcp HTTP/1.1",
    "Host: 127.0.0.1",
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    "MCP-Protocol-Version: 2026-07-28",
    "Mcp-Method: tools/call",
    "Mcp-Name: add",
    "Content-Length: #{byte_size(body)}",
    "Connection: close"
  ]

  :ok = :gen_tcp.send(socket, [Enum.map(head, &[&1, "\r\n"]), "\r\n", body])

  read = fn read, bytes ->
    case :gen_tcp.recv(socket, 0, 10_000) do
      {:ok, more} -> read.(read, bytes <> more)
      {:error, :closed} -> bytes
    end
  end

  ["HTTP/1.1 200 OK" <> _head, answer] = String.split(read.(read, ""), "\r\n\r\n", parts: 2)
  IO.puts(answer)
  """

  defp ask_http(readme, project, request) do
    [child] = for {"elixir", "{McpServer.HttpServer," <> _rest = code} <- readme, do: String.trim(code)
    script = String.replace(@client, "CHILD", String.replace(child, "port: 4040", "port: 0"))

    {output, status} =
      System.cmd("mix", ["run", "-e", script], cd: project, env: [{"REQUEST", request} | environment()])

    status == 0 || raise "the HTTP client ended with status #{status}"
    output
  end

  # A transcript has commands, each after `$ `, and the terminal's output. The user's input follows a field's prompt,
  # `  name (string, required): `, and is typed when the prompt appears.
  defp check_transcript(transcript, project) do
    for block <- String.split("\n" <> transcript, "\n$ ", trim: true) do
      [command, expected] = String.split(block <> "\n", "\n", parts: 2)
      {shown, _status} = McpServer.Terminal.run(command, project, environment(), typed(expected))
      same? = String.trim_trailing(shown) == String.trim_trailing(expected)
      same? || raise "#{command} shows\n#{shown}and not\n#{expected}"
      IO.puts("as printed: #{command}")
    end
  end

  defp typed(expected),
    do:
      for(
        [_all, prompt, typed] <- Regex.scan(~r/^(  \S.* ?\([^)]*\)(?: \[.*\])?: )(.+)$/m, expected),
        do: {prompt, typed}
      )

  defp check!(what, output, answer) do
    output == answer <> "\n" || raise "#{what} answered\n  #{output}and not\n  #{answer}"
    IO.puts("as printed: #{what}")
  end

  defp mix!(project, arguments) do
    {output, status} = System.cmd("mix", arguments, cd: project, env: environment(), stderr_to_stdout: true)
    IO.write(output)
    status == 0 || raise "mix #{Enum.join(arguments, " ")} failed"
  end

  # The library is compiled once for all runs of this script, with the existing native library.
  defp environment, do: [{"MIX_BUILD_PATH", @build}, {"MIX_ENV", "test"}]
end

Readme.run()
