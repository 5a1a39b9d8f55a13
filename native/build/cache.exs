defmodule McpServer.NativeBuild.Cache do
  @moduledoc """
  The user's cache: `precompiled` has released archives, `built` has libraries that cargo built.

  `MCP_SERVER_NIF_CACHE` names its folder; the default is the system's folder for user caches.

  An archive is compared with a checksum of the package. A library that cargo built has only the checksum of its own
  file, which protects against damage but not against another user. So it is used only if nobody else can have written
  it: see `private?/3`.
  """

  import Bitwise, only: [&&&: 2]

  # How many files are kept: archives of versions and targets, builds of versions, compilers and settings.
  @newest %{"precompiled" => 16, "built" => 8}

  @doc "The folder; `nil` if neither the environment nor the system names one."
  @spec folder(%{String.t() => String.t()}) :: Path.t() | nil
  def folder(%{"MCP_SERVER_NIF_CACHE" => folder}) when folder != "", do: Path.expand(folder)

  # An empty system variable would give a folder below the current folder.
  def folder(_env) do
    folder = if System.user_home(), do: to_string(:filename.basedir(:user_cache, "mcp_server")), else: ""
    if Path.type(folder) == :absolute, do: folder
  end

  @doc "The path of a file of a kind; `nil` without a cache."
  @spec path(%{String.t() => String.t()}, String.t(), String.t()) :: Path.t() | nil
  def path(env, kind, name), do: if(folder = folder(env), do: Path.join([folder, kind, name]))

  @doc "Reads a file, and marks it as new."
  @spec read(%{String.t() => String.t()}, String.t(), String.t()) :: {:ok, binary} | :error
  def read(env, kind, name) do
    with path when path != nil <- path(env, kind, name), {:ok, bytes} <- File.read(path) do
      _ = File.touch(path)
      {:ok, bytes}
    else
      _missing -> :error
    end
  end

  @doc """
  Whether only this user can have written a file of a kind: the file, its folder and the folder of the cache belong to
  the user, and neither group nor others may write there. What is missing counts as private. Not checked on Windows,
  where a user's folders are private.
  """
  @spec private?(%{String.t() => String.t()}, String.t(), String.t()) :: boolean
  def private?(env, kind, name) do
    with path when path != nil <- path(env, kind, name), {:unix, _name} <- :os.type() do
      own = own_uid()
      kinds = Path.dirname(path)
      Enum.all?([path, kinds, Path.dirname(kinds)], &own?(File.stat(&1), own))
    else
      _no_cache_or_windows -> true
    end
  end

  defp own?({:ok, %{uid: uid, mode: mode}}, own), do: uid == own and (mode &&& 0o022) == 0
  defp own?({:error, _missing}, _own), do: true

  # Erlang does not tell it.
  defp own_uid do
    {uid, 0} = System.cmd("id", ["-u"])
    uid |> String.trim() |> String.to_integer()
  end

  @doc "Stores bytes, and deletes old files. If the cache cannot be written, it prints a line and continues."
  @spec store(%{String.t() => String.t()}, String.t(), String.t(), iodata) :: :ok
  def store(env, kind, name, bytes) do
    case path(env, kind, name) do
      nil -> :ok
      path -> path |> write(bytes) |> stored(path, kind)
    end
  end

  defp stored(:ok, path, kind), do: forget_oldest(Path.dirname(path), @newest[kind])

  defp stored({:error, reason}, path, _kind) do
    Mix.shell().info(
      "mcp_server: the native library is not kept in #{Path.dirname(path)} (#{:file.format_error(reason)}); " <>
        "MCP_SERVER_NIF_CACHE names another folder"
    )
  end

  # A rename is atomic: another project may read or store the same file now.
  defp write(path, bytes) do
    fresh = "#{path}.#{System.pid()}.new"

    with :ok <- make_folders(Path.dirname(path)),
         :ok <- File.write(fresh, bytes),
         :ok <- File.chmod(fresh, 0o644),
         {:error, reason} <- File.rename(fresh, path) do
      _ = File.rm(fresh)
      {:error, reason}
    end
  end

  # Under the umask of some systems the user's group could write to a new folder.
  defp make_folders(kinds) do
    new = Enum.reject([Path.dirname(kinds), kinds], &File.dir?/1)
    with :ok <- File.mkdir_p(kinds), do: Enum.each(new, &File.chmod!(&1, 0o755))
  end

  defp forget_oldest(folder, newest) do
    folder
    |> Path.join("*")
    |> Path.wildcard()
    |> Enum.sort_by(&modified/1, :desc)
    |> Enum.drop(newest)
    |> Enum.each(&File.rm/1)
  end

  defp modified(file) do
    case File.stat(file, time: :posix) do
      {:ok, stat} -> stat.mtime
      {:error, _gone} -> 0
    end
  end
end
