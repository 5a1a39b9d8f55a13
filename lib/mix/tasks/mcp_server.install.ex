if Code.ensure_loaded?(Igniter) do
  defmodule Mix.Tasks.McpServer.Install do
    @shortdoc "Writes a server, and mounts it in a Phoenix application (Igniter)"

    @moduledoc """
    Writes a server, and mounts it in a Phoenix application. Igniter shows the changes and asks before it writes them.

        mix mcp_server.install

    In a Phoenix application it does what `mix mcp.gen phoenix` does, elsewhere what `mix mcp.gen server` does. The task
    exists where the package `igniter` is installed.
    """

    use Igniter.Mix.Task

    alias McpServer.Generator
    alias Rewrite.Source

    @impl Igniter.Mix.Task
    def info(_argv, _composing_task), do: %Igniter.Mix.Task.Info{group: :mcp_server}

    @impl Igniter.Mix.Task
    def igniter(igniter) do
      plan = igniter |> Igniter.Project.Application.app_name() |> Generator.project(Mix.Project.get()) |> plan(igniter)
      igniter = Enum.reduce(plan.files, igniter, fn {path, text, _mode}, igniter -> create(igniter, path, text) end)
      plan |> Map.get(:changes, []) |> Enum.reduce(igniter, &change/2) |> Igniter.add_notice(plan.next)
    end

    defp plan(project, igniter) do
      with {:error, _no_phoenix} <- Generator.Phoenix.plan(project, &read(igniter, &1)),
           do: Generator.plan("server", nil, project)
    end

    defp read(igniter, path) do
      if Igniter.exists?(igniter, path),
        do: igniter |> Igniter.include_existing_file(path) |> source(path) |> Source.get(:content)
    end

    defp source(igniter, path), do: Rewrite.source!(igniter.rewrite, path)

    defp create(igniter, path, text), do: Igniter.create_new_file(igniter, path, text)

    defp change({:changed, path, text}, igniter),
      do: Igniter.update_file(igniter, path, &Source.update(&1, :content, text))

    defp change({:by_hand, path, lines}, igniter),
      do: Igniter.add_warning(igniter, "#{path} is not as expected: add to it\n\n#{lines}")
  end
end
