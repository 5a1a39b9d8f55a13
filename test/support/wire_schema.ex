defmodule McpServer.WireSchema do
  # Checks every message of a connection in our tests against the official schema of its revision, as far as
  # `McpServer.WireStructure` keeps it. All checks are here.
  #
  # `watch/0` hooks it into every connection of the VM. A violation raises in the connection, which ends the test. It is
  # also counted, so that the suite fails even if the test survives. Tests that talk to another operating system process
  # call `see/2` themselves.
  @moduledoc false

  alias McpServer.{JSON, WireStructure}
  alias McpServer.Schema.Validator

  defmodule Violation do
    defexception [:message]
  end

  @newest "2026-07-28"
  @meta_revision "io.modelcontextprotocol/protocolVersion"
  @meta_subscription "io.modelcontextprotocol/subscriptionId"

  @results %{
    "initialize" => "InitializeResult",
    "server/discover" => "DiscoverResult",
    "ping" => "EmptyResult",
    "logging/setLevel" => "EmptyResult",
    "resources/subscribe" => "EmptyResult",
    "resources/unsubscribe" => "EmptyResult",
    "tools/list" => "ListToolsResult",
    "tools/call" => "CallToolResult",
    "prompts/list" => "ListPromptsResult",
    "prompts/get" => "GetPromptResult",
    "resources/list" => "ListResourcesResult",
    "resources/templates/list" => "ListResourceTemplatesResult",
    "resources/read" => "ReadResourceResult",
    "completion/complete" => "CompleteResult",
    "subscriptions/listen" => "SubscriptionsListenResult",
    "tasks/get" => "GetTaskResult",
    "tasks/result" => "CallToolResult",
    "tasks/list" => "ListTasksResult",
    "tasks/cancel" => "CancelTaskResult"
  }

  @sent %{
    "notifications/progress" => "ProgressNotification",
    "notifications/message" => "LoggingMessageNotification",
    "notifications/cancelled" => "CancelledNotification",
    "notifications/tools/list_changed" => "ToolListChangedNotification",
    "notifications/prompts/list_changed" => "PromptListChangedNotification",
    "notifications/resources/list_changed" => "ResourceListChangedNotification",
    "notifications/resources/updated" => "ResourceUpdatedNotification",
    "notifications/subscriptions/acknowledged" => "SubscriptionsAcknowledgedNotification",
    "notifications/elicitation/complete" => "ElicitationCompleteNotification",
    "elicitation/create" => "ElicitRequest",
    "sampling/createMessage" => "CreateMessageRequest",
    "roots/list" => "ListRootsRequest"
  }

  @doc "Checks every connection from now on."
  def watch do
    :persistent_term.put({__MODULE__, :violations}, :counters.new(1, []))
    Application.put_env(:mcp_server, :message_observer, &observe/2)

    ExUnit.after_suite(fn _result ->
      if violations() > 0, do: System.at_exit(fn _status -> exit({:shutdown, 1}) end)
    end)
  end

  @doc "The number of messages that violated their schema."
  def violations, do: :counters.get(:persistent_term.get({__MODULE__, :violations}), 1)

  # Runs in the connection that has the messages.
  defp observe(_router, event) do
    Process.put(__MODULE__, see(Process.get(__MODULE__) || new(), event))
  rescue
    violation in Violation ->
      :counters.add(:persistent_term.get({__MODULE__, :violations}), 1, 1)
      IO.puts(:stderr, "\n" <> Exception.message(violation))
      reraise violation, __STACKTRACE__
  end

  @doc "The state of a transport before its first message."
  def new, do: %{session: nil, asked: %{}, revisions: MapSet.new()}

  @doc "Records a received (`{:in, line}`) or sent (`{:out, line}`) message."
  def see(transport, {:in, line}) do
    case JSON.decode(line) do
      {:ok, messages} when is_list(messages) -> Enum.reduce(messages, transport, &heard/2)
      {:ok, message} -> heard(message, transport)
      {:error, _reason} -> transport
    end
  end

  def see(transport, {:out, line}) do
    line = IO.iodata_to_binary(line)
    String.contains?(line, ["\n", "\r"]) && violation("a line end inside a message", line)

    case JSON.decode(line) do
      {:ok, messages} when is_list(messages) -> batch(messages, transport, line)
      {:ok, message} -> said(message, transport)
      {:error, reason} -> violation(inspect(reason), line)
    end
  end

  defp heard(%{"method" => method, "id" => id} = message, transport)
       when is_binary(method) and (is_binary(id) or is_integer(id)) do
    revision = revision(message, transport)
    asked = Map.update(transport.asked, id, [{method, revision}], &(&1 ++ [{method, revision}]))
    %{transport | asked: asked, revisions: MapSet.put(transport.revisions, revision)}
  end

  defp heard(_other, transport), do: transport

  defp revision(message, transport) do
    stateless? = match?(%{"params" => %{"_meta" => %{@meta_revision => _}}}, message)
    if stateless? or message["method"] == "server/discover", do: @newest, else: transport.session
  end

  defp batch(messages, transport, line) do
    transport.session == "2025-03-26" || violation("a batch outside 2025-03-26", line)
    check("2025-03-26", "JSONRPCBatchResponse", messages)
    Enum.reduce(messages, transport, &said/2)
  end

  defp said(%{"method" => method} = message, transport) do
    revisions = sent_under(message, transport)
    definition = Map.get(@sent, method) || violation("no such message", message)

    Enum.any?(revisions, &(valid?(&1, envelope(&1, message), message) and valid?(&1, definition, message))) ||
      violation("not a #{definition} of #{Enum.join(revisions, " or ")}", message)

    if is_map_key(message, "id") and @newest in revisions, do: violation("a request of the stateless era", message)
    transport
  end

  defp said(%{"result" => result, "id" => id} = message, transport) do
    {{method, revision}, transport} = answered(transport, id, message)
    revision = revision || "2025-11-25"
    check(revision, if(revision < "2025-11-25", do: "JSONRPCResponse", else: "JSONRPCResultResponse"), message)
    check(revision, result_definition(revision, method, result), result)

    if method == "initialize",
      do: %{transport | session: transport.session || result["protocolVersion"]},
      else: transport
  end

  defp said(%{"error" => _} = message, transport) do
    {{_method, revision}, transport} =
      case message["id"] do
        nil -> {{nil, transport.session || @newest}, transport}
        id -> answered(transport, id, message)
      end

    revision = revision || "2025-11-25"
    error = if(revision < "2025-11-25", do: "JSONRPCError", else: "JSONRPCErrorResponse")

    # The older schemas have no error without an id, though JSON-RPC requires null.
    if Map.fetch(message, "id") == {:ok, nil},
      do: check(revision, error, Map.put(message, "id", 0)),
      else: check(revision, error, message)

    transport
  end

  defp said(message, _transport), do: violation("neither request, notification nor answer", message)

  # Responses to one id come in the order of its requests. A duplicate is refused while the first request runs, so an
  # error answers the last request, and a result the first one.
  defp answered(transport, id, message) do
    case Map.get(transport.asked, id, []) do
      [] ->
        answered_unasked(transport, id, message)

      [only] ->
        {only, %{transport | asked: Map.delete(transport.asked, id)}}

      several ->
        {one, others} = List.pop_at(several, place(several, message))
        {one, %{transport | asked: Map.put(transport.asked, id, others)}}
    end
  end

  defp place(several, message), do: if(is_map_key(message, "error"), do: length(several) - 1, else: 0)

  # The response to an invalid request with a readable id.
  defp answered_unasked(transport, _id, %{"error" => _}), do: {{nil, transport.session || @newest}, transport}
  defp answered_unasked(_transport, _id, message), do: violation("an answer to nothing", message)

  defp sent_under(%{"params" => %{"_meta" => %{@meta_subscription => _}}}, _transport), do: [@newest]
  defp sent_under(_message, %{session: nil}), do: [@newest]

  defp sent_under(_message, transport),
    do: Enum.uniq([transport.session | Enum.reject(MapSet.to_list(transport.revisions), &is_nil/1)])

  defp envelope(_revision, message),
    do: if(is_map_key(message, "id"), do: "JSONRPCRequest", else: "JSONRPCNotification")

  defp result_definition(_revision, _method, %{"resultType" => "input_required"}), do: "InputRequiredResult"
  defp result_definition(_revision, "tools/call", %{"resultType" => "task"}), do: "Result"
  defp result_definition(_revision, "tools/call", %{"task" => _task}), do: "CreateTaskResult"
  # A result of an extension, which has no schema.
  defp result_definition(@newest, "tasks/" <> _verb, _result), do: "Result"

  defp result_definition(_revision, method, _result),
    do: Map.get(@results, method) || violation("no such result", method)

  defp check(revision, definition, value) do
    case Validator.validate(validator(revision, definition), value) do
      :ok -> :ok
      {:error, error} -> violation("not a #{definition} of #{revision}: #{Exception.message(error)}", value)
    end
  end

  # A revision without the definition never fits.
  defp valid?(revision, definition, value) do
    is_map_key(definitions(revision), definition) and
      Validator.validate(validator(revision, definition), value) == :ok
  end

  defp validator(revision, definition) do
    with nil <- :persistent_term.get({__MODULE__, revision, definition}, nil) do
      {:ok, validator} = Validator.compile(schema(revision, definition))
      :persistent_term.put({__MODULE__, revision, definition}, validator)
      validator
    end
  end

  # Only the definitions that this one references, because the complete file exceeds the limits of schemas.
  defp schema(revision, definition) do
    all = definitions(revision)
    member = if revision < "2025-11-25", do: "definitions", else: "$defs"

    draft =
      if revision < "2025-11-25",
        do: "http://json-schema.org/draft-07/schema#",
        else: "https://json-schema.org/draft/2020-12/schema"

    used = Map.take(all, MapSet.to_list(reachable(all, definition, MapSet.new())))
    %{"$schema" => draft, "$ref" => "#/#{member}/#{definition}", member => used}
  end

  defp reachable(all, definition, seen) do
    if MapSet.member?(seen, definition),
      do: seen,
      else: Enum.reduce(references(Map.fetch!(all, definition)), MapSet.put(seen, definition), &reachable(all, &1, &2))
  end

  defp references(%{"$ref" => "#/" <> path}), do: [path |> String.split("/") |> List.last()]
  defp references(map) when is_map(map), do: Enum.flat_map(Map.values(map), &references/1)
  defp references(list) when is_list(list), do: Enum.flat_map(list, &references/1)
  defp references(_value), do: []

  defp definitions(revision) do
    with nil <- :persistent_term.get({__MODULE__, revision}, nil) do
      schema = JSON.decode!(File.read!(WireStructure.file(revision)))
      definitions = schema["definitions"] || schema["$defs"]
      :persistent_term.put({__MODULE__, revision}, definitions)
      definitions
    end
  end

  defp violation(reason, message) do
    text = inspect(message, limit: 50, printable_limit: 2_000)
    raise Violation, "a message violates its official schema: #{reason}\n#{text}"
  end
end
