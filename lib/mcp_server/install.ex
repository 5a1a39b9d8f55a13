defmodule McpServer.Install do
  @moduledoc false
  # Adds a server to the configuration of a client, or removes it. A client's own command is preferred. JSON files are
  # changed here. TOML, YAML, and JSON with comments are not changed: the user gets a block to paste.

  alias McpServer.Install.{ConfigFile, Entry, Place, Table}
  alias McpServer.Suggestion

  @type outcome ::
          {:done, String.t()}
          | {:paste, reason :: String.t(), Path.t() | nil, block :: String.t()}
          | {:error, String.t()}

  @typedoc "`:scope` and `:config_path` select the file. `:find` and `:run` find and run a client's own command."
  @type options :: %{
          :scope => :user | :project,
          :machine => Place.machine(),
          optional(:config_path) => Path.t() | nil,
          optional(:find) => (String.t() -> Path.t() | nil),
          optional(:run) => (Path.t(), [String.t()] -> {String.t(), status :: integer()})
        }

  @doc "The client with an id, or a sentence that lists the ids."
  @spec client(String.t()) :: {:ok, Table.client()} | {:error, String.t()}
  def client(id) do
    with :error <- Table.fetch(id) do
      ids = for client <- Table.all(), do: client.id

      case Suggestion.did_you_mean(id, ids) do
        "" -> {:error, "there is no client #{id}. There are: #{Enum.join(ids, ", ")}"}
        hint -> {:error, "there is no client #{id}" <> hint}
      end
    end
  end

  @doc """
  Whether a name is valid for a server. Some clients pass it through a shell, and a client's command would read one with
  a hyphen at its beginning as an option.
  """
  @spec name(String.t()) :: :ok | {:error, String.t()}
  def name(name) do
    if name =~ ~r/\A[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}\z/ and String.trim(name) == name,
      do: :ok,
      else:
        {:error,
         "the name of a server is 1 to 64 characters of A-Z a-z 0-9 space _ . -, of which the first is a letter or a " <>
           "digit, got: #{inspect(name)}"}
  end

  @doc "Installs a server."
  @spec install(Table.client(), Entry.server(), options()) :: outcome()
  def install(client, server, options) do
    with :ok <- name(server.name),
         {:ok, entry} <- Entry.new(client, server),
         {:ok, path} <- path(client, options) do
      case own_command(client, server, options) do
        {:ok, program, arguments} -> run(client, program, arguments, server.name, options)
        :none -> put(client, path, server, entry)
      end
    end
  end

  @doc "The block to paste into a client's file."
  @spec block(Table.client(), Entry.server()) :: {:ok, String.t()} | {:error, String.t()}
  def block(client, server) do
    with :ok <- name(server.name),
         {:ok, entry} <- Entry.new(client, server),
         do: {:ok, Entry.block(client, server.name, entry)}
  end

  @doc "The installation link of a client, if it supports such links."
  @spec link(Table.client(), Entry.server()) :: String.t() | nil
  def link(%{id: "cursor"} = client, server) do
    with {:ok, entry} <- Entry.new(client, server) do
      config = entry |> Map.new() |> McpServer.JSON.encode!() |> Base.encode64()

      "cursor://anysphere.cursor-deeplink/mcp/install?" <>
        URI.encode_query([name: server.name, config: config], :rfc3986)
    end
  end

  def link(%{id: "goose"}, %{command: command, args: args, name: name}) do
    words = [cmd: command] ++ for(arg <- args, do: {:arg, arg}) ++ [id: name, name: name, description: name]
    "goose://extension?" <> URI.encode_query(words, :rfc3986)
  end

  def link(_client, _server), do: nil

  @doc "Removes a server."
  @spec uninstall(Table.client(), String.t(), options()) :: outcome()
  def uninstall(%{format: :json} = client, name, options) do
    with :ok <- name(name),
         {:ok, path} <- path(client, options) do
      case ConfigFile.delete(path, client.key, name) do
        {:ok, :unchanged} -> {:done, "there is no #{name} in #{path}"}
        {:ok, {:removed, backup}} -> {:done, "removed #{name} from #{path}" <> kept(backup)}
        {:error, problem} -> {:error, "#{problem(problem, path)}; remove #{inspect(name)} from #{client.key} by hand"}
      end
    end
  end

  def uninstall(client, name, options) do
    with :ok <- name(name),
         {:ok, path} <- path(client, options),
         do: {:error, "#{path} is not rewritten; remove #{inspect(name)} from #{client.key} by hand"}
  end

  defp path(_client, %{config_path: path}) when is_binary(path), do: {:ok, Path.expand(path)}

  defp path(client, options) do
    with :none <- Place.file(client, options.scope, options.machine) do
      cond do
        client.user == nil ->
          {:error, "#{client.name} has no file: use --print"}

        options.scope == :user ->
          {:error, "where #{client.name} has its file on this system is unknown: use --config-path"}

        true ->
          {:error, "#{client.name} has no file for the scope #{options.scope}"}
      end
    end
  end

  # With a given file path the file is changed directly.
  defp own_command(_client, _server, %{config_path: path}) when is_binary(path), do: :none

  # On Windows it is a cmd.exe script, which would run the `&&` in our command itself.
  defp own_command(_client, _server, %{machine: %{os: :windows}}), do: :none

  defp own_command(%{command: command} = client, server, options) when is_binary(command) do
    find = Map.get(options, :find, &System.find_executable/1)

    with program when program != nil <- find.(command),
         [_ | _] = arguments <- add(client.id, server, options.scope) do
      {:ok, program, arguments}
    else
      _not_there -> :none
    end
  end

  defp own_command(_client, _server, _options), do: :none

  # `nil` if the command cannot express all settings.
  defp add("claude-code", %{url: url} = server, scope) do
    headers = for {name, value} <- Map.get(server, :headers, []), word <- ["--header", "#{name}: #{value}"], do: word
    ["mcp", "add", "-s", "#{scope}", "--transport", "http", server.name, url | headers]
  end

  defp add("claude-code", server, scope),
    do: ["mcp", "add", "-s", "#{scope}", server.name, "--", server.command | server.args]

  defp add("gemini", %{url: _url}, _scope), do: nil

  defp add("gemini", server, scope),
    do: ["mcp", "add", "-s", "#{scope}", server.name, server.command, "--" | server.args]

  defp add("codex", _server, :project), do: nil
  defp add("codex", %{headers: [_ | _]}, _scope), do: nil
  defp add("codex", %{url: url} = server, _scope), do: ["mcp", "add", server.name, "--url", url]
  defp add("codex", server, _scope), do: ["mcp", "add", server.name, "--", server.command | server.args]

  defp run(client, program, arguments, name, options) do
    run = Map.get(options, :run, &System.cmd(&1, &2, stderr_to_stdout: true))

    case run.(program, arguments) do
      {_said, 0} -> {:done, "installed #{name} in #{client.name}, with #{program} mcp add"}
      {said, status} -> {:error, "#{program} mcp add ended with status #{status}: #{String.trim(said)}"}
    end
  end

  defp put(%{format: :json} = client, path, server, entry) do
    case ConfigFile.put(path, client.key, server.name, entry) do
      {:ok, :unchanged} -> {:done, "#{server.name} is in #{path} already, as it should be"}
      {:ok, {:added, backup}} -> {:done, "added #{server.name} to #{path}" <> kept(backup)}
      {:ok, {:replaced, backup}} -> {:done, "replaced #{server.name} in #{path}" <> kept(backup)}
      {:error, problem} -> {:paste, problem(problem, path), path, Entry.block(client, server.name, entry)}
    end
  end

  defp put(client, path, server, entry) do
    reason = "#{path} is #{String.upcase(Atom.to_string(client.format))}, which is not rewritten"
    {:paste, reason, path, Entry.block(client, server.name, entry)}
  end

  defp kept(nil), do: ""
  defp kept(backup), do: "; what it was is in #{backup}"

  defp problem(:comments, path), do: "#{path} has comments, and is not rewritten"
  defp problem(:broken, path), do: "#{path} is not JSON with an object, and was left as it is"

  defp problem({:not_an_object, key}, path),
    do: "#{inspect(key)} in #{path} is not an object; the file was left as it is"

  defp problem(:changed, path), do: "#{path} has been changed meanwhile, and was left as it is"
  defp problem({:file, file, reason}, _path), do: "#{file}: #{:file.format_error(reason)}"
end
