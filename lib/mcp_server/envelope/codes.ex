defmodule McpServer.Envelope.Codes do
  @moduledoc false
  # The vocabulary of envelopes: types and codes of errors, codes of warnings, and the code of each situation.

  # The name, the HTTP status, whether to call again, the default code of the type, and the default remediation.
  @types [
    {"validation", 400, :no, "VALIDATION_ERROR", "Correct the input, then call again."},
    {"authentication", 401, :no, "UNAUTHORIZED", "Authenticate again with valid credentials."},
    {"authorization", 403, :no, "FORBIDDEN", "Ask for the permission that this needs."},
    {"not_found", 404, :no, "NOT_FOUND", "Verify that what was asked for exists."},
    {"conflict", 409, :maybe, "CONFLICT", "Check the current state, then decide whether to call again."},
    {"rate_limit", 429, :after_delay, "RATE_LIMIT_EXCEEDED", "Wait before calling again."},
    {"feature_flag", 403, :no, "FEATURE_DISABLED", "Check whether the feature is enabled for this client."},
    {"internal", 500, :backoff, "INTERNAL_ERROR", "Call again later, with growing pauses."},
    {"unavailable", 503, :backoff, "UNAVAILABLE", "Call again later, with growing pauses."}
  ]

  @codes %{
    "VALIDATION_ERROR" => "validation",
    "INVALID_FORMAT" => "validation",
    "MISSING_REQUIRED" => "validation",
    "NOT_FOUND" => "not_found",
    "SPEC_NOT_FOUND" => "not_found",
    "TASK_NOT_FOUND" => "not_found",
    "DUPLICATE_ENTRY" => "conflict",
    "CONFLICT" => "conflict",
    "UNAUTHORIZED" => "authentication",
    "FORBIDDEN" => "authorization",
    "FEATURE_DISABLED" => "feature_flag",
    "RATE_LIMIT_EXCEEDED" => "rate_limit",
    "INTERNAL_ERROR" => "internal",
    "UNAVAILABLE" => "unavailable"
  }

  @situations %{
    bad_arguments: "VALIDATION_ERROR",
    missing_argument: "MISSING_REQUIRED",
    bad_format: "INVALID_FORMAT",
    not_found: "NOT_FOUND",
    expired: "NOT_FOUND",
    unauthenticated: "UNAUTHORIZED",
    forbidden: "FORBIDDEN",
    failed: "INTERNAL_ERROR",
    store_down: "UNAVAILABLE",
    timeout: "UNAVAILABLE",
    throttled: "RATE_LIMIT_EXCEEDED",
    bug: "INTERNAL_ERROR"
  }

  @warnings %{
    "CONTENT_TRUNCATED" => "info",
    "STALE_CACHE" => "warning",
    "PARTIAL_FAILURE" => "warning",
    "DEPRECATED_FIELD" => "info",
    "RATE_LIMIT_APPROACHING" => "warning",
    "FALLBACK_USED" => "info"
  }

  @type retry :: :no | :maybe | :after_delay | :backoff

  @doc "The error codes with their types."
  @spec codes() :: %{String.t() => String.t()}
  def codes, do: @codes

  @doc "The names of the types."
  @spec types() :: [String.t()]
  def types, do: for(type <- @types, do: elem(type, 0))

  @doc "The HTTP status and the retry advice of a type. `nil` for an unknown type."
  @spec advice(String.t()) :: {pos_integer, retry} | nil
  def advice(name) do
    with {_name, status, retry, _code, _remediation} <- type(name), do: {status, retry}
  end

  defp type(name), do: List.keyfind(@types, name, 0)

  @doc "The warning codes with their severities."
  @spec warnings() :: %{String.t() => String.t()}
  def warnings, do: @warnings

  @doc "The code of a situation."
  @spec code_for(atom) :: String.t()
  def code_for(situation), do: Map.fetch!(@situations, situation)

  @doc "The code, the type and the remediation of an error. Either the code or the type may be missing."
  @spec complete(String.t() | nil, String.t() | nil) ::
          {:ok, {code :: String.t(), type :: String.t(), remediation :: String.t()}}
          | {:error, :invalid_code | :invalid_type}
  def complete(code, type_name) do
    type = type_name && type(type_name)

    cond do
      type_name && !type -> {:error, :invalid_type}
      code && not code?(code) -> {:error, :invalid_code}
      true -> {:ok, filled(code, type)}
    end
  end

  defp filled(nil, nil), do: filled("INTERNAL_ERROR", nil)
  defp filled(nil, {_name, _status, _retry, code, _remediation} = type), do: filled(code, type)
  defp filled(code, nil), do: filled(code, type(Map.get(@codes, code, "internal")))
  defp filled(code, {name, _status, _retry, _code, remediation}), do: {code, name, remediation}

  @doc "The form of a code, as a JSON Schema pattern."
  @spec code_pattern() :: String.t()
  def code_pattern, do: "^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$"

  defp code?(text), do: text =~ ~r/\A[A-Z][A-Z0-9]*(_[A-Z0-9]+)*\z/
end
