defmodule McpServer.Auth.Refusal do
  @moduledoc false
  # The refusal of a request: its challenge, and a name for metrics. It contains no data of the token.

  alias McpServer.Protocol.Auth

  @enforce_keys [:kind, :reason]
  defstruct [:kind, :reason, :error, :description, :nonce, dpop: false, scopes: []]

  @type t :: %__MODULE__{
          kind: :unauthorized | :forbidden | :invalid_authorization,
          reason: atom(),
          error: String.t() | nil,
          description: String.t() | nil,
          scopes: [String.t()],
          dpop: mode(),
          nonce: String.t() | nil
        }

  @typedoc "Whether tokens may or must be bound to a key."
  @type mode :: false | :optional | :required

  @doc "Counts a refusal for telemetry."
  @spec count(atom()) :: :ok
  def count(reason), do: McpServer.Telemetry.execute([:auth, :refused], %{count: 1}, %{reason: reason})

  @doc "Whether the refusal with this reason of the core says that a token is invalid."
  @spec invalid_token?(atom()) :: boolean()
  def invalid_token?(reason), do: reason not in [:missing, :malformed_request, :scope]

  @doc "Whether the challenge of an answer says that a token, or the proof for it, is invalid."
  @spec invalid_token_challenge?([{String.t(), String.t()}]) :: boolean()
  def invalid_token_challenge?(headers) do
    Enum.any?(headers, fn {name, value} ->
      name == "www-authenticate" and value =~ ~r/ error="invalid_(token|dpop_proof)"/
    end)
  end

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

  @doc "The refusal of an invalid proof for a token that is bound to a key (RFC 9449)."
  @spec proof(atom(), String.t(), [String.t()]) :: t()
  def proof(reason, text, scopes),
    do: %__MODULE__{kind: :unauthorized, reason: reason, error: "invalid_dpop_proof", description: text, scopes: scopes}

  @doc "The members of a challenge about proofs."
  @spec schemes(mode()) :: map()
  def schemes(false), do: %{}
  def schemes(mode), do: %{algs: Auth.proof_algorithms(), bound_only: mode == :required}

  @doc "The headers of the answer beside its challenge."
  @spec headers(t()) :: [{String.t(), String.t()}]
  def headers(%__MODULE__{nonce: nil}), do: []
  def headers(%__MODULE__{nonce: nonce}), do: [{"dpop-nonce", nonce}]

  @spec scope([String.t()]) :: t()
  def scope(scopes), do: %__MODULE__{kind: :forbidden, reason: :scope, error: "insufficient_scope", scopes: scopes}
end
