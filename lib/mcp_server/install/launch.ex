defmodule McpServer.Install.Launch do
  @moduledoc false
  # The command that a client starts. A client that was not started from a shell has neither its PATH nor its folder, and
  # maybe not even HOME, which the VM needs: so everything is said, in absolute paths.
  #
  # Rust's programs are found as well, where they are: whether a native library has to be built is decided by the compiler
  # that would build it, so without it a library that is there would be built again, and could not be.

  @type t :: %{command: String.t(), args: [String.t()]}

  @system "/usr/local/bin:/usr/bin:/bin"

  @doc "The command that runs a task of Mix in a project, or which program is missing."
  @spec mix([String.t()], Path.t(), keyword()) :: {:ok, t()} | {:error, String.t()}
  def mix(words, project, options \\ []) do
    find = Keyword.get(options, :find, &System.find_executable/1)

    with {:ok, paths} <- programs(~w(mix elixir erl), find) do
      rust = for name <- ~w(cargo rustc), path = find.(name), do: path
      folders = (paths ++ rust) |> Enum.map(&Path.dirname/1) |> Enum.uniq() |> Enum.join(":")
      home = "[ -n \"$HOME\" ] || export HOME=#{quoted(Keyword.get_lazy(options, :home, &System.user_home!/0))}; "
      environment = if env = options[:mix_env], do: "MIX_ENV=#{quoted(env)} ", else: ""
      command = Enum.map_join([hd(paths) | words], " ", &quoted/1)
      path = "PATH=#{quoted(folders <> ":" <> @system)}\"${PATH:+:$PATH}\""
      {:ok, shell("#{home}cd #{quoted(project)} && #{path} #{environment}exec #{command}")}
    end
  end

  @doc "The command that a shell runs."
  @spec shell(String.t()) :: t()
  def shell(script), do: %{command: "/bin/sh", args: ["-c", script]}

  defp programs(names, find) do
    Enum.reduce_while(names, {:ok, []}, fn name, {:ok, found} ->
      case find.(name) do
        nil -> {:halt, {:error, "#{name} is not on PATH: start this task from a shell that finds it"}}
        path -> {:cont, {:ok, found ++ [path]}}
      end
    end)
  end

  @doc "A word as a shell reads it, whatever is in it."
  @spec quoted(String.t()) :: String.t()
  def quoted(word) do
    if word =~ ~r/\A[A-Za-z0-9_.\/:=-]+\z/, do: word, else: "'" <> String.replace(word, "'", "'\\''") <> "'"
  end
end
