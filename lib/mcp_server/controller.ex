defmodule McpServer.Controller do
  @moduledoc """
  Functions for handlers: results, progress and log messages, and questions to the client.

      defmodule MyApp.Weather do
        use McpServer.Controller

        def forecast(conn, %{"city" => city}) do
          progress(conn, 1, 2, "asking the weather service")
          {:ok, [text("Sunny in " <> city)]}
        end
      end

  `use McpServer.Controller` is `import McpServer.Controller`; `import … only: [message: 3]` works as well.

  ## Handlers

  A handler is a public function that a `McpServer.Router` names. Its first parameter is the `McpServer.Conn`. The
  arguments of the client are validated against the declared schema before the call. Their keys are strings, unless the
  router or the tool has `arguments: :atoms`.

  | declared by | called as | returns |
  |---|---|---|
  | `tool` | `fun(conn, arguments)` | see `McpServer.Tool.Result`: `{:ok, "text"}`, `{:ok, content}`, `{:ok, map}`, `{:ok, struct}` |
  | `prompt`, `get` | `fun(conn, arguments)` | messages, one message, a string (it becomes a message of the user), or a `McpServer.Prompt.GetResult`, or any of these in `{:ok, …}` |
  | `resource`, `read` | `fun(conn, variables)` | a `McpServer.Resource.Content`, a list of them, a `McpServer.Resource.ReadResult` or `%{"contents" => list}`, or any of these in `{:ok, …}`; `{:error, :not_found}` |
  | `complete` of both | `fun(conn, name, prefix)` | a list of strings or a `McpServer.Completion`, or either in `{:ok, …}` |

  Every handler may return `{:error, "text"}`, `{:error, exception}`, which uses the exception's message, `{:error, atom}`
  (`:not_found` is "Not found"), or `{:error, changeset}` with the errors of an `Ecto.Changeset`. For a tool
  the text becomes a result with `isError: true`, which the model reads. `{:error, {:retry_after, seconds}}` gives the
  answer of `McpServer.RateLimit`: too many calls, and when to retry. Tools, prompts and resources may return
  `input_required/2`. An exception that a handler raises is logged and not sent to the client, unless the router has
  `debug_errors:`. If its status for Plug is 4xx, as of `Ecto.NoResultsError`, the client gets words for the status, such
  as "Not found".

  Each call runs its handler in a separate process. The process ends normally after the handler has returned; processes
  that it started go on, linked or not. After a timeout or a cancellation the process is killed, and linked processes
  (such as a `Task`) end with it. `McpServer.Telemetry` counts processes, so that leaks can be found.

  A tool with `cancel_grace:` can clean up. Its process first gets the exit signal `{:shutdown, :cancelled}` or
  `{:shutdown, :timeout}`, and is killed after `cancel_grace:` milliseconds. A handler that traps exits gets the signal
  as a message:

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

  The return value is discarded: after a timeout the client has its answer, after a cancellation it wants none. A
  handler that does not trap exits ends at once.

  ## Questions to the client

  A handler cannot wait for an answer. It returns its questions, and is called again with the same arguments when the
  client has answered:

      def book(conn, %{"city" => city}) do
        cond do
          form = accepted(conn, "guests") -> {:ok, [text("Booked for \#{form["count"]} in \#{city}")]}
          declined?(conn, "guests") -> {:error, "Nothing was booked"}
          true -> input_required(guests: elicit("How many guests?", guests_schema()))
        end
      end

  This works with clients of every protocol revision.
  """

  alias McpServer.{Call, Completion, Conn, Content, Fields, InputRequest, Protocol, Resource, Schema, Tool}
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

  @typedoc "The return value of a handler that needs input: the requests by key, and a state."
  @type input_required :: {:input_required, %{String.t() => InputRequest.t()}, state :: term}

  @typedoc "`:closed` when the client is gone; an encode error when the message cannot be encoded as JSON."
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
  Suggestions for an argument or a variable. A list is cut after 100 values, the limit of MCP.

  | option | meaning | default |
  |---|---|---|
  | `total:` | number of all suggestions | none (when cut: the list's length) |
  | `has_more:` | whether there are more | none (when cut: `true`) |

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
  One item of a resource: its name, its URI, and either `text:` or `blob:` (raw bytes, which are encoded as base64).
  Further options: `mimeType:` (or `mime_type:`), `title:`, `_meta:`.

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
  Sends the client the progress of the call. `progress` must increase with each notification; `total` is its final
  value, if known. Does nothing if the client did not ask for progress, or if `conn` is not from a running call (in a
  test).
  """
  @doc group: "While a call runs"
  @spec progress(Conn.t(), number, number | nil, String.t() | nil) :: sent
  def progress(%Conn{} = conn, progress, total \\ nil, message \\ nil) when is_number(progress) do
    Call.notify(conn, :progress, %{progress: progress, total: total, message: message})
  end

  @doc """
  Sends a log message to the client, if the client's log level allows it.

  `level` is one of `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert`, `emergency`, as an atom or a
  string; `data` is a text or any JSON value. The option `logger:` names the part of the application that logs. For the
  server's log use `Logger`.
  """
  @doc group: "While a call runs"
  @spec log(Conn.t(), atom | String.t(), term, keyword) :: sent
  def log(%Conn{} = conn, level, data, options \\ []) do
    Call.notify(conn, :message, %{
      level: level!(level),
      logger: Keyword.validate!(options, [:logger])[:logger],
      data: data
    })
  end

  @doc """
  Closes the connection while the call goes on. The client reconnects for the answer after `:retry` milliseconds.

  A long call then holds no connection. Works where the client can resume a stream (revision 2025-11-25 over HTTP); does
  nothing elsewhere.

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
  Whether the client can be asked for `:sampling`, `:elicitation` or `:roots`: it declared the capability, and its
  revision has such requests. Elicitation exists since 2025-06-18. A client that supports it may support forms only, or
  pages only (`elicit_url/3`).

      iex> McpServer.Controller.supports?(%McpServer.Conn{client_capabilities: %{"roots" => %{}}}, :roots)
      true
  """
  @doc group: "Questions to the client"
  @spec supports?(Conn.t(), :sampling | :elicitation | :roots) :: boolean
  def supports?(%Conn{} = conn, capability) when capability in [:sampling, :elicitation, :roots],
    do: Protocol.offers?(conn.protocol_version, conn.client_capabilities, Atom.to_string(capability))

  @doc """
  The return value of a handler that needs input: requests under keys that the handler chooses. `state:` is any term,
  which `state/1` returns in the next call. The state is sealed, so clients can neither read nor change it.

  The handler is called again with the answers to these requests only. A handler that asks twice carries what it got
  first in `state:`.

      iex> McpServer.Controller.input_required([folders: McpServer.Controller.list_roots()], state: 1)
      {:input_required, %{"folders" => %McpServer.InputRequest{method: "roots/list", params: %{}}}, 1}
  """
  @doc group: "Questions to the client"
  @spec input_required(keyword(InputRequest.t()) | %{(atom | String.t()) => InputRequest.t()}, keyword) ::
          input_required
  def input_required(requests, options \\ []) do
    requests = Map.new(requests, fn {key, %InputRequest{} = request} -> {to_string(key), request} end)
    {:input_required, requests, Keyword.validate!(options, [:state])[:state]}
  end

  @doc """
  The return value of a handler that continues as a task. `fun` gets the conn and does the rest of the work.

  Only for tools with `task_start: :handler`; see `McpServer.Tasks`. If the call cannot become a task, `fun` runs in the
  call.
  """
  @doc group: "While a call runs"
  @spec as_task((Conn.t() -> term)) :: {:task, (Conn.t() -> term)}
  def as_task(fun) when is_function(fun, 1), do: {:task, fun}

  @doc """
  Asks the user to fill in a form. `schema` is a JSON Schema of type `"object"` with plain properties. A form has no
  nested objects.

  | property | keywords, beside `"title"` and `"description"` |
  |---|---|
  | `"type" => "string"` | `"minLength"`, `"maxLength"`, `"default"`, `"format"`: `"email"`, `"uri"`, `"date"` or `"date-time"` |
  | `"type" => "number"` or `"integer"` | `"minimum"`, `"maximum"`, `"default"` |
  | `"type" => "boolean"` | `"default"` |
  | `"type" => "string"`, one choice | `"enum" => ["a", …]` or `"oneOf" => [%{"const" => "a", "title" => "A"}, …]`; `"default"` |
  | `"type" => "array"`, several choices | `"items" => %{"type" => "string", "enum" => …}` or `%{"anyOf" => …}`; `"minItems"`, `"maxItems"`, `"default"` |

  Any other property is a mistake of the handler: the call fails, and the log names the place in the form.

  Clients of 2025-06-18 get the form without the keywords that they do not know: every `"default"` except that of a
  boolean, and keywords that are not in the table. `"oneOf"` becomes `"enum"` with `"enumNames"`. They cannot show
  arrays: the call is answered with an error text that says so, as if the client had no elicitation. For such clients
  (`conn.protocol_version`) ask for one choice at a time.

  A handler sees only answers that satisfy their form, formats (`email`, `uri`, `date`, `date-time`) included. Fields that
  the form does not declare are dropped. An answer that does not fit is the client's mistake: with 2026-07-28 the request
  is refused (-32602), and earlier the call ends with an error text that names the field.

      iex> McpServer.Controller.elicit("Your name?", %{"type" => "object", "properties" => %{}}).params["message"]
      "Your name?"
  """
  @doc group: "Questions to the client"
  @spec elicit(String.t(), McpServer.Schema.t() | map) :: InputRequest.t()
  def elicit(message, schema) when is_binary(message) and is_map(schema) do
    %InputRequest{method: "elicitation/create", params: %{"message" => message, "requestedSchema" => schema}}
  end

  @doc """
  Asks the user to visit a page, for data that must not pass through the client (a password, a payment). `id` must be
  unique to this request.
  """
  @doc group: "Questions to the client"
  @spec elicit_url(String.t(), String.t(), String.t()) :: InputRequest.t()
  def elicit_url(message, url, id) when is_binary(message) and is_binary(url) and is_binary(id) do
    params = %{"mode" => "url", "message" => message, "url" => url, "elicitationId" => id}
    %InputRequest{method: "elicitation/create", params: params}
  end

  @doc """
  Asks the client's model. `messages` is a text of the user, a message (`message/2`), or a list of messages.

  | option | meaning |
  |---|---|
  | `max_tokens:` | the longest reply, in tokens (#{@default_max_tokens}) |
  | `system_prompt:` | string |
  | `temperature:` | number |
  | `stop_sequences:` | list of strings |
  | `include_context:` | `"none"`, `"thisServer"` or `"allServers"` |
  | `model_preferences:`, `metadata:`, `tools:`, `tool_choice:` | as MCP spells them |

  A client that did not declare `sampling.tools` is not asked with `tools:` or `tool_choice:`. It gets the same error as a
  client without sampling. Without `sampling.context` the request is sent without the context of servers. Revisions
  before 2025-11-25 have no tools in sampling, so the request is sent without them.

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
  The client's answer to the request with that key, or `nil` if there is none (yet).

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
  The content of the form with that key if the user accepted it, otherwise `nil`. The content satisfies the form.

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
  The content of the form with that key, validated against another schema than the form: `{:ok, content}`, or the
  problems. `nil` if the user did not accept the form. A form accepted without content counts as empty.

  This is for rules that a form cannot have, such as `"pattern"`:

      @rules %{"properties" => %{"email" => %{"pattern" => "@example\\.com$"}}}

      def invite(conn, _arguments) do
        case accepted(conn, "guest", @rules) do
          {:ok, %{"email" => email}} -> {:ok, [text("Invited \#{email}")]}
          {:error, error} -> {:error, "That is no guest: \#{Exception.message(error)}"}
          nil -> ask(conn)
        end
      end

      defp ask(conn) do
        if declined?(conn, "guest"),
          do: {:error, "Nobody is invited"},
          else: input_required(guest: elicit("Who is invited?", @guest))
      end

  The formats of the schema are checked. For a handler that is called often, compile the schema once with
  `McpServer.Schema.Validator.compile/2` and pass the validator; its `formats:` apply. A schema that cannot be compiled
  is an error of the `kind: :schema`.

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
      %{"action" => "accept"} = answer -> checked(answer["content"] || %{}, schema)
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
  Whether the user declined or cancelled the request with that key, or the client answered it with an error. Clients of
  revisions with sessions also reject requests of `sample/2` and `list_roots/0` with errors; `conn.input_errors` has
  them. A handler that ignores this asks again, until the limit of 25 questions ends the call.

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
      iex> rejected = %{"code" => -1, "message" => "User rejected sampling request"}
      iex> McpServer.Controller.declined?(%McpServer.Conn{input_errors: %{"reply" => rejected}}, "reply")
      true
  """
  @doc group: "Questions to the client"
  @spec declined?(Conn.t(), String.t() | atom) :: boolean
  def declined?(%Conn{} = conn, key) do
    is_map_key(conn.input_errors, to_string(key)) or
      match?(%{"action" => action} when action in ["decline", "cancel"], input(conn, key))
  end

  defp map_or_nil(value), do: if(is_map(value), do: value, else: nil)

  @doc "The `state:` that the handler gave to `input_required/2` in its previous call, or `nil`."
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

  Up to 2025-11-25 the server asks the client during the call. With 2026-07-28 the answer is the question, and the
  client calls again with the consent. The handler is called again in both cases, so it must have no side effects before
  the question. The consent is bound to the text of the question, and with 2026-07-28 also to the arguments of the call
  and the principal. It serves one call: a client that sends it again is asked again. Nodes do not share used consents.

  | the user or the client | returned |
  |---|---|
  | agrees | the return value of `fun` |
  | declines, or closes the question | `{:error, "Nothing was done: …"}` |
  | cannot be asked: the client has no elicitation | the same; with `unsupported: :run` the return value of `fun` |
  | has given too many consents lately (SECURITY.md) | the same |

  `fun` may ask further questions, with `confirm/4` or `input_required/2`. Handlers that use both read their state with
  `state/1`. `input/2` then no longer has the answers to earlier questions: keep them in the state.

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
