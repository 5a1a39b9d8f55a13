defmodule McpServer.Envelope do
  @moduledoc """
  An answer in the form `response-v2`. Four keys hold the success, the data, the error and the metadata of a call.

      iex> envelope = McpServer.Envelope.success(%{"tasks" => []}, pagination: [has_more: false, total_count: 0])
      iex> McpServer.JSON.encode!(envelope)
      ~s({"success":true,"data":{"tasks":[]},"error":null,"meta":{"pagination":{"has_more":false,"total_count":0},"version":"response-v2"}})

  A handler returns the envelope, `{:ok, envelope}` or `{:error, envelope}`:

      def spec(_conn, %{"id" => id}) do
        case Specs.fetch(id) do
          {:ok, spec} -> Envelope.success(%{"spec" => spec})
          :error -> Envelope.error("Spec '\#{id}' not found", error_code: "SPEC_NOT_FOUND")
        end
      end

  The result of the tool is the envelope as structured content, its JSON as text for clients that do not read structured
  content, and `isError` if it is not a success. An envelope without a `request_id` gets the id of the call.

  | field | |
  |---|---|
  | `success` | whether the call succeeded |
  | `data` | a map: the result, or details of the error; its keys are sent unchanged |
  | `error` | the problem, in words; `nil` exactly if `success` is true |
  | `meta` | a map with text keys: `"version"`, which is always `"response-v2"`, and the keys of the options below |

  ## Options

  Options of `success/2` and `error/2`. The values `nil`, `[]` and `%{}` are omitted.

  | option | |
  |---|---|
  | `request_id:` | names the call in logs and traces; letters, digits, `_` and `-` |
  | `conn:` | a `McpServer.Conn` with the `request_id`; not needed for an envelope that a handler returns |
  | `rate_limit:` | `limit`, `remaining` (requests), `reset_at` (`DateTime` or ISO 8601), `period` (text), `retry_after` (seconds) |
  | `telemetry:` | `duration_ms`, `downstream_calls`, `cache_hit` |
  | `meta:` | further keys; the other options take precedence over the same key |

  Only of `success/2`:

  | option | |
  |---|---|
  | `warnings:` | texts about problems that did not stop the call |
  | `warning_details:` | the warnings for programs: `message`, `code`, `severity` (`info`, `warning`, `error`), `context` (a map) |
  | `pagination:` | `cursor` (opaque text or `nil`), `has_more`, `total_count`, `page_size`, `page` |
  | `content_fidelity:` | how complete the data is: `full`, `partial`, `summary` or `reference_only` |
  | `dropped_content_ids:` | the ids of omitted content |
  | `content_archive_hashes:` | archives of the omitted content: the hash of each archive, by the archive's id |

  `rate_limit:`, `telemetry:`, `pagination:` and each warning are maps or keyword lists, and may contain your own keys.
  Invalid values raise `ArgumentError`. The default severity of a warning follows from its code, if the code is one of
  `warning_codes/0`.

  Only of `error/2`:

  | option | |
  |---|---|
  | `error_code:` | `"SPEC_NOT_FOUND"`, or the atom `:spec_not_found`; see `error_codes/0` |
  | `error_type:` | one of `error_types/0`; by default follows from a code of `error_codes/0` |
  | `remediation:` | advice for the client |
  | `details:` | a map about the error: the field, the constraint; `nil` values are sent |
  | `data:` | a map that is merged into `data` and takes precedence |

  Without a code and a type the error is an `INTERNAL_ERROR`.

  ## Schema

  Declare `schema/1` as the output schema of a tool:

      tool "spec", "Reads a spec", MyApp.Specs, :spec, output_schema: Envelope.schema(@spec_schema)

  ## Configuration

      config :mcp_server, response_contract_v2: false

  sends `success`, `data` and `error` without `meta`, for clients that support only the first form of the contract. Use
  it only while there are such clients: calls of tools that declare `schema/1` fail with this setting.
  """

  alias McpServer.Envelope.{Advice, Codes, Errors, Meta, Rules}
  alias McpServer.Fields
  alias McpServer.Tool.CallResult

  defstruct success: true, data: %{}, error: nil, meta: %{"version" => Meta.version()}

  @typedoc "`error` is `nil` exactly if `success` is true."
  @type t :: %__MODULE__{success: boolean, data: map, error: String.t() | nil, meta: %{String.t() => term}}

  @typedoc """
  A problem or a warning of an envelope: the place (a JSON Pointer), the reason (the violated keyword of `schema/0`, or
  the name of the advice), and a message in one line.
  """
  @type problem :: %{level: :error | :warning, pointer: String.t(), reason: String.t(), message: String.t()}

  @type error_type :: atom | String.t()

  @failure Fields.table([error_code: :any, error_type: :any, remediation: :string, details: :map, data: :map], "option")
  @failure_options Keyword.keys(@failure.rules)

  @doc """
  The envelope of a call that succeeded. The options are listed above.

  Raises `ArgumentError` if `data` is not a map (`nil` becomes `%{}`), or an option is invalid.

      iex> McpServer.Envelope.success()
      %McpServer.Envelope{success: true, data: %{}, error: nil, meta: %{"version" => "response-v2"}}

      iex> McpServer.Envelope.success(%{findings: []}, content_fidelity: :partial, dropped_content_ids: ["f-3"]).meta
      %{
        "version" => "response-v2",
        "content_fidelity" => "partial",
        "content_fidelity_schema_version" => "1.0",
        "dropped_content_ids" => ["f-3"]
      }
  """
  @spec success(map | nil, keyword) :: t
  def success(data \\ nil, options \\ []) do
    valid!(%__MODULE__{data: object!(data), meta: Meta.of_success(options)})
  end

  @doc """
  The envelope of a call that failed; `message` is the reason, for a model or a person. The options are listed above.

  Raises `ArgumentError` if `message` is blank, or an option is invalid.

      iex> McpServer.Envelope.error("Out of stock", error_code: :out_of_stock, error_type: :conflict).data
      %{
        "error_code" => "OUT_OF_STOCK",
        "error_type" => "conflict",
        "remediation" => "Check the current state, then decide whether to call again."
      }
  """
  @spec error(String.t(), keyword) :: t
  def error(message, options \\ []) do
    {failure, meta} = Keyword.split(options, @failure_options)
    failure = Fields.gather!("error/2", @failure, failure)
    data = Map.get(failure, :data, %{})

    valid!(%__MODULE__{
      success: false,
      error: message,
      data: fill(object!(data), failure),
      meta: Meta.of_failure(meta)
    })
  end

  # The caller's keys in `data`, texts or atoms, override the defaults.
  defp fill(data, failure) do
    given = for {key, _value} <- data, do: to_text(key)
    Map.merge(Map.drop(error_fields(failure), given), data)
  end

  defp error_fields(failure) do
    case Codes.complete(code(failure[:error_code]), to_text(failure[:error_type])) do
      {:ok, {code, type, remediation}} ->
        fields = %{"error_code" => code, "error_type" => type, "remediation" => failure[:remediation] || remediation}
        if failure[:details] in [nil, %{}], do: fields, else: Map.put(fields, "details", failure.details)

      {:error, :invalid_code} ->
        raise ArgumentError,
              "expected :error_code to be in capitals, such as NOT_FOUND, got: #{inspect(failure.error_code)}"

      {:error, :invalid_type} ->
        raise ArgumentError,
              "expected :error_type to be one of #{Enum.join(error_types(), ", ")}, got: #{inspect(failure.error_type)}"
    end
  end

  defp code(code) when is_atom(code) and code != nil, do: code |> Atom.to_string() |> String.upcase()
  defp code(code), do: to_text(code)

  defp to_text(nil), do: nil
  defp to_text(text) when is_binary(text), do: text
  defp to_text(atom) when is_atom(atom), do: Atom.to_string(atom)
  defp to_text(other), do: inspect(other)

  defp object!(nil), do: %{}
  defp object!(data) when is_map(data) and not is_struct(data), do: data

  defp object!(data) do
    raise ArgumentError, "expected the data of an envelope to be a map, got: #{inspect(data, limit: 5)}"
  end

  defp valid!(envelope) do
    case Rules.problems(members(envelope)) do
      [] -> envelope
      problems -> raise ArgumentError, invalid(problems)
    end
  end

  defp invalid(problems), do: "no valid envelope: " <> Enum.map_join(problems, "; ", & &1.message)

  @doc """
  A generic envelope for an exception. The exception's message and the stack trace are only logged.

  A `McpServer.Schema.Error` about a value becomes a `VALIDATION_ERROR` with its problems as `details`, because they
  contain no values. The error codes of `McpServer.DualResponse.Error` become codes of the envelope. All other
  exceptions become an `INTERNAL_ERROR`.

  | option | |
  |---|---|
  | `stacktrace:` | `__STACKTRACE__` of the `rescue` |
  | further ones | as in `error/2`; `error_code:` takes precedence over the exception's |

      def report(conn, arguments) do
        {:ok, Envelope.success(%{"report" => Reports.build(arguments)})}
      rescue
        exception -> {:error, Envelope.from_exception(exception, stacktrace: __STACKTRACE__, conn: conn)}
      end
  """
  @spec from_exception(Exception.t(), keyword) :: t
  def from_exception(exception, options \\ []) when is_exception(exception),
    do: Errors.from_exception(exception, options)

  @doc """
  Checks a struct or a decoded map: `{:ok, warnings}`, or `{:error, problems}`, with at most 20 of each. Messages
  contain no values.

      iex> envelope = McpServer.Envelope.success(%{"pagination" => %{}})
      iex> {:ok, [%{pointer: "/data/pagination", reason: "reserved_key"}]} = McpServer.Envelope.validate(envelope)
      iex> {:error, [problem]} = McpServer.Envelope.validate(%{envelope | error: "Failed"})
      iex> problem
      %{level: :error, pointer: "/error", reason: "type", message: "/error: must be null (type)"}
  """
  @spec validate(t | map) :: {:ok, [problem]} | {:error, [problem, ...]}
  def validate(envelope) do
    members = members(envelope)

    case Rules.problems(members) do
      [] -> {:ok, Advice.warnings(members)}
      problems -> {:error, problems}
    end
  end

  defp members(%__MODULE__{success: success, data: data, error: error, meta: meta}),
    do: %{"success" => success, "data" => data, "error" => error, "meta" => meta}

  defp members(envelope), do: envelope

  @doc """
  The JSON Schema of an envelope. The parameter is the schema of `data` if `success` is true: a map, a
  `McpServer.Schema` or a boolean.

      iex> {:error, error} =
      ...>   %{"properties" => %{"n" => %{"type" => "integer"}}}
      ...>   |> McpServer.Envelope.schema()
      ...>   |> McpServer.Schema.Validator.validate(McpServer.Envelope.success(%{"n" => "one"}))
      iex> Exception.message(error)
      "/data/n: must be an integer (type)"
  """
  @spec schema(McpServer.Schema.Validator.schema()) :: map
  def schema(data \\ true) do
    put_in(Rules.schema(), ["then", "properties", "data"], data)
  end

  @doc """
  The HTTP status for an error type or an envelope.

  Raises `ArgumentError` for a type that is not in `error_types/0`.

      iex> {McpServer.Envelope.http_status(:rate_limit), McpServer.Envelope.http_status(McpServer.Envelope.success())}
      {429, 200}
  """
  @spec http_status(t | error_type) :: 100..599
  def http_status(%__MODULE__{success: true}), do: 200
  def http_status(%__MODULE__{} = failure), do: failure |> type() |> http_status()
  def http_status(type), do: type |> type_facts!() |> elem(0)

  @doc """
  Whether to retry a call that failed with an error type or an envelope: `:no`, `:maybe` (check the state first),
  `:after_delay` (the delay of the envelope) or `:backoff` (with growing delays).

  Raises `ArgumentError` for a type that is not in `error_types/0`.

      iex> McpServer.Envelope.retry("unavailable")
      :backoff
  """
  @spec retry(t | error_type) :: :no | :maybe | :after_delay | :backoff
  def retry(%__MODULE__{success: true}), do: :no
  def retry(%__MODULE__{} = failure), do: failure |> type() |> retry()
  def retry(type), do: type |> type_facts!() |> elem(1)

  defp type(%__MODULE__{data: data}), do: data["error_type"] || data[:error_type] || "internal"

  defp type_facts!(type) when is_atom(type) or is_binary(type) do
    Codes.advice(to_string(type)) ||
      raise ArgumentError, "expected one of #{Enum.join(error_types(), ", ")}, got: #{inspect(type)}"
  end

  @doc """
  The common error codes, and the type of each.

      iex> McpServer.Envelope.error_codes()["DUPLICATE_ENTRY"]
      "conflict"
  """
  @spec error_codes() :: %{String.t() => String.t()}
  def error_codes, do: Codes.codes()

  @doc """
  The types of errors.

      iex> McpServer.Envelope.error_types()
      ~w(validation authentication authorization not_found conflict rate_limit feature_flag internal unavailable)
  """
  @spec error_types() :: [String.t()]
  def error_types, do: Codes.types()

  @doc """
  The standard codes of warnings, and the severity of each.

      iex> McpServer.Envelope.warning_codes()["STALE_CACHE"]
      "warning"
  """
  @spec warning_codes() :: %{String.t() => String.t()}
  def warning_codes, do: Codes.warnings()

  @doc """
  The content that was dropped from an envelope, a struct or a decoded map: each id with the archives that may still
  have it, as a map of archive ids to hashes. The content of an id without archives is lost.

  If an archive has the same id as the content, only this archive is listed. To serve dropped content, store it where
  clients can fetch it by the archive's id, for example in a `McpServer.DualResponse`.

      iex> options = [content_fidelity: :partial, dropped_content_ids: ["f-3"], content_archive_hashes: %{"all" => "sha256:e3b0"}]
      iex> McpServer.Envelope.dropped_content(McpServer.Envelope.success(%{}, options))
      [{"f-3", %{"all" => "sha256:e3b0"}}]
  """
  @spec dropped_content(t | map) :: [{id :: String.t(), archives :: %{String.t() => String.t()}}]
  def dropped_content(%__MODULE__{meta: meta}), do: dropped(meta)
  def dropped_content(%{"meta" => meta}), do: dropped(meta)

  defp dropped(meta) do
    archives = Map.new(meta["content_archive_hashes"] || %{}, fn {id, hash} -> {to_text(id), hash} end)

    for id <- meta["dropped_content_ids"] || [] do
      case archives do
        %{^id => hash} -> {id, %{id => hash}}
        _archives -> {id, archives}
      end
    end
  end

  @doc """
  The result of a tool that returns the envelope, or a text that says why the envelope is invalid. An envelope without a
  `request_id` gets the id of the call.
  """
  @spec to_call_result(t, String.t() | integer | nil) :: {:ok, CallResult.t()} | {:error, String.t()}
  def to_call_result(%__MODULE__{} = envelope, request_id \\ nil) do
    envelope = %{envelope | meta: Meta.put_request_id(envelope.meta, request_id)}

    case Rules.problems(members(envelope)) do
      [] -> {:ok, CallResult.structured(contract(envelope), not envelope.success)}
      problems -> {:error, invalid(problems)}
    end
  end

  defp contract(envelope) do
    if Application.get_env(:mcp_server, :response_contract_v2, true),
      do: envelope,
      else: envelope |> members() |> Map.delete("meta")
  end
end

defimpl McpServer.Tool.Result, for: McpServer.Envelope do
  def to_call_result(envelope, conn), do: McpServer.Envelope.to_call_result(envelope, conn.request_id)
end
