defmodule McpServer.Envelope.Errors do
  @moduledoc """
  The envelopes of common errors, with their texts.

      iex> McpServer.Envelope.Errors.not_found("spec", "my-spec").error
      "Spec 'my-spec' not found"

  The last parameter takes the options of `McpServer.Envelope.error/2`, which override the defaults, and `message:` for
  another text.

  ## Texts

  Each text can be replaced. Placeholders `%{…}` are filled in:

      config :mcp_server, McpServer.Envelope.Errors,
        unauthorized: [message: "Please log in", remediation: "Run `login` first."],
        not_found: [message: "There is no %{resource_type} %{resource_id}"]

  | function | `message` | `remediation` | to fill in |
  |---|---|---|---|
  | `not_found/3` | `%{Resource_type} '%{resource_id}' not found` | `Verify the %{resource_type} ID exists.` | `Resource_type` has a capital |
  | `rate_limit/4` | `Rate limit exceeded: %{limit} requests per %{period}` | `Wait %{retry_after} seconds before retrying.` | |
  | `unauthorized/1` | `Authentication required` | `Provide valid authentication credentials.` | |
  | `forbidden/2` | `Insufficient permissions` | `Request the permission '%{required_permission}'.` | |
  | `conflict/1` | `The request conflicts with the current state` | `Check the current state, then decide whether to call again.` | |
  | `internal/1` | `An internal error occurred` | `Try again later.` | |
  | `unavailable/2` | `Service temporarily unavailable` | `Retry after %{retry_after} seconds.` | |
  | `feature_disabled/2` | `Feature '%{feature}' is not enabled` | `Contact support to enable this feature or check feature flag configuration` | |
  | `missing_required/2` | `Validation failed: %{field} is required` | `Provide a non-empty %{field} parameter` | |
  """

  alias McpServer.Dispatch.Failure
  alias McpServer.Envelope
  alias McpServer.Envelope.Codes

  @texts [
    not_found: [
      message: "%{Resource_type} '%{resource_id}' not found",
      remediation: "Verify the %{resource_type} ID exists."
    ],
    rate_limit: [
      message: "Rate limit exceeded: %{limit} requests per %{period}",
      remediation: "Wait %{retry_after} seconds before retrying."
    ],
    unauthorized: [message: "Authentication required", remediation: "Provide valid authentication credentials."],
    forbidden: [
      message: "Insufficient permissions",
      remediation: "Request the permission '%{required_permission}'."
    ],
    conflict: [
      message: "The request conflicts with the current state",
      remediation: "Check the current state, then decide whether to call again."
    ],
    internal: [message: "An internal error occurred", remediation: "Try again later."],
    unavailable: [message: "Service temporarily unavailable", remediation: "Retry after %{retry_after} seconds."],
    feature_disabled: [
      message: "Feature '%{feature}' is not enabled",
      remediation: "Contact support to enable this feature or check feature flag configuration"
    ],
    missing_required: [
      message: "Validation failed: %{field} is required",
      remediation: "Provide a non-empty %{field} parameter"
    ]
  ]

  @doc """
  No entry has this id.

      iex> McpServer.Envelope.Errors.not_found("spec", "x", error_code: "SPEC_NOT_FOUND").data
      %{
        "error_code" => "SPEC_NOT_FOUND",
        "error_type" => "not_found",
        "remediation" => "Verify the spec ID exists.",
        "resource_id" => "x",
        "resource_type" => "spec"
      }
  """
  @spec not_found(String.t(), String.t() | integer, keyword) :: Envelope.t()
  def not_found(resource_type, resource_id, options \\ []) do
    data = %{"resource_type" => resource_type, "resource_id" => resource_id}
    fill = Map.put(data, "Resource_type", capitalize(resource_type))
    build(:not_found, "NOT_FOUND", data, options, fill)
  end

  @doc """
  The client has sent more than `limit` requests per `period`, such as `"minute"`. It may retry in `retry_after`
  seconds.

      iex> envelope = McpServer.Envelope.Errors.rate_limit(100, "minute", 45)
      iex> {envelope.error, envelope.meta["rate_limit"]}
      {"Rate limit exceeded: 100 requests per minute",
       %{"limit" => 100, "period" => "minute", "remaining" => 0, "retry_after" => 45}}
  """
  @spec rate_limit(non_neg_integer, String.t(), number, keyword) :: Envelope.t()
  def rate_limit(limit, period, retry_after, options \\ []) do
    state = %{"limit" => limit, "remaining" => 0, "period" => period, "retry_after" => retry_after}
    options = Keyword.put_new(options, :rate_limit, state)
    build(:rate_limit, "RATE_LIMIT_EXCEEDED", %{"retry_after_seconds" => retry_after}, options, state)
  end

  @doc "The client must authenticate."
  @spec unauthorized(keyword) :: Envelope.t()
  def unauthorized(options \\ []), do: build(:unauthorized, "UNAUTHORIZED", %{}, options)

  @doc "The client lacks a permission."
  @spec forbidden(String.t(), keyword) :: Envelope.t()
  def forbidden(required_permission, options \\ []),
    do: build(:forbidden, "FORBIDDEN", %{"required_permission" => required_permission}, options)

  @doc "The request conflicts with the current state."
  @spec conflict(keyword) :: Envelope.t()
  def conflict(options \\ []), do: build(:conflict, "CONFLICT", %{}, options)

  @doc """
  The server failed. Log the cause; a `request_id:` (or `conn:`) connects the log line and the answer.

      iex> McpServer.Envelope.Errors.internal(request_id: "req_1").data["remediation"]
      "Try again later. Reference: req_1"
  """
  @spec internal(keyword) :: Envelope.t()
  def internal(options \\ []) do
    envelope = build(:internal, "INTERNAL_ERROR", %{}, options)
    # A remediation from the caller is not extended.
    if options[:remediation], do: envelope, else: put_reference(envelope, envelope.meta["request_id"])
  end

  defp put_reference(envelope, nil), do: envelope

  defp put_reference(envelope, reference),
    do: %{envelope | data: Map.update!(envelope.data, "remediation", &"#{&1} Reference: #{reference}")}

  @doc "A required service does not answer. The client may retry in `retry_after` seconds."
  @spec unavailable(number, keyword) :: Envelope.t()
  def unavailable(retry_after, options \\ []),
    do:
      build(:unavailable, "UNAVAILABLE", %{"retry_after_seconds" => retry_after}, options, %{
        "retry_after" => retry_after
      })

  @doc "The feature is not enabled for this client."
  @spec feature_disabled(String.t(), keyword) :: Envelope.t()
  def feature_disabled(feature, options \\ []),
    do: build(:feature_disabled, "FEATURE_DISABLED", %{"feature" => feature}, options)

  @doc "A required argument is missing."
  @spec missing_required(String.t(), keyword) :: Envelope.t()
  def missing_required(field, options \\ []) do
    options = Keyword.put_new(options, :details, %{"field" => field, "constraint" => "required"})
    build(:missing_required, "MISSING_REQUIRED", %{}, options, %{"field" => field})
  end

  defp build(name, code, data, options, fill \\ nil) do
    {message, options} = Keyword.pop(options, :message, filled(text(name, :message), fill || data))

    options =
      options
      |> Keyword.update(:data, data, &Map.merge(data, Map.new(&1)))
      |> Keyword.put_new(:remediation, filled(text(name, :remediation), fill || data))
      |> Keyword.put_new(:error_code, code)

    Envelope.error(message, options)
  end

  defp text(name, part) do
    configured = :mcp_server |> Application.get_env(__MODULE__, []) |> Keyword.get(name, [])
    configured[part] || @texts[name][part]
  end

  # A single pass, so that placeholders in the values are not replaced.
  defp filled(text, values) do
    Regex.replace(~r/%\{(\w+)\}/, text, fn whole, name ->
      case values do
        %{^name => value} -> to_string(value)
        _values -> whole
      end
    end)
  end

  defp capitalize(<<first::utf8, rest::binary>>), do: String.upcase(<<first::utf8>>) <> rest
  defp capitalize(text), do: text

  @doc false
  @spec from_exception(Exception.t(), keyword) :: Envelope.t()
  def from_exception(%McpServer.Schema.Error{kind: :value, problems: problems}, options) do
    places = for problem <- problems, do: %{"pointer" => problem.pointer, "message" => problem.message}

    options =
      options
      |> Keyword.delete(:stacktrace)
      |> Keyword.put_new(:error_code, Codes.code_for(:bad_arguments))
      |> Keyword.put_new(:details, %{"problems" => places})

    Envelope.error("The input is not valid", options)
  end

  def from_exception(exception, options) do
    {stacktrace, options} = Keyword.pop(options, :stacktrace, [])
    failure = Failure.new(:error, exception, stacktrace)
    Failure.log(failure, "handler")
    code = Codes.code_for(situation(exception))
    exception |> message() |> Envelope.error(Keyword.put_new(options, :error_code, code)) |> put_reference(failure.id)
  end

  # Maps the codes of dual responses to situations. Matching by name avoids a compile-time dependency on the struct.
  defp situation(%{__struct__: McpServer.DualResponse.Error, code: code}) do
    case code do
      :resource_not_found -> :not_found
      :resource_expired -> :expired
      :storage_error -> :store_down
      :timeout -> :timeout
      _failed -> :failed
    end
  end

  defp situation(_exception), do: :bug

  # The exception's text is not used: it may be a query, a path, or user input.
  defp message(exception) do
    case situation(exception) do
      gone when gone in [:not_found, :expired] -> "What was asked for does not exist"
      away when away in [:store_down, :timeout] -> text(:unavailable, :message)
      _failed -> text(:internal, :message)
    end
  end
end
