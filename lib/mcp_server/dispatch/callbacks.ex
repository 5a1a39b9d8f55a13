defmodule McpServer.Dispatch.Callbacks do
  @moduledoc false
  # The callbacks that a router generates: a call without a transport, in the calling process. Arguments, permissions
  # and results are checked as in a client's call.

  alias McpServer.App.View
  alias McpServer.{Catalog, Conn, Content, JSON, Protocol, Request}

  alias McpServer.Dispatch.{
    Context,
    Failure,
    Handler,
    InvalidResult,
    Outcome,
    Permission,
    Questions,
    RunTimeTool,
    ToolPlaces
  }

  alias McpServer.Prompt.GetResult
  alias McpServer.Protocol.Revision
  alias McpServer.Tool.CallResult

  # Requests of the session era do not describe the client. The conn does.
  @revision Revision.last_of_sessions()

  # The core's text for a missing argument, with the name.
  @missing ~S/\(root\): must be an object with the property ("[^"\n]*") \(required\)/

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

    conn = context!(catalog, list, %{conn | router: router})
    shown = if list in catalog.filtered, do: Permission.granted(catalog, list, all, conn), else: all
    {:ok, if(list == :list_tools, do: shown ++ RunTimeTool.structs(catalog, conn), else: shown)}
  end

  # The callback has no error.
  defp context!(catalog, list, conn) do
    case Context.build(catalog, request(nil, list, nil, nil, %{}), conn) do
      {:ok, conn} -> conn
      {:refused, text} -> raise ArgumentError, text
      {:failed, failure} -> fail(failure)
    end
  end

  @doc "`c:McpServer.call_tool/3`"
  @spec call_tool(module, Conn.t(), String.t(), McpServer.arguments()) :: McpServer.tool_result()
  def call_tool(router, conn, name, arguments), do: call(router, conn, "tools/call", name, arguments)

  @doc "`c:McpServer.get_prompt/3`"
  @spec get_prompt(module, Conn.t(), String.t(), McpServer.arguments()) :: McpServer.prompt_result()
  def get_prompt(router, conn, name, arguments), do: call(router, conn, "prompts/get", name, arguments)

  @doc "`c:McpServer.complete_prompt/4`"
  @spec complete_prompt(module, Conn.t(), String.t(), String.t(), String.t()) :: McpServer.completion_result()
  def complete_prompt(router, conn, name, argument, prefix) do
    with {:ok, index, prompt} <- find_prompt(router, name) do
      request = completion({:complete_prompt, index}, {name, argument, prefix})
      unknown = if argument not in prompt.arguments, do: "Argument '#{argument}' not found in prompt '#{name}'"
      run(Catalog.fetch(router), refused(request, unknown), conn)
    end
  end

  @doc "`c:McpServer.read_resource/3`"
  @spec read_resource(module, Conn.t(), String.t(), McpServer.arguments()) :: McpServer.read_result()
  def read_resource(router, conn, name, variables) do
    with {:ok, kind, index, entry} <- find_resource(router, name),
         catalog = Catalog.fetch(router),
         do: run(catalog, reading(catalog, {kind, index}, entry, variables), conn)
  end

  @doc "`c:McpServer.complete_resource/4`"
  @spec complete_resource(module, Conn.t(), String.t(), String.t(), String.t()) :: McpServer.completion_result()
  def complete_resource(router, conn, name, variable, prefix) do
    with {:ok, kind, index, entry} <- find_resource(router, name) do
      unknown =
        if variable not in Map.get(entry, :variables, []), do: "Variable '#{variable}' not found in resource '#{name}'"

      request = completion({completed(kind), index}, {uri(entry), variable, prefix})
      run(Catalog.fetch(router), refused(request, unknown), conn)
    end
  end

  # A resource without variables has nothing to complete, so its request is refused as a read.
  defp completed(:resource_template), do: :complete_resource
  defp completed(:resource), do: :resource

  defp find_prompt(router, name) do
    prompts = Tuple.to_list(router.__mcp__(:prompt_handlers))

    case Enum.find_index(prompts, &(&1.name == name)) do
      nil -> {:error, "Prompt '#{name}' not found"}
      index -> {:ok, index, Enum.at(prompts, index)}
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

  # The request of a client that reads the URI.
  defp reading(_catalog, {:resource, index}, %{uri: uri}, _variables),
    do: request("resources/read", :resource, index, uri, %{})

  defp reading(catalog, {kind, index}, %{name: name, uri_template: template}, variables) do
    uri = Protocol.expand_template(template, variables)

    case Protocol.find_resource(catalog, uri) do
      {^kind, ^index, found} ->
        request("resources/read", kind, index, uri, found)

      _another ->
        text = "Resource '#{name}' has no URI with the variables #{inspect(Map.keys(variables))}"
        refused(request("resources/read", kind, index, uri, variables), text)
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

  # Like the core's refusals, the text is only for clients that may see the entry.
  defp refused(request, nil), do: request

  defp refused(request, text),
    do: %{request | refusal: {200, Protocol.error(request.id, request.revision, :invalid_params, text)}}

  defp refusal(reply), do: reply |> IO.iodata_to_binary() |> JSON.decode!() |> text()

  defp text(%{"result" => %{"content" => [%{"text" => text} | _]}}), do: missing(text) || text
  defp text(%{"error" => %{"message" => text}}), do: text

  # Callers of this callback rely on one text for arguments that are only missing.
  defp missing(text) do
    with [_all, tool, problems | _last] <-
           Regex.run(~r/\AInvalid arguments for (tool '.*'):((?:\n- #{@missing})+)\z/, text) do
      names = for [_problem, name] <- Regex.scan(~r/#{@missing}/, problems), do: name
      "Missing required arguments for #{tool}: [#{Enum.join(names, ", ")}]"
    end
  end

  defp completion({kind, index}, {name, argument, prefix}),
    do: request("completion/complete", kind, index, name, %{"name" => argument, "value" => prefix})

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

  defp run(catalog, request, conn) do
    case Context.build(catalog, request, conn) do
      {:ok, conn} -> go_on(catalog, request, conn)
      {:refused, text} -> {:error, text}
      {:failed, failure} -> fail(failure)
    end
  end

  defp go_on(catalog, %Request{kind: :tool, index: nil, name: name} = request, conn) do
    case RunTimeTool.admit(catalog, RunTimeTool.locate(catalog, request, conn)) do
      {:ok, own, request} -> go_on(own, request, conn)
      :hidden -> {:error, "Tool '#{name}' not found"}
    end
  end

  defp go_on(catalog, request, conn) do
    conn = %{conn | router: catalog.router}

    entry = Handler.entry(catalog, request)
    request = Handler.keyed(entry, request)

    with :ok <- Permission.judge(entry, request, conn),
         :ok <- Handler.permitted(entry, conn) do
      enter(%{catalog: catalog, request: request, entry: entry, handler: nil}, conn)
    else
      :hidden -> {:error, not_found(catalog, request)}
      {:answered, {_status, reply}} -> {:error, refusal(reply)}
      {:forbidden, text} when is_binary(text) -> {:error, text}
      {:forbidden, _refusal} -> {:error, "Forbidden"}
      {:failed, failure} -> fail(failure)
      {:error, text} -> {:error, text}
    end
  end

  defp not_found(catalog, %Request{kind: kind} = request),
    do: "#{@labels[kind]} '#{Handler.name(catalog, request)}' not found"

  defp enter(%{catalog: catalog, request: request} = call, conn) do
    returned = ToolPlaces.run(call, conn)

    case Outcome.of(request, returned, conn, call.entry) do
      {:input, inputs, state} ->
        with {:error, error} <- Questions.encode(request.revision, inputs),
             do: fail(InvalidResult.unwritable(catalog, request, error))

        {:input_required, inputs, state}

      {:task, fun} ->
        enter(%{call | handler: fun}, conn)

      {:error, :not_found} ->
        {:error, "Resource '#{Handler.name(catalog, request)}' not found"}

      {:invalid, reason} ->
        fail(InvalidResult.returned(catalog, request, reason, returned))

      {:busy, text, _seconds} ->
        {:error, text}

      outcome ->
        outcome |> View.complete(call.entry) |> checked(call, returned) |> given(returned)
    end
  end

  # The core checks the result, and the encoded answer is not used.
  defp checked({:ok, result} = outcome, %{catalog: catalog, request: request}, returned) do
    with {:error, reason} <- Protocol.result(catalog, request, result),
         do: fail(InvalidResult.refused(catalog, request, {result, returned}, reason))

    outcome
  end

  defp checked(outcome, _call, _returned), do: outcome

  @spec fail(Failure.t()) :: no_return()
  defp fail(failure), do: raise(ArgumentError, Failure.banner(failure))

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
