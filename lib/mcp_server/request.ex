defmodule McpServer.Request do
  @moduledoc false
  # A request that passed every check of the core and waits for the router's code.

  alias McpServer.Protocol.ClientData

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
  * `:id` – what the answer must carry
  * `:method`, `:revision`, `:kind` – what is asked, and in which revision
  * `:index` – the place of the tool, prompt, resource or template in the router's handlers
  * `:name` – the tool's or prompt's name, the URI, or the task's id
  * `:arguments` – string keys; a template's variables; `%{"name", "value", "context"}` when
    completing; `%{"level"}`; the filter of `subscriptions/listen`; `%{"cursor"}`
  * `:client_info`, `:client_capabilities`, `:log_level` – from the request in the stateless era,
    `nil` in the session era, where the session knows them
  * `:input_responses`, `:request_state` – what the client brings back to a request that needed
    input; the state is still sealed
  * `:repairs` – the kinds of the changes that were made to the arguments so that they fit
  * `:meta` – what the client has put into `_meta` beside the members of the protocol
  * `:task` – how long the client wants the task of this call kept, in milliseconds; `nil` where the
    call is to be no task
  * `:run_time` – of a call: the tool as it was put while the server runs, where the router does not declare it
  * `:refusal` – the answer to a request that is sound but for one thing, for those who may know of what it names
  * `:hidden` – what everybody else gets: an answer, or another request, such as for the template that the URI of a
    resource matches too. Both are `nil` for what is there for everybody.
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
          request_state: String.t() | nil,
          task: nil | :default | non_neg_integer(),
          repairs: [McpServer.Schema.Validator.repair()],
          run_time: %{required(:entry) => map(), optional(atom()) => term()} | nil,
          refusal: answer() | nil,
          hidden: answer() | t() | nil,
          meta: map()
        }

  @typedoc "An answer of the core, with its HTTP status."
  @type answer :: {status :: pos_integer(), McpServer.Protocol.message()}

  # The rest is the client's data.
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
    arguments: %{},
    repairs: [],
    meta: %{}
  ]

  @doc """
  A request of which nothing is known.

  What is updated shares its keys. A struct that is built anew has keys of its own, which are copied to the call with it.
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

  @doc "What tells of the request while it runs: nothing whose size the client chose, but the id."
  @spec summary(t()) :: t()
  def summary(%__MODULE__{} = request) do
    %{
      blank()
      | id: request.id,
        method: request.method,
        revision: request.revision,
        kind: request.kind,
        index: request.index,
        run_time: request.run_time && Map.take(request.run_time, [:entry])
    }
  end
end
