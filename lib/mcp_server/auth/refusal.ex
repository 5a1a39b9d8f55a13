defmodule McpServer.Auth.Refusal do
  @moduledoc false
  # Why a request is not let in: what its challenge says, and a name for metrics. Nothing of it is the token's.

  @enforce_keys [:kind, :reason]
  defstruct [:kind, :reason, :error, :description, scopes: []]

  @type t :: %__MODULE__{
          kind: :unauthorized | :forbidden | :invalid_authorization,
          reason: atom(),
          error: String.t() | nil,
          description: String.t() | nil,
          scopes: [String.t()]
        }

  @doc "Counts a refusal for telemetry."
  @spec count(atom()) :: :ok
  def count(reason), do: McpServer.Telemetry.execute([:auth, :refused], %{count: 1}, %{reason: reason})

  @spec missing([String.t()]) :: t()
  def missing(scopes), do: %__MODULE__{kind: :unauthorized, reason: :missing, scopes: scopes}

  @spec malformed([String.t()]) :: t()
  def malformed(scopes) do
    text = "A request has one access token, in the header Authorization"

    %__MODULE__{
      kind: :invalid_authorization,
      reason: :malformed_request,
      error: "invalid_request",
      description: text,
      scopes: scopes
    }
  end

  @spec invalid(atom(), String.t(), [String.t()]) :: t()
  def invalid(reason, text, scopes),
    do: %__MODULE__{kind: :unauthorized, reason: reason, error: "invalid_token", description: text, scopes: scopes}

  @spec scope([String.t()]) :: t()
  def scope(scopes), do: %__MODULE__{kind: :forbidden, reason: :scope, error: "insufficient_scope", scopes: scopes}
end
