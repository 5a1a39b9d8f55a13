defmodule McpServer.Protocol do
  @moduledoc false
  # The façade over the core's protocol rules in `McpServer.Native`: it turns lines into outcomes and results into
  # lines. It knows no process and no transport.

  alias McpServer.{Catalog, InputRequest, InputRequired, JSON, Native, Request}
  alias McpServer.JSON.{EncodeError, Structs}
  alias McpServer.Prompt.GetResult
  alias McpServer.Protocol.{ClientData, Outcome, Revision, SystemRole}
  alias McpServer.Resource.ReadResult

  @typedoc "The place that serves a request: a router, and the name of its mount if it can have several."
  @type place :: {router :: module() | nil, mount :: String.t() | nil}

  @typedoc "`:revision` is the session's revision, `nil` before it is agreed."
  @type context :: %{optional(atom()) => term(), revision: String.t() | nil}

  @typedoc "The limits of a message. `nil` stands for the core's defaults."
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

  # Longer lines go to a dirty scheduler, because they would block a normal one for too long.
  @inline_bytes Native.Dirty.inline_bytes()

  @doc """
  Compiles a server definition (JSON text) for `admit/4` and `result/3`.

  `structs` are the structs for arguments, in the external term format, by their names in the definition.
  The limits are those of `McpServer.Schema.Validator.compile/2` and of URI templates. Missing ones have the core's
  defaults. The key decides which hidden entry stands in for an unknown name; without one it is made from the definition.
  """
  @spec compile(
          String.t(),
          structs :: [{name :: String.t(), term :: binary()}],
          limits :: {of_schemas :: map(), of_templates :: map()},
          stand_in_key :: <<_::256>> | nil
        ) :: {:ok, reference()} | {:error, String.t()}
  def compile(definition, structs, limits, stand_in_key),
    do: Native.catalog_new(definition, structs, limits, stand_in_key)

  @doc """
  Limits of messages, made once and passed with each message: `:max_bytes`, `:max_depth`, `:max_values`, `:max_digits`,
  `:max_id_bytes`, `:max_method_bytes`, `:max_name_bytes`, `:max_uri_bytes`, `:max_meta_bytes`, `:max_subscriptions` and
  `:max_batch`. Missing ones have the core's defaults.
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
    # A schema can take long even with few arguments.
    with :over_budget <- Native.admit(ref, limits, revision, line) do
      Native.Dirty.call(fn -> Native.admit_dirty(ref, limits, revision, line) end)
    end
    |> Outcome.of()
  end

  def admit(%Catalog{ref: ref}, %{revision: revision}, line, limits),
    do: Outcome.of(Native.Dirty.call(fn -> Native.admit_dirty(ref, limits, revision, line) end))

  @doc """
  The answer to a request.

  `term` depends on the request's kind: a `%McpServer.Tool.CallResult{}`, `%McpServer.Prompt.GetResult{}`,
  `%McpServer.Resource.ReadResult{}` or `%McpServer.Completion{}`; a list of structs for a list; the map of a task;
  `:empty` for an empty result; or `%McpServer.InputRequired{}` for a tool, prompt or resource.

  Errors:

    * `%McpServer.JSON.EncodeError{}` – the term cannot be encoded; the error has its path
    * `{:output_schema, problems}` – the structured content does not fit the tool's output schema
    * `{:missing_capability, message}` – the client cannot provide the input, as `message` explains
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
    # Sorted, so that clients do not see the arbitrary order of a map.
    inputs = for {key, input} <- Enum.sort_by(required.requests, &elem(&1, 0)), do: {key, to_core(input)}
    capabilities = request.client_capabilities || %{}
    state = required.request_state

    inputs
    |> Structs.write(&Native.encode_input_required(ref, request.id, capabilities, &1, state))
    |> encoded()
  end

  # What a handler has read may be for this client alone, and old in a moment.
  def result(%Catalog{} = catalog, %Request{} = request, %ReadResult{ttl_ms: nil} = read),
    do: result(catalog, request, %{read | ttl_ms: 0})

  def result(%Catalog{} = catalog, %Request{} = request, %ReadResult{cache_scope: nil} = read),
    do: result(catalog, request, %{read | cache_scope: "private"})

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
  The resource or template of a URI: its index in the router's handlers, and its variables. Entries in `without` are
  skipped.
  """
  @spec find_resource(Catalog.t(), String.t(), without :: [{:resource | :resource_template, non_neg_integer()}]) ::
          {:resource | :resource_template, index :: non_neg_integer(), variables :: map()} | :not_found
  def find_resource(%Catalog{ref: ref}, uri, without \\ []) do
    with {:resource, index} <- Native.find_resource(ref, uri, without), do: {:resource, index, %{}}
  end

  @doc """
  The normal form of a URI (RFC 3986, section 6.2.2). Equivalent URIs have the same one: `%7E` is written `~`, and `%2f`
  is written `%2F`. `find_resource/3` finds the same for all of them.
  """
  @spec normal_uri(String.t()) :: String.t()
  def normal_uri(uri) do
    # Most URIs have no triplet.
    if :binary.match(uri, "%") == :nomatch, do: uri, else: Native.normal_uri(uri)
  end

  @doc """
  The answer to a request for a list with the entries that the bits of `grant` allow. The error is the answer to an
  invalid cursor, with its status.

  `more` are JSON texts of further entries after the declared ones. `version` identifies them.
  """
  @spec granted_list(Catalog.t(), Request.t(), grant :: binary(), {more :: [String.t()], version :: binary()}) ::
          {:ok, message()} | {:error, Request.answer()}
  def granted_list(%Catalog{ref: ref}, %Request{} = request, grant, {more, version} \\ {[], ""}) do
    about = {request.id, request.revision, request.kind, request.arguments["cursor"]}

    # The texts are parsed whenever the page is not cached.
    if IO.iodata_length(more) <= @inline_bytes,
      do: Native.granted_list(ref, about, grant, more, version),
      else: Native.Dirty.call(fn -> Native.granted_list_dirty(ref, about, grant, more, version) end)
  end

  @doc """
  The checked arguments of a call for its handler, and the task request of the call. The catalogue has only one tool.
  """
  @spec run_time_arguments(Catalog.t(), Request.t()) ::
          {:ok, map() | struct(), [McpServer.Schema.Validator.repair()], task :: term()} | {:error, Request.answer()}
  def run_time_arguments(%Catalog{ref: ref}, %Request{arguments: arguments} = request) do
    capabilities = for {name, declared} <- request.client_capabilities || %{}, is_map(declared), do: name
    called = {request.id, request.revision, request.name, request.task, capabilities}

    with :over_budget <- Native.run_time_arguments(ref, called, arguments),
         do: Native.Dirty.call(fn -> Native.run_time_arguments_dirty(ref, called, arguments) end)
  end

  @doc "Expands a template with these variables. Variables without a value are left out."
  @spec expand_template(String.t(), %{String.t() => term()}) :: String.t()
  def expand_template(template, variables),
    do: Native.expand_template(template, Map.new(variables, fn {name, value} -> {name, to_string(value)} end))

  @typedoc "An error's name in the table of the core: `native/mcp_core/src/jsonrpc/code.rs`."
  @type error_name :: atom()

  @typedoc "An error's message. `nil` is the standard message, and a reason is appended to the standard message."
  @type error_message :: String.t() | {:because, String.t()} | nil

  @doc """
  An error answer. `id` is `nil` if the request's id could not be read.

  The code is a name, or a number that a handler has chosen. The core defines the names and their messages, and sends
  the code of the revision.
  """
  @spec error(Request.id() | nil, String.t(), integer() | error_name(), error_message(), term()) :: message()
  def error(id, revision, code, message, data \\ nil) do
    case Structs.write(data, &Native.encode_error(id, revision, code, message, &1)) do
      {:ok, encoded} -> encoded
      # The peer gets an answer even if the data cannot be encoded.
      {:error, _reason} -> error(id, revision, code, message)
    end
  end

  @doc "The id of an encoded answer, `:error` for an error without an id."
  @spec reply_id(message()) :: {:ok, Request.id() | nil} | :error
  def reply_id([head | _tail]), do: reply_id(head)

  def reply_id(~s({"jsonrpc":"2.0","id":) <> rest) do
    # An id cannot contain this text, because quotes inside of it are escaped.
    [id | _members] = :binary.split(rest, [~s(,"result"), ~s(,"error")])
    JSON.decode(id)
  end

  def reply_id(_error), do: :error

  @doc "The id of a request whose JSON text is refused, `nil` without one."
  @spec refused_id(binary()) :: Request.id() | nil
  def refused_id(text), do: Native.refused_id(text)

  @doc "The code of an error's name."
  @spec error_code(error_name()) :: integer()
  def error_code(name), do: Native.error_code(name)

  @doc "The code of a handler's error in a revision, and the HTTP status of its answer."
  @spec handler_error(String.t(), integer()) :: {code :: integer(), status :: pos_integer()}
  def handler_error(revision, code), do: Native.handler_error(revision, code)

  @doc """
  A notification.

  `fields` are the parameters, with the protocol's names as atoms. `subscription_id` is the id of the
  `subscriptions/listen` request of the notification.
  """
  @spec notification(String.t(), notification_kind(), map(), Request.id() | nil) ::
          {:ok, message()} | {:error, EncodeError.t()}
  def notification(revision, kind, fields \\ %{}, subscription_id \\ nil),
    do: fields |> Structs.write(&Native.encode_notification(revision, kind, &1, subscription_id)) |> encoded()

  @doc "A request to the client (session era). The error is a text if the client's revision does not have the request."
  @spec request(String.t(), Request.id(), InputRequest.t()) ::
          {:ok, message()} | {:error, EncodeError.t() | String.t()}
  def request(revision, id, %InputRequest{} = input) do
    case input |> to_core() |> Structs.write(&Native.encode_request(revision, id, &1)) do
      {:error, {:unknown_to_client, _path, text}} -> {:error, text}
      written -> encoded(written)
    end
  end

  @doc "Whether a client may be asked for `sampling`, `elicitation` or `roots`. `nil` is the newest revision."
  @spec offers?(String.t() | nil, map() | nil, String.t()) :: boolean()
  def offers?(revision, client_capabilities, capability),
    do: Native.offers_input(revision || Revision.newest(), client_capabilities || %{}, capability)

  @doc "Whether a client with these capabilities may be asked for that input."
  @spec supports?(String.t(), map(), InputRequest.t()) :: boolean()
  def supports?(revision, client_capabilities, %InputRequest{} = input),
    do: missing_capabilities(revision, client_capabilities, [input]) == []

  @doc "The capabilities that these inputs need and the client lacks: `sampling`, or a part of it, `sampling.tools`."
  @spec missing_capabilities(String.t(), map(), [InputRequest.t()]) :: [String.t()]
  def missing_capabilities(revision, client_capabilities, inputs),
    do: Native.missing_capabilities(revision, client_capabilities, Enum.map(inputs, &to_core/1))

  @doc "The request without parameters that a client with these capabilities should not get."
  @spec fitted(String.t(), map(), InputRequest.t()) :: InputRequest.t()
  def fitted(revision, client_capabilities, %InputRequest{} = input),
    do: %{input | params: Native.supported_params(revision, client_capabilities, to_core(input))}

  @doc """
  The number of requests that the core has answered alone since the library was loaded: results by kind (`:ping`,
  `:discover`, `:list`, `:initialize`), errors (`:parse_error`, `:invalid_request`, `:method_not_found`,
  `:invalid_params`, `:other_error`) and refused heads of HTTP requests (`:http`).
  """
  @spec answered_alone() :: %{atom() => non_neg_integer()}
  def answered_alone, do: Native.answered_alone()

  @doc """
  Seals a handler's state, which the client sends back later.

  The seal is bound to the principal, the place of `request`, its method, name and arguments. The state can be opened
  before `expires_at`, in milliseconds of the wall clock.
  """
  @spec seal_state(binary(), term(), Request.t(), term(), expires_at :: non_neg_integer(), place()) :: String.t()
  def seal_state(secret, principal, %Request{} = request, state, expires_at, place \\ {nil, nil}) do
    nonce = :crypto.strong_rand_bytes(24)
    Native.seal_state(secret, nonce, binding(principal, request, place), expires_at, :erlang.term_to_binary(state))
  end

  @doc "Opens the state that came back with `request`, at `now` of the wall clock in milliseconds."
  @spec open_state(binary(), term(), Request.t(), now :: non_neg_integer(), place()) ::
          {:ok, term()} | {:error, :invalid_state}
  def open_state(secret, principal, %Request{request_state: sealed} = request, now, place \\ {nil, nil}) do
    case Native.open_state(secret, binding(principal, request, place), now, sealed) do
      # The seal proves that this server wrote the term. With `:safe` a state of another release cannot create atoms.
      {:ok, state} -> {:ok, :erlang.binary_to_term(state, [:safe])}
      {:error, _reason} -> {:error, :invalid_state}
    end
  rescue
    ArgumentError -> {:error, :invalid_state}
  end

  @doc """
  Seals bytes that a client sends back later, until `expires_at` (milliseconds of the wall clock).

  The seal is bound to the principal, the place and the purpose. The purpose must not be a method of the protocol.
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

  # The tags distinguish no principal, a string and other terms. The format is stable, because nodes of other releases
  # open these seals.
  defp tagged(nil), do: "none"
  defp tagged(principal) when is_binary(principal), do: "text " <> principal
  defp tagged(principal), do: "term " <> :erlang.term_to_binary(principal, [:deterministic, minor_version: 2])

  @doc """
  The Content-Security-Policy of a view with these domains. `sandbox?` makes the policy of a sandbox. An error text
  names the faulty entry.
  """
  @spec content_security_policy(map() | nil, boolean()) :: {:ok, String.t()} | {:error, String.t()}
  def content_security_policy(csp, sandbox?), do: Native.content_security_policy(csp, sandbox?)

  defp to_core(%InputRequest{} = input), do: InputRequest.to_core(input)

  defp encoded({:ok, message}), do: {:ok, message}
  defp encoded({:error, {:output_schema, problems}}), do: {:error, {:output_schema, problems}}
  defp encoded({:error, {:missing_capability, reply}}), do: {:error, {:missing_capability, reply}}
  defp encoded({:error, reason}), do: {:error, EncodeError.new(reason)}
end
