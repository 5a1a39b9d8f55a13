defmodule Mix.Tasks.Mcp.Breaking do
  @shortdoc "Finds changes of routers that break clients"

  @moduledoc """
  Compares the routers of a project with snapshots under version control.

      mix mcp.breaking --write    # writes priv/mcp/MyApp.MCP.json
      mix mcp.breaking            # compares

  For a tool that accepts less or may return more than before, the task shows where the schemas differ and, if it found
  one, an example:

      MyApp.MCP (priv/mcp/MyApp.MCP.json)
        breaking: tool "search": the tool no longer accepts all arguments that it accepted [input_narrowed]
          /inputSchema: the property "limit" is now required
          for example {"query":"a"}

      1 breaking, 0 unknown, 0 compatible

  The exit status is 1 if a change is breaking. The task cannot always decide whether a schema still accepts the same
  values: such a change is `unknown`, and counts as breaking with `--strict`. The snapshot of a removed router is
  breaking. Routers without a snapshot are listed last, and the status is 1. `McpServer.Breaking` returns the changes as
  data.

  Without a name the task compares all routers of the project. For an intended breaking change write a new snapshot; the
  commit then shows the change.

  ## Options

    * `--write` – write the snapshots instead of comparing
    * `--path FOLDER` – the folder of the snapshots (`priv/mcp` of the router's application)
    * `--strict` – unknown changes count as breaking
    * `--format json` – one JSON object on stdout, nothing else (`text`)
    * `--no-compile` – compare the compiled routers, without compiling first
  """

  use Mix.Task

  alias McpServer.{Breaking, JSON}
  alias McpServer.Breaking.Change

  @folder "priv/mcp"
  @levels [:breaking, :unknown, :compatible]
  # The limits of the core for snapshots.
  @snapshot [max_bytes: 64 * 1024 * 1024, max_values: 100_000_000]
  @order Enum.map(@levels, &Atom.to_string/1) ++
           [
             {"routers", ["router", "snapshot", {"changes", ~w(level code kind name message reasons example)}]},
             {"uncompared", ~w(router snapshot message)}
           ]
  @switches [write: :boolean, path: :string, strict: :boolean, format: :string, compile: :boolean]
  @usage "usage: mix mcp.breaking [ROUTER …] [--write] [--path FOLDER] [--strict] [--format text|json] [--no-compile]"

  @impl true
  def run(arguments) do
    {options, names} = Mix.McpServer.options!(arguments, @switches, @usage)
    json? = Mix.McpServer.json?(options, @usage)
    :ok = Mix.McpServer.compile(compile: options[:compile], quiet: json?)
    routers = for router <- Mix.McpServer.routers!(names), do: {inspect(router), path(router, options), router}
    if options[:write], do: Enum.each(routers, &write/1), else: compare(routers, gone(names, routers, options), options)
  end

  defp path(router, options) do
    folder = options[:path] || Path.join(Mix.McpServer.folder(router), @folder)
    Path.join(folder, inspect(router) <> ".json")
  end

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

  # If no router was named, snapshots without a router count as removed routers.
  defp gone([], routers, options) do
    known = for {_name, path, _router} <- routers, do: path
    paths = options |> folders() |> Enum.flat_map(&Path.wildcard(Path.join(&1, "*.json")))
    for path <- Enum.sort(paths), path not in known, snapshot?(path), do: path
  end

  defp gone(_names, _routers, _options), do: []

  defp folders(options) do
    if path = options[:path],
      do: [path],
      else: for({_application, folder} <- Mix.McpServer.folders(), do: Path.join(folder, @folder))
  end

  # The folder may contain other files.
  defp snapshot?(path) do
    match?({:ok, %{"mcpSnapshot" => _form}}, with({:ok, text} <- File.read(path), do: JSON.decode(text, @snapshot)))
  end

  # A failed comparison does not hide the others: it is reported after them.
  defp compare(routers, gone, options) do
    {compared, failed} = routers |> Enum.map(&compare_one(&1, options)) |> Enum.split_with(&is_list(elem(&1, 2)))
    compared = compared ++ Enum.map(gone, &removed/1)
    counts = Map.new(@levels, fn level -> {level, Enum.count(changes(compared), &(&1.level == level))} end)
    # `Mix.shell()` prints nothing with MIX_QUIET=1.
    IO.puts(if(options[:format] == "json", do: json(compared, failed, counts), else: text(compared, failed, counts)))
    if failed != [] or breaking?(counts, options[:strict]), do: exit({:shutdown, 1})
    :ok
  end

  defp breaking?(counts, strict), do: counts.breaking > 0 or (counts.unknown > 0 and strict == true)

  # The router's changes, or the reason why there are none.
  defp compare_one({name, path, router}, options) do
    with {:ok, snapshot} <- File.read(path), {:ok, changes} <- Breaking.compare(snapshot, router) do
      {name, path, Enum.sort_by(changes, &Enum.find_index(@levels, fn level -> level == &1.level end))}
    else
      {:error, :enoent} ->
        {name, path, "there is no snapshot of #{name} in #{path}: write it with #{write_command(name, options[:path])}"}

      {:error, reason} when is_atom(reason) ->
        {name, path, "#{path} cannot be read: #{:file.format_error(reason)}"}

      {:error, message} ->
        {name, path, "#{path} cannot be compared with: #{message}"}
    end
  end

  defp write_command(name, nil), do: "mix mcp.breaking #{name} --write"
  defp write_command(name, path), do: "#{write_command(name, nil)} --path #{path}"

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

  defp text(compared, failed, counts) do
    blocks = for {name, path, changes} <- compared, do: [name, " (", path, ")", lines(changes), "\n\n"]
    sentences = for {_name, _path, sentence} <- failed, do: ["\n", sentence]
    summary = Enum.map_join(@levels, ", ", &"#{counts[&1]} #{&1}")
    IO.iodata_to_binary([blocks, summary, if(failed == [], do: "", else: "\n"), sentences])
  end

  defp lines([]), do: "\n  nothing changed"

  defp lines(changes) do
    for change <- changes do
      head = "\n  #{change.level}: #{change.kind} #{inspect(change.name)}: #{change.message} [#{change.code}]"
      example = if change.example, do: ["for example " <> change.example], else: []
      [head | Enum.map(change.reasons ++ example, &["\n    ", &1])]
    end
  end

  defp json(compared, failed, counts) do
    routers =
      for {name, path, changes} <- compared,
          do: %{router: name, snapshot: path, changes: Enum.map(changes, &Map.from_struct/1)}

    uncompared = for {name, path, sentence} <- failed, do: %{router: name, snapshot: path, message: sentence}

    JSON.encode!(Map.merge(counts, %{routers: routers, uncompared: uncompared}), pretty: true, order: @order)
  end
end
