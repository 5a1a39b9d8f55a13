defmodule Mix.Tasks.Mcp.Breaking do
  @shortdoc "Says what of a router breaks the clients it had"

  @moduledoc """
  Compares the routers of a project with snapshots of them that are under version control.

      mix mcp.breaking --write    # writes priv/mcp/MyApp.MCP.json
      mix mcp.breaking            # compares

  A tool that no longer accepts what it accepted, or may return what it could not, is told with where its schemas
  differ and, if one was found, an example:

      MyApp.MCP (priv/mcp/MyApp.MCP.json)
        breaking: tool "search": the tool no longer accepts all arguments that it accepted [input_narrowed]
          /inputSchema: the property "limit" is now required
          for example {"query":"a"}

      1 breaking, 0 unknown, 0 compatible

  The exit status is 1 when something breaks. Whether a schema still accepts what it accepted cannot always be found
  out: such a change is `unknown`, and counts as breaking with `--strict`. A snapshot of a router that is gone is
  breaking, too. `McpServer.Breaking` gives the same as data.

  Without a name all routers of the project are compared. A release that breaks on purpose writes a new snapshot,
  and the commit shows what it broke.

  ## Options

    * `--write` – write the snapshots, in place of comparing with them
    * `--path FOLDER` – where the snapshots are (`priv/mcp`)
    * `--strict` – what is unknown counts as breaking
    * `--format json` – one JSON object on stdout, nothing else (`text`)
    * `--no-compile` – compare what is compiled
  """

  use Mix.Task

  alias McpServer.{Breaking, JSON}
  alias McpServer.Breaking.Change

  @folder "priv/mcp"
  @levels [:breaking, :unknown, :compatible]
  @switches [write: :boolean, path: :string, strict: :boolean, format: :string, compile: :boolean]
  @usage "usage: mix mcp.breaking [ROUTER …] [--write] [--path FOLDER] [--strict] [--format text|json] [--no-compile]"

  @impl true
  def run(arguments) do
    {options, names} = parse!(arguments)
    json? = options[:format] == "json"
    :ok = Mix.McpServer.compile(compile: options[:compile], quiet: json?)
    folder = Keyword.get(options, :path, @folder)
    routers = for router <- Mix.McpServer.routers!(names), do: {inspect(router), path(folder, router), router}
    if options[:write], do: Enum.each(routers, &write/1), else: compare(routers, gone(names, folder, routers), options)
  end

  defp parse!(arguments) do
    with {options, names, []} <- OptionParser.parse(arguments, strict: @switches),
         true <- Keyword.get(options, :format, "text") in ["text", "json"] do
      {options, names}
    else
      _wrong -> Mix.raise(@usage)
    end
  end

  defp path(folder, router), do: Path.join(folder, inspect(router) <> ".json")

  defp write({_name, path, router}) do
    text = Breaking.snapshot(router)

    if File.read(path) == {:ok, text} do
      Mix.shell().info("#{path} is up to date")
    else
      File.mkdir_p!(Path.dirname(path))
      File.write!(path, text)
      Mix.shell().info("wrote #{path}")
    end
  end

  # Snapshots without a router, where no router was asked for by name.
  defp gone([], folder, routers) do
    known = for {_name, path, _router} <- routers, do: path
    for path <- Enum.sort(Path.wildcard(Path.join(folder, "*.json"))), path not in known, do: path
  end

  defp gone(_names, _folder, _routers), do: []

  defp compare(routers, gone, options) do
    compared = Enum.map(routers, &compare_one!/1) ++ Enum.map(gone, &removed/1)
    counts = Map.new(@levels, fn level -> {level, Enum.count(changes(compared), &(&1.level == level))} end)
    Mix.shell().info(if(options[:format] == "json", do: json(compared, counts), else: text(compared, counts)))
    if counts.breaking > 0 or (counts.unknown > 0 and options[:strict] == true), do: exit({:shutdown, 1})
    :ok
  end

  defp compare_one!({name, path, router}) do
    case Breaking.compare(read!(name, path), router) do
      {:ok, changes} ->
        {name, path, Enum.sort_by(changes, &Enum.find_index(@levels, fn level -> level == &1.level end))}

      {:error, message} ->
        Mix.raise("#{path} cannot be compared with: #{message}")
    end
  end

  defp read!(name, path) do
    case File.read(path) do
      {:ok, snapshot} ->
        snapshot

      {:error, :enoent} ->
        Mix.raise("there is no snapshot of #{name} in #{path}: write it with mix mcp.breaking --write")

      {:error, reason} ->
        Mix.raise("#{path} cannot be read: #{:file.format_error(reason)}")
    end
  end

  defp removed(path) do
    name = Path.basename(path, ".json")

    change = %Change{
      level: :breaking,
      code: "router_removed",
      kind: "router",
      name: name,
      message: "the router is gone; if that is meant, remove its snapshot"
    }

    {name, path, [change]}
  end

  defp changes(compared), do: Enum.flat_map(compared, fn {_name, _path, changes} -> changes end)

  defp text(compared, counts) do
    blocks = for {name, path, changes} <- compared, do: [name, " (", path, ")", lines(changes), "\n\n"]
    IO.iodata_to_binary([blocks, Enum.map_join(@levels, ", ", &"#{counts[&1]} #{&1}")])
  end

  defp lines([]), do: "\n  nothing changed"

  defp lines(changes) do
    for change <- changes do
      head = "\n  #{change.level}: #{change.kind} #{inspect(change.name)}: #{change.message} [#{change.code}]"
      example = if change.example, do: ["for example " <> change.example], else: []
      [head | Enum.map(change.reasons ++ example, &["\n    ", &1])]
    end
  end

  defp json(compared, counts) do
    routers =
      for {name, path, changes} <- compared,
          do: %{router: name, snapshot: path, changes: Enum.map(changes, &Map.from_struct/1)}

    JSON.encode!(Map.put(counts, :routers, routers),
      pretty: true,
      order:
        Enum.map(@levels, &Atom.to_string/1) ++
          [{"routers", ["router", "snapshot", {"changes", ~w(level code kind name message reasons example)}]}]
    )
  end
end
