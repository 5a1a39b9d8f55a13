defmodule McpServer.Request do
  @moduledoc false
  # A request that passed every check of the core and waits for the router's code.

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

  @typedoc """
  * `:id` – what the answer must carry
  * `:method`, `:revision`, `:kind` – what is asked, and in which revision
  * `:index` – the place of the tool, prompt, resource or template in the router's handlers
  * `:name` – the tool's or prompt's name, or the URI
  * `:arguments` – string keys; a template's variables; `%{"name", "value", "context"}` when
    completing; `%{"level"}`; the filter of `subscriptions/listen`; `%{"cursor"}`
  * `:meta` – `params._meta` as sent
  * `:client_info`, `:client_capabilities`, `:log_level` – from the request in the stateless era,
    `nil` in the session era, where the session knows them
  * `:input_responses`, `:request_state` – what the client brings back to a request that needed
    input; the state is still sealed
  """
  @type t :: %__MODULE__{
          id: id(),
          method: String.t(),
          revision: String.t(),
          kind: kind(),
          index: non_neg_integer() | nil,
          name: String.t() | nil,
          arguments: map(),
          meta: map(),
          progress_token: id() | nil,
          log_level: String.t() | nil,
          client_info: map() | nil,
          client_capabilities: map() | nil,
          input_responses: map() | nil,
          request_state: String.t() | nil
        }

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
    arguments: %{},
    meta: %{}
  ]
end
