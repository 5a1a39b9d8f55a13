defmodule McpServer.Install.Launch do
  @moduledoc false
  # The command that a client starts. A client that was not started from a shell has neither the PATH nor the folder,
  # and maybe not even HOME, which the VM needs. So the command sets them, with absolute paths.
  #
  # PATH also has the folders of cargo and rustc if they exist. The compiler decides whether the native library must be
  # built. Without Rust it would try to rebuild an existing library, and fail.

  alias McpServer.Install.Place

  @type t :: %{command: String.t(), args: [String.t()]}

  @system "/usr/local/bin:/usr/bin:/bin"

  @doc """
  The command that runs a Mix task in a project. An error if a program is missing, or if cmd.exe would change a word.
  Options: `:os` (this machine's), `:find`, `:home`, `:mix_env`.
  """
  @spec mix([String.t()], Path.t(), keyword()) :: {:ok, t()} | {:error, String.t()}
  def mix(words, project, options \\ []) do
    find = Keyword.get(options, :find, &System.find_executable/1)

    with {:ok, [mix | _] = paths} <- programs(~w(mix elixir erl), find) do
      rust = for name <- ~w(cargo rustc), path = find.(name), do: path
      folders = (paths ++ rust) |> Enum.map(&Path.dirname/1) |> Enum.uniq()

      if options[:os] == :windows,
        do: windows([mix | words], project, folders, options[:mix_env]),
        else: {:ok, unix([mix | words], project, folders, options)}
    end
  end

  defp unix(command, project, folders, options) do
    home = "[ -n \"$HOME\" ] || export HOME=#{quoted(Keyword.get_lazy(options, :home, &System.user_home!/0))}; "
    environment = if env = options[:mix_env], do: "MIX_ENV=#{quoted(env)} ", else: ""
    path = "PATH=#{quoted(Enum.join(folders ++ [@system], ":"))}\"${PATH:+:$PATH}\""
    shell("#{home}cd #{quoted(project)} && #{path} #{environment}exec #{Enum.map_join(command, " ", &quoted/1)}")
  end

  # A client quotes words with blanks, and escapes quotes in a way that cmd.exe does not read. So each word is an
  # argument without quotes. PATH ends with a harmless blank, so that the client quotes it. The value of MIX_ENV must
  # not end with a blank, so `&&` follows it directly.
  defp windows([mix | words], project, folders, env) do
    [project, mix | folders] = for path <- [project, mix | folders], do: String.replace(path, "/", "\\")

    if Enum.any?([project, mix] ++ folders ++ words ++ List.wrap(env), &(&1 =~ ~r/[&|<>^%!"`;,=\r\n]/)) do
      {:error,
       "the command has a character that cmd.exe does not pass on, one of & | < > ^ % ! \" ` ; , = in a path or a word"}
    else
      env = if env, do: ["set", "MIX_ENV=#{env}&&"], else: []
      path = ["set", "PATH=#{Enum.join(folders, ";")};%PATH%; ", "&&"]
      {:ok, %{command: "cmd.exe", args: ["/d", "/c", "cd", "/d", project, "&&"] ++ path ++ env ++ [mix | words]}}
    end
  end

  @doc "The command that runs a script in a shell."
  @spec shell(String.t(), Place.os()) :: t()
  def shell(script, os \\ :linux)
  def shell(script, :windows), do: %{command: "cmd.exe", args: ["/d", "/s", "/c", script]}
  def shell(script, _unix), do: %{command: "/bin/sh", args: ["-c", script]}

  defp programs(names, find) do
    Enum.reduce_while(names, {:ok, []}, fn name, {:ok, found} ->
      case find.(name) do
        nil -> {:halt, {:error, "#{name} is not on PATH: start this task from a shell that finds it"}}
        path -> {:cont, {:ok, found ++ [path]}}
      end
    end)
  end

  @word "(?:[A-Za-z0-9_./:=-]+|'(?:[^']|'\\\\'')*')"

  @doc """
  Whether `mix/3` makes this command now, for a server or a bridge of the project. Any other command in a file may be
  somebody else's. The options are those of `mix/3`.
  """
  @spec made?([String.t()], Path.t(), keyword()) :: boolean()
  def made?(["/bin/sh", "-c", script], project, options) do
    with [_all, env, words] <- Regex.run(~r/(?: MIX_ENV=(#{@word}))? exec #{@word}((?: #{@word})+)\z/, script),
         words = unquoted(words),
         true <- installed?(words),
         options = Keyword.put(options, :mix_env, List.first(unquoted(env))),
         {:ok, launch} <- mix(words, project, options) do
      launch == shell(script)
    else
      _another -> false
    end
  end

  def made?(_words, _project, _options), do: false

  # The tasks with the words that `mix mcp.install` gives them. Others could send environment variables to a URL.
  defp installed?(["mcp.stdio", router]), do: router =~ ~r/\A[A-Z][A-Za-z0-9_.]*\z/
  defp installed?(["mcp.bridge", "http" <> _url | headers]), do: literal?(headers)
  defp installed?(_words), do: false

  defp literal?([]), do: true
  defp literal?(["--header", _header | headers]), do: literal?(headers)
  defp literal?(_words), do: false

  @doc "Quotes a word for a shell."
  @spec quoted(String.t()) :: String.t()
  def quoted(word) do
    if word =~ ~r/\A[A-Za-z0-9_.\/:=-]+\z/, do: word, else: "'" <> String.replace(word, "'", "'\\''") <> "'"
  end

  # The words that `quoted/1` has made this text from.
  defp unquoted(text) do
    for [word] <- Regex.scan(~r/#{@word}/, text) do
      case word do
        "'" <> quoted -> quoted |> String.slice(0..-2//1) |> String.replace("'\\''", "'")
        plain -> plain
      end
    end
  end
end
