defmodule McpServer.Controller do
  @moduledoc """
  What handlers are written with: results, progress and log messages, and questions to the client.

      defmodule MyApp.Weather do
        use McpServer.Controller

        def forecast(conn, %{"city" => city}) do
          progress(conn, 1, 2, "asking the weather service")
          {:ok, [text("Sunny in " <> city)]}
        end
      end

  `use McpServer.Controller` is `import McpServer.Controller`; `import … only: [message: 3]` works as well.

  ## Handlers

  A handler is a public function that a `McpServer.Router` names. Its first argument is the
  `McpServer.Conn`. Arguments have been checked against the declared schema before it is called, and
  their keys are strings.

  | declared by | called as | answers |
  |---|---|---|
  | `tool` | `fun(conn, arguments)` | see `McpServer.Tool.Result`: `{:ok, "text"}`, `{:ok, content}`, `{:ok, map}`, `{:ok, struct}` |
  | `prompt`, `get` | `fun(conn, arguments)` | messages, one message, a text of the user, or a `McpServer.Prompt.GetResult`, or any of these in `{:ok, …}` |
  | `resource`, `read` | `fun(conn, variables)` | a `McpServer.Resource.Content`, a list of them, a `McpServer.Resource.ReadResult` or `%{"contents" => list}`, or any of these in `{:ok, …}`; `{:error, :not_found}` |
  | `complete` of both | `fun(conn, name, prefix)` | a list of strings or a `McpServer.Completion`, or either in `{:ok, …}` |

  Every handler may answer `{:error, "text"}` or `{:error, exception}`, which stands for the exception's message: of a
  tool that becomes a result with `isError: true`, which the model reads. `{:error, {:retry_after, seconds}}` says the same as
  `McpServer.RateLimit`: too many calls, and when to come again. Tools, prompts and resources may answer
  `input_required/2`. What a handler raises reaches the log, not the client.

  A handler runs in a process of its own. The process ends normally after the handler has returned; processes that it
  started go on, linked or not. After a timeout or a cancellation it is killed, and linked processes (such as a `Task`) end
  with it. `McpServer.Telemetry` counts processes, to show where some stay behind.

  A tool with `cancel_grace:` has a chance to clean up. Its process first gets the exit signal `{:shutdown, :cancelled}`, or
  `{:shutdown, :timeout}`, and is killed after that time. A handler that traps exits finds the signal as a message:

      def import(_conn, %{"file" => file}) do
        Process.flag(:trap_exit, true)
        job = Importer.start(file)

        receive do
          {:imported, ^job, count} -> {:ok, "\#{count} notes"}
          {:EXIT, _from, {:shutdown, _why}} ->
            Importer.roll_back(job)
            {:error, "Cancelled"}
        end
      end

  What it returns then goes nowhere: the client has its answer, or wants none. A handler that does not trap exits
  ends at once.

  ## Questions to the client

  A handler cannot wait for an answer. It returns what it needs and is called again, with the same
  arguments, once the answers are there:

      def book(conn, %{"city" => city}) do
        case accepted(conn, "guests") do
          %{"count" => count} -> {:ok, [text("Booked for \#{count} in \#{city}")]}
          nil -> input_required(guests: elicit("How many guests?", guests_schema()))
        end
      end

  That works the same with every client, whatever its revision of the protocol.
  """

  alias McpServer.{Call, Completion, Conn, Content, Fields, InputRequest, Resource, Schema, Tool}
  alias McpServer.Controller.Confirmation
  alias McpServer.Prompt.{Message, MessageContent}
  alias McpServer.Schema.Validator
  alias McpServer.Connection.Session

  @levels Session.log_levels()

  @sampling Fields.table(
              [
                max_tokens: :count,
                system_prompt: :string,
                temperature: :number,
                stop_sequences: {:list, :string},
                include_context: {:in, ~w(none thisServer allServers)},
                model_preferences: :map,
                metadata: :map,
                tools: :list,
                tool_choice: :map
              ],
              "option"
            )
  @default_max_tokens 1_000

  @typedoc "What a handler answers when it needs input: the requests by key, and a state to keep."
  @type input_required :: {:input_required, %{String.t() => InputRequest.t()}, state :: term}

  @typedoc "`:closed` when the client is gone; an encode error when what is to be sent cannot be JSON."
  @type sent :: :ok | {:error, :closed | McpServer.JSON.EncodeError.t()}

  @doc false
  defmacro __using__(_options) do
    quote do
      import McpServer.Controller
      unquote(McpServer.Router.Statement.one_resource(__CALLER__))
    end
  end

  @doc """
  A message of a prompt.

      iex> McpServer.Controller.message("user", "Hello!")
      %McpServer.Prompt.Message{role: "user", content: %McpServer.Prompt.MessageContent{type: "text", text: "Hello!"}}
      iex> McpServer.Controller.message(:user, McpServer.Controller.image("PNG", "image/png")).content.mimeType
      "image/png"
  """
  @doc group: "Results"
  @spec message(String.t() | atom, String.t() | Content.t() | map) :: Message.t()
  def message(role, text) when is_binary(text), do: message(role, "text", text)
  def message(role, content) when is_map(content), do: Message.new(role: role, content: content)

  @doc """
  A message of a prompt, from its role, the type of its content, and the content: text, or the
  remaining fields of `McpServer.Prompt.MessageContent`.

  Raises `ArgumentError` unless the role is `user`, `assistant` or `system`.

      iex> McpServer.Controller.message("assistant", "text", "Welcome!").content.text
      "Welcome!"
      iex> McpServer.Controller.message("user", "image", data: "PNG", mime_type: "image/png").content.mimeType
      "image/png"
  """
  @doc group: "Results"
  @spec message(String.t() | atom, String.t() | atom, String.t() | keyword | map) :: Message.t()
  def message(role, type, text) when is_binary(text), do: message(role, MessageContent.new(type: type, text: text))
  def message(role, _type, %_struct{} = content), do: message(role, content)
  def message(role, type, fields), do: message(role, MessageContent.new([type: type] ++ Enum.to_list(fields)))

  @doc """
  Suggestions for an argument or a variable. A list of more than 100 is cut, as MCP asks for.

  | option | meaning | default |
  |---|---|---|
  | `total:` | how many there are in all | not said (when cut: the list's length) |
  | `has_more:` | whether there are more | not said (when cut: `true`) |

      iex> McpServer.Controller.completion(["Alice"], total: 10, has_more: true)
      %McpServer.Completion{values: ["Alice"], total: 10, hasMore: true}
  """
  @doc group: "Results"
  @spec completion([String.t()], keyword) :: Completion.t()
  def completion(values, options \\ []) do
    case Enum.split(values, Completion.max_values()) do
      {all, []} ->
        Completion.new([values: all] ++ options)

      {first, _rest} ->
        Completion.new([values: first] ++ Keyword.merge([total: length(values), has_more: true], options))
    end
  end

  @doc """
  One item of a resource: its name, its URI, and either `text:` or `blob:` (raw bytes; base64 is made
  of them here). Further options: `mimeType:` (or `mime_type:`), `title:`, `_meta:`.

      iex> McpServer.Controller.content("a.bin", "file:///a.bin", mimeType: "application/octet-stream", blob: <<1, 2>>)
      %McpServer.Resource.Content{name: "a.bin", uri: "file:///a.bin", mimeType: "application/octet-stream", blob: "AQI="}
  """
  @doc group: "Results"
  @spec content(String.t(), String.t(), keyword) :: Resource.Content.t()
  def content(name, uri, options), do: Resource.Content.from_raw([name: name, uri: uri] ++ options)

  @doc "See `McpServer.Tool.Content.text/2`."
  @doc group: "Results"
  @spec text(String.t(), keyword) :: Content.Text.t()
  defdelegate text(text, fields \\ []), to: Tool.Content

  @doc "See `McpServer.Tool.Content.image/3`."
  @doc group: "Results"
  @spec image(binary, String.t(), keyword) :: Content.Image.t()
  defdelegate image(data, mime_type, fields \\ []), to: Tool.Content

  @doc "See `McpServer.Tool.Content.audio/3`."
  @doc group: "Results"
  @spec audio(binary, String.t(), keyword) :: Content.Audio.t()
  defdelegate audio(data, mime_type, fields \\ []), to: Tool.Content

  @doc "See `McpServer.Tool.Content.resource/1`."
  @doc group: "Results"
  @spec resource(Resource.Content.t()) :: Content.EmbeddedResource.t()
  defdelegate resource(content), to: Tool.Content

  @doc "See `McpServer.Tool.Content.resource/2`."
  @doc group: "Results"
  @spec resource(String.t(), keyword) :: Content.EmbeddedResource.t()
  defdelegate resource(uri, fields), to: Tool.Content

  @doc "See `McpServer.Tool.Content.resource_link/3`."
  @doc group: "Results"
  @spec resource_link(String.t(), String.t(), keyword) :: Content.ResourceLink.t()
  defdelegate resource_link(name, uri, fields \\ []), to: Tool.Content

  @doc """
  Tells the client how far the call is. `progress` has to grow from call to call; `total` is what it
  grows to, if known. Does nothing when the client did not ask for progress, or when `conn` is not from
  a running call (in a test).
  """
  @doc group: "While a call runs"
  @spec progress(Conn.t(), number, number | nil, String.t() | nil) :: sent
  def progress(%Conn{} = conn, progress, total \\ nil, message \\ nil) when is_number(progress) do
    Call.notify(conn, :progress, %{progress: progress, total: total, message: message})
  end

  @doc """
  Sends a log message to the client, unless the client wants none of that level.

  `level` is one of `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert`, `emergency`, as an
  atom or a string; `data` is text or anything that can be JSON. The option `logger:` names the part of
  the application it comes from. This is for the client; for your own log use `Logger`.
  """
  @doc group: "While a call runs"
  @spec log(Conn.t(), atom | String.t(), term, keyword) :: sent
  def log(%Conn{} = conn, level, data, options \\ []) do
    Call.notify(conn, :message, %{level: level!(level), logger: Keyword.get(options, :logger), data: data})
  end

  @doc """
  Lets the client hang up while the call goes on: it comes back for the answer after `:retry` milliseconds.

  Saves a connection during a long call. Works where the client can resume a stream (revision 2025-11-25 over
  HTTP); anywhere else it does nothing.

      close_stream(conn, retry: 5_000)
  """
  @doc group: "While a call runs"
  @spec close_stream(Conn.t(), retry: pos_integer()) :: :ok | {:error, :closed}
  def close_stream(%Conn{} = conn, options \\ []) do
    [retry: retry] = Keyword.validate!(options, retry: 1_000)
    Call.pause(conn, retry)
  end

  defp level!(level) do
    text = to_string(level)
    if text in @levels, do: text, else: raise(ArgumentError, "expected a level of #{Enum.join(@levels, ", ")}")
  end

  @doc """
  Whether the client can be asked for `:sampling`, `:elicitation` or `:roots`.

      iex> McpServer.Controller.supports?(%McpServer.Conn{client_capabilities: %{"roots" => %{}}}, :roots)
      true
  """
  @doc group: "Questions to the client"
  @spec supports?(Conn.t(), :sampling | :elicitation | :roots) :: boolean
  def supports?(%Conn{client_capabilities: capabilities}, capability)
      when capability in [:sampling, :elicitation, :roots] do
    is_map_key(capabilities || %{}, Atom.to_string(capability))
  end

  @doc """
  What a handler answers when it needs input: the requests under keys of its own choosing, and with
  `state:` any term to find again in `state/1`. Clients carry the state sealed, so they can neither
  read nor change it.

      iex> McpServer.Controller.input_required([folders: McpServer.Controller.list_roots()], state: 1)
      {:input_required, %{"folders" => %McpServer.InputRequest{method: "roots/list", params: %{}}}, 1}
  """
  @doc group: "Questions to the client"
  @spec input_required(keyword(InputRequest.t()) | %{(atom | String.t()) => InputRequest.t()}, keyword) ::
          input_required
  def input_required(requests, options \\ []) do
    requests = Map.new(requests, fn {key, %InputRequest{} = request} -> {to_string(key), request} end)
    {:input_required, requests, Keyword.get(options, :state)}
  end

  @doc """
  What a handler answers when the rest of its work is a task: a function of the conn that does it.

  Of tools with `task_start: :handler` only; see `McpServer.Tasks`. Where the call cannot become a task the function
  is called in its place.
  """
  @doc group: "While a call runs"
  @spec as_task((Conn.t() -> term)) :: {:task, (Conn.t() -> term)}
  def as_task(fun) when is_function(fun, 1), do: {:task, fun}

  @doc """
  Asks the user to fill in a form. `schema` is a JSON Schema of type `"object"` with plain properties.

  Clients are to check what is entered against it, formats (`email`, `uri`, `date`, `date-time`) included. A handler that
  relies on that gives `accepted/3` the same schema, and does not have to take their word for it.

      iex> McpServer.Controller.elicit("Your name?", %{"type" => "object", "properties" => %{}}).params["message"]
      "Your name?"
  """
  @doc group: "Questions to the client"
  @spec elicit(String.t(), McpServer.Schema.t() | map) :: InputRequest.t()
  def elicit(message, schema) when is_binary(message) and is_map(schema) do
    %InputRequest{method: "elicitation/create", params: %{"message" => message, "requestedSchema" => schema}}
  end

  @doc """
  Asks the user to visit a page, for what must not pass through the client (a password, a payment).
  `id` is unique to this request.
  """
  @doc group: "Questions to the client"
  @spec elicit_url(String.t(), String.t(), String.t()) :: InputRequest.t()
  def elicit_url(message, url, id) when is_binary(message) and is_binary(url) and is_binary(id) do
    params = %{"mode" => "url", "message" => message, "url" => url, "elicitationId" => id}
    %InputRequest{method: "elicitation/create", params: params}
  end

  @doc """
  Asks the client's model. `messages` is what the user says, a message (`message/2`), or a list of them.

  | option | meaning |
  |---|---|
  | `max_tokens:` | the longest reply, in tokens (#{@default_max_tokens}) |
  | `system_prompt:` | string |
  | `temperature:` | number |
  | `stop_sequences:` | list of strings |
  | `include_context:` | `"none"`, `"thisServer"` or `"allServers"` |
  | `model_preferences:`, `metadata:`, `tools:`, `tool_choice:` | as MCP spells them |

      iex> McpServer.Controller.sample("What is the capital of France?", max_tokens: 100).params["maxTokens"]
      100
  """
  @doc group: "Questions to the client"
  @spec sample(String.t() | Message.t() | [Message.t() | map], keyword) :: InputRequest.t()
  def sample(messages, options \\ []) do
    options = Map.merge(%{max_tokens: @default_max_tokens}, Fields.gather!("sample/2", @sampling, options))
    params = Map.new(options, fn {name, value} -> {Fields.camelize(Atom.to_string(name)), value} end)
    %InputRequest{method: "sampling/createMessage", params: Map.put(params, "messages", conversation(messages))}
  end

  defp conversation(text) when is_binary(text), do: conversation([message("user", text)])
  defp conversation(messages), do: messages |> List.wrap() |> Enum.map(&turn/1)

  defp turn(%Message{role: role, content: content}), do: %{"role" => role, "content" => content}
  defp turn(message) when is_map(message), do: message

  @doc "Asks for the folders the user has opened to the server."
  @doc group: "Questions to the client"
  @spec list_roots() :: InputRequest.t()
  def list_roots, do: %InputRequest{method: "roots/list"}

  @doc """
  The client's answer to the request with that key, or `nil` where there is none (yet).

  | asked with | answer |
  |---|---|
  | `elicit/2` | `%{"action" => "accept", "content" => %{…}}`, or another `"action"` without content |
  | `elicit_url/3` | `%{"action" => …}` |
  | `sample/2` | `%{"role" => …, "content" => %{"type" => "text", "text" => …}, "model" => …}` |
  | `list_roots/0` | `%{"roots" => [%{"uri" => …, "name" => …}]}` |

      iex> conn = %McpServer.Conn{input_responses: %{"folders" => %{"roots" => []}}}
      iex> McpServer.Controller.input(conn, "folders")
      %{"roots" => []}
      iex> McpServer.Controller.input(conn, :other)
      nil
  """
  @doc group: "Questions to the client"
  @spec input(Conn.t(), String.t() | atom) :: map | nil
  def input(%Conn{input_responses: responses}, key) do
    case responses do
      %{} -> responses |> Map.get(to_string(key)) |> map_or_nil()
      _none -> nil
    end
  end

  @doc """
  What the user filled in, when the form with that key was accepted; `nil` in every other case.

      iex> answer = %{"action" => "accept", "content" => %{"name" => "Ada"}}
      iex> McpServer.Controller.accepted(%McpServer.Conn{input_responses: %{"user" => answer}}, "user")
      %{"name" => "Ada"}
  """
  @doc group: "Questions to the client"
  @spec accepted(Conn.t(), String.t() | atom) :: map | nil
  def accepted(%Conn{} = conn, key) do
    case input(conn, key) do
      %{"action" => "accept", "content" => content} -> map_or_nil(content)
      _answer -> nil
    end
  end

  @doc """
  What the user filled in, checked against the schema that was asked with: `{:ok, content}`, or the problems.
  `nil` when the form with that key was not accepted. A form accepted with nothing in it counts as an empty one.

      def invite(conn, _arguments) do
        case accepted(conn, "guest", @guest) do
          {:ok, %{"email" => email}} -> {:ok, [text("Invited \#{email}")]}
          {:error, error} -> {:error, "That is no guest: \#{Exception.message(error)}"}
          nil -> input_required(guest: elicit("Who is invited?", @guest))
        end
      end

  Strings have to have the formats that the schema names. A handler that is called often gives a validator, compiled once
  with `McpServer.Schema.Validator.compile/2`, which decides about formats itself. A schema that cannot be compiled is an
  error of the `kind: :schema`.

      iex> conn = %McpServer.Conn{input_responses: %{"guest" => %{"action" => "accept", "content" => %{"email" => "Ada"}}}}
      iex> {:error, error} = McpServer.Controller.accepted(conn, "guest", %{properties: %{email: %{format: "email"}}})
      iex> Exception.message(error)
      "/email: must be an e-mail address such as name@example.com (format)"
  """
  @doc group: "Questions to the client"
  @spec accepted(Conn.t(), String.t() | atom, Validator.schema() | Validator.t()) ::
          {:ok, map} | {:error, Schema.Error.t()} | nil
  def accepted(%Conn{} = conn, key, schema) do
    case input(conn, key) do
      %{"action" => "accept"} = answer -> answer |> Map.get("content", %{}) |> checked(schema)
      _answer -> nil
    end
  end

  defp checked(content, schema) do
    with {:ok, validator} <- validator(schema),
         :ok <- Validator.validate(validator, content),
         do: {:ok, content}
  end

  defp validator(%Validator{} = validator), do: {:ok, validator}
  defp validator(schema), do: Validator.compile(schema, formats: :assert)

  @doc """
  Whether the user was asked under that key and would not answer. A handler that asks again all the same
  asks for ever.

      def greet(conn, _arguments) do
        cond do
          form = accepted(conn, "user") -> {:ok, [text("Hello, \#{form["name"]}!")]}
          declined?(conn, "user") -> {:error, "The user did not answer"}
          true -> input_required(user: elicit("What is your name?", @form))
        end
      end

      iex> conn = %McpServer.Conn{input_responses: %{"user" => %{"action" => "decline"}}}
      iex> {McpServer.Controller.declined?(conn, "user"), McpServer.Controller.declined?(conn, "other")}
      {true, false}
  """
  @doc group: "Questions to the client"
  @spec declined?(Conn.t(), String.t() | atom) :: boolean
  def declined?(%Conn{} = conn, key) do
    match?(%{"action" => action} when action in ["decline", "cancel"], input(conn, key))
  end

  defp map_or_nil(value), do: if(is_map(value), do: value, else: nil)

  @doc "What the handler gave as `state:` to `input_required/2` when it was entered the last time, or `nil`."
  @doc group: "Questions to the client"
  @spec state(Conn.t()) :: term
  def state(%Conn{state: state}), do: Confirmation.own_state(state)

  @doc """
  Asks the user for consent, once, and runs `fun` when the user has agreed.

      def delete(conn, %{"id" => id}) do
        confirm(conn, "Delete note \#{id}?", fn ->
          :ok = Notes.delete(id)
          {:ok, "Deleted"}
        end)
      end

  It returns what `fun` returns. Up to 2025-11-25 the client is asked during the call, with 2026-07-28 the
  question is the answer, and the client calls again with the consent. The handler is called again in both cases, so
  nothing must have happened before the question. The consent is bound to the text of the question, and
  with 2026-07-28 also to the arguments of the call and the principal.

  | the user or the client | returned |
  |---|---|
  | agrees | what `fun` returns |
  | declines, or closes the question | `{:error, "Nothing was done: …"}` |
  | cannot be asked: the client has no elicitation | the same; with `unsupported: :run` what `fun` returns |

  `fun` may ask further questions, with `confirm/4` or `input_required/2`. Handlers that use both read their state with
  `state/1`. Answers to earlier questions are no longer in `input/2` then: keep them in the state.

      iex> {:input_required, asked, _state} =
      ...>   McpServer.Controller.confirm(%McpServer.Conn{client_capabilities: %{"elicitation" => %{}}}, "Sure?", fn -> {:ok, "done"} end)
      iex> asked["confirm"].params["message"]
      "Sure?"
      iex> McpServer.Controller.confirm(%McpServer.Conn{}, "Sure?", fn -> {:ok, "done"} end)
      {:error, "Nothing was done: the client cannot ask the user for consent (Sure?)"}
  """
  @doc group: "Questions to the client"
  @spec confirm(Conn.t(), String.t(), (() -> result), unsupported: :refuse | :run) ::
          result | input_required | {:error, String.t()}
        when result: term
  def confirm(%Conn{} = conn, question, fun, options \\ []) when is_binary(question) and is_function(fun, 0) do
    [unsupported: unsupported] = Keyword.validate!(options, unsupported: :refuse)

    unsupported in [:refuse, :run] ||
      raise ArgumentError, "expected :unsupported to be :refuse or :run, got: #{inspect(unsupported)}"

    Confirmation.confirm(conn, question, fun, unsupported)
  end
end
