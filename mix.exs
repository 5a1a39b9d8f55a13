# Mix reads this file at each start of a project that depends on it, so it reads others only when they are needed.
if match?(["mcp." <> task | _] when task in ~w(stdio list call read get bridge), System.argv()),
  do: Code.require_file("native/stderr_shell.exs", __DIR__)

defmodule McpServer.MixProject do
  use Mix.Project

  @version "0.1.0"
  # The public address of the repository, whose releases have the precompiled libraries. There is none yet.
  @source_url nil

  def project do
    [
      app: :mcp_server,
      version: @version,
      elixir: "~> 1.14",
      start_permanent: Mix.env() == :prod,
      compilers: [:mcp_native] ++ Mix.compilers(),
      aliases: ["compile.mcp_native": &compile_native/1, clean: [&read_native_compiler/1, "clean"]],
      elixirc_paths: elixirc_paths(Mix.env()),
      consolidate_protocols: Mix.env() != :test,
      # Tests use applications outside `deps`: Mnesia, and PropEr and jiffy if they are installed.
      prune_code_paths: Mix.env() != :test,
      # Load tests, which are run by their paths.
      test_ignore_filters: [&String.starts_with?(&1, "test/http/load/")],
      deps: deps(),
      description: "Model Context Protocol servers in Elixir, with a Rust core that checks every message",
      package: package(),
      source_url: @source_url,
      docs: docs()
    ] ++ optional_applications()
  end

  # Users of the Mnesia store start Mnesia themselves. Other releases do not contain it.
  defp optional_applications do
    if Version.match?(System.version(), ">= 1.19.0"),
      do: [elixirc_options: [no_warn_undefined: [:mnesia]]],
      else: [xref: [exclude: [:mnesia]]]
  end

  # The task of that name, which is not there before its file is read.
  defp compile_native(arguments) do
    read_native_compiler(arguments)
    apply(Mix.Tasks.Compile.McpNative, :run, [arguments])
  end

  defp read_native_compiler(_arguments), do: Code.require_file("native/compile.exs", __DIR__)

  def application do
    [extra_applications: [:logger, :crypto, :ssl], mod: {McpServer.Application, []}]
  end

  defp elixirc_paths(:test), do: ["lib", "test/support"]
  defp elixirc_paths(_env), do: ["lib"]

  # Every Hex dependency is optional. Without Hex the mere mention of one stops each mix command,
  # so they are declared only where Hex is installed.
  defp deps, do: if(Code.ensure_loaded?(Hex), do: hex_deps(), else: [])

  defp hex_deps do
    [
      {:plug, "~> 1.14", optional: true},
      {:jason, "~> 1.4", optional: true},
      {:telemetry, "~> 1.0", optional: true},
      {:telemetry_metrics, "~> 1.0", optional: true},
      {:opentelemetry_api, "~> 1.4", optional: true},
      {:igniter, "~> 0.6", optional: true},
      {:ex_doc, "~> 0.34", only: :dev, runtime: false}
    ]
  end

  # `rust_tests` is a member of the Cargo workspace: without its manifest cargo builds nothing.
  defp package do
    [
      # Another library has the name of the application.
      name: "mcp_server_native",
      licenses: ["MIT"],
      links: if(@source_url, do: %{"Source" => @source_url}, else: %{}),
      files: [
        "lib",
        "native/*/src",
        "native/*/Cargo.toml",
        "native/*/README.md",
        "native/build.exs",
        "native/build",
        "native/compile.exs",
        "native/stderr_shell.exs",
        "rust_tests/Cargo.toml",
        "rust_tests/src",
        "rust_tests/tests",
        "guides",
        "Cargo.toml",
        "Cargo.lock",
        "mix.exs",
        ".formatter.exs",
        "README.md",
        "usage-rules.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "SECURITY.md",
        "LICENSE"
        | checksums()
      ]
    ]
  end

  # The checksums of the current release. Hex refuses a package whose listed files do not exist.
  defp checksums, do: for(file <- ["native/checksums.txt"], File.exists?(Path.join(__DIR__, file)), do: file)

  @first_steps ~w(guides/small_core.md guides/getting_started.md guides/notes.md guides/stdio_clients.md
                  guides/cheatsheet.cheatmd guides/livebook.livemd guides/troubleshooting.md)
  @project ~w(ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md SECURITY.md)

  defp docs do
    [
      main: "readme",
      source_ref: "v#{@version}",
      extras: extras(),
      assets: %{"guides/images" => "guides/images"},
      groups_for_extras: [
        "First steps": @first_steps,
        Guides: ~r"^guides/[^/]+$",
        Deployment: ~r"^guides/deployment/",
        "Coming from elsewhere": ~r"^guides/migrating/",
        Examples: ~r"^examples/",
        "The project": @project
      ],
      groups_for_modules: module_groups(),
      # Named where the boundary to the core is explained.
      skip_code_autolink_to: ["McpServer.Native"]
    ]
  end

  # Two files of one name would be one page.
  defp extras do
    guides = Path.wildcard("guides/**/*.{md,cheatmd,livemd}")
    examples = for readme <- Path.wildcard("examples/*/README.md"), do: {readme, filename: page(readme)}
    Enum.uniq(["README.md"] ++ @first_steps ++ guides) ++ examples ++ @project
  end

  defp page(readme), do: "example_" <> (readme |> Path.dirname() |> Path.basename())

  defp module_groups do
    [
      "Writing a server":
        [McpServer, McpServer.Controller, McpServer.Conn, McpServer.Changes, McpServer.Ecto, McpServer.Tasks] ++
          [McpServer.Session, McpServer.SessionStore] ++
          [McpServer.Plug, McpServer.RateLimit, McpServer.Log] ++
          [~r/^McpServer\.Router\b/],
      "Serving it":
        [McpServer.Stdio, McpServer.HttpServer, McpServer.HttpRequest, McpServer.Auth] ++
          [McpServer.Telemetry, McpServer.OpenTelemetry, McpServer.LiveDashboard] ++
          [~r/^McpServer\.HttpPlug\b/],
      "Testing and checking": [
        McpServer.Test,
        McpServer.Test.Proof,
        McpServer.IEx,
        McpServer.Playground,
        McpServer.Lint,
        McpServer.Breaking
      ],
      "Dual responses": ~r/\.DualResponse\b/,
      Presentations: ~r/\.Presentation\b/,
      Envelopes: ~r/\.Envelope\b/,
      Apps: ~r/\.App\b/,
      "JSON and JSON Schema": ~r/\.(JSON|Schema)\b/,
      "Objects of the protocol": ~r/^McpServer\./
    ]
  end
end
