defmodule McpServer.PackageCopy do
  # The package as its users get it: a copy of its files, compiled by a separate Mix, on a machine without Rust and Hex.
  @moduledoc false

  @doc "Copies the package into a folder."
  @spec create(Path.t()) :: Path.t()
  def create(folder) do
    for pattern <- Mix.Project.config()[:package][:files], file <- Path.wildcard(pattern, match_dot: true) do
      File.mkdir_p!(Path.dirname(Path.join(folder, file)))
      File.cp_r!(file, Path.join(folder, file))
    end

    # The checksums may belong to a release that is just being built here.
    File.rm(Path.join(folder, "native/checksums.txt"))
    folder
  end

  @doc "Runs mix in a folder. Returns its output with stderr, and its exit status."
  @spec mix(Path.t(), [String.t()], %{String.t() => String.t()}) :: {String.t(), non_neg_integer}
  def mix(folder, arguments, env), do: System.cmd("mix", arguments, cd: folder, env: env, stderr_to_stdout: true)

  @doc "The environment of a user without Rust, with a new home. `bin` is a folder that comes first in PATH."
  @spec environment(Path.t(), Path.t() | nil) :: %{String.t() => String.t() | nil}
  def environment(home, bin \\ nil) do
    path = Enum.join(List.wrap(bin) ++ path(home), ":")
    cleared = for {name, _value} <- System.get_env(), name =~ ~r/^(CARGO|RUST|MCP_SERVER|MIX_|TARGET_|HEX_)/, do: name

    Map.merge(Map.new(cleared, &{&1, nil}), %{
      "HOME" => home,
      "MIX_HOME" => Path.join(home, "mix"),
      "PATH" => path,
      "XDG_CACHE_HOME" => nil
    })
  end

  # A folder with Rust programs is replaced by one with links to all its other programs.
  defp path(home) do
    for {folder, n} <- "PATH" |> System.fetch_env!() |> String.split(":") |> Enum.with_index() do
      if rust?(folder), do: without_rust(folder, Path.join(home, "bin-#{n}")), else: folder
    end
  end

  @rust ~w(cargo rustc rustup)

  defp rust?(folder), do: Enum.any?(@rust, &File.exists?(Path.join(folder, &1)))

  defp without_rust(folder, links) do
    File.mkdir_p!(links)

    for program <- File.ls!(folder), program not in @rust do
      _there_already = File.ln_s(Path.join(folder, program), Path.join(links, program))
    end

    links
  end
end
