defmodule Mix.Tasks.Mcp.Doctor do
  @shortdoc "Finds problems of a server"

  @moduledoc """
  Finds problems of a server, and prints the next step for each finding.

      mix mcp.doctor
      mix mcp.doctor MyApp.MCP
      mix mcp.doctor --url https://example.com/mcp

  The task checks the versions of Elixir, Erlang/OTP and Rust, the native library, and the order of plugs in a Phoenix
  endpoint. It starts the named router, or that of a project that has only one, with `mix mcp.stdio`, and prints the
  start time and whether stdout carries only messages. It starts the commands in the files of clients, without the
  environment of your shell, if `mix mcp.install` would write them now. It does not start other entries: a file in the
  project may come from somebody else.

  With `--url` it checks a server over HTTP: whether it answers, whether it checks `Host` and `Origin`, and whether a
  proxy delays streams.

  The exit status is 1 if a check fails.

  ## Options

  #{Mix.McpServer.Principal.option_doc()}\
    * `--url URL` – check this server over HTTP, and the machine
    * `--header "NAME: VALUE"`, `--header-env "NAME=VARIABLE"` – headers of the requests
    * `--timeout MS` – how long each request waits, in milliseconds (3000)
    * `--no-compile` – do not compile first
  """

  use Mix.Task

  alias McpServer.Doctor
  alias McpServer.Doctor.{Endpoint, Installed, Machine, Remote, Start}
  alias McpServer.Install.{Launch, Place}
  alias Mix.McpServer.Principal

  @switches [url: :string, header: :keep, header_env: :keep, timeout: :integer, compile: :boolean]
  @timeout 3_000
  @usage "usage: mix mcp.doctor [ROUTER …] [--as PRINCIPAL] [--url URL] [--header \"NAME: VALUE\"] [--timeout MS], " <>
           "for example mix mcp.doctor MyApp.MCP"

  @impl true
  def run(arguments) do
    {options, routers} = Mix.McpServer.options!(arguments, Principal.switch() ++ @switches, @usage)
    _principal = Principal.parse!(options, @usage)
    Mix.McpServer.limits!(options, [timeout: :milliseconds], @usage)
    {:ok, _started} = Application.ensure_all_started(:mcp_server)

    findings =
      Machine.findings(Machine.here()) ++ if(options[:url], do: remote(options), else: project(routers, options))

    IO.write(Doctor.text(findings))
    if Doctor.errors?(findings), do: exit({:shutdown, 1})
    :ok
  end

  defp remote(options) do
    url = Mix.McpServer.Remote.url!(options[:url], "--url", @usage)
    headers = Mix.McpServer.Remote.headers!(options, @usage)
    Remote.findings(%{url: url, headers: headers, timeout: options[:timeout] || @timeout})
  end

  defp project(names, options) do
    :ok = Mix.McpServer.compile(compile: options[:compile], quiet: true)
    routers = if names == [], do: Mix.McpServer.all_routers(), else: Mix.McpServer.routers!(names)

    files =
      for {_application, folder} <- Mix.McpServer.folders(),
          path <- Path.wildcard(Path.join(folder, "lib/**/*.ex")),
          do: path

    application = to_string(Mix.Project.config()[:app])

    Endpoint.findings(files) ++
      started(names, routers, options) ++ Installed.findings(Place.here(), application, Start.patience())
  end

  # Each start takes seconds.
  defp started([], [first, _second | _more] = routers, _options) do
    said = "none of the #{length(routers)} routers of this project was started"
    [Doctor.Finding.warning(said, "Name one: mix mcp.doctor #{inspect(first)}")]
  end

  defp started(_names, routers, options), do: Enum.flat_map(routers, &start(&1, options))

  defp start(router, options) do
    words = ["mcp.stdio", inspect(router)] ++ for {:as, principal} <- options, word <- ["--as", principal], do: word

    case Launch.mix(words, File.cwd!(), mix_env: System.get_env("MIX_ENV")) do
      {:ok, %{args: ["-c", script]}} ->
        who = "mix mcp.stdio #{inspect(router)}"
        repair = "Run it by hand, and look at what it says: #{who}"
        logged(script, &Start.findings(who, {:command, &1}, [], repair, Start.patience()))

      {:error, sentence} ->
        [Doctor.Finding.error(sentence, "Then run mix mcp.doctor again.")]
    end
  end

  # The log of the server tells why a start has failed. Of a good one nobody wants to read it.
  defp logged(script, start) do
    log = Path.join(Mix.Project.build_path(), "mcp_doctor.log")
    findings = start.("/bin/sh -c #{Launch.quoted("exec 2>#{Launch.quoted(log)}; #{script}")}")
    with true <- Doctor.errors?(findings), {:ok, text} <- File.read(log), do: IO.write(:stderr, text)
    File.rm(log)
    findings
  end
end
