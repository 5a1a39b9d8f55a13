defmodule McpServer.Presentation.ToolError do
  @moduledoc """
  A failure as data: `toolError:v1`.

  | field | |
  |---|---|
  | `code` | one of `codes/0` |
  | `message` | the problem, in words for a model or a person |
  | `retryable` | whether the same call may succeed later |
  | `details` | a map with details, or `nil`; `statusCode` is the status if known |

  ## Classification

  | failure | code | retryable |
  |---|---|---|
  | status 500 and above | `SERVER_ERROR` | yes |
  | status 404, `:not_found`, `:expired` | `NOT_FOUND` | no |
  | status 401, 403, `:unauthenticated`, `:forbidden` | `AUTHENTICATION_ERROR` | no |
  | status 429, `:throttled` | `CLIENT_ERROR` | yes |
  | any other status from 400 on, `:bad_arguments` | `CLIENT_ERROR` | no |
  | `:timeout`, `:econnrefused`, `:nxdomain` and their like | `NETWORK_ERROR` | yes |
  | `:tls_alert`, `:tls` | `NETWORK_ERROR` | no |
  | `:failed`, a query that failed | `SERVER_ERROR` | no |
  | `:store_down`, `:storage_error` | `SERVER_ERROR` | yes |
  | anything else | `UNKNOWN_ERROR` | no |
  """

  alias McpServer.{Fields, Presentation}
  alias McpServer.Presentation.Output
  alias McpServer.Tool.CallResult

  @enforce_keys [:code, :message, :retryable]
  defstruct [:code, :message, :retryable, :details]

  @type t :: %__MODULE__{code: String.t(), message: String.t(), retryable: boolean, details: map | nil}

  @typedoc "`:network_error` or `\"NETWORK_ERROR\"`, and so on."
  @type code :: atom | String.t()

  @codes ~w(NETWORK_ERROR SERVER_ERROR CLIENT_ERROR NOT_FOUND AUTHENTICATION_ERROR UNKNOWN_ERROR)

  # Known reasons: those of dual responses and envelopes, and those of sockets and TLS.
  @classified [
    {~w(timeout etimedout connect_timeout econnrefused connection_refused econnreset econnaborted closed)a,
     {"NETWORK_ERROR", true}},
    {~w(enetunreach ehostunreach nxdomain dns)a, {"NETWORK_ERROR", true}},
    {~w(tls tls_alert ssl)a, {"NETWORK_ERROR", false}},
    {~w(bad_arguments missing_argument bad_format)a, {"CLIENT_ERROR", false}},
    {~w(throttled)a, {"CLIENT_ERROR", true}},
    {~w(not_found expired resource_not_found resource_expired)a, {"NOT_FOUND", false}},
    {~w(unauthenticated forbidden)a, {"AUTHENTICATION_ERROR", false}},
    {~w(failed query_execution_failed count_execution_failed too_large)a, {"SERVER_ERROR", false}},
    {~w(store_down storage_error)a, {"SERVER_ERROR", true}}
  ]
  @by_reason for {reasons, class} <- @classified, reason <- reasons, into: %{}, do: {reason, class}

  # The default messages. A reason can contain anything, so it is never shown.
  @messages %{
    "NETWORK_ERROR" => "The service could not be reached.",
    "SERVER_ERROR" => "The service failed.",
    "CLIENT_ERROR" => "The request cannot be served as it is.",
    "NOT_FOUND" => "There is no such thing.",
    "AUTHENTICATION_ERROR" => "The service did not accept the credentials.",
    "UNKNOWN_ERROR" => "The tool failed."
  }

  @options Fields.table([retryable: :boolean, details: :map, status: :count], "option")
  @retryable ["NETWORK_ERROR", "SERVER_ERROR"]

  @doc "All codes."
  @spec codes() :: [String.t()]
  def codes, do: @codes

  @doc """
  A failure of one of the codes; raises `ArgumentError` for another one.

  Options: `retryable:` (by default `true` for `NETWORK_ERROR` and `SERVER_ERROR`), `details:`, a map, and `status:`,
  which becomes `statusCode` of the details.

      iex> McpServer.Presentation.ToolError.new(:network_error, "Network error: Request timeout")
      %McpServer.Presentation.ToolError{code: "NETWORK_ERROR", message: "Network error: Request timeout", retryable: true}
  """
  @spec new(code, String.t(), keyword) :: t
  def new(code, message, options \\ []) when is_binary(message) do
    options = Fields.gather!(inspect(__MODULE__), @options, options)
    code = code!(code)

    %__MODULE__{
      code: code,
      message: message,
      retryable: Map.get(options, :retryable, code in @retryable),
      details: details(options[:details], options[:status])
    }
  end

  defp code!(code) do
    text = code |> to_string() |> String.upcase()

    if text in @codes,
      do: text,
      else: raise(ArgumentError, "expected a code of #{Enum.join(@codes, ", ")}, got: #{inspect(code)}")
  end

  defp details(nil, nil), do: nil
  defp details(details, nil), do: details
  defp details(details, status), do: Map.put(details || %{}, "statusCode", status)

  @doc """
  The failure for a reason:

    * `{:status, 503}`, or anything with a `:status` that is a number
    * an atom of the table above; `{atom, _}` and anything with such a `:reason` or `:code`, as the exceptions of
      HTTP clients have it
    * `{reason, "text"}`: the same, with that message
    * a text: the message of an `UNKNOWN_ERROR`

  No other part of a reason is shown.

      iex> McpServer.Presentation.ToolError.from(:timeout).code
      "NETWORK_ERROR"
      iex> McpServer.Presentation.ToolError.from({{:status, 401}, "Authentication required"})
      %McpServer.Presentation.ToolError{
        code: "AUTHENTICATION_ERROR",
        message: "Authentication required",
        retryable: false,
        details: %{"statusCode" => 401}
      }
  """
  @spec from(t | term) :: t
  def from(%__MODULE__{} = failure), do: failure
  def from(text) when is_binary(text), do: failure("UNKNOWN_ERROR", false, printable(text), nil)

  def from({reason, text}) when is_binary(text) do
    failure = from(reason)
    %{failure | message: printable(text) || failure.message}
  end

  def from({:status, status}) when is_integer(status), do: of_status(status)
  def from(%{status: status}) when is_integer(status), do: of_status(status)

  def from(reason) do
    {code, retryable} = Map.get(@by_reason, name(reason), {"UNKNOWN_ERROR", false})
    failure(code, retryable, nil, nil)
  end

  defp of_status(status) do
    {code, retryable} = classify(status)
    failure(code, retryable, nil, status)
  end

  defp classify(status) when status >= 500, do: {"SERVER_ERROR", true}
  defp classify(404), do: {"NOT_FOUND", false}
  defp classify(status) when status in [401, 403], do: {"AUTHENTICATION_ERROR", false}
  # Throttled: the same call can succeed later.
  defp classify(429), do: {"CLIENT_ERROR", true}
  defp classify(status) when status >= 400, do: {"CLIENT_ERROR", false}
  defp classify(_status), do: {"UNKNOWN_ERROR", false}

  defp failure(code, retryable, message, status),
    do: new(code, message || Map.fetch!(@messages, code), retryable: retryable, status: status)

  defp printable(text), do: if(String.valid?(text), do: text)

  # The first atom that names the failure. An error of `:httpc` is
  # `{:failed_connect, [{:to_address, …}, {:inet, …, :timeout}]}`.
  defp name(%{reason: reason}), do: name(reason)
  defp name(%{code: code}) when is_atom(code), do: name(code)
  defp name({:failed_connect, [_address, {_family, _options, reason}]}), do: name(reason)
  defp name({reason, _details}), do: name(reason)
  defp name({reason, _details, _more}), do: name(reason)
  defp name(reason), do: reason

  @doc "The failure as a map with the keys of `toolError:v1`."
  @spec payload(t) :: map
  def payload(%__MODULE__{} = failure) do
    payload = %{"code" => failure.code, "message" => failure.message, "retryable" => failure.retryable}
    if failure.details, do: Map.put(payload, "details", failure.details), else: payload
  end

  @doc false
  @spec present(t, Presentation.t(), keyword) :: CallResult.t()
  def present(%__MODULE__{} = failure, view, options) do
    options = [markdown: failure.message, mime_type: view.error_mime_type, is_error: true] ++ options
    Output.present(view, "toolError:v1", payload(failure), options)
  end
end
