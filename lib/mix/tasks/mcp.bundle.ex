defmodule Mix.Tasks.Mcp.Bundle do
  @shortdoc "Builds an .mcpb bundle of a release, which clients install with a click"

  @moduledoc """
  Builds an MCP bundle (`.mcpb`) from a release. Claude Desktop and other clients install it with a click. The user
  needs neither Elixir nor Erlang, because the release contains both.

      MIX_ENV=prod mix release
      mix mcp.bundle MyApp.MCP --author "Ada Lovelace"
      mix mcp.bundle MyApp.MCP --author "Ada Lovelace" --env API_KEY --output my_app.mcpb

  A bundle runs on the operating system and the architecture of the release. Both are in its name:
  `my_app-1.0.0-linux-x86_64.mcpb`. The task prints the name and the size.

  The client starts a shell script in the bundle. The script makes the programs of the release executable, because some
  clients drop this permission, and then serves the router over stdio. The bundle does not contain the cookie of the
  release.

  ## Options

    * `--author NAME` – the author; required
    * `--description TEXT` – the description for people (the description of the project)
    * `--env NAME` – an environment variable that the client asks its user for, as a secret; may be repeated
    * `--icon FILE` – an icon of the server, as PNG
    * `--release FOLDER` – the release (`_build/prod/rel/` and the name of the application)
    * `--output FILE` – the path of the bundle (in the folder of the project); an existing file is replaced
    * `--no-compile` – as for `mix run`
  """

  use Mix.Task

  alias McpServer.Bundle

  @switches [
    author: :string,
    description: :string,
    env: :keep,
    icon: :string,
    release: :string,
    output: :string,
    compile: :boolean
  ]
  @usage "usage: mix mcp.bundle ROUTER --author NAME [--description TEXT] [--env NAME] [--icon FILE] [--release FOLDER] " <>
           "[--output FILE], for example mix mcp.bundle MyApp.MCP --author \"Ada Lovelace\""

  @impl true
  def run(arguments) do
    {options, router} = parse!(arguments)
    for name <- Keyword.get_values(options, :env), do: variable!(name)
    if icon = options[:icon], do: icon!(icon)
    Mix.McpServer.compile(options)
    [router] = Mix.McpServer.routers!([router])
    {:ok, _started} = Application.ensure_all_started(:mcp_server)
    app = to_string(Mix.Project.config()[:app])
    version = Mix.Project.config()[:version]
    output = options[:output] || Bundle.file_name(app, version)

    made =
      Bundle.build(%{
        router: router,
        app: app,
        version: version,
        description: description!(options),
        author: options[:author],
        release: options[:release] || Path.join(["_build", "prod", "rel", app]),
        environment: Keyword.get_values(options, :env),
        icon: options[:icon]
      })

    case made do
      {:ok, bytes, _manifest} ->
        File.write!(output, bytes)
        Mix.shell().info("wrote #{output} (#{Float.round(IO.iodata_length(bytes) / 1_048_576, 1)} MiB)")

      {:error, text} ->
        Mix.raise(text)
    end
  end

  defp parse!(arguments) do
    case Mix.McpServer.options!(arguments, @switches, @usage) do
      {options, [router]} ->
        if options[:author] in [nil, ""],
          do: Mix.McpServer.refuse!("every bundle names its author: --author NAME", @usage)

        {options, router}

      _words ->
        Mix.raise(@usage)
    end
  end

  defp variable!(name) do
    name =~ ~r/\A[A-Z][A-Z0-9_]*\z/ ||
      Mix.McpServer.refuse!("expected --env to be the name of a variable, A-Z 0-9 and _, got: #{name}", @usage)
  end

  defp icon!(path) do
    # A compiled byte pattern of OTP 25 cannot be loaded by OTP 29, and ex_doc reads this module there.
    with {:ok, bytes} <- File.read(path), true <- String.starts_with?(bytes, <<0x89, "PNG">>) do
      :ok
    else
      _other -> Mix.McpServer.refuse!("expected --icon to be a PNG file, got: #{path}", @usage)
    end
  end

  defp description!(options) do
    options[:description] || Mix.Project.config()[:description] ||
      Mix.McpServer.refuse!("a bundle has a description: --description TEXT, or description: in mix.exs", @usage)
  end
end
