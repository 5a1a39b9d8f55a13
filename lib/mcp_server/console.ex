defmodule McpServer.Console do
  @moduledoc false
  # A developer's commands for a server: list, call, read and get. Each returns the text of the result and an exit
  # status. Other output goes through `say`.

  alias McpServer.{Client, JSON, Suggestion}
  alias McpServer.Client.Error
  alias McpServer.Console.{Arguments, Text}

  @typedoc "0: done, 1: failed, 2: wrong usage, 3: refused (401, 403), 5: a tool's error"
  @type status :: 0 | 1 | 2 | 3 | 5

  @type outcome :: {status(), iodata()}

  @typedoc "`:input` are arguments as a map, instead of words. With `:task` a call runs as a task."
  @type options :: %{
          :say => (iodata() -> term()),
          :json => boolean(),
          optional(:input) => map() | nil,
          optional(:task) => boolean()
        }

  @extension "io.modelcontextprotocol/tasks"
  @poll_ms 1_000

  @doc "The capability for calls as tasks."
  @spec task_capability() :: map()
  def task_capability, do: %{"extensions" => %{@extension => %{}}}

  @doc "Runs a command, and prints the reason if the server gave no answer."
  @spec attempt((() -> outcome()), (iodata() -> term())) :: outcome()
  def attempt(fun, say) do
    fun.()
  rescue
    error in Error ->
      say.(Text.safe(error.message))
      {if(error.kind == :refused, do: 3, else: 1), []}
  end

  @doc "Lists tools, prompts, resources and templates."
  @spec list(Client.t(), options()) :: outcome()
  def list(client, options) do
    members = [
      {"tools/list", "tools"},
      {"prompts/list", "prompts"},
      {"resources/list", "resources"},
      {"resources/templates/list", "resourceTemplates"}
    ]

    with {:ok, lists} <- collect(client, members) do
      lists = Map.merge(lists, %{"server" => server(client), "protocolVersion" => client.revision})
      {0, if(options.json, do: [Text.json(lists), "\n"], else: Text.lists(lists))}
    else
      {:error, error} -> failed(error, options)
    end
  end

  defp collect(client, members) do
    Enum.reduce_while(members, {:ok, %{}}, fn {method, member}, {:ok, lists} ->
      case Client.list(client, method, member) do
        {:ok, items} -> {:cont, {:ok, Map.put(lists, member, items)}}
        # A server without such entries does not know the method.
        {:error, %{"code" => -32_601}} -> {:cont, {:ok, Map.put(lists, member, [])}}
        {:error, error} -> {:halt, {:error, error}}
      end
    end)
  end

  defp server(%{server: %{"serverInfo" => %{} = info}}), do: info

  # In the stateless era each answer names the server. A server that was not asked yet is asked here.
  defp server(client) do
    case Client.call(client, "server/discover", %{}) do
      {:ok, %{"_meta" => %{"io.modelcontextprotocol/serverInfo" => %{} = info}}} -> info
      {:ok, %{"serverInfo" => %{} = info}} -> info
      _unknown -> %{}
    end
  end

  @doc "Calls a tool with arguments from words."
  @spec call(Client.t(), String.t(), [String.t()], options()) :: outcome()
  def call(client, name, words, options) do
    with {:ok, tools} <- Client.list(client, "tools/list", "tools"),
         {:ok, tool} <- find(tools, "name", name, "tool"),
         {:ok, arguments} <- arguments(words, tool["inputSchema"] || %{}, "the tool #{name}", options) do
      params = %{"name" => name, "arguments" => arguments}
      client |> Client.call("tools/call", task(params, client, tool, options)) |> called(client, options)
    else
      {:error, %{} = error} -> failed(error, options)
      {:error, mistake} -> mistaken(mistake, options)
    end
  end

  defp task(params, client, tool, options) do
    wanted? = options[:task] == true or get_in(tool, ["execution", "taskSupport"]) == "required"
    if wanted? and not Client.stateless?(client), do: Map.put(params, "task", %{}), else: params
  end

  # In the session era the client waits for the result, and questions arrive meanwhile.
  defp called({:ok, %{"task" => %{"taskId" => id} = task}}, client, options) do
    options.say.(working(task))

    %{client | receive_timeout: task_timeout(client)}
    |> Client.call("tasks/result", %{"taskId" => id})
    |> called(client, options)
  end

  defp called({:ok, %{"resultType" => "task"} = task}, client, options), do: follow(task, client, options, nil)

  defp called({:ok, result}, _client, options) do
    shown = if options.json, do: [Text.json(result), "\n"], else: Text.call(result)
    {if(result["isError"] == true, do: 5, else: 0), shown}
  end

  defp called({:error, error}, _client, options), do: failed(error, options)

  defp called({:input_required, requests}, _client, options) do
    asked = Enum.map_join(requests, ", ", & &1["method"])
    options.say.("the server asks for #{Text.safe(asked)}, and there is no terminal to ask at")
    {1, []}
  end

  # A task may be silent for long, so its timeout is at least an hour.
  defp task_timeout(client), do: max(client.receive_timeout, 3_600_000)

  defp follow(%{"taskId" => id} = task, client, options, said) do
    line = working(task)
    if line != said, do: options.say.(line)

    case task["status"] do
      "completed" -> called({:ok, task["result"] || %{}}, client, options)
      "failed" -> called({:error, task["error"] || %{"code" => 0, "message" => "the task failed"}}, client, options)
      "cancelled" -> {1, []}
      status -> ask_again(id, status, task, client, options, line)
    end
  end

  defp ask_again(id, "input_required", task, client, options, line) do
    responses = Client.responses(client, task["inputRequests"] || %{})

    with {:ok, _empty} <- Client.call(client, "tasks/update", %{"taskId" => id, "inputResponses" => responses}),
         do: poll(id, client, options, line),
         else: ({:error, error} -> failed(error, options))
  end

  defp ask_again(id, _working, task, client, options, line) do
    Process.sleep(pause(task["pollIntervalMs"]))
    poll(id, client, options, line)
  end

  # A server can send any number, and anything else.
  defp pause(ms) when is_integer(ms) and ms >= 0, do: min(ms, @poll_ms)
  defp pause(_none), do: @poll_ms

  defp poll(id, client, options, line) do
    case Client.call(client, "tasks/get", %{"taskId" => id}) do
      {:ok, task} -> follow(task, client, options, line)
      {:error, error} -> failed(error, options)
    end
  end

  defp working(task) do
    message = if text = task["statusMessage"], do: ": #{Text.safe(text)}", else: ""
    "task #{Text.safe(task["status"])}#{message}"
  end

  @doc "Reads a resource."
  @spec read(Client.t(), String.t(), options()) :: outcome()
  def read(client, uri, options) do
    case Client.call(client, "resources/read", %{"uri" => uri}) do
      {:ok, result} -> {0, if(options.json, do: [Text.json(result), "\n"], else: Text.contents(result))}
      {:error, error} -> unknown_resource(client, uri, error, options)
      other -> called(other, client, options)
    end
  end

  # A similar URI is suggested only for unlisted URIs. A listed resource failed for another reason.
  defp unknown_resource(client, uri, error, options) do
    options.say.(Text.error(error))

    with {:ok, resources} <- Client.list(client, "resources/list", "resources"),
         known = for(%{"uri" => known} <- resources, do: known),
         false <- uri in known,
         hint when hint != "" <- Suggestion.did_you_mean(uri, known) do
      options.say.("the server has no #{Text.safe(uri)}#{Text.safe(hint)}")
    end

    {1, []}
  end

  @doc "Gets a prompt with arguments from words."
  @spec get(Client.t(), String.t(), [String.t()], options()) :: outcome()
  def get(client, name, words, options) do
    with {:ok, prompts} <- Client.list(client, "prompts/list", "prompts"),
         {:ok, prompt} <- find(prompts, "name", name, "prompt"),
         {:ok, arguments} <- arguments(words, prompt_schema(prompt), "the prompt #{name}", options),
         {:ok, result} <- Client.call(client, "prompts/get", %{"name" => name, "arguments" => arguments}) do
      {0, if(options.json, do: [Text.json(result), "\n"], else: Text.messages(result))}
    else
      {:error, %{} = error} -> failed(error, options)
      {:error, mistake} -> mistaken(mistake, options)
      other -> called(other, client, options)
    end
  end

  # All arguments of prompts are strings.
  defp prompt_schema(prompt) do
    %{"properties" => for(%{"name" => name} <- prompt["arguments"] || [], into: %{}, do: {name, %{"type" => "string"}})}
  end

  defp find(items, member, name, kind) do
    case Enum.find(items, &(&1[member] == name)) do
      nil -> {:error, "there is no #{kind} #{name}" <> known(name, for(%{^member => known} <- items, do: known))}
      item -> {:ok, item}
    end
  end

  defp known(name, names), do: Suggestion.did_you_mean_or_all(name, names, "the server has none", "There are")

  defp arguments([], _schema, _of, %{input: input}) when is_map(input), do: {:ok, input}

  defp arguments(words, schema, of, options) do
    with {:ok, typed} <- Arguments.parse(words, schema, of), do: {:ok, Map.merge(options[:input] || %{}, typed)}
  end

  defp failed(error, options) do
    options.say.([Text.error(error) | hint(error)])
    {1, []}
  end

  defp hint(%{"data" => %{"requiredCapabilities" => %{"extensions" => %{@extension => _}}}}),
    do: "\nThe call becomes a task: add --task."

  defp hint(%{"data" => %{"requiredCapabilities" => %{} = needed}})
       when is_map_key(needed, "elicitation") or is_map_key(needed, "sampling"),
       do: "\nThe server has to ask, and there is no terminal to ask at."

  defp hint(_error), do: []

  defp mistaken(mistake, options) do
    options.say.(Text.safe(mistake))
    {2, []}
  end

  @doc "The function that prints notifications as they arrive."
  @spec notify((iodata() -> term())) :: (String.t(), map() -> term())
  def notify(say) do
    fn method, params ->
      line = Text.notification(method, params)
      if line, do: say.(line)
    end
  end

  @doc "Parses a JSON object, for `--input-json`."
  @spec input(String.t()) :: {:ok, map()} | {:error, String.t()}
  def input(text) do
    case JSON.decode(text) do
      {:ok, map} when is_map(map) -> {:ok, map}
      {:ok, _other} -> {:error, "expected an object"}
      {:error, error} -> {:error, Exception.message(error)}
    end
  end
end
