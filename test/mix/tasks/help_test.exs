defmodule Mix.Tasks.Mcp.HelpTest do
  # Runs the examples of `mix help` in a separate project, with the addresses and ports of the test's servers.
  use ExUnit.Case, async: true

  alias McpServer.JSON
  alias McpServer.Test.Issuer

  @moduletag :tmp_dir
  @moduletag timeout: 300_000

  # The expected output of each example; `:runs` with the first output for an example that runs until it is stopped;
  # `:phoenix` for one that needs a Phoenix application, which `Mix.Tasks.Mcp.GenTest` has. Examples with FOLDER or FILE…
  # are placeholders.
  @examples [
    {"mix mcp.list MyApp.MCP", "my-app 1.0.0 (MCP 2026-07-28)"},
    {"mix mcp.list --url http://127.0.0.1:4040/mcp", "add a=integer b=integer"},
    {~s(mix mcp.list --stdio "mix mcp.stdio MyApp.MCP"), "config://app"},
    {"mix mcp.call MyApp.MCP add a=2 b=40", "42\n"},
    {~s(mix mcp.call MyApp.MCP search --input-json '{"query": "elixir", "limit": 3}'), "3 of elixir\n"},
    {"mix mcp.call --url http://127.0.0.1:4040/mcp add a=2 b=40", "42\n"},
    {"mix mcp.read MyApp.MCP config://app", "dark\n"},
    {"mix mcp.read --url http://127.0.0.1:4040/mcp config://app", "dark\n"},
    {~s(mix mcp.get MyApp.MCP explain calculation="2 + 40"), "Explain 2 + 40"},
    {~s(mix mcp.get --url http://127.0.0.1:4040/mcp explain calculation="2 + 40"), "Explain 2 + 40"},
    {"mix mcp.lint", "0 errors"},
    {"mix mcp.lint MyApp.MCP --strict --ignore format,reference", "0 errors"},
    {"mix mcp.breaking --write", "priv/mcp/MyApp.MCP.json"},
    {"mix mcp.breaking", "0 breaking"},
    {"mix mcp.stdio MyApp.MCP", ""},
    {"mix mcp.bridge http://127.0.0.1:4040/mcp", ""},
    {~s(mix mcp.bridge https://example.com/mcp --header "Authorization: Bearer TOKEN"), ""},
    {~s(mix mcp.bridge https://example.com/mcp --header-env "Authorization=MY_TOKEN"), ""},
    {"mix mcp.http MyApp.MCP --port 4040", {:runs, "Listening on http://127.0.0.1:"}},
    {"mix mcp.playground MyApp.MCP", {:runs, "The playground is at http://127.0.0.1:"}},
    {"mix mcp.clients", "claude-desktop"},
    {"mix mcp.install claude-code MyApp.MCP", "my_app"},
    {"mix mcp.install cursor MyApp.MCP --scope project", "added my_app to"},
    {"mix mcp.install vscode --url http://127.0.0.1:4040/mcp --name my_app", "my_app"},
    {"mix mcp.install claude-desktop MyApp.MCP --uninstall", "there is no my_app in"},
    {"mix mcp.doctor", ""},
    {"mix mcp.doctor MyApp.MCP", "MyApp.MCP"},
    {"mix mcp.doctor --url https://example.com/mcp", "answers"},
    {"mix mcp.auth --resource https://mcp.example.com/mcp --issuer https://auth.example.com",
     "1 keys can verify tokens"},
    {"MIX_ENV=prod mix release", "Release created"},
    {~s(mix mcp.bundle MyApp.MCP --author "Ada Lovelace"), "wrote my_app-1.0.0-"},
    {~s(mix mcp.bundle MyApp.MCP --author "Ada Lovelace" --env API_KEY --output my_app.mcpb), "wrote my_app.mcpb"},
    {"mix mcp.server_json MyApp.MCP --name io.github.ada/my_app --url https://example.com/mcp",
     "https://example.com/mcp"},
    {"mix mcp.server_json MyApp.MCP --name io.github.ada/my_app --oci docker.io/ada/my_app:1.0.0", "my_app:1.0.0"},
    {"mix mcp.server_json MyApp.MCP --name io.github.ada/my_app --output server.json --mcpb " <>
       "my_app-1.0.0-linux-x86_64.mcpb=https://example.com/my_app-1.0.0-linux-x86_64.mcpb", "wrote server.json"},
    {"mix mcp.gen server", "wrote lib/my_app/mcp.ex"},
    {"mix mcp.gen phoenix", :phoenix},
    {"mix mcp.gen tool count_words", "wrote lib/my_app/mcp/count_words.ex"},
    {"mix mcp.gen prompt explain", "wrote lib/my_app/mcp/explain.ex"},
    {"mix mcp.gen resource readme", "wrote lib/my_app/mcp/readme.ex"},
    {"mix mcp.gen app chart", "wrote lib/my_app/mcp/chart.ex"},
    {"mix mcp.gen auth", "wrote lib/my_app/mcp/auth.ex"},
    {"mix mcp.gen release", "wrote rel/overlays/bin/mcp"},
    {"mix mcp.gen.dual_response_migration", "_create_mcp_dual_responses.exs"},
    {"mix mcp.gen.dual_response_migration --repo MyApp.Repo --prefix mcp", "_create_mcp_dual_responses.exs"},
    {"mix mcp.native", ""}
  ]

  test "every example of `mix help mcp.…` is known here" do
    {:ok, modules} = :application.get_key(:mcp_server, :modules)
    tasks = for module <- modules, inspect(module) =~ "Mix.Tasks.Mcp.", do: module
    shown = for task <- tasks, example <- examples(task), do: example
    assert length(tasks) == 19
    assert Enum.sort(shown) == Enum.sort(for {example, _expected} <- @examples, do: example)
  end

  # A backslash continues a line; a `#` begins a comment.
  defp examples(task) do
    text = task |> Mix.Task.moduledoc() |> String.replace(~r/ \\\n\s+/, " ")

    for [line] <- Regex.scan(~r/^    (?:MIX_ENV=\S+ )?mix .*$/m, text),
        line = line |> String.replace(~r/\s+#.*/, "") |> String.trim(),
        not (line =~ ~r/ (FOLDER|FILE…)/),
        do: line
  end

  @tag slow: "runs every example of the tasks' help"
  test "each runs as it stands", %{tmp_dir: dir} do
    {:ok, issuer} = Issuer.start_link()
    project(dir)
    address = serve(dir, "mix mcp.http MyApp.MCP --port 4040")
    _page = serve(dir, "mix mcp.playground MyApp.MCP")
    places = %{address: address, issuer: Issuer.url(issuer)}
    {apart, together} = Enum.split_with(ending(), fn {example, _said} -> apart?(example) end)
    for {example, said} <- apart, do: assert_said(example, said, shell(dir, place(example, places)))
    File.rm_rf!(Path.join(dir, "priv/repo"))
    answers = run(dir, for({example, _said} <- together, do: place(example, places)))

    for {{example, said}, [status, printed]} <- Enum.zip(together, answers),
        do: assert_said(example, said, {printed, status})
  end

  defp ending, do: for({example, said} when is_binary(said) <- @examples, do: {example, said})

  # Examples that use stdin or stdout, and the command of another package. One of the two examples that write a
  # migration is here too, because a migration is written only once.
  defp apart?(example), do: example =~ ~r/mix release|^mix mcp.(stdio|bridge|list|call|read|get)|migration$/

  defp assert_said(example, said, {printed, status}) do
    assert {example, status, printed} == {example, 0, printed}
    assert {example, printed =~ said, printed} == {example, true, printed}
  end

  # The name of a bundle contains its machine.
  defp place("mix mcp.server_json" <> _words = example, _places),
    do: String.replace(example, ~r/my_app-[^ ]+=/, "my_app.mcpb=")

  defp place(example, places) do
    example
    |> String.replace("https://mcp.example.com/mcp", "http://localhost/mcp")
    |> String.replace("https://auth.example.com", places.issuer)
    |> String.replace(["http://127.0.0.1:4040/mcp", "https://example.com/mcp"], places.address)
  end

  # Runs all examples in one VM, and returns the status and output of each.
  defp run(dir, examples) do
    File.write!(Path.join(dir, "examples.txt"), Enum.join(examples, "\n"))

    File.write!(Path.join(dir, "run.exs"), ~S"""
    answers =
      for line <- "examples.txt" |> File.read!() |> String.split("\n") do
        ["mix", task | words] = OptionParser.split(line)
        {:ok, device} = StringIO.open("")
        leader = Process.group_leader()
        Process.group_leader(self(), device)

        status =
          try do
            Mix.Task.rerun(task, words)
            0
          catch
            :exit, {:shutdown, status} -> status
            :error, error -> Exception.message(error)
          end

        Process.group_leader(self(), leader)
        {:ok, {"", printed}} = StringIO.close(device)
        [status, printed]
      end

    File.write!("answers.json", McpServer.JSON.encode!(answers))
    """)

    assert {_said, 0} = shell(dir, "mix run --no-start run.exs")
    dir |> Path.join("answers.json") |> File.read!() |> JSON.decode!()
  end

  # Stdin is empty.
  defp shell(dir, line),
    do: System.cmd("sh", ["-c", line <> " </dev/null"], cd: dir, env: env(dir), stderr_to_stdout: true)

  # A server that keeps running, on a free port, and its address.
  defp serve(dir, example) do
    {^example, {:runs, said}} = List.keyfind!(@examples, example, 0)
    line = "exec " <> String.replace(example, " --port 4040", "") <> " --port 0"
    env = for {name, value} <- env(dir), do: {to_charlist(name), to_charlist(value)}
    options = [:binary, :stderr_to_stdout, line: 4_096, args: ["-c", line], cd: dir, env: env]
    port = Port.open({:spawn_executable, System.find_executable("sh")}, options)
    {:os_pid, pid} = Port.info(port, :os_pid)
    ending = "kill -TERM #{pid}; while kill -0 #{pid}; do sleep 0.05; done"
    on_exit(fn -> System.cmd("sh", ["-c", ending], stderr_to_stdout: true) end)
    address(port, said)
  end

  defp address(port, said) do
    receive do
      {^port, {:data, {:eol, line}}} ->
        if line =~ said, do: line |> String.split(" ") |> List.last(), else: address(port, said)
    after
      60_000 -> flunk("nobody said #{said}")
    end
  end

  defp env(dir) do
    library = Path.join(Mix.Project.app_path(), "..")
    [{"ERL_LIBS", library}, {"MIX_ENV", "dev"}, {"HOME", Path.join(dir, "home")}, {"MY_TOKEN", "Bearer token"}]
  end

  # The files that `mix mcp.gen` writes to lib are not compiled.
  defp project(dir) do
    for folder <- ["config", "home", "source"], do: File.mkdir_p!(Path.join(dir, folder))
    File.write!(Path.join(dir, "config/config.exs"), "import Config\nconfig :my_app, ecto_repos: [MyApp.Repo]\n")

    File.write!(Path.join(dir, "mix.exs"), """
    defmodule MyApp.MixProject do
      use Mix.Project
      def project, do: [app: :my_app, version: "1.0.0", description: "Adds", elixirc_paths: ["source"]]
      def application, do: [extra_applications: [:logger, :mcp_server]]
    end
    """)

    File.write!(Path.join(dir, "source/mcp.ex"), ~S"""
    defmodule MyApp.MCP do
      use McpServer.Router, name: "my-app", version: "1.0.0"

      tool "add", "Adds two numbers", hints: [:read_only] do
        input_field "a", "The first", :integer, required: true
        input_field "b", "The second", :integer, required: true
        run fn _conn, %{"a" => a, "b" => b} -> {:ok, "#{a + b}"} end
      end

      tool "search", "Searches", hints: [:read_only] do
        input_field "query", "What for", :string, required: true
        input_field "limit", "How many", :integer, default: 10
        run fn _conn, %{"query" => query, "limit" => limit} -> {:ok, "#{limit} of #{query}"} end
      end

      prompt "explain", "Explains a calculation" do
        argument "calculation", "Which one", required: true
        get MyApp.Controller, :explain
        complete MyApp.Controller, :complete
      end

      resource "config", "config://app" do
        description "The configuration"
        mimeType "text/plain"
        read MyApp.Controller, :config
      end
    end

    defmodule MyApp.Controller do
      def explain(_conn, %{"calculation" => calculation}), do: "Explain #{calculation}"
      def complete(_conn, _argument, _prefix), do: []
      def config(_conn, _params), do: McpServer.Controller.content("config", "config://app", text: "dark")
    end
    """)
  end
end
