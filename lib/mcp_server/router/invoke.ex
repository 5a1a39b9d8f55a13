defmodule McpServer.Router.Invoke do
  @moduledoc false
  # The callbacks a router generates: they look a declaration up by its name and call its function in
  # the calling process. Requests of clients do not come this way (see `McpServer.Dispatch`), so
  # nothing here validates more than that required arguments are there.

  alias McpServer.App.View
  alias McpServer.{Completion, JSON}
  alias McpServer.DualResponse.Response
  alias McpServer.Prompt.GetResult
  alias McpServer.Resource.{Content, ReadResult}
  alias McpServer.Tool
  alias McpServer.Tool.CallResult

  @doc "`c:McpServer.call_tool/3`"
  @spec call_tool(module, McpServer.conn(), String.t(), McpServer.arguments()) :: McpServer.tool_result()
  def call_tool(router, conn, name, arguments) do
    with {:ok, entry, tool} <- find(router, :tool_handlers, :tools, "Tool", &(&1.name == name), name),
         :ok <- check_required(tool.inputSchema["required"] || [], arguments, "tool", name) do
      entry.handler |> enter([conn, arguments]) |> tool_result()
    end
  end

  defp tool_result(content) when is_list(content), do: {:ok, content}
  defp tool_result({:ok, %Response{} = response}), do: {:ok, Response.to_call_result(response)}

  defp tool_result({:ok, data}) when is_map(data) and not is_struct(data),
    do: {:ok, Response.to_call_result(data) || structured(data)}

  defp tool_result(result), do: result

  # Clients that know no structured content still get the data, as text.
  defp structured(data), do: %CallResult{content: [Tool.Content.text(JSON.encode!(data))], structured_content: data}

  @doc "`c:McpServer.get_prompt/3`"
  @spec get_prompt(module, McpServer.conn(), String.t(), McpServer.arguments()) :: McpServer.prompt_result()
  def get_prompt(router, conn, name, arguments) do
    with {:ok, entry, prompt} <- find(router, :prompt_handlers, :prompts, "Prompt", &(&1.name == name), name),
         required = for(%{required: true, name: argument} <- prompt.arguments, do: argument),
         :ok <- check_required(required, arguments, "prompt", name) do
      entry.get |> enter([conn, arguments]) |> wrapped(&(is_list(&1) or is_struct(&1, GetResult)))
    end
  end

  @doc "`c:McpServer.complete_prompt/4`"
  @spec complete_prompt(module, McpServer.conn(), String.t(), String.t(), String.t()) :: McpServer.completion_result()
  def complete_prompt(router, conn, name, argument, prefix) do
    with {:ok, entry, _prompt} <- find(router, :prompt_handlers, :prompts, "Prompt", &(&1.name == name), name) do
      if argument in entry.arguments,
        do: complete(entry.complete, conn, argument, prefix),
        else: {:error, "Argument '#{argument}' not found in prompt '#{name}'"}
    end
  end

  @doc "`c:McpServer.read_resource/3`"
  @spec read_resource(module, McpServer.conn(), String.t(), McpServer.arguments()) :: McpServer.read_result()
  def read_resource(router, conn, name, variables) do
    with {:ok, entry} <- find_resource(router, name) do
      entry.read |> enter([conn, variables]) |> read_result(name) |> View.complete(entry)
    end
  end

  defp read_result({:error, :not_found}, name), do: {:error, "Resource '#{name}' not found"}
  defp read_result({:ok, contents}, name), do: read_result(contents, name)
  defp read_result(%Content{} = content, _name), do: {:ok, %ReadResult{contents: [content]}}
  defp read_result(%ReadResult{} = result, _name), do: {:ok, result}
  defp read_result(%{"contents" => contents}, _name), do: {:ok, %ReadResult{contents: contents}}
  defp read_result(contents, _name) when is_list(contents), do: {:ok, %ReadResult{contents: contents}}
  defp read_result(result, _name), do: result

  @doc "`c:McpServer.complete_resource/4`"
  @spec complete_resource(module, McpServer.conn(), String.t(), String.t(), String.t()) :: McpServer.completion_result()
  def complete_resource(router, conn, name, variable, prefix) do
    with {:ok, entry} <- find_resource(router, name) do
      if variable in Map.get(entry, :variables, []),
        do: complete(entry.complete, conn, variable, prefix),
        else: {:error, "Variable '#{variable}' not found in resource '#{name}'"}
    end
  end

  defp complete(nil, _conn, _name, _prefix), do: {:ok, %Completion{values: []}}

  defp complete(handler, conn, name, prefix) do
    handler |> enter([conn, name, prefix]) |> wrapped(&is_struct(&1, Completion))
  end

  defp wrapped(result, bare?), do: if(bare?.(result), do: {:ok, result}, else: result)

  defp enter({module, function}, arguments), do: apply(module, function, arguments)

  defp find(router, handlers, structs, label, match?, name) do
    case Enum.find_index(Tuple.to_list(router.__mcp__(handlers)), match?) do
      nil -> {:error, "#{label} '#{name}' not found"}
      index -> {:ok, elem(router.__mcp__(handlers), index), Enum.at(router.__mcp__(structs), index)}
    end
  end

  # A resource goes by its name or by its URI as it was declared.
  defp find_resource(router, name) do
    entries = Tuple.to_list(router.__mcp__(:resource_handlers)) ++ Tuple.to_list(router.__mcp__(:template_handlers))

    case Enum.find(entries, &(&1.name == name)) || Enum.find(entries, &(uri(&1) == name)) do
      nil -> {:error, "Resource '#{name}' not found"}
      entry -> {:ok, entry}
    end
  end

  defp uri(%{uri: uri}), do: uri
  defp uri(%{uri_template: uri_template}), do: uri_template

  defp check_required(required, arguments, kind, name) do
    case Enum.reject(required, &is_map_key(arguments, &1)) do
      [] -> :ok
      missing -> {:error, "Missing required arguments for #{kind} '#{name}': #{inspect(missing)}"}
    end
  end
end
