defmodule McpServer.Bundle do
  @moduledoc false
  # Packs a release as an `.mcpb`: the manifest, a launcher and the release. Clients unpack it and start the launcher.

  alias McpServer.Bundle.Zip
  alias McpServer.{Client, JSON}

  @typedoc """
  * `:release` – the folder of the release, named like the application
  * `:environment` – variables that the client asks its user for
  * `:icon` – a PNG file
  """
  @type options :: %{
          router: module(),
          app: String.t(),
          version: String.t(),
          description: String.t(),
          author: String.t(),
          release: Path.t(),
          environment: [String.t()],
          icon: Path.t() | nil
        }

  @launcher "launch.sh"
  @file_mode 0o644
  @program_mode 0o755
  # Left out, because the cookie would be the same on every machine.
  @left_out "releases/COOKIE"

  @doc "The bytes of the bundle and its manifest. `{:error, text}` if the release cannot be packed."
  @spec build(options()) :: {:ok, iodata(), manifest :: map()} | {:error, String.t()}
  def build(%{release: release, app: app} = options) do
    with {:ok, platform} <- platform(),
         :ok <- release(release, app) do
      manifest = manifest(options, platform)

      entries =
        [{"manifest.json", @file_mode, JSON.encode!(manifest, pretty: true)}] ++
          [{@launcher, @program_mode, launcher(options)}] ++ icon(options.icon) ++ files(release)

      with {:ok, bytes} <- Zip.build(entries), do: {:ok, bytes, manifest}
    end
  end

  defp platform do
    case :os.type() do
      {:unix, :darwin} -> {:ok, "darwin"}
      {:unix, :linux} -> {:ok, "linux"}
      {_family, name} -> {:error, "bundles are made on Linux and macOS, this is #{name}"}
    end
  end

  defp release(folder, app) do
    if File.regular?(Path.join(folder, "bin/#{app}")),
      do: :ok,
      else:
        {:error, "there is no release in #{folder}: run MIX_ENV=prod mix release, or give its folder with --release"}
  end

  @doc "The file name of a bundle from this machine, with its operating system and architecture."
  @spec file_name(String.t(), String.t()) :: String.t()
  def file_name(app, version) do
    [architecture | _system] = :erlang.system_info(:system_architecture) |> to_string() |> String.split("-")
    {_family, system} = :os.type()
    "#{app}-#{version}-#{system}-#{architecture}.mcpb"
  end

  defp manifest(options, platform) do
    server = options.router.__mcp__(:server)
    client = Client.open({:router, options.router}, [])
    tools = for tool <- list(client, "tools"), do: Map.take(tool, ["name", "description"])
    prompts = for prompt <- list(client, "prompts"), do: prompt(prompt)
    :ok = Client.close(client)

    %{
      "manifest_version" => "0.3",
      "name" => options.app,
      "display_name" => server[:title] || server.name,
      "version" => options.version,
      "description" => options.description,
      "author" => %{"name" => options.author},
      "server" => %{
        "type" => "binary",
        "entry_point" => @launcher,
        "mcp_config" => %{
          # Clients may unpack files without their execute permission.
          "command" => "/bin/sh",
          "args" => ["${__dirname}/#{@launcher}"],
          "env" => Map.new(options.environment, &{&1, "${user_config.#{String.downcase(&1)}}"})
        }
      },
      "tools" => tools,
      "tools_generated" => true,
      "prompts" => prompts,
      "prompts_generated" => true,
      "compatibility" => %{"platforms" => [platform]},
      "user_config" => Map.new(options.environment, &{String.downcase(&1), asked(&1)})
    }
    |> Map.merge(if options.icon, do: %{"icon" => Path.basename(options.icon)}, else: %{})
  end

  # A server without such entries does not know the method.
  defp list(client, member) do
    with {:ok, entries} <- Client.list(client, member <> "/list", member), do: entries, else: ({:error, _unknown} -> [])
  end

  # Users choose a prompt by its text.
  defp prompt(prompt) do
    arguments = for argument <- prompt["arguments"] || [], do: argument["name"]
    %{"name" => prompt["name"], "arguments" => arguments, "text" => prompt["description"] || prompt["name"]}
  end

  defp asked(variable) do
    %{
      "type" => "string",
      "title" => variable,
      "description" => "The value of #{variable} for this server",
      "required" => true,
      "sensitive" => true
    }
  end

  # A Mix release has these programs, and some applications add their own.
  defp launcher(%{router: router, app: app}) do
    """
    #!/bin/sh
    set -eu
    here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd -P)
    for programs in "$here"/server/bin "$here"/server/erts-*/bin "$here"/server/releases/*/elixir \\
      "$here"/server/releases/*/iex "$here"/server/lib/*/priv/bin; do
      if [ -e "$programs" ]; then chmod -R u+x "$programs"; fi
    done
    export RELEASE_COOKIE=unused RELEASE_DISTRIBUTION=none
    exec "$here/server/bin/#{app}" eval "McpServer.Stdio.run(#{inspect(router)}, app: :#{app})"
    """
  end

  defp icon(nil), do: []
  defp icon(path), do: [{Path.basename(path), @file_mode, File.read!(path)}]

  # A link is packed as the file that it points to.
  defp files(release) do
    for path <- release |> Path.join("**") |> Path.wildcard(match_dot: true) |> Enum.sort(),
        File.regular?(path),
        name = Path.relative_to(path, release),
        name != @left_out and not String.starts_with?(name, "tmp/") do
      mode = if program?(path), do: @program_mode, else: @file_mode
      {"server/" <> name, mode, File.read!(path)}
    end
  end

  defp program?(path), do: Bitwise.band(File.stat!(path).mode, 0o100) != 0
end
