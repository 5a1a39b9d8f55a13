defmodule McpServer.Installed do
  # What some tests use besides Elixir and Rust. Where it is missing, its tests are skipped, and one line says so.
  #
  #     @moduletag McpServer.Installed.tags(:postgresql)
  #
  # `mix test --only needs` runs the tests that need any of these.
  @moduledoc false

  @names [
    postgresql: "PostgreSQL",
    mnesia: "Mnesia",
    epmd: "epmd",
    proper: "PropEr",
    jiffy: "jiffy",
    python: "Python",
    localhost: "a host named localhost",
    corpora: "shared/corpora beside the project"
  ]

  @corpora Path.expand("../../../shared/corpora", __DIR__)

  @type need :: :postgresql | :mnesia | :epmd | :proper | :jiffy | :python | :localhost | :corpora

  @doc "The tags of a test or module that needs all of these. They skip it if one is missing."
  @spec tags(need | [need]) :: [needs: String.t(), skip: boolean | String.t()]
  def tags(needs) do
    needs = List.wrap(needs)
    missing = Enum.reject(needs, &here?/1)
    [needs: names(needs), skip: missing != [] and "not here: #{names(missing)}"]
  end

  @doc "Prints a line for each that is missing."
  @spec report() :: :ok
  def report do
    for {need, name} <- @names, not here?(need), do: IO.puts("Tests that need #{name} are skipped: it is not here.")
    :ok
  end

  @doc "Whether it can be used. PropEr's and jiffy's code becomes loadable, which Mix hides."
  @spec here?(need) :: boolean
  def here?(:postgresql),
    do: program?("initdb") or Path.wildcard("/usr/lib/postgresql/*/bin/initdb") != []

  def here?(:mnesia), do: Code.ensure_loaded?(:mnesia)
  def here?(:epmd), do: program?("epmd")
  def here?(:proper), do: library?(:proper)
  def here?(:jiffy), do: library?(:jiffy)
  def here?(:python), do: program?("python3")
  def here?(:localhost), do: match?({:ok, _address}, :inet.getaddr(~c"localhost", :inet))
  def here?(:corpora), do: File.dir?(@corpora)

  defp program?(name), do: System.find_executable(name) != nil

  defp library?(name) do
    with folder when is_list(folder) <- :code.lib_dir(name) do
      Code.prepend_path(Path.join(folder, "ebin"))
      Code.ensure_loaded?(name)
    else
      {:error, :bad_name} -> false
    end
  end

  defp names(needs), do: Enum.map_join(needs, " and ", &Keyword.fetch!(@names, &1))
end
