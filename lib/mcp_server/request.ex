defmodule McpServer.Request do
  @moduledoc false
  # A request that the core has admitted for the router's code.

  alias McpServer.Protocol.{ClientData, Revision}

  @type id :: integer() | String.t()

  @type kind ::
          :tool
          | :prompt
          | :resource
          | :resource_template
          | :complete_prompt
          | :complete_resource
          | :list_tools
          | :list_prompts
          | :list_resources
          | :list_resource_templates
          | :set_level
          | :subscribe
          | :unsubscribe
          | :listen
          | :get_task
          | :task_result
          | :update_task
          | :cancel_task
          | :list_tasks

  @typedoc """
  * `:id` – the id for the answer
  * `:method`, `:revision`, `:kind` – the requested operation and its revision
  * `:index` – the index of the tool, prompt, resource or template in the router's handlers
  * `:name` – the tool's or prompt's name, the URI, or the task's id
  * `:arguments` – string keys; a template's variables; `%{"name", "value", "context"}` when
    completing; `%{"level"}`; the filter of `subscriptions/listen`; `%{"cursor"}`
  * `:client_info`, `:client_capabilities`, `:log_level` – from the request in the stateless era,
    `nil` in the session era, where the session knows them
  * `:input_responses`, `:request_state` – the client's answers to a request for input; the state is still sealed
  * `:unsound_responses` – the keys of answers with an invalid form
  * `:repairs` – the kinds of repairs that made the arguments fit
  * `:meta` – the members of `_meta` that the protocol does not define
  * `:task` – how long the client wants to keep the task of this call, in milliseconds; `nil` without a task
  * `:run_time` – the called tool, if it was added at run time
  * `:refusal` – the refusal of a faulty request, for clients that may see the named entry
  * `:hidden` – the result for all other clients: an answer, or another request, such as for a template that also
    matches a resource's URI. Both are `nil` if all clients may see the entry.
  * `:stand_in` – for an unknown name, a hidden entry whose checks take as long as those of a hidden entry of that name:
    the index of a declared one, or a tool that was added at run time. The result is `:hidden`, unless there is a
    run-time tool of that name
  """
  @type t :: %__MODULE__{
          id: id(),
          method: String.t(),
          revision: String.t(),
          kind: kind(),
          index: non_neg_integer() | nil,
          name: String.t() | nil,
          arguments: map(),
          progress_token: id() | nil,
          log_level: String.t() | nil,
          client_info: ClientData.t() | nil,
          client_capabilities: ClientData.t() | nil,
          input_responses: map() | nil,
          unsound_responses: [String.t()],
          request_state: String.t() | nil,
          task: nil | :default | non_neg_integer(),
          repairs: [McpServer.Schema.Validator.repair()],
          run_time: %{required(:entry) => map(), optional(atom()) => term()} | nil,
          refusal: answer() | nil,
          hidden: answer() | t() | nil,
          stand_in: non_neg_integer() | %{required(:entry) => map(), optional(atom()) => term()} | nil,
          meta: map()
        }

  @typedoc "An answer of the core, with its HTTP status."
  @type answer :: {status :: pos_integer(), McpServer.Protocol.message()}

  # The other fields contain data of the client.
  @derive {Inspect, only: [:method, :revision, :kind]}
  @enforce_keys [:id, :method, :revision, :kind]
  defstruct [
    :id,
    :method,
    :revision,
    :kind,
    :index,
    :name,
    :progress_token,
    :log_level,
    :client_info,
    :client_capabilities,
    :input_responses,
    :request_state,
    :task,
    :run_time,
    :refusal,
    :hidden,
    :stand_in,
    arguments: %{},
    unsound_responses: [],
    repairs: [],
    meta: %{}
  ]

  @doc """
  An empty request.

  An updated struct shares the keys of this one. A newly built struct has separate keys, which are copied to the call.
  """
  @spec blank() :: %__MODULE__{}
  def blank, do: %__MODULE__{id: nil, method: nil, revision: nil, kind: nil}

  @doc "The request with the client's data as terms."
  @spec with_client_terms(t()) :: t()
  def with_client_terms(%__MODULE__{client_info: info, client_capabilities: capabilities} = request)
      when is_binary(info) or is_binary(capabilities) do
    %{
      request
      | client_info: info && ClientData.to_term(info),
        client_capabilities: capabilities && ClientData.to_term(capabilities)
    }
  end

  def with_client_terms(request), do: request

  @doc "The request without what is read when its call begins. A task keeps the rest for long."
  @spec begun(t()) :: t()
  def begun(%__MODULE__{} = request) do
    request = %{request | client_info: nil, client_capabilities: nil, meta: %{}, input_responses: nil}
    %{request | unsound_responses: [], request_state: nil, refusal: nil, hidden: nil, stand_in: nil}
  end

  @doc "Whether the client can read only a task or an error: it has asked for a task (2025-11-25)."
  @spec expects_task?(t()) :: boolean()
  def expects_task?(%__MODULE__{task: nil}), do: false
  def expects_task?(%__MODULE__{revision: revision}), do: not Revision.stateless?(revision)

  @typedoc "The fields of a summary without its id."
  @type row :: {String.t(), String.t(), kind(), non_neg_integer() | nil, run_time :: map() | nil}

  @doc "The data of a running request for reports. The id is the only value whose size the client chooses."
  @spec summary(t()) :: t()
  def summary(%__MODULE__{id: id} = request), do: from_row(id, to_row(request))

  @doc "The fields of the summary, for a table."
  @spec to_row(t()) :: row()
  def to_row(%__MODULE__{method: method, revision: revision, kind: kind, index: index, run_time: tool}),
    do: {method, revision, kind, index, tool && Map.take(tool, [:entry])}

  @doc "The summary with these fields."
  @spec from_row(id(), row()) :: t()
  def from_row(id, {method, revision, kind, index, tool}),
    do: %{blank() | id: id, method: method, revision: revision, kind: kind, index: index, run_time: tool}
end
