defmodule McpServer.Tasks.Entry do
  @moduledoc false
  # One task as a value: its status, its open requests to the client, and its outcome.

  alias McpServer.{InputRequest, JSON, Protocol}
  alias McpServer.Protocol.Revision
  alias McpServer.JsonRpc.Error
  alias McpServer.Tool.CallResult

  @enforce_keys [:id, :created_at, :updated_at, :ttl, :poll_interval]
  defstruct [
    :id,
    :name,
    :run_time,
    :runner,
    :client,
    :created_at,
    :updated_at,
    :ttl,
    :poll_interval,
    :message,
    :outcome,
    :stored,
    :size,
    :parked,
    argument_bytes: 0,
    answer_bytes: 0,
    grace: 0,
    pending: %{},
    keys: %{},
    responses: %{},
    errors: %{},
    round: 0
  ]

  @typedoc "The outcome of a task."
  @type outcome ::
          {:result, CallResult.t()}
          | {:error, %{code: integer(), message: String.t(), data: term()}}
          | :cancelled

  @typedoc "The form of an outcome that a node stores: whole as a binary, and what lists show of it."
  @type packed :: %{brief: outcome(), message: String.t() | nil, stored: binary()}

  @typedoc """
  * `:name` – the tool's name; `:run_time` – the tool, if it was added at run time
  * `:client` – the client that the task counts for
  * `:argument_bytes`, `:answer_bytes` – the size of its call's arguments, and of the last answers that the handler got
  * `:outcome`, `:stored` – a stored outcome is brief, and `whole/1` unpacks it. So copies of the task share its bytes,
    of which there are `:size`.
  * `:grace` – how long the handler may clean up when the task is ended, in milliseconds
  * `:parked` – the handler's process while it waits for the client
  * `:pending` – the open requests to the client, each under a key that the task never reuses
  * `:keys` – the handler's keys of these requests
  * `:responses`, `:errors` – the answers so far, packed
  """
  @type t :: %__MODULE__{
          id: String.t(),
          name: String.t() | nil,
          run_time: map() | nil,
          runner: pid() | nil,
          client: McpServer.Quota.Client.t(),
          created_at: DateTime.t(),
          updated_at: DateTime.t(),
          ttl: pos_integer(),
          poll_interval: pos_integer(),
          message: String.t() | nil,
          outcome: outcome() | nil,
          stored: binary() | nil,
          size: non_neg_integer() | nil,
          argument_bytes: non_neg_integer(),
          answer_bytes: non_neg_integer(),
          parked: GenServer.from() | nil,
          grace: non_neg_integer(),
          pending: %{String.t() => InputRequest.t()},
          keys: %{String.t() => String.t()},
          responses: packed_answers(),
          errors: packed_answers(),
          round: non_neg_integer()
        }

  @typedoc "Answers of the client, by key, with their size as terms."
  @type packed_answers :: %{String.t() => {packed :: binary(), bytes :: pos_integer()}}

  @related "io.modelcontextprotocol/related-task"
  @max_message_bytes 1_024

  @spec new(String.t(), pos_integer(), pos_integer()) :: t()
  def new(id, ttl, poll_interval) do
    now = now()
    %__MODULE__{id: id, created_at: now, updated_at: now, ttl: ttl, poll_interval: poll_interval}
  end

  defp now, do: DateTime.truncate(DateTime.utc_now(), :millisecond)

  @doc "The outcome of a task whose result has no room on this node."
  @spec no_room() :: outcome()
  def no_room, do: {:error, %{code: Error.code(:internal_error), message: "There is no room for the result", data: nil}}

  @doc "Packs an outcome."
  @spec pack(outcome()) :: packed()
  def pack(outcome), do: %{brief: brief(outcome), message: closing(outcome), stored: :erlang.term_to_binary(outcome)}

  @doc "Ends the task with its outcome."
  @spec finish(t(), packed()) :: t()
  def finish(entry, %{brief: outcome, message: message, stored: stored}) do
    ended = %{entry | outcome: outcome, stored: stored, size: byte_size(stored), message: message, updated_at: now()}
    %{ended | parked: nil, pending: %{}, keys: %{}, responses: %{}, errors: %{}}
  end

  @doc "The task without the data of its outcome and the answers of its client: what its status says, and lists."
  @spec outline(t()) :: t()
  def outline(entry), do: %{entry | stored: nil, responses: %{}, errors: %{}}

  @doc "The task with its whole outcome."
  @spec whole(t()) :: t()
  # A node of this cluster has packed it.
  def whole(%__MODULE__{stored: stored} = entry), do: %{entry | outcome: :erlang.binary_to_term(stored), stored: nil}

  # A longer message to another node is sent in fragments, which that node keeps until it has all of them.
  @piece_bytes 64_000

  @doc "A piece of a stored outcome, from this offset on."
  @spec piece(binary(), non_neg_integer()) :: binary()
  def piece(stored, offset), do: binary_part(stored, offset, min(@piece_bytes, byte_size(stored) - offset))

  defp closing({:error, %{message: message}}), do: message
  defp closing(:cancelled), do: "The task was cancelled by request."

  defp closing({:result, %CallResult{is_error: true, content: [%{text: text} | _]}}) when is_binary(text),
    do: clip(text)

  defp closing({:result, _result}), do: nil

  @doc "Stores the handler's progress message."
  @spec put_message(t(), String.t()) :: t()
  def put_message(entry, message), do: %{entry | message: message, updated_at: now()}

  @doc "Cuts a message to at most 1 KiB, between characters."
  @spec clip(String.t()) :: String.t()
  def clip(message) do
    first = binary_part(message, 0, min(byte_size(message), @max_message_bytes))

    case :unicode.characters_to_binary(first) do
      whole when is_binary(whole) -> :binary.copy(whole)
      {_incomplete_or_error, whole, _rest} -> :binary.copy(whole)
    end
  end

  defp brief({:result, result}), do: {:result, %CallResult{content: [], is_error: result.is_error}}
  defp brief({:error, error}), do: {:error, %{error | data: nil}}
  defp brief(:cancelled), do: :cancelled

  @doc "Notes that the handler's process `from` waits for the answers to `inputs`."
  @spec park(t(), %{String.t() => InputRequest.t()}, GenServer.from()) :: t()
  def park(entry, inputs, from) do
    round = entry.round + 1
    keyed = Map.new(inputs, fn {key, input} -> {own_key(key, round), {key, input}} end)

    %{
      entry
      | round: round,
        parked: from,
        pending: Map.new(keyed, fn {own, {_key, input}} -> {own, input} end),
        keys: Map.new(keyed, fn {own, {key, _input}} -> {own, key} end),
        responses: %{},
        errors: %{},
        updated_at: now()
    }
  end

  # A client treats an answered key as answered for the lifetime of the task, so each round has new keys.
  defp own_key(key, 1), do: if(key =~ ~r/#\d+\z/, do: key <> "#1", else: key)
  defp own_key(key, round), do: "#{key}##{round}"

  @doc "Adds the client's answers. Answers to unknown keys are ignored."
  @spec answer(t(), packed_answers(), packed_answers()) :: t()
  def answer(entry, responses, errors) do
    responses = Map.take(responses, Map.keys(entry.pending))
    errors = Map.take(errors, Map.keys(entry.pending))

    %{
      entry
      | responses: Map.merge(entry.responses, responses),
        errors: Map.merge(entry.errors, errors),
        pending: Map.drop(entry.pending, Map.keys(responses) ++ Map.keys(errors))
    }
  end

  @doc "The size of what a task that has not ended stores of its client."
  @spec bytes(t()) :: non_neg_integer()
  def bytes(entry), do: entry.argument_bytes + entry.answer_bytes + unread(entry)

  # The answers that wait for the others.
  defp unread(%{responses: responses, errors: errors}),
    do: Enum.reduce(Map.values(responses) ++ Map.values(errors), 0, fn {_packed, bytes}, sum -> bytes + sum end)

  @doc "The waiting process, and the answers by the handler's keys."
  @spec resume(t()) :: {GenServer.from(), packed_answers(), packed_answers(), t()}
  def resume(entry) do
    own = fn answers -> Map.new(answers, fn {key, answer} -> {Map.fetch!(entry.keys, key), answer} end) end
    # The handler has them, in place of those of the round before.
    resumed = %{entry | answer_bytes: unread(entry), responses: %{}, errors: %{}, parked: nil, keys: %{}}
    resumed = %{resumed | updated_at: now()}

    {entry.parked, own.(entry.responses), own.(entry.errors), resumed}
  end

  @spec status(t()) :: :working | :input_required | :completed | :failed | :cancelled
  def status(%__MODULE__{outcome: nil, pending: pending}) when pending == %{}, do: :working
  def status(%__MODULE__{outcome: nil}), do: :input_required
  def status(%__MODULE__{outcome: {:result, _result}}), do: :completed
  def status(%__MODULE__{outcome: {:error, _error}}), do: :failed
  def status(%__MODULE__{outcome: :cancelled}), do: :cancelled

  @doc "The task in the form of a protocol revision."
  @spec to_wire(t(), String.t()) :: {:ok, map()} | {:error, JSON.EncodeError.t()}
  def to_wire(entry, revision) do
    task = %{
      task_id: entry.id,
      status: status(entry, revision),
      status_message: entry.message,
      created_at: DateTime.to_iso8601(entry.created_at),
      last_updated_at: DateTime.to_iso8601(entry.updated_at),
      ttl: entry.ttl,
      ttl_ms: entry.ttl,
      poll_interval: entry.poll_interval,
      poll_interval_ms: entry.poll_interval
    }

    if Revision.stateless?(revision), do: detailed(task, entry, revision), else: {:ok, task}
  end

  # In 2025-11-25 a task whose result is an error has the status `failed`.
  defp status(%__MODULE__{outcome: {:result, %CallResult{is_error: true}}} = entry, revision),
    do: if(Revision.stateless?(revision), do: status(entry), else: :failed)

  defp status(entry, _revision), do: status(entry)

  defp detailed(task, %__MODULE__{outcome: {:result, result}}, _revision),
    do: {:ok, Map.put(task, :result, Map.from_struct(result))}

  defp detailed(task, %__MODULE__{outcome: {:error, error}}, revision) do
    {code, _status} = Protocol.handler_error(revision, error.code)
    {:ok, Map.put(task, :error, %{error | code: code})}
  end

  defp detailed(task, %__MODULE__{pending: pending}, _revision) when pending == %{}, do: {:ok, task}

  defp detailed(task, entry, revision) do
    with {:ok, requests} <- requests(entry, revision), do: {:ok, Map.put(task, :input_requests, requests)}
  end

  # `{"method": …, "params": …}` by key, encoded by the core.
  defp requests(entry, revision) do
    Enum.reduce_while(entry.pending, {:ok, %{}}, fn {key, input}, {:ok, requests} ->
      case Protocol.request(revision, key, input) do
        {:ok, message} ->
          request = message |> IO.iodata_to_binary() |> JSON.decode!() |> Map.take(["method", "params"])
          {:cont, {:ok, Map.put(requests, key, request)}}

        {:error, error} ->
          {:halt, {:error, error}}
      end
    end)
  end

  @doc "The metadata that connects a message of 2025-11-25 with its task."
  @spec related(t()) :: map()
  def related(entry), do: %{@related => %{"taskId" => entry.id}}
end
