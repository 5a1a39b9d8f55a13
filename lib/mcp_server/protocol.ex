defmodule McpServer.Protocol do
  @moduledoc false
  # The door to the core's protocol rules: lines in, outcomes out; results in, lines out.
  # One of the façades over `McpServer.Native`. Knows no process and no transport.

  alias McpServer.{Catalog, InputRequest, InputRequired, JSON, Native, Request}
  alias McpServer.JSON.{EncodeError, Structs}
  alias McpServer.Prompt.GetResult
  alias McpServer.Protocol.{ClientData, Outcome, SystemRole}
  alias McpServer.Resource.ReadResult

  @typedoc "Where a request is served: a router, and the name of its mount where it can have several."
  @type place :: {router :: module() | nil, mount :: String.t() | nil}

  @typedoc "`:revision` is the session's, `nil` while there is none."
  @type context :: %{optional(atom()) => term(), revision: String.t() | nil}

  @typedoc "What a message may hold; `nil` stands for the core's defaults."
  @type limits :: reference() | nil

  @typedoc "One JSON text without a line end."
  @type message :: iodata()

  @type outcome ::
          {:reply, message()}
          | :ignore
          | {:open, message(), opening()}
          | {:request, Request.t()}
          | {:notification, notification()}
          | {:response, Request.id(), {:ok, map()} | {:error, map()}}
          | {:batch, [outcome()]}

  @type opening :: %{
          id: Request.id(),
          revision: String.t(),
          client_info: ClientData.t(),
          client_capabilities: ClientData.t()
        }

  @type notification ::
          :initialized
          | :roots_list_changed
          | {:cancelled, Request.id(), String.t() | nil}
          | {:progress, Request.id(), map()}

  @type notification_kind ::
          :progress
          | :message
          | :tools_list_changed
          | :prompts_list_changed
          | :resources_list_changed
          | :resource_updated
          | :cancelled
          | :subscriptions_acknowledged
          | :elicitation_complete

  # Lines above this go to a dirty scheduler: reading them takes longer than a normal one may be held.
  @inline_bytes Native.Dirty.inline_bytes()

  @doc """
  Compiles a server definition (JSON text) into what `admit/4` and `result/3` work with.

  `structs` are those that arguments become, in the external term format, by the names that the definition gives them.
  The limits are those of `McpServer.Schema.Validator.compile/2` and of URI templates; what they leave out is the core's.
  """
  @spec compile(
          String.t(),
          structs :: [{name :: String.t(), term :: binary()}],
          schema_limits :: map(),
          template_limits :: map()
        ) :: {:ok, reference()} | {:error, String.t()}
  def compile(definition, structs \\ [], schema_limits \\ %{}, template_limits \\ %{}),
    do: Native.catalog_new(definition, structs, {schema_limits, template_limits})

  @doc """
  Limits of messages, made once and passed with each: `:max_bytes`, `:max_depth`, `:max_values`, `:max_digits`,
  `:max_id_bytes`, `:max_method_bytes`, `:max_name_bytes`, `:max_uri_bytes`, `:max_meta_bytes`, `:max_subscriptions` and
  `:max_batch`. What is left out is the core's.
  """
  @spec limits(%{atom() => pos_integer()}) :: reference()
  def limits(limits) do
    {:ok, ref} = Native.message_limits(limits)
    ref
  end

  @doc "Reads one message of a peer."
  @spec admit(Catalog.t(), context(), binary(), limits()) :: outcome()
  def admit(catalog, context, line, limits \\ nil)

  def admit(%Catalog{ref: ref}, %{revision: revision}, line, limits) when byte_size(line) <= @inline_bytes do
    # A schema may take long with a few arguments.
    with :over_budget <- Native.admit(ref, limits, revision, line) do
      Native.Dirty.call(fn -> Native.admit_dirty(ref, limits, revision, line) end)
    end
    |> Outcome.of()
  end

  def admit(%Catalog{ref: ref}, %{revision: revision}, line, limits),
    do: Outcome.of(Native.Dirty.call(fn -> Native.admit_dirty(ref, limits, revision, line) end))

  @doc """
  The answer to a request.

  `term` is what the request's kind asks for: a `%McpServer.Tool.CallResult{}`,
  `%McpServer.Prompt.GetResult{}`, `%McpServer.Resource.ReadResult{}` or
  `%McpServer.Completion{}`; a list of structs for a list; the map of a task; `:empty` where the protocol
  answers with nothing; or `%McpServer.InputRequired{}` for a tool, prompt or resource.

  Errors:

    * `%McpServer.JSON.EncodeError{}` – the term cannot be written; its path says where
    * `{:output_schema, problems}` – the structured content does not fit the tool's output schema
    * `{:missing_capability, message}` – the client cannot give the input; `message` says so
  """
  @spec result(Catalog.t(), Request.t(), term()) ::
          {:ok, message()}
          | {:error,
             EncodeError.t()
             | {:output_schema, [map()]}
             | {:missing_capability, message()}}
  def result(%Catalog{ref: ref}, %Request{} = request, :empty),
    do: {:ok, Native.encode_empty(ref, request.id, request.revision, request.kind == :listen)}

  def result(%Catalog{ref: ref}, %Request{} = request, %InputRequired{} = required) do
    # Sorted: what a client sees must not depend on the order a map happens to have.
    inputs = for {key, input} <- Enum.sort_by(required.requests, &elem(&1, 0)), do: {key, to_core(input)}
    capabilities = request.client_capabilities || %{}
    state = required.request_state

    inputs
    |> Structs.write(&Native.encode_input_required(ref, request.id, capabilities, &1, state))
    |> encoded()
  end

  def result(%Catalog{} = catalog, %Request{} = request, %ReadResult{ttl_ms: nil} = read),
    do: result(catalog, request, %{read | ttl_ms: catalog.server.ttl})

  def result(%Catalog{} = catalog, %Request{} = request, %ReadResult{cache_scope: nil} = read),
    do: result(catalog, request, %{read | cache_scope: catalog.server.cache_scope})

  def result(%Catalog{} = catalog, %Request{} = request, %GetResult{} = result) do
    with {:ok, result} <- SystemRole.replace(catalog, result), do: encode_result(catalog, request, result)
  end

  def result(catalog, request, term), do: encode_result(catalog, request, term)

  defp encode_result(%Catalog{ref: ref}, request, term) do
    %Request{id: id, revision: revision, kind: kind, index: index} = request

    term
    |> Structs.write(fn term ->
      with :over_budget <- Native.encode_result(ref, id, revision, kind, index, term) do
        Native.Dirty.call(fn ->
          Native.encode_result_dirty(ref, id, revision, kind, index, term)
        end)
      end
    end)
    |> encoded()
  end

  @doc """
  What a URI reads: the place of a resource or template in the router's handlers, and its variables. What is there
  `without` it is passed over.
  """
  @spec find_resource(Catalog.t(), String.t(), without :: [{:resource | :resource_template, non_neg_integer()}]) ::
          {:resource | :resource_template, index :: non_neg_integer(), variables :: map()} | :not_found
  def find_resource(%Catalog{ref: ref}, uri, without \\ []) do
    with {:resource, index} <- Native.find_resource(ref, uri, without), do: {:resource, index, %{}}
  end

  @doc """
  The answer to a request for a list, of which the client may know what `grant` has the bits of; an error is the answer to
  a cursor that is none of this list, with its status.

  `more` stands behind what was declared: JSON texts, which `version` tells from all others.
  """
  @spec granted_list(Catalog.t(), Request.t(), grant :: binary(), {more :: [String.t()], version :: binary()}) ::
          {:ok, message()} | {:error, Request.answer()}
  def granted_list(%Catalog{ref: ref}, %Request{} = request, grant, {more, version} \\ {[], ""}) do
    about = {request.id, request.revision, request.kind, request.arguments["cursor"]}

    # They are read each time that the page is not kept.
    if IO.iodata_length(more) <= @inline_bytes,
      do: Native.granted_list(ref, about, grant, more, version),
      else: Native.Dirty.call(fn -> Native.granted_list_dirty(ref, about, grant, more, version) end)
  end

  @doc """
  The arguments of a call of the one tool of a catalogue, checked and as its handler gets them, and whether the call is to
  run as a task, as in a request.
  """
  @spec run_time_arguments(Catalog.t(), Request.t()) ::
          {:ok, map() | struct(), [McpServer.Schema.Validator.repair()], task :: term()} | {:error, Request.answer()}
  def run_time_arguments(%Catalog{ref: ref}, %Request{arguments: arguments} = request) do
    called = {request.id, request.revision, request.name, request.task, Map.keys(request.client_capabilities || %{})}

    with :over_budget <- Native.run_time_arguments(ref, called, arguments),
         do: Native.Dirty.call(fn -> Native.run_time_arguments_dirty(ref, called, arguments) end)
  end

  @doc "The URI that a template makes of these variables; what has no value is left out."
  @spec expand_template(String.t(), %{String.t() => term()}) :: String.t()
  def expand_template(template, variables),
    do: Native.expand_template(template, Map.new(variables, fn {name, value} -> {name, to_string(value)} end))

  @typedoc "An error's name in the table of the core: `native/mcp_core/src/jsonrpc/code.rs`."
  @type error_name :: atom()

  @typedoc "What an error says; `nil` is its standard message, and a reason follows that message."
  @type error_message :: String.t() | {:because, String.t()} | nil

  @doc """
  An error answer; `id` is `nil` where the request's could not be read.

  The code is a name, or a number that a handler has chosen. Names are those of the core, and so are their messages.
  """
  @spec error(Request.id() | nil, String.t(), integer() | error_name(), error_message(), term()) :: message()
  def error(id, revision, code, message, data \\ nil) do
    case Structs.write(data, &Native.encode_error(id, revision, code, message, &1)) do
      {:ok, encoded} -> encoded
      # Data that cannot be written must not cost the peer its answer.
      {:error, _reason} -> error(id, revision, code, message)
    end
  end

  @doc "The code of an error's name."
  @spec error_code(error_name()) :: integer()
  def error_code(name), do: Native.error_code(name)

  @doc """
  A notification.

  `fields` are the parameters under the names of the protocol, as atoms. `subscription_id` is the
  id of the `subscriptions/listen` request it belongs to.
  """
  @spec notification(String.t(), notification_kind(), map(), Request.id() | nil) ::
          {:ok, message()} | {:error, EncodeError.t()}
  def notification(revision, kind, fields \\ %{}, subscription_id \\ nil),
    do: fields |> Structs.write(&Native.encode_notification(revision, kind, &1, subscription_id)) |> encoded()

  @doc "A request to the client (session era)."
  @spec request(String.t(), Request.id(), InputRequest.t()) ::
          {:ok, message()} | {:error, EncodeError.t()}
  def request(revision, id, %InputRequest{} = input),
    do: input |> to_core() |> Structs.write(&Native.encode_request(revision, id, &1)) |> encoded()

  @doc "Whether a client with these capabilities may be asked for that input."
  @spec supports?(map(), InputRequest.t()) :: boolean()
  def supports?(client_capabilities, %InputRequest{} = input),
    do: Native.missing_capabilities(client_capabilities, [to_core(input)]) == []

  @doc """
  How often the core has answered alone since the library was loaded: results by kind (`:ping`, `:discover`, `:list`,
  `:initialize`), errors (`:parse_error`, `:invalid_request`, `:method_not_found`, `:invalid_params`, `:other_error`) and
  refused heads of HTTP requests (`:http`).
  """
  @spec answered_alone() :: %{atom() => non_neg_integer()}
  def answered_alone, do: Native.answered_alone()

  @doc "The client capability that an input request needs."
  @spec capability_of(InputRequest.t()) :: String.t()
  def capability_of(%InputRequest{} = input) do
    [capability] = Native.missing_capabilities(%{}, [to_core(input)])
    capability
  end

  @doc """
  Seals a handler's state for the client to carry.

  Bound to the principal, to the place where `request` was served, to its method, name and arguments, and to the
  time: it opens for `ttl_ms` milliseconds.
  """
  @spec seal_state(binary(), term(), Request.t(), term(), pos_integer(), place()) :: String.t()
  def seal_state(secret, principal, %Request{} = request, state, ttl_ms, place \\ {nil, nil}) do
    nonce = :crypto.strong_rand_bytes(24)
    expires_at = System.system_time(:millisecond) + ttl_ms
    Native.seal_state(secret, nonce, binding(principal, request, place), expires_at, :erlang.term_to_binary(state))
  end

  @doc "Opens the state that came back with `request`."
  @spec open_state(binary(), term(), Request.t(), place()) :: {:ok, term()} | {:error, :invalid_state}
  def open_state(secret, principal, %Request{request_state: sealed} = request, place \\ {nil, nil}) do
    now = System.system_time(:millisecond)

    case Native.open_state(secret, binding(principal, request, place), now, sealed) do
      # The seal proves that this server wrote the term; `:safe` keeps a state of another
      # release from creating atoms.
      {:ok, state} -> {:ok, :erlang.binary_to_term(state, [:safe])}
      {:error, _reason} -> {:error, :invalid_state}
    end
  rescue
    ArgumentError -> {:error, :invalid_state}
  end

  @doc """
  Seals bytes that a client carries for the server, until `expires_at` (milliseconds of the wall clock).

  Bound to the principal, to the place and to the purpose, which is no method of the protocol.
  """
  @spec seal(binary(), term(), place(), purpose :: String.t(), binary(), expires_at :: pos_integer()) :: String.t()
  def seal(secret, principal, place, purpose, bytes, expires_at) do
    Native.seal_state(
      secret,
      :crypto.strong_rand_bytes(24),
      purpose_binding(principal, place, purpose),
      expires_at,
      bytes
    )
  end

  @doc "Opens what `seal/6` sealed for the same principal, place and purpose."
  @spec unseal(binary(), term(), place(), purpose :: String.t(), String.t()) ::
          {:ok, binary()} | {:error, :expired | :invalid}
  def unseal(secret, principal, place, purpose, sealed),
    do: Native.open_state(secret, purpose_binding(principal, place, purpose), System.system_time(:millisecond), sealed)

  defp purpose_binding(principal, {router, mount}, purpose),
    do: {tagged(principal), {Atom.to_string(router), mount || ""}, purpose, "", ""}

  defp binding(principal, request, {router, mount}) do
    digest = :crypto.hash(:sha256, JSON.encode!(request.arguments))
    {tagged(principal), {Atom.to_string(router), mount || ""}, request.method, request.name, digest}
  end

  # Nobody, a string and any other term never read alike. A node of another release opens what this one sealed.
  defp tagged(nil), do: "none"
  defp tagged(principal) when is_binary(principal), do: "text " <> principal
  defp tagged(principal), do: "term " <> :erlang.term_to_binary(principal, [:deterministic, minor_version: 2])

  @doc """
  The Content-Security-Policy of a view that declares these domains, with `sandbox?` as a sandbox
  needs it; an error text names the entry at fault.
  """
  @spec content_security_policy(map() | nil, boolean()) :: {:ok, String.t()} | {:error, String.t()}
  def content_security_policy(csp, sandbox?), do: Native.content_security_policy(csp, sandbox?)

  defp to_core(%InputRequest{} = input), do: InputRequest.to_core(input)

  defp encoded({:ok, message}), do: {:ok, message}
  defp encoded({:error, {:output_schema, problems}}), do: {:error, {:output_schema, problems}}
  defp encoded({:error, {:missing_capability, reply}}), do: {:error, {:missing_capability, reply}}
  defp encoded({:error, reason}), do: {:error, EncodeError.new(reason)}
end
