defmodule McpServer.Dispatch.Callbacks do
  @moduledoc false
  # The callbacks that a router generates: a call without a transport, in the calling process. Arguments, permissions
  # and results are checked as in a client's call.

  alias McpServer.App.View
  alias McpServer.{Catalog, Conn, Content, JSON, Protocol, Request}
  alias McpServer.Dispatch.{Around, Failure, Handler, InvalidResult, Outcome, Permission, RunTimeTool}
  alias McpServer.Prompt.GetResult
  alias McpServer.Protocol.Revision
  alias McpServer.Tool.CallResult

  # Requests of the session era do not describe the client. The conn does.
  @revision Revision.last_of_sessions()

  @labels %{
    tool: "Tool",
    prompt: "Prompt",
    complete_prompt: "Prompt",
    resource: "Resource",
    resource_template: "Resource",
    complete_resource: "Resource"
  }

  @lists %{
    list_tools: :tools,
    list_prompts: :prompts,
    list_resources: :resources,
    list_resource_templates: :resource_templates
  }

  @doc "A declared list: the entries that the conn's client may see."
  @spec list(module, Conn.t(), atom) :: {:ok, [struct]}
  def list(router, conn, list) do
    catalog = Catalog.fetch(router)
    all = router.__mcp__(Map.fetch!(@lists, list))

    conn = %{conn | router: router}
    shown = if list in catalog.filtered, do: Permission.granted(catalog, list, all, conn), else: all
    {:ok, if(list == :list_tools, do: shown ++ RunTimeTool.structs(catalog, conn), else: shown)}
  end

  @doc "`c:McpServer.call_tool/3`"
  @spec call_tool(module, Conn.t(), String.t(), McpServer.arguments()) :: McpServer.tool_result()
  def call_tool(router, conn, name, arguments) do
    with {:ok, schema} <- input_schema(router, conn, name),
         :ok <- check_required(schema["required"] || [], arguments, "tool", name),
         do: call(router, conn, "tools/call", name, arguments)
  end

  defp input_schema(router, conn, name) do
    with {:error, text} <- find(router.__mcp__(:tools), "Tool", name) do
      case RunTimeTool.locate(Catalog.fetch(router), request("tools/call", :tool, nil, name, %{}), conn) do
        %Request{run_time: nil} -> {:error, text}
        %Request{run_time: %{text: tool}} -> {:ok, JSON.decode!(tool)["inputSchema"]}
      end
    else
      {:ok, _index, tool} -> {:ok, tool.inputSchema}
    end
  end

  @doc "`c:McpServer.get_prompt/3`"
  @spec get_prompt(module, Conn.t(), String.t(), McpServer.arguments()) :: McpServer.prompt_result()
  def get_prompt(router, conn, name, arguments) do
    with {:ok, _index, prompt} <- find(router.__mcp__(:prompts), "Prompt", name),
         required = for(%{required: true, name: argument} <- prompt.arguments, do: argument),
         :ok <- check_required(required, arguments, "prompt", name),
         do: call(router, conn, "prompts/get", name, arguments)
  end

  @doc "`c:McpServer.complete_prompt/4`"
  @spec complete_prompt(module, Conn.t(), String.t(), String.t(), String.t()) :: McpServer.completion_result()
  def complete_prompt(router, conn, name, argument, prefix) do
    with {:ok, index, prompt} <- find(Tuple.to_list(router.__mcp__(:prompt_handlers)), "Prompt", name) do
      if argument in prompt.arguments,
        do: complete(router, conn, {:complete_prompt, index}, {name, argument, prefix}),
        else: {:error, "Argument '#{argument}' not found in prompt '#{name}'"}
    end
  end

  @doc "`c:McpServer.read_resource/3`"
  @spec read_resource(module, Conn.t(), String.t(), McpServer.arguments()) :: McpServer.read_result()
  def read_resource(router, conn, name, variables) do
    with {:ok, kind, index, entry} <- find_resource(router, name),
         catalog = Catalog.fetch(router),
         {:ok, uri, variables} <- address(catalog, {kind, index}, entry, variables),
         do: run(catalog, request("resources/read", kind, index, uri, variables), conn)
  end

  @doc "`c:McpServer.complete_resource/4`"
  @spec complete_resource(module, Conn.t(), String.t(), String.t(), String.t()) :: McpServer.completion_result()
  def complete_resource(router, conn, name, variable, prefix) do
    with {:ok, _kind, index, entry} <- find_resource(router, name) do
      if variable in Map.get(entry, :variables, []),
        do: complete(router, conn, {:complete_resource, index}, {entry.uri_template, variable, prefix}),
        else: {:error, "Variable '#{variable}' not found in resource '#{name}'"}
    end
  end

  defp find(named, label, name) do
    case Enum.find_index(named, &(&1.name == name)) do
      nil -> {:error, "#{label} '#{name}' not found"}
      index -> {:ok, index, Enum.at(named, index)}
    end
  end

  # Finds a resource by its name or its declared URI.
  defp find_resource(router, name) do
    entries =
      for {kind, key} <- [resource: :resource_handlers, resource_template: :template_handlers],
          {entry, index} <- key |> router.__mcp__() |> Tuple.to_list() |> Enum.with_index(),
          do: {kind, index, entry}

    case Enum.find(entries, &(elem(&1, 2).name == name)) || Enum.find(entries, &(uri(elem(&1, 2)) == name)) do
      nil -> {:error, "Resource '#{name}' not found"}
      {kind, index, entry} -> {:ok, kind, index, entry}
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

  # The URI that a client would read, and its variables.
  defp address(_catalog, {:resource, _index}, %{uri: uri}, _variables), do: {:ok, uri, %{}}

  defp address(catalog, {kind, index}, %{name: name, uri_template: template}, variables) do
    uri = Protocol.expand_template(template, variables)

    case Protocol.find_resource(catalog, uri) do
      {^kind, ^index, found} -> {:ok, uri, found}
      _another -> {:error, "Resource '#{name}' has no URI with the variables #{inspect(Map.keys(variables))}"}
    end
  end

  # The core admits this request like a client's request.
  defp call(router, conn, method, name, arguments) do
    catalog = Catalog.fetch(router)
    params = %{"name" => name, "arguments" => arguments}
    message = JSON.encode!(%{"jsonrpc" => "2.0", "id" => 0, "method" => method, "params" => params})

    case Protocol.admit(catalog, %{revision: @revision}, message) do
      {:request, request} -> run(catalog, request, conn)
      {:reply, reply} -> {:error, refusal(reply)}
    end
  end

  defp refusal(reply), do: reply |> IO.iodata_to_binary() |> JSON.decode!() |> text()

  defp text(%{"result" => %{"content" => [%{"text" => text} | _]}}), do: text
  defp text(%{"error" => %{"message" => text}}), do: text

  defp complete(router, conn, {kind, index}, {name, argument, prefix}) do
    arguments = %{"name" => argument, "value" => prefix}
    run(Catalog.fetch(router), request("completion/complete", kind, index, name, arguments), conn)
  end

  defp request(method, kind, index, name, arguments) do
    %Request{
      id: 0,
      method: method,
      revision: @revision,
      kind: kind,
      index: index,
      name: name,
      arguments: arguments
    }
  end

  defp run(catalog, %Request{kind: :tool, index: nil, name: name} = request, conn) do
    case RunTimeTool.admit(catalog, RunTimeTool.locate(catalog, request, conn)) do
      {:ok, own, request} -> run(own, request, conn)
      :hidden -> {:error, "Tool '#{name}' not found"}
    end
  end

  defp run(catalog, request, conn) do
    conn = %{conn | router: catalog.router}

    entry = Handler.entry(catalog, request)

    with :ok <- Permission.judge(entry, request, conn),
         :ok <- Handler.permitted(entry, conn) do
      enter(%{catalog: catalog, request: request, entry: entry, handler: nil}, conn)
    else
      :hidden -> {:error, not_found(catalog, request)}
      {:answered, {_status, reply}} -> {:error, refusal(reply)}
      {:forbidden, text} when is_binary(text) -> {:error, text}
      {:forbidden, _refusal} -> {:error, "Forbidden"}
      {:failed, failure} -> raise ArgumentError, Failure.banner(failure)
      {:error, text} -> {:error, text}
    end
  end

  defp not_found(catalog, %Request{kind: kind} = request),
    do: "#{@labels[kind]} '#{Handler.name(catalog, request)}' not found"

  defp enter(%{catalog: catalog, request: request} = call, conn) do
    returned = Around.run(call, conn)

    case Outcome.of(request, returned, conn) do
      {:input, inputs, state} ->
        {:input_required, inputs, state}

      {:task, fun} ->
        enter(%{call | handler: fun}, conn)

      {:error, :not_found} ->
        {:error, "Resource '#{Handler.name(catalog, request)}' not found"}

      {:invalid, reason} ->
        raise ArgumentError, Failure.banner(InvalidResult.returned(catalog, request, reason, returned))

      {:busy, text, _seconds} ->
        {:error, text}

      outcome ->
        outcome |> View.complete(call.entry) |> given(returned)
    end
  end

  defp given({:ok, %GetResult{messages: messages}}, returned) when returned in [messages, {:ok, messages}],
    do: {:ok, messages}

  defp given({:ok, %CallResult{content: content} = result}, returned),
    do: {:ok, if(bare?(returned, content), do: content, else: CallResult.with_texts(result))}

  defp given(outcome, _returned), do: outcome

  # Content that the handler returned without a result stays content.
  defp bare?({:ok, value}, content), do: bare?(value, content)
  defp bare?(text, [%Content.Text{text: text}]), do: true
  defp bare?(value, content), do: content in [value, [value]]
end
