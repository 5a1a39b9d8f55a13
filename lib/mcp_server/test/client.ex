defmodule McpServer.Test.Client do
  @moduledoc false
  # The client's side of `McpServer.Test`: speaks a revision through a real connection, in the process
  # that opened it.

  alias McpServer.{Connection, JSON, Options, ServerOptions}
  alias McpServer.Protocol.Revision
  alias McpServer.JsonRpc.Error
  alias McpServer.Test.Transport

  @enforce_keys [:connection, :reference, :revision, :capabilities, :info]
  defstruct [
    :connection,
    :reference,
    :revision,
    :capabilities,
    :info,
    :receive_timeout,
    :answers,
    :progress_token,
    :log_level
  ]

  @type t :: %__MODULE__{}

  @receive_timeout 5_000
  @max_rounds 25
  @capabilities %{"sampling" => %{}, "elicitation" => %{"form" => %{}, "url" => %{}}, "roots" => %{}}
  @info %{"name" => "mcp_server_test", "version" => "1.0.0"}

  # What is the client's, and may differ from request to request, by the name of its field.
  @fields %{
    revision: :revision,
    client_capabilities: :capabilities,
    client_info: :info,
    receive_timeout: :receive_timeout,
    answers: :answers,
    progress_token: :progress_token,
    log_level: :log_level
  }

  @doc "Opens a transport to the router, and a session where the revision has one."
  @spec open(module(), keyword()) :: t()
  def open(router, options) do
    {options, connection_options} = Keyword.split(options, [:initialize | Map.keys(@fields)])
    reference = make_ref()

    {:ok, connection} =
      Connection.start_link(
        router: router,
        transport: {Transport, %{owner: self(), reference: reference}},
        bounds: bounds(router, connection_options)
      )

    client =
      configure(
        %__MODULE__{
          connection: connection,
          reference: reference,
          revision: Revision.newest(),
          capabilities: @capabilities,
          info: @info,
          receive_timeout: @receive_timeout
        },
        options
      )

    if stateless?(client) or options[:initialize] == false, do: client, else: initialize(client)
  end

  defp bounds(router, options) do
    checked = Options.check!("McpServer.Test", ServerOptions.stdio(), [router: router] ++ options)
    %{ServerOptions.bounds(checked) | callers: [self() | Process.get(:"$callers", [])]}
  end

  @doc "The client with the options that one request may change."
  @spec configure(t(), keyword()) :: t()
  def configure(client, options) do
    Enum.reduce(options, client, fn {option, value}, client ->
      case @fields do
        %{^option => field} -> Map.replace!(client, field, value)
        _not_the_clients -> client
      end
    end)
  end

  defp initialize(client) do
    params = %{
      "protocolVersion" => client.revision,
      "capabilities" => client.capabilities,
      "clientInfo" => client.info
    }

    {:ok, %{"protocolVersion" => _agreed}} = client |> exchange("initialize", params) |> finished()
    push(client, %{"jsonrpc" => "2.0", "method" => "notifications/initialized"})
    if client.log_level, do: set_level(client)
    client
  end

  defp set_level(client) do
    {:ok, _empty} = client |> exchange("logging/setLevel", %{"level" => to_string(client.log_level)}) |> finished()
  end

  @doc "Closes the transport, as a client that goes away does, and waits until the server has noticed."
  @spec close(t()) :: :ok
  def close(client) do
    Process.unlink(client.connection)
    push_event(client, :eof)
    {:closed, _reason} = await(client, &match?({:closed, _reason}, &1))
    :ok
  end

  @doc "Sends a request and plays the client until it is answered."
  @spec call(t(), String.t(), map()) ::
          {:ok, map()} | {:error, map()} | {:input_required, [map()]}
  def call(client, method, params), do: call(client, method, params, 1)

  defp call(client, method, params, round) do
    case client |> exchange(method, params) |> finished() do
      {:ok, %{"resultType" => "input_required"} = result} when round <= @max_rounds ->
        retry(client, method, params, result, round)

      outcome ->
        outcome
    end
  end

  # The stateless era: the same request again, with the answers.
  defp retry(%{answers: nil}, _method, _params, result, _round),
    do: {:input_required, result |> Map.get("inputRequests", %{}) |> Enum.sort() |> Enum.map(&elem(&1, 1))}

  defp retry(client, method, params, result, round) do
    responses =
      for {key, %{"method" => asked} = request} <- Map.get(result, "inputRequests", %{}),
          {:ok, response} <- [answer(client, asked, request["params"] || %{})],
          into: %{},
          do: {key, response}

    brought = Map.put(Map.take(result, ["requestState"]), "inputResponses", responses)
    call(client, method, params |> Map.drop(["requestState"]) |> Map.merge(brought), round + 1)
  end

  @doc "Sends a request; whatever the server asks meanwhile is answered."
  @spec exchange(t(), String.t(), map()) :: map() | {:input_required, [map()]}
  def exchange(client, method, params) do
    id = System.unique_integer([:positive])
    push(client, complete(client, %{"id" => id, "method" => method, "params" => params}))
    await_answer(client, id, &match?(%{"id" => ^id}, &1))
  end

  defp finished({:input_required, requests}), do: {:input_required, requests}
  defp finished(%{"result" => result}), do: {:ok, result}
  defp finished(%{"error" => error}), do: {:error, error}

  @doc """
  Sends a message as it is and returns what answers it, `:none` for what is not answered.
  """
  @spec raw(t(), binary() | map()) :: map() | [map()] | :none | {:input_required, [map()]}
  def raw(client, message) when is_map(message) do
    message = complete(client, message)
    raw(client, JSON.encode!(message))
  end

  def raw(client, line) when is_binary(line) do
    push_event(client, {:lines, [line]})

    case JSON.decode(line) do
      {:ok, %{"id" => id, "method" => _method}} when is_integer(id) or is_binary(id) ->
        await_answer(client, id, &(is_list(&1) or (not is_map_key(&1, "method") and &1["id"] in [id, nil])))

      {:ok, batch} when is_list(batch) and batch != [] ->
        before_ping(client, Enum.any?(batch, &match?(%{"id" => _, "method" => _}, &1)))

      _no_answer_expected ->
        before_ping(client, false)
    end
  end

  # What the core answers by itself is answered at once, so an answer comes before that of a ping
  # behind it, or not at all. A batch that runs handlers may take longer.
  defp before_ping(client, true), do: await(client, &(is_list(&1) or not is_map_key(&1, "method")))

  defp before_ping(client, false) do
    id = "ping-#{System.unique_integer([:positive])}"
    push(client, %{"jsonrpc" => "2.0", "id" => id, "method" => "ping"})

    case await(client, &(is_list(&1) or not is_map_key(&1, "method"))) do
      %{"id" => ^id} ->
        :none

      answer ->
        await(client, &match?(%{"id" => ^id}, &1))
        answer
    end
  end

  @doc "The message with what every request of the revision has to carry, unless it says otherwise."
  @spec complete(t(), map()) :: map()
  def complete(client, message) do
    message = Map.put_new(message, "jsonrpc", "2.0")

    with %{"method" => _method, "id" => _id} <- message,
         params when is_map(params) <- Map.get(message, "params", %{}),
         meta when is_map(meta) <- Map.get(params, "_meta", %{}),
         meta when meta != %{} <- Map.merge(meta(client), meta) do
      Map.put(message, "params", Map.put(params, "_meta", meta))
    else
      _nothing_to_add -> message
    end
  end

  defp meta(client) do
    meta = if stateless?(client), do: stateless_meta(client), else: %{}
    if client.progress_token, do: Map.put(meta, "progressToken", client.progress_token), else: meta
  end

  defp stateless_meta(client) do
    meta = %{
      "io.modelcontextprotocol/protocolVersion" => client.revision,
      "io.modelcontextprotocol/clientCapabilities" => client.capabilities,
      "io.modelcontextprotocol/clientInfo" => client.info
    }

    if client.log_level,
      do: Map.put(meta, "io.modelcontextprotocol/logLevel", to_string(client.log_level)),
      else: meta
  end

  defp stateless?(client), do: Revision.stateless?(client.revision)

  @doc "Sends a message that is complete."
  @spec push(t(), map()) :: :ok
  def push(client, message), do: push_event(client, {:lines, [JSON.encode!(message)]})

  defp push_event(client, event) do
    send(client.connection, {:mcp_test_in, client.reference, event})
    :ok
  end

  # The session era: the server's requests come before the answer.
  defp await_answer(client, id, answer?) do
    case await(client, &(answer?.(&1) or match?(%{"method" => _}, &1))) do
      %{"method" => _method} = request -> serve(client, id, answer?, request)
      answer -> answer
    end
  end

  defp serve(%{answers: nil} = client, id, _answer?, request) do
    push(client, %{"jsonrpc" => "2.0", "method" => "notifications/cancelled", "params" => %{"requestId" => id}})
    {:input_required, [Map.take(request, ["method", "params"])]}
  end

  defp serve(client, id, answer?, %{"id" => asked, "method" => method} = request) do
    reply =
      case answer(client, method, request["params"] || %{}) do
        {:ok, result} -> %{"result" => result}
        {:error, error} -> %{"error" => error}
      end

    push(client, Map.merge(%{"jsonrpc" => "2.0", "id" => asked}, reply))
    await_answer(client, id, answer?)
  end

  defp answer(%{answers: answers}, method, params) when is_function(answers, 2), do: outcome(answers.(method, params))

  defp answer(%{answers: answers}, method, _params) do
    case answers do
      %{^method => answer} -> outcome(answer)
      _none -> {:error, %{"code" => Error.code(:method_not_found), "message" => "no answer for #{method}"}}
    end
  end

  defp outcome({:error, error}), do: {:error, error}
  defp outcome(result), do: {:ok, result}

  defp await(%{reference: reference} = client, wanted?) do
    receive do
      {:mcp_test, ^reference, message} ->
        if wanted?.(message), do: message, else: await(client, wanted?)
    after
      client.receive_timeout -> raise "the server did not answer within #{client.receive_timeout} ms"
    end
  end
end
