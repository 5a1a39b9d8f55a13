defmodule Mix.Tasks.Mcp.Gen do
  @shortdoc "Writes a server, also in a Phoenix application, a tool, a prompt, a resource, a view or authorization"

  @moduledoc """
  Generates the first files of a server, with tests, and prints the lines to add to existing files.

      mix mcp.gen server
      mix mcp.gen phoenix
      mix mcp.gen tool count_words
      mix mcp.gen prompt explain
      mix mcp.gen resource readme
      mix mcp.gen app chart
      mix mcp.gen auth
      mix mcp.gen release

  `server` writes a router with one tool. `phoenix` does so in a Phoenix application, adds API tokens and a test through
  the endpoint, and mounts it: it adds lines to the router, the endpoint, the application and `.formatter.exs`, or prints
  those for which it finds no place. With `mix phx.gen.auth Accounts User users` the tokens are those of its users, and
  handlers get their scope. With Igniter, `mix mcp_server.install` shows these changes first. The next three write a
  controller and a test, and print the statement for the router. `app` writes a tool with a view, an HTML document that
  hosts of MCP Apps render. `auth` writes the configuration of access tokens for a server over HTTP, with a test that
  starts an issuer. `release` writes `rel/overlays/bin/mcp`, which starts the server of a release on stdin and stdout.

  If one of the files exists, the task writes nothing.
  """

  use Mix.Task

  alias McpServer.Generator

  @usage "usage: mix mcp.gen server | phoenix | tool NAME | prompt NAME | resource NAME | app NAME | auth | release, " <>
           "for example mix mcp.gen tool count_words"

  @impl true
  def run(arguments) do
    {[], words} = Mix.McpServer.options!(arguments, [], @usage)
    if Mix.Project.umbrella?(), do: Mix.raise("run mix mcp.gen in the folder of an application of the umbrella")
    {kind, name} = kind!(words)

    %{files: files, next: next} =
      plan = plan!(kind, name, Generator.project(Mix.Project.config()[:app], Mix.Project.get()))

    for {path, _text, _mode} <- files, File.exists?(path), do: Mix.raise("#{path} exists, and nothing was written")
    Enum.each(files, &write/1)
    plan |> Map.get(:changes, []) |> Enum.each(&change/1)
    Mix.shell().info("\n" <> next)
  end

  defp plan!("phoenix", nil, project) do
    with {:error, sentence} <- Generator.Phoenix.plan(project, &read/1), do: Mix.McpServer.refuse!(sentence, @usage)
  end

  defp plan!(kind, name, project), do: Generator.plan(kind, name, project)

  defp read(path) do
    case File.read(path) do
      {:ok, text} -> text
      {:error, _absent} -> nil
    end
  end

  defp kind!([kind]) when kind in ["server", "phoenix", "auth", "release"], do: {kind, nil}

  defp kind!([kind, name]) when kind in ["tool", "prompt", "resource", "app"] do
    with {:error, sentence} <- Generator.name(name), do: Mix.McpServer.refuse!(sentence, @usage)
    {kind, name}
  end

  defp kind!([kind | _names]) do
    if kind in Generator.kinds(),
      do: Mix.raise(@usage),
      else: Mix.McpServer.refuse!("there is no #{kind} to write#{hint(kind)}", @usage)
  end

  defp kind!([]), do: Mix.raise(@usage)

  defp hint(kind), do: McpServer.Suggestion.did_you_mean(kind, Generator.kinds())

  defp write({path, text, mode}) do
    File.mkdir_p!(Path.dirname(path))
    File.write!(path, text, [:exclusive])
    File.chmod!(path, mode)
    Mix.shell().info("wrote #{path}")
  end

  defp change({:changed, path, text}) do
    File.write!(path, text)
    Mix.shell().info("changed #{path}")
  end

  defp change({:by_hand, path, lines}) do
    Mix.shell().info("#{path} is not as expected: add to it\n\n#{String.replace(lines, ~r/^/m, "    ")}\n")
  end
end
