defmodule McpServer.Doctor.Endpoint do
  @moduledoc false
  # The order of plugs in a Phoenix endpoint, from its source. `Plug.Parsers` reads the body of a request before the
  # router is called, unless it uses the library's reader.

  alias McpServer.Doctor.Finding

  @reader McpServer.HttpPlug.BodyReader

  @doc "The findings about the endpoints in these files. None if no file contains `McpServer.HttpPlug`."
  @spec findings([Path.t()]) :: [Finding.t()]
  def findings(paths) do
    sources = for path <- paths, {:ok, text} <- [File.read(path)], do: {path, text}

    if Enum.any?(sources, fn {_path, text} -> text =~ "McpServer.HttpPlug" end),
      do: Enum.flat_map(sources, &endpoint/1),
      else: []
  end

  defp endpoint({path, text}) do
    with true <- text =~ "use Phoenix.Endpoint",
         {:ok, code} <- Code.string_to_quoted(text) do
      code
      |> plugs()
      |> Enum.take_while(fn {module, _options, _line} -> module != "McpServer.HttpPlug" end)
      |> parsers(path)
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

  defp parsers(plugs, path), do: for({"Plug.Parsers", options, line} <- plugs, do: parsed(options, "#{path}:#{line}"))

  defp parsed(options, place) do
    if reader?(options) do
      Finding.ok("#{place}: Plug.Parsers leaves the bodies of MCP requests alone")
    else
      Finding.warning(
        "#{place}: Plug.Parsers reads the bodies of MCP requests before they are authenticated, with its own limits",
        "Add to its options: body_reader: {#{inspect(@reader)}, :read_body, []}"
      )
    end
  end

  defp reader?(options), do: Macro.to_string(options) =~ inspect(@reader)
end
