defmodule Mix.Tasks.Mcp.Gen.DualResponseMigration do
  @shortdoc "Writes the migration for dual responses in PostgreSQL"

  @moduledoc """
  Writes the migration that creates the tables of `McpServer.DualResponse.Store.Ecto`.

      mix mcp.gen.dual_response_migration
      mix mcp.gen.dual_response_migration --repo MyApp.Repo --prefix mcp

  ## Options

    * `--repo MODULE` – the repository (the first of the application's `:ecto_repos`)
    * `--path FOLDER` – the folder of the migration (`priv/repo/migrations`, after the last part of the repository's
      name)
    * `--table NAME`, `--prefix NAME` – as in the store

  If a file with this name already exists, the task stops.
  """

  use Mix.Task

  alias McpServer.DualResponse.Store.Ecto.{Migration, Table}

  @switches [repo: :string, path: :string, table: :string, prefix: :string]
  @name "create_mcp_dual_responses"

  @impl true
  def run(arguments) do
    {options, rest} = OptionParser.parse!(arguments, strict: @switches)
    rest == [] || Mix.raise("expected options only, got: #{Enum.join(rest, " ")}")
    repo = check_repo(options[:repo] || configured_repo())
    names = Keyword.take(options, [:table, :prefix])
    check_names(names)
    folder = options[:path] || folder(repo)
    refuse_second(folder)
    file = Path.join(folder, "#{timestamp()}_#{@name}.exs")
    Mix.Generator.create_file(file, code(repo, names))
  end

  # The name is inserted into code.
  defp check_repo(repo) do
    repo =~ ~r/\A[A-Z]\w*(\.[A-Z]\w*)*\z/ || Mix.raise("--repo expects a module such as MyApp.Repo, got: #{repo}")
    repo
  end

  defp check_names(names) do
    Table.names!(names)
  rescue
    error in ArgumentError -> Mix.raise(Exception.message(error))
  end

  defp configured_repo do
    Mix.Task.run("app.config")

    case Application.get_env(Mix.Project.config()[:app], :ecto_repos, []) do
      [repo | _more] -> inspect(repo)
      [] -> Mix.raise("which repository? Say --repo MyApp.Repo, or configure :ecto_repos")
    end
  end

  # Ecto's default folder for the migrations of a repository.
  defp folder(repo) do
    last = repo |> String.split(".") |> List.last() |> Macro.underscore()
    Path.join(["priv", last, "migrations"])
  end

  defp refuse_second(folder) do
    case Path.wildcard(Path.join(folder, "*_#{@name}.exs")) do
      [] -> :ok
      [file | _more] -> Mix.raise("#{file} is there already")
    end
  end

  defp timestamp, do: Calendar.strftime(DateTime.utc_now(), "%Y%m%d%H%M%S")

  defp code(repo, names) do
    options = inspect([version: 1] ++ names) |> String.slice(1..-2//1)

    """
    defmodule #{repo}.Migrations.CreateMcpDualResponses do
      use Ecto.Migration

      def up, do: #{inspect(Migration)}.up(#{options})
      def down, do: #{inspect(Migration)}.down(#{options})
    end
    """
  end
end
