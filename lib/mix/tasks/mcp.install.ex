defmodule Mix.Tasks.Mcp.Install do
  @shortdoc "Adds a server to the configuration of a client"

  @moduledoc """
  Adds a server to the configuration of a client, or removes it.

      mix mcp.install claude-code MyApp.MCP
      mix mcp.install cursor MyApp.MCP --scope project
      mix mcp.install vscode --url http://127.0.0.1:4040/mcp --name my_app
      mix mcp.install claude-desktop MyApp.MCP --uninstall

  `mix mcp.clients` lists the clients and their files. The entry has absolute paths and a `PATH`, because a client that
  was not started from a shell finds neither `mix` nor the project. For a client that supports no URLs in its file, such
  as Claude Desktop, the entry is `mix mcp.bridge URL`.

  Claude Code, Gemini CLI and Codex have a command that adds a server; the task uses it if it is installed. A JSON file
  is changed in one place only; the task copies the previous version to the same folder. TOML, YAML, JSON with comments
  and invalid files are not changed: the task prints the text to paste, and ends with status 1.

  On Windows the command runs in `cmd.exe`. The task refuses paths and words with characters that `cmd.exe` interprets. The
  library itself does not support Windows yet, and the commands have not been run there.

  ## Options

    * `--name NAME` – the name of the server in the client: up to 64 of `A-Z a-z 0-9 space _ . -`, of which the
      first is a letter or a digit (the project's application)
    * `--url URL` – the server at this URL, in place of a router
    * `--header "NAME: VALUE"` – a header of each request to the URL, written into the client's file; may be repeated
    * `--header-env NAME=VARIABLE` – the same with the value of an environment variable, which then is in no shell history
    * `--command COMMAND` – the command that the client starts, in place of a Mix task:
      `--command "exec /opt/my_app/bin/mcp"`
    * `--scope user|project` – for you everywhere, or for everybody in this project (`user`)
    * `--config-path PATH` – the client's file, if it is not at its usual path
    * `--print` – print the text to paste, and change nothing
    * `--uninstall` – remove the server with this name
    * `--no-compile` – do not compile the project before the check that the router exists
  """

  use Mix.Task

  alias McpServer.Install
  alias McpServer.Install.{Launch, Place}

  @switches [
    name: :string,
    url: :string,
    header: :keep,
    header_env: :keep,
    command: :string,
    scope: :string,
    config_path: :string,
    print: :boolean,
    uninstall: :boolean,
    compile: :boolean
  ]
  @usage "usage: mix mcp.install CLIENT ROUTER | --url URL | --command COMMAND [--name NAME] [--scope user|project] " <>
           "[--config-path PATH] [--print] [--uninstall], for example mix mcp.install claude-code MyApp.MCP"

  @impl true
  def run(arguments) do
    {options, words} = Mix.McpServer.options!(arguments, @switches, @usage)
    {client, routers} = client!(words)
    {:ok, _started} = Application.ensure_all_started(:mcp_server)
    name = options[:name] || to_string(Mix.Project.config()[:app])
    place = %{scope: scope!(options[:scope]), machine: Place.here(), config_path: options[:config_path]}

    cond do
      options[:uninstall] -> client |> Install.uninstall(name, place) |> tell()
      options[:print] -> print(client, server!(client, name, routers, options))
      true -> client |> Install.install(server!(client, name, routers, options), place) |> tell()
    end
  end

  defp client!([]), do: Mix.raise(@usage)

  defp client!([id | routers]) do
    case Install.client(id) do
      {:ok, client} -> {client, routers}
      {:error, sentence} -> Mix.McpServer.refuse!(sentence, @usage)
    end
  end

  defp scope!(nil), do: :user
  defp scope!("user"), do: :user
  defp scope!("project"), do: :project
  defp scope!(other), do: Mix.McpServer.refuse!("expected --scope to be user or project, got: #{other}", @usage)

  defp server!(client, name, routers, options) do
    case {routers, options[:url], options[:command]} do
      {[router], nil, nil} -> started!(name, ["mcp.stdio", router!(router, options)])
      {[], url, nil} when url != nil -> remote!(client, name, Mix.McpServer.Remote.url!(url, "--url", @usage), options)
      {[], nil, command} when command != nil -> Map.put(Launch.shell(command, Place.here().os), :name, name)
      _none_or_several -> Mix.raise(@usage)
    end
  end

  # Checks the router now: otherwise only the client would notice a wrong name.
  defp router!(name, options) do
    :ok = Mix.McpServer.compile(compile: options[:compile], quiet: options[:print])
    inspect(Mix.McpServer.router!(name))
  end

  defp remote!(%{http: nil}, name, url, options) do
    headers = for {key, value} <- headers!(options), word <- ["--header", "#{key}: #{value}"], do: word
    started!(name, ["mcp.bridge", url | headers])
  end

  defp remote!(_client, name, url, options), do: %{name: name, url: url, headers: headers!(options)}

  defp headers!(options), do: Mix.McpServer.Remote.headers!(options, @usage)

  defp started!(name, words) do
    case Launch.mix(words, File.cwd!(), mix_env: System.get_env("MIX_ENV"), os: Place.here().os) do
      {:ok, launch} -> Map.put(launch, :name, name)
      {:error, sentence} -> Mix.raise(sentence)
    end
  end

  defp print(client, server) do
    case Install.block(client, server) do
      {:ok, block} ->
        IO.write(block)
        if link = Install.link(client, server), do: IO.puts(link)
        :ok

      {:error, sentence} ->
        Mix.raise(sentence)
    end
  end

  defp tell({:done, sentence}), do: IO.puts(sentence)
  defp tell({:error, sentence}), do: Mix.raise(sentence)

  defp tell({:paste, reason, path, block}) do
    IO.puts(:stderr, "#{reason}. Put this into #{path}:\n")
    IO.write(block)
    exit({:shutdown, 1})
  end
end
