defmodule McpServer.Doctor.Endpoint do
  @moduledoc false
  # The order of plugs in a Phoenix endpoint, from its source. `Plug.Parsers` reads the body of a request before the
  # router is called, unless it uses the library's reader.

  alias McpServer.Doctor.Finding

  @reader McpServer.HttpPlug.BodyReader

  # They read the bodies of requests below their paths.
  @readers ["McpServer.HttpPlug", "McpServer.DualResponse.Plug"]

  @doc "The findings about the endpoints in these files. None if no file contains `McpServer.HttpPlug`."
  @spec findings([Path.t()]) :: [Finding.t()]
  def findings(paths) do
    sources = for path <- paths, {:ok, text} <- [File.read(path)], do: {path, text}

    if Enum.any?(sources, fn {_path, text} -> text =~ "McpServer.HttpPlug" end) do
      mounts = sources |> Enum.flat_map(&mounts/1) |> Enum.uniq() |> Enum.sort()
      Enum.flat_map(sources, &endpoint(&1, mounts))
    else
      []
    end
  end

  # The paths of `forward` in routers. One with a variable cannot be listed.
  defp mounts({_path, text}) do
    with true <- Enum.any?(@readers, &(text =~ &1)),
         {:ok, code} <- Code.string_to_quoted(text) do
      for path <- forwards(code, ""), not String.contains?(path, [":", "*"]), do: path
    else
      _no_router -> []
    end
  end

  defp forwards({:scope, _meta, arguments}, prefix) when is_list(arguments) do
    {path, block} = scope(arguments)
    forwards(block, prefix <> path)
  end

  defp forwards({:forward, _meta, [path, {:__aliases__, _plug, names} | _options]}, prefix) when is_binary(path) do
    if Enum.map_join(names, ".", &to_string/1) in @readers, do: [normal(prefix <> path)], else: []
  end

  defp forwards({_name, _meta, arguments}, prefix), do: forwards(arguments, prefix)
  defp forwards({left, right}, prefix), do: forwards(left, prefix) ++ forwards(right, prefix)
  defp forwards(list, prefix) when is_list(list), do: Enum.flat_map(list, &forwards(&1, prefix))
  defp forwards(_leaf, _prefix), do: []

  # `scope "/api", MyAppWeb do`, `scope path: "/api" do` or `scope do`.
  defp scope([path | arguments]) when is_binary(path), do: {path <> "/", arguments}

  defp scope(arguments) do
    path = Enum.find_value(arguments, "", &(Keyword.keyword?(&1) && &1[:path]))
    {if(is_binary(path), do: path <> "/", else: ""), arguments}
  end

  defp normal(path), do: "/" <> Enum.join(String.split(path, "/", trim: true), "/")

  defp endpoint({path, text}, mounts) do
    with true <- text =~ "use Phoenix.Endpoint",
         {:ok, code} <- Code.string_to_quoted(text) do
      code
      |> plugs()
      |> Enum.take_while(fn {module, _options, _line} -> module != "McpServer.HttpPlug" end)
      |> parsers(path, mounts)
    else
      _no_endpoint -> []
    end
  end

  # The plugs in the order of their execution.
  defp plugs(code) do
    {_code, found} =
      Macro.prewalk(code, [], fn
        {:plug, meta, [{:__aliases__, _meta, names} | options]} = node, found ->
          {node, [{Enum.map_join(names, ".", &to_string/1), List.flatten(options), meta[:line]} | found]}

        node, found ->
          {node, found}
      end)

    Enum.reverse(found)
  end

  defp parsers(plugs, path, mounts),
    do: for({"Plug.Parsers", options, line} <- plugs, do: parsed(options, "#{path}:#{line}", mounts))

  defp parsed(options, place, mounts) do
    case {reader(options), mounts} do
      {nil, _mounts} ->
        Finding.warning(
          "#{place}: Plug.Parsers reads the bodies of MCP requests before they are authenticated, with its own limits",
          "Add to its options: #{written(mounts)}"
        )

      {:unknown, _mounts} ->
        Finding.ok("#{place}: Plug.Parsers leaves the bodies of MCP requests alone")

      {paths, mounts} ->
        listed(place, paths, for(mount <- mounts, not Enum.any?(paths, &below?(mount, &1)), do: mount))
    end
  end

  defp listed(place, _paths, []), do: Finding.ok("#{place}: Plug.Parsers leaves the bodies of MCP requests alone")

  defp listed(place, paths, missing) do
    Finding.warning(
      "#{place}: Plug.Parsers reads the bodies of requests to #{Enum.join(missing, ", ")} before they are " <>
        "authenticated, with its own limits",
      "List all paths in its options: #{written(Enum.sort(paths ++ missing))}"
    )
  end

  defp below?(mount, path), do: List.starts_with?(String.split(mount, "/"), String.split(normal(path), "/"))

  # The default path needs no argument.
  defp written(paths) when paths in [[], ["/mcp"]], do: "body_reader: {#{inspect(@reader)}, :read_body, []}"
  defp written(paths), do: "body_reader: {#{inspect(@reader)}, :read_body, [#{inspect(paths)}]}"

  # The paths of the library's reader, `:unknown` if they are not written there, `nil` without the reader.
  defp reader(options) do
    case Macro.to_string(options) =~ inspect(@reader) and options[:body_reader] do
      false -> nil
      {:{}, _meta, [_module, :read_body, []]} -> ["/mcp"]
      {:{}, _meta, [_module, :read_body, [paths]]} when is_list(paths) -> literal(paths)
      _other -> :unknown
    end
  end

  defp literal(paths), do: if(Enum.all?(paths, &is_binary/1), do: paths, else: :unknown)
end
