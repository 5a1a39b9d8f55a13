defmodule McpServer.Install.ConfigFile do
  @moduledoc false
  # A client's JSON file. It is read, changed and checked. Then the new file replaces the old one, which stays as a
  # backup. A file that cannot be parsed stays unchanged.

  alias McpServer.Install.{Entry, JsonText}
  alias McpServer.JSON

  @read [max_bytes: 64 * 1024 * 1024, max_values: 10_000_000]
  @max_links 8
  @max_backups 1_000

  @type problem :: :comments | :broken | {:not_an_object, String.t()} | {:file, Path.t(), atom()} | :changed
  @type outcome :: :unchanged | {:added | :replaced | :removed, backup :: Path.t() | nil}

  @doc "Adds an entry to the object `key` of a file. Creates the file if it does not exist."
  @spec put(Path.t(), String.t(), String.t(), Entry.t()) :: {:ok, outcome()} | {:error, problem()}
  def put(path, key, name, entry) do
    wanted = Map.new(entry)

    with {:ok, path, text, content} <- read(path),
         {:ok, servers} <- servers(content, key) do
      case servers do
        %{^name => ^wanted} ->
          {:ok, :unchanged}

        _others ->
          changed(
            path,
            text,
            content,
            key,
            Map.put(servers, name, wanted),
            put_text(text, key, name, entry),
            done(servers, name)
          )
      end
    end
  end

  defp done(servers, name), do: if(is_map_key(servers, name), do: :replaced, else: :added)

  defp put_text(text, key, name, entry) do
    blank = if String.trim(text) == "", do: "{}\n", else: text
    JsonText.put(blank, key, name, &Entry.json(entry, &1, &2))
  end

  @doc "Removes an entry from the object `key` of a file."
  @spec delete(Path.t(), String.t(), String.t()) :: {:ok, outcome()} | {:error, problem()}
  def delete(path, key, name) do
    with {:ok, path, text, content} <- read(path),
         {:ok, servers} <- servers(content, key) do
      if is_map_key(servers, name),
        do:
          changed(
            path,
            text,
            content,
            key,
            Map.delete(servers, name),
            {:ok, JsonText.delete(text, key, name)},
            :removed
          ),
        else: {:ok, :unchanged}
    end
  end

  defp servers(content, key) do
    case Map.get(content, key, %{}) do
      %{} = servers -> {:ok, servers}
      _other -> {:error, {:not_an_object, key}}
    end
  end

  # The new text is parsed and compared with the expected content before it is written.
  defp changed(path, old, content, key, servers, {:ok, new}, done) do
    if JSON.decode(new, @read) == {:ok, Map.put(content, key, servers)},
      do: with({:ok, backup} <- write(path, old, new), do: {:ok, {done, backup}}),
      else: {:error, :broken}
  end

  defp read(path) do
    path = follow(path, @max_links)

    case File.read(path) do
      {:ok, text} -> with {:ok, content} <- content(text), do: {:ok, path, text, content}
      {:error, :enoent} -> {:ok, path, "", %{}}
      {:error, reason} -> {:error, {:file, path, reason}}
    end
  end

  # The rename replaces the file, and not a link to it.
  defp follow(path, left) do
    case File.read_link(path) do
      {:ok, target} when left > 0 -> target |> Path.expand(Path.dirname(path)) |> follow(left - 1)
      _no_link -> path
    end
  end

  defp content(text) do
    case {String.trim(text), JSON.decode(text, @read)} do
      {"", _empty} -> {:ok, %{}}
      {_text, {:ok, %{} = content}} -> {:ok, content}
      {_text, {:ok, _other}} -> {:error, :broken}
      {_text, {:error, _no_json}} -> {:error, if(commented?(text), do: :comments, else: :broken)}
    end
  end

  # Some clients accept comments, and commas before a closing bracket. Strings may contain both.
  defp commented?(text) do
    without_comments = Regex.replace(~r'("(?:[^"\\]++|\\.)*+")|//[^\n]*|/\*.*?\*/'s, text, "\\1")
    stripped = Regex.replace(~r'("(?:[^"\\]++|\\.)*+")|,(?=\s*[\]}])'s, without_comments, "\\1")
    match?({:ok, %{}}, JSON.decode(stripped, @read))
  end

  defp write(path, old, new) do
    existed? = File.exists?(path)
    mode = if existed?, do: File.stat!(path).mode, else: 0o600
    temporary = "#{path}.#{System.unique_integer([:positive])}.#{System.pid()}.tmp"

    with :ok <- file(path, File.mkdir_p(Path.dirname(path))),
         :ok <- file(temporary, File.write(temporary, "", [:exclusive])),
         :ok <- file(temporary, File.chmod(temporary, mode)),
         :ok <- file(temporary, File.write(temporary, new, [:sync])),
         {:ok, backup} <- backup(path, existed?, {old, mode}),
         :ok <- same(path, old),
         :ok <- file(path, File.rename(temporary, path)) do
      {:ok, backup}
    else
      {:error, problem} ->
        _gone = File.rm(temporary)
        {:error, problem}
    end
  end

  # A running client may have written the file meanwhile.
  defp same(path, old) do
    case File.read(path) do
      {:ok, ^old} -> :ok
      {:error, :enoent} when old == "" -> :ok
      _changed -> {:error, :changed}
    end
  end

  defp backup(_path, false, _old), do: {:ok, nil}

  defp backup(path, true, old) do
    Enum.reduce_while(names(path), {:error, {:file, path, :eexist}}, fn name, _taken ->
      case create(name, old) do
        :ok -> {:halt, {:ok, name}}
        {:error, :eexist} = taken -> {:cont, file(name, taken)}
        error -> {:halt, file(name, error)}
      end
    end)
  end

  # An exclusive creation follows no link, not even one without a target.
  defp create(name, {text, mode}) do
    with {:ok, file} <- File.open(name, [:write, :exclusive]) do
      try do
        with :ok <- File.chmod(name, mode), do: IO.binwrite(file, text)
      after
        File.close(file)
      end
    end
  end

  defp names(path), do: ["#{path}.bak" | for(number <- 1..@max_backups, do: "#{path}.bak.#{number}")]

  defp file(_path, :ok), do: :ok
  defp file(path, {:error, reason}), do: {:error, {:file, path, reason}}
end
