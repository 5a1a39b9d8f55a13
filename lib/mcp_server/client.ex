defmodule McpServer.Client do
  @moduledoc false
  # The client's side of the protocol. It uses a link in the process that opened it. `McpServer.Test` and the Mix tasks
  # share it.

  alias McpServer.Client.{Command, Error, Http, Link, LocalTransport}
  alias McpServer.{Callers, Connection, JSON, Limit, Options, ServerOptions}
  alias McpServer.Protocol.Revision
  alias McpServer.JsonRpc

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
    :log_level,
    :notify,
    meta: %{},
    server: %{}
  ]

  @typedoc "`connection` is the link's process. `server` is the server's description from the opening."
  @type t :: %__MODULE__{}

  @type outcome :: {:ok, map()} | {:error, map()} | {:input_required, [map()]}

  @receive_timeout 30_000
  @max_rounds 25
  @max_pages 1_000
  # Of all pages of a list together.
  @max_list_bytes 64 * 1024 * 1024
  @capabilities %{
    "sampling" => %{"context" => %{}, "tools" => %{}},
    "elicitation" => %{"form" => %{}, "url" => %{}},
    "roots" => %{}
  }
  @info %{"name" => "mcp_server_test", "version" => "1.0.0"}

  # The options that may differ between requests, by the names of their fields.
  @fields %{
    revision: :revision,
    client_capabilities: :capabilities,
    client_info: :info,
    receive_timeout: :receive_timeout,
    answers: :answers,
    progress_token: :progress_token,
    log_level: :log_level,
    meta: :meta,
    notify: :notify
  }

  @doc """
  Opens a link to a server, and a session if the revision has sessions.

  With the `:revision` `nil` the client negotiates the server's newest revision. Raises `McpServer.Client.Error` if the
  server cannot be reached or does not answer.
  """
  @spec open(Link.target(), keyword()) :: t()
  def open(target, options) do
    {options, link_options} = Keyword.split(options, [:initialize | Map.keys(@fields)])
    reference = make_ref()

    client = target |> link(reference, link_options) |> new(reference) |> configure(options)

    cond do
      options[:initialize] == false -> client
      client.revision == nil -> negotiate(client)
      stateless?(client) -> client
      true -> initialize(client)
    end
  end

  defp new(connection, reference) do
    %__MODULE__{
      connection: connection,
      reference: reference,
      revision: Revision.newest(),
      capabilities: @capabilities,
      info: @info,
      receive_timeout: @receive_timeout
    }
  end

  defp link({:router, router}, reference, options) do
    {base, options} = Keyword.split(options, [:principal])

    {:ok, connection} =
      Connection.start_link(
        [
          router: router,
          transport: {LocalTransport, %{owner: self(), reference: reference}},
          bounds: bounds(router, options)
        ] ++ base
      )

    connection
  end

  defp link({:command, command}, reference, options) do
    {:ok, link} = Command.start_link([command: command, owner: self(), reference: reference] ++ options)
    link
  end

  defp link({:url, url}, reference, options) do
    {:ok, link} = Http.start_link([url: url, owner: self(), reference: reference] ++ options)
    link
  end

  defp bounds(router, options) do
    checked = Options.check!("McpServer.Test", ServerOptions.stdio(), [router: router] ++ options)
    %{ServerOptions.bounds(checked) | callers: Callers.here()}
  end

  @doc "A complete message of a client without a link that speaks the newest revision."
  @spec stateless(map(), keyword()) :: map()
  def stateless(message, options),
    do: nil |> new(nil) |> configure(Keyword.delete(options, :revision)) |> complete(message)

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

  # Like the official clients: a server of the session era does not know the method.
  defp negotiate(client) do
    newest = %{client | revision: Revision.newest()}

    case attempt(newest, "server/discover") do
      {:ok, discovered} -> %{newest | server: discovered}
      {:error, _unknown} -> initialize(%{client | revision: Revision.last_of_sessions()})
    end
  end

  defp attempt(client, method) do
    client |> exchange(method, %{}) |> finished()
  rescue
    # The HTTP status tells only that the server did not understand the message.
    error in Error -> if error.kind == :no_answer, do: {:error, error}, else: reraise(error, __STACKTRACE__)
  end

  defp initialize(client) do
    params = %{
      "protocolVersion" => client.revision,
      "capabilities" => client.capabilities,
      "clientInfo" => client.info
    }

    client = %{client | server: opened!(client |> exchange("initialize", params) |> finished())}
    client = Map.update!(client, :revision, &Map.get(client.server, "protocolVersion", &1))
    push(client, %{"jsonrpc" => "2.0", "method" => "notifications/initialized"})
    if client.log_level, do: set_level(client)
    client
  end

  defp opened!({:ok, %{"protocolVersion" => _agreed} = server}), do: server
  defp opened!({:ok, _result}), do: raise(Error.new(:protocol, "the answer to initialize names no protocolVersion"))

  defp opened!({:error, error}) do
    reason = with %{"message" => text} when is_binary(text) <- error, do: ": " <> text, else: (_none -> "")
    raise Error.new(:protocol, "the server opens no session" <> reason)
  end

  # A server without log messages may not know the method, so the result is ignored.
  defp set_level(client) do
    _result = exchange(client, "logging/setLevel", %{"level" => to_string(client.log_level)})
    :ok
  end

  @doc "Closes the link like a disconnecting client, and waits until the server has noticed."
  @spec close(t()) :: :ok
  def close(client) do
    Process.unlink(client.connection)
    push_event(client, :eof)
    await_end(client)
  end

  # Other messages are dropped.
  defp await_end(client) do
    case await(client, fn _any -> true end) do
      {:closed, _reason} -> :ok
      _answer -> await_end(client)
    end
  end

  @doc "Sends a request, and answers the server's questions until the result arrives."
  @spec call(t(), String.t(), map()) :: outcome()
  def call(client, method, params), do: call(client, method, params, 1)

  defp call(client, method, params, round) do
    case client |> exchange(method, params) |> finished() do
      {:ok, %{"resultType" => "input_required"} = result} when round <= @max_rounds ->
        retry(client, method, params, result, round)

      outcome ->
        outcome
    end
  end

  # In the stateless era the same request is sent again, with the answers.
  defp retry(%{answers: nil}, _method, _params, result, _round),
    do: {:input_required, result |> Map.get("inputRequests", %{}) |> Enum.sort() |> Enum.map(&elem(&1, 1))}

  defp retry(client, method, params, result, round) do
    responses = responses(client, Map.get(result, "inputRequests", %{}))
    brought = Map.put(Map.take(result, ["requestState"]), "inputResponses", responses)
    call(client, method, params |> Map.drop(["requestState"]) |> Map.merge(brought), round + 1)
  end

  @doc "The answers to a server's questions, by the same keys. Declined questions have no answer."
  @spec responses(t(), %{String.t() => map()}) :: %{String.t() => map()}
  def responses(client, requests) do
    for {key, %{"method" => asked} = request} <- Enum.sort(requests),
        {:ok, response} <- [answer(client, asked, params(request))],
        into: %{},
        do: {key, response}
  end

  @doc "The members of all pages of a list."
  @spec list(t(), String.t(), String.t()) :: {:ok, [map()]} | {:error, map()}
  def list(client, method, member), do: pages(client, method, member, %{}, [], @max_list_bytes)

  # Bounds the pages of a faulty server, their number and their bytes. `room` is how many bytes more may come.
  defp pages(client, method, member, params, found, room) when length(found) < @max_pages do
    with {:ok, %{^member => items} = page} <- call(client, method, params) do
      objects?(items) || raise Error.new(:protocol, "the server's answer to #{method} has no list of objects")
      room = room - Limit.held_bytes(items)
      room >= 0 || raise Error.new(:protocol, "the server's pages of #{method} take more than #{list_limit()} together")

      case page do
        %{"nextCursor" => cursor} -> pages(client, method, member, %{"cursor" => cursor}, [items | found], room)
        _last -> {:ok, [items | found] |> Enum.reverse() |> List.flatten()}
      end
    end
  end

  defp pages(_client, method, _member, _params, _found, _room),
    do: raise(Error.new(:protocol, "the server has more than #{@max_pages} pages of #{method}"))

  defp list_limit, do: Limit.show(@max_list_bytes, :bytes)

  defp objects?(items), do: is_list(items) and Enum.all?(items, &is_map/1)

  @doc "Sends a request, and answers the server's requests meanwhile."
  @spec exchange(t(), String.t(), map()) :: map() | {:input_required, [map()]}
  def exchange(client, method, params) do
    id = System.unique_integer([:positive])
    push(client, complete(client, %{"id" => id, "method" => method, "params" => params}))
    await_answer(client, id, &match?(%{"id" => ^id}, &1))
  end

  defp finished({:input_required, requests}), do: {:input_required, requests}
  defp finished(%{"result" => result}), do: {:ok, result}
  defp finished(%{"error" => error}), do: {:error, error}
  defp finished(_neither), do: raise(Error.new(:protocol, "the server's answer has neither a result nor an error"))

  @doc "The message with the required metadata of the revision. Values in the message take precedence."
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
    meta = if stateless?(client), do: Map.merge(client.meta, stateless_meta(client)), else: client.meta
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

  @doc "Whether the client speaks a revision without sessions."
  @spec stateless?(t()) :: boolean()
  def stateless?(client), do: Revision.stateless?(client.revision)

  @doc "Sends a complete message."
  @spec push(t(), map()) :: :ok
  def push(client, message), do: push_event(client, {:lines, [JSON.encode!(message)]})

  @doc "Sends an event to the link: lines, or the end."
  @spec push_event(t(), {:lines, [binary()]} | :eof) :: :ok
  def push_event(client, event) do
    send(client.connection, {:mcp_client_in, client.reference, event})
    :ok
  end

  @doc "Waits for the answer to a request. In the session era the server's requests may come before it."
  @spec await_answer(t(), term(), (term() -> boolean())) :: map() | [map()] | {:input_required, [map()]}
  def await_answer(client, id, answer?) do
    case await(client, &(answer?.(&1) or request?(&1) or match?({:failed, ^id, _}, &1))) do
      %{"method" => _method} = request -> serve(client, id, answer?, request)
      {:failed, _id, error} -> raise error
      answer -> answer
    end
  end

  # Other members make no request, and nobody could answer it.
  defp request?(%{"id" => _id, "method" => method}), do: is_binary(method)
  defp request?(_message), do: false

  defp serve(%{answers: nil} = client, id, _answer?, request) do
    push(client, %{"jsonrpc" => "2.0", "method" => "notifications/cancelled", "params" => %{"requestId" => id}})
    {:input_required, [Map.take(request, ["method", "params"])]}
  end

  defp serve(client, id, answer?, %{"id" => asked, "method" => method} = request) do
    reply =
      case answer(client, method, params(request)) do
        {:ok, result} -> %{"result" => result}
        {:error, error} -> %{"error" => error}
      end

    push(client, Map.merge(%{"jsonrpc" => "2.0", "id" => asked}, reply))
    await_answer(client, id, answer?)
  end

  defp params(%{"params" => params}) when is_map(params), do: params
  defp params(_request), do: %{}

  defp answer(%{answers: answers}, method, params) when is_function(answers, 2), do: outcome(answers.(method, params))

  defp answer(%{answers: answers}, method, _params) do
    case answers do
      %{^method => answer} -> outcome(answer)
      _none -> {:error, %{"code" => JsonRpc.Error.code(:method_not_found), "message" => "no answer for #{method}"}}
    end
  end

  defp outcome({:error, error}), do: {:error, error}
  defp outcome(result), do: {:ok, result}

  @doc """
  Waits for a message, and drops other messages. Notifications go to `notify`, in order. Without it they are dropped, if
  the link waits until each was taken, and otherwise stay in the mailbox.
  """
  @spec await(t(), (term() -> boolean())) :: term()
  def await(%{reference: reference, notify: notify} = client, wanted?) do
    receive do
      {:mcp_client, ^reference, {:closed, reason} = closed} ->
        if wanted?.(closed), do: closed, else: raise(Error.new(:closed, "the server ended: #{inspect(reason)}"))

      {:mcp_client, ^reference, message} ->
        if wanted?.(message), do: message, else: await(client, wanted?)

      {:mcp_client, ^reference, message, receipt} ->
        :ok = Link.taken(receipt)
        taken(client, message, wanted?)

      {:mcp_notification, method, params} when notify != nil ->
        notify.(method, params)
        await(client, wanted?)
    after
      client.receive_timeout -> late!(client)
    end
  end

  defp taken(client, %{"method" => method} = message, wanted?) when not is_map_key(message, "id") do
    if client.notify, do: client.notify.(method, message["params"] || %{})
    await(client, wanted?)
  end

  defp taken(client, message, wanted?), do: if(wanted?.(message), do: message, else: await(client, wanted?))

  @doc "Raises because the server has not answered in time."
  @spec late!(t()) :: no_return()
  def late!(client),
    do: raise(Error.new(:timeout, "the server did not answer within #{client.receive_timeout} ms"))
end
