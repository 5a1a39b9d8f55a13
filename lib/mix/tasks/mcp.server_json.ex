defmodule Mix.Tasks.Mcp.ServerJson do
  @shortdoc "Writes the server.json of a server for the MCP registry"

  @moduledoc """
  Writes the `server.json` of a router, for the MCP registry (schema 2025-12-11), to stdout or a file.

      mix mcp.server_json MyApp.MCP --name io.github.ada/my_app --url https://example.com/mcp
      mix mcp.server_json MyApp.MCP --name io.github.ada/my_app --oci docker.io/ada/my_app:1.0.0
      mix mcp.server_json MyApp.MCP --name io.github.ada/my_app --output server.json \\
        --mcpb my_app-1.0.0-linux-x86_64.mcpb=https://example.com/my_app-1.0.0-linux-x86_64.mcpb

  The registry does not support Hex packages. A server is offered at a URL, as an image, or as bundles of
  `mix mcp.bundle`; the task computes the checksum of each bundle. The version comes from the project, the title and the
  website from the router. The task reports values that the registry would refuse, and then writes nothing.
  `mcp-publisher publish` sends the file.

  ## Options

    * `--name NAME` – the name in the registry: your domain in reverse order, a slash and a name, `io.github.ada/my_app`
    * `--url URL` – the URL of the server over HTTP; `--header NAME` names a header that clients ask their users for,
      such as `Authorization`; also several times
    * `--oci IMAGE` – an image that runs the server over stdio
    * `--mcpb FILE=URL` – a bundle, and the URL from which clients download it; may be repeated
    * `--description TEXT` – at most 100 characters (the description of the project)
    * `--output FILE` – a file, in place of stdout; an existing file is replaced
    * `--no-compile` – as for `mix run`
  """

  use Mix.Task

  alias McpServer.Registry

  @switches [
    name: :string,
    url: :string,
    header: :keep,
    oci: :string,
    mcpb: :keep,
    description: :string,
    output: :string,
    compile: :boolean
  ]
  @usage "usage: mix mcp.server_json ROUTER --name NAME --url URL | --oci IMAGE | --mcpb FILE=URL [--header NAME] " <>
           "[--description TEXT] [--output FILE], for example " <>
           "mix mcp.server_json MyApp.MCP --name io.github.ada/my_app --url https://example.com/mcp"

  # The order of the registry's examples.
  @order ~w($schema name title description version websiteUrl remotes packages)

  @impl true
  def run(arguments) do
    {options, router} = parse!(arguments)
    packages = for(image <- List.wrap(options[:oci]), do: {:oci, image}) ++ bundles!(options)
    Mix.McpServer.compile(Keyword.put(options, :quiet, true))
    [router] = Mix.McpServer.routers!([router])
    {:ok, _started} = Application.ensure_all_started(:mcp_server)

    made =
      Registry.document(router, %{
        name: options[:name],
        description: description!(options),
        version: Mix.Project.config()[:version],
        url: options[:url],
        headers: Keyword.get_values(options, :header),
        packages: packages
      })

    case made do
      {:ok, document} -> put(text(document), options[:output])
      {:error, lines} -> Mix.raise("the registry would refuse this server:\n" <> Enum.map_join(lines, "\n", &"  #{&1}"))
    end
  end

  defp parse!(arguments) do
    case Mix.McpServer.options!(arguments, @switches, @usage) do
      {options, [router]} ->
        if options[:name] == nil,
          do: Mix.McpServer.refuse!("a server has a name in the registry: --name io.github.ada/my_app", @usage)

        {options, router}

      _words ->
        Mix.raise(@usage)
    end
  end

  defp bundles!(options) do
    for given <- Keyword.get_values(options, :mcpb) do
      with [path, url] <- String.split(given, "=", parts: 2), true <- File.regular?(path) do
        {:mcpb, url, path}
      else
        _other -> Mix.McpServer.refuse!("expected --mcpb to be a file and its address, FILE=URL, got: #{given}", @usage)
      end
    end
  end

  defp description!(options) do
    options[:description] || Mix.Project.config()[:description] ||
      Mix.McpServer.refuse!("a server has a description: --description TEXT, or description: in mix.exs", @usage)
  end

  defp text(document) do
    McpServer.JSON.encode!(document, pretty: true, order: @order) <> "\n"
  end

  defp put(text, nil), do: IO.write(text)

  defp put(text, path) do
    File.write!(path, text)
    Mix.shell().info("wrote #{path}")
  end
end
