defmodule McpServer.Protocol.Auth do
  @moduledoc false
  # The door to the core's rules of access tokens. One of the façades over `McpServer.Native`. It knows no process, no
  # clock and no arithmetic of signatures.

  alias McpServer.Native

  @typedoc "What the tokens of one issuer must say."
  @opaque policy :: reference()
  @typedoc "The keys of one issuer."
  @opaque keys :: reference()
  @typedoc "A token that meets every rule and whose signature is still to be verified."
  @opaque pending :: reference()

  @typedoc "Who is let in by a token, and the tokens that were verified."
  @opaque guard :: reference()

  @type key ::
          {:rsa, modulus :: binary(), exponent :: binary()}
          | {:ec, :secp256r1 | :secp384r1 | :secp521r1, point :: binary()}
          | {:ed25519, binary()}
          | {:hmac, binary()}

  @typedoc "Why a token is refused: a name for metrics, and a sentence that may be sent."
  @type refusal :: {:error, reason :: atom(), text :: String.t()}

  @typedoc "What is to be verified before a token grants anything; of elliptic curves `signature` is r and s."
  @type proof :: %{
          pending: pending(),
          algorithm: String.t(),
          key: key(),
          input: binary(),
          signature: binary()
        }

  @typedoc """
  What is to be verified before a proof (RFC 9449) proves anything. The SHA-256 digest of `:thumbprint_text` is the
  thumbprint of its key (RFC 7638).
  """
  @type key_proof :: %{
          pending: reference(),
          algorithm: String.t(),
          key: key(),
          input: binary(),
          signature: binary(),
          thumbprint_text: String.t()
        }

  @type grant :: %{
          issuer: String.t(),
          subject: String.t() | nil,
          client_id: String.t() | nil,
          scopes: [String.t()],
          expires_at: non_neg_integer() | nil,
          claims: binary()
        }

  @doc "The bearer token of a request's head; `:malformed` is 400, whatever the token is worth."
  @spec bearer(target :: String.t(), [{String.t(), String.t()}]) :: {:ok, String.t()} | :malformed | nil
  def bearer(target, headers), do: Native.auth_bearer(target, headers)

  @doc "The same where tokens that are bound to a key are taken, too, with the scheme that the token is sent by."
  @spec credentials(target :: String.t(), [{String.t(), String.t()}]) ::
          {:bearer | :dpop, String.t()} | :malformed | nil
  def credentials(target, headers), do: Native.auth_credentials(target, headers)

  @doc "The names of the algorithms that proofs (RFC 9449) may be signed with."
  @spec proof_algorithms() :: [String.t()]
  def proof_algorithms, do: Native.auth_proof_algorithms()

  @doc """
  Judges the proof of a request's head by everything but its signature, its key, and whether it was used before.

    * `:method`, `:url` – what the proof must be for, the URL as clients see it
    * `:token_hash` – the SHA-256 digest of the access token, as base64url
    * `:now`, `:window` – seconds since 1970, and how many a proof may be away from them
  """
  @spec proof([{String.t(), String.t()}], %{
          method: String.t(),
          url: String.t(),
          token_hash: String.t(),
          now: non_neg_integer(),
          window: non_neg_integer()
        }) :: {:ok, key_proof()} | refusal()
  def proof(headers, %{method: method, url: url, token_hash: hash, now: now, window: window}) do
    with {:ok, pending, algorithm, key, input, signature, thumbprint} <-
           Native.auth_proof(headers, {method, url, hash}, {now, window}) do
      {:ok,
       %{
         pending: pending,
         algorithm: algorithm,
         key: key,
         input: input,
         signature: signature,
         thumbprint_text: thumbprint
       }}
    end
  end

  @doc "What tells a proof from all others of its key. Only for who has verified its signature."
  @spec proof_verified(key_proof()) :: %{id: String.t(), nonce: String.t() | nil, issued_at: non_neg_integer()}
  def proof_verified(%{pending: pending}) do
    {id, nonce, issued_at} = Native.auth_proof_verified(pending)
    %{id: id, nonce: nonce, issued_at: issued_at}
  end

  @doc """
  Checks what the tokens of one issuer must say; what is left out is as the core has it.

    * `:issuer`, `:audience` – a URL, and a list of texts of which `:audience_claim` (`"aud"`) must have one
    * `:algorithms` – names; `:leeway` – seconds; `:max_token_bytes`
    * `:expires`, `:subject` – whether `exp` and `sub` must be there; `:strict_type` – whether `typ` must be `at+jwt`
    * `:introspected` – whether the issuer itself says what a token grants: see `introspected/3`
    * `:bound` – whether a token may be bound to the thumbprint of a key: then `cnf` of its claims says so
    * `:scope_claims` – paths, of which the first that is there counts; `:claims` – texts that claims must have
  """
  @spec policy(map()) :: {:ok, policy()} | {:error, String.t()}
  def policy(options), do: Native.auth_policy(options)

  @doc "Reads a JWK set as an issuer publishes it. Keys that are of no use are skipped, and counted."
  @spec keys(json :: binary()) :: {:ok, keys(), [key()], skipped :: non_neg_integer()} | {:error, String.t()}
  def keys(json), do: Native.auth_keyset(json)

  @doc "The set of one secret of at least 32 bytes."
  @spec secret(binary()) :: {:ok, keys(), [key()], skipped :: non_neg_integer()} | {:error, String.t()}
  def secret(secret), do: Native.auth_secret(secret)

  @doc "The keys without those whose place in the list is `false`."
  @spec retain(keys(), [boolean()]) :: keys()
  def retain(keys, sound), do: Native.auth_retain(keys, sound)

  @doc "The issuer that a token names: nothing of it is proved. `:opaque` is a token that is not a signed one."
  @spec issuer(String.t(), max_bytes :: pos_integer()) :: {:ok, String.t()} | :opaque | refusal()
  def issuer(token, max_bytes), do: Native.auth_issuer(token, max_bytes)

  @doc "Judges a token by everything but its signature. `now` is in seconds since 1970."
  @spec screen(String.t(), policy(), keys(), now :: non_neg_integer()) :: {:ok, proof()} | refusal()
  def screen(token, policy, keys, now) do
    with {:ok, pending, algorithm, key, input, signature} <- Native.auth_screen(token, policy, keys, now),
         do: {:ok, %{pending: pending, algorithm: algorithm, key: key, input: input, signature: signature}}
  end

  @doc "What a token grants. Only for who has verified its signature."
  @spec verified(proof()) :: grant()
  def verified(%{pending: pending}), do: grant(Native.auth_verified(pending))

  @doc "What a token grants by its issuer's answer (RFC 7662); the reason `:malformed` says that it is no answer."
  @spec introspected(binary(), policy(), now :: non_neg_integer()) :: {:ok, grant()} | refusal()
  def introspected(answer, policy, now) do
    with {:ok, grant} <- Native.auth_introspected(answer, policy, now), do: {:ok, grant(grant)}
  end

  defp grant({issuer, subject, client_id, scopes, expires_at, claims}) do
    %{
      issuer: issuer,
      subject: subject,
      client_id: client_id,
      scopes: scopes,
      expires_at: expires_at,
      claims: claims
    }
  end

  @doc """
  What lets requests in, or refuses them, by their heads alone.

    * `:policies` – of the issuers whose tokens are signed
    * `:fixed` – the digests of fixed tokens; `:others` – whether somebody else may know tokens of no such issuer;
      `:tenants` – whether there may be other issuers
    * `:anonymous` – whether a request may come without a token
    * `:max_token_bytes`; `:scopes` – of the endpoint, for challenges
    * `:most` – how many verified tokens are known at once
  """
  @spec guard(map()) :: guard()
  def guard(options), do: Native.auth_guard(options)

  @doc "Whether the scopes of a verified token are enough; `nil` for a token that is not known, or not any more."
  @spec known(guard(), digest :: binary(), now :: non_neg_integer()) :: boolean() | nil
  def known(guard, digest, now), do: Native.auth_known(guard, digest, now)

  @doc """
  Remembers a verified token until a second since 1970, or until its keys are withdrawn. `holder` is a number for whom
  it was issued to, of whose tokens there is room for a few. Returns the digests of those that made room.
  """
  @spec remember(
          guard(),
          digest :: binary(),
          {until :: non_neg_integer(), sufficient? :: boolean(), keys() | nil},
          holder :: non_neg_integer()
        ) :: [digest :: binary()]
  def remember(guard, digest, verified, holder), do: Native.auth_remember(guard, digest, verified, holder)

  @doc "Forgets all verified tokens."
  @spec forget(guard()) :: :ok
  def forget(guard), do: Native.auth_forget(guard)

  @doc "Other keys have taken the place of these: no token is known any more that they verified."
  @spec withdraw(keys()) :: :ok
  def withdraw(keys), do: Native.auth_withdraw(keys)
end
