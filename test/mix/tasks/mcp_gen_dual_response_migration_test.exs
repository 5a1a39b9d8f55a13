defmodule Mix.Tasks.Mcp.Gen.DualResponseMigrationTest do
  # Not async: the shell of Mix is global.
  use ExUnit.Case, async: false

  alias Mix.Tasks.Mcp.Gen.DualResponseMigration

  setup do
    shell = Mix.shell()
    Mix.shell(Mix.Shell.Process)
    folder = Path.join(System.tmp_dir!(), "mcp_migration_#{System.pid()}_#{System.unique_integer([:positive])}")

    on_exit(fn ->
      Mix.shell(shell)
      File.rm_rf!(folder)
    end)

    {:ok, folder: folder}
  end

  defp written(folder), do: folder |> Path.join("**/*.exs") |> Path.wildcard()

  test "writes a migration that calls the library's", %{folder: folder} do
    DualResponseMigration.run(["--repo", "MyApp.Repo", "--path", folder])
    assert [file] = written(folder)
    assert Path.basename(file) =~ ~r/\A\d{14}_create_mcp_dual_responses\.exs\z/

    assert File.read!(file) == """
           defmodule MyApp.Repo.Migrations.CreateMcpDualResponses do
             use Ecto.Migration

             def up, do: McpServer.DualResponse.Store.Ecto.Migration.up(version: 1)
             def down, do: McpServer.DualResponse.Store.Ecto.Migration.down(version: 1)
           end
           """
  end

  test "hands names on, formatted", %{folder: folder} do
    DualResponseMigration.run(["--repo", "MyApp.Repo", "--path", folder, "--table", "results", "--prefix", "mcp"])
    assert [file] = written(folder)
    code = File.read!(file)
    assert code =~ ~s{Migration.up(version: 1, table: "results", prefix: "mcp")}
    assert code =~ ~s{Migration.down(version: 1, table: "results", prefix: "mcp")}
    assert IO.iodata_to_binary([Code.format_string!(code, line_length: 120), "\n"]) == code
  end

  test "puts it where Ecto looks for the migrations of that repository", %{folder: folder} do
    File.mkdir_p!(folder)
    File.cd!(folder, fn -> DualResponseMigration.run(["--repo", "MyApp.ReportsRepo"]) end)
    assert [file] = written(folder)
    assert Path.dirname(file) == Path.join(folder, "priv/reports_repo/migrations")
  end

  test "takes the first of the application's repositories", %{folder: folder} do
    Application.put_env(:mcp_server, :ecto_repos, [MyApp.FirstRepo, MyApp.OtherRepo])
    on_exit(fn -> Application.delete_env(:mcp_server, :ecto_repos) end)
    DualResponseMigration.run(["--path", folder])
    assert [file] = written(folder)
    assert File.read!(file) =~ "defmodule MyApp.FirstRepo.Migrations.CreateMcpDualResponses do"
  end

  test "stops where there is one, and for what it does not know", %{folder: folder} do
    DualResponseMigration.run(["--repo", "MyApp.Repo", "--path", folder])

    for {arguments, message} <- [
          {["--repo", "MyApp.Repo"], "is there already"},
          {["--repo", "MyApp.Repo", "--table", "a b"], ":table"},
          {["--repo", "MyApp.Repo", "--prefix", "A"], ":prefix"},
          {["--repo", "my_app; System.halt()"], "--repo"},
          {["--repo", "MyApp.Repo", "more"], "more"},
          {[], "--repo"}
        ] do
      error = assert_raise Mix.Error, fn -> DualResponseMigration.run(["--path", folder] ++ arguments) end
      assert error.message =~ message
    end

    assert_raise OptionParser.ParseError, fn -> DualResponseMigration.run(["--force"]) end
    assert [_file] = written(folder)
  end
end
