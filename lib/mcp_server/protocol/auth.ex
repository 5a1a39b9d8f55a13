defmodule McpServer.Protocol.Auth do
  @moduledoc false
  # The façade over the core's rules of access tokens in `McpServer.Native`. It knows no process and no clock, and does
  # not verify signatures.

  alias McpServer.Native

  @typedoc "The required claims of one issuer's tokens."
  @opaque policy :: reference()
  @typedoc "The keys of one issuer."
  @opaque keys :: reference()
  @typedoc "A token that meets all rules. Its signature is not verified yet."
  @opaque pending :: reference()

  @typedoc "The access rules for tokens, and the cache of verified tokens."
  @opaque guard :: reference()

  @type key ::
          {:rsa, modulus :: binary(), exponent :: binary()}
          | {:ec, :secp256r1 | :secp384r1 | :secp521r1, point :: binary()}
          | {:ed25519, binary()}
          | {:hmac, binary()}

  @typedoc "The reason of a refused token: a name for metrics, and a sentence that may be sent."
  @type refusal :: {:error, reason :: atom(), text :: String.t()}

  @typedoc "The data for the verification of a token's signature. For elliptic curves `signature` is r and s."
  @type proof :: %{
          pending: pending(),
          algorithm: String.t(),
          key: key(),
          input: binary(),
          signature: binary()
        }

  @typedoc """
  The data for the verification of a proof (RFC 9449). The SHA-256 digest of `:thumbprint_text` is the thumbprint of its
  key (RFC 7638).
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

  @doc "The bearer token of a request's head. `:malformed` is 400, even with a valid token."
  @spec bearer(target :: String.t(), [{String.t(), String.t()}]) :: {:ok, String.t()} | :malformed | nil
  def bearer(target, headers), do: Native.auth_bearer(target, headers)

  @doc "The token of a request's head with its scheme, if the server also accepts tokens bound to a key."
  @spec credentials(target :: String.t(), [{String.t(), String.t()}]) ::
          {:bearer | :dpop, String.t()} | :malformed | nil
  def credentials(target, headers), do: Native.auth_credentials(target, headers)

  @doc "The signature algorithms of proofs (RFC 9449)."
  @spec proof_algorithms() :: [String.t()]
  def proof_algorithms, do: Native.auth_proof_algorithms()

  @doc """
  Checks the proof of a request's head, except for its signature, its key and replays.

    * `:method`, `:url` – the proof's required method and URL, as clients see it
    * `:token_hash` – the SHA-256 digest of the access token, as base64url
    * `:now`, `:window` – seconds since 1970, and the allowed difference of a proof in seconds
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

  @doc "The values that identify a proof among all of its key. Call it only after the signature was verified."
  @spec proof_verified(key_proof()) :: %{id: String.t(), nonce: String.t() | nil, issued_at: non_neg_integer()}
  def proof_verified(%{pending: pending}) do
    {id, nonce, issued_at} = Native.auth_proof_verified(pending)
    %{id: id, nonce: nonce, issued_at: issued_at}
  end

  @doc """
  Checks the rules for one issuer's tokens. Missing options have the core's defaults.

    * `:issuer`, `:audience` – a URL, and a list of texts of which `:audience_claim` (`"aud"`) must have one
    * `:algorithms` – names; `:leeway` – seconds; `:max_token_bytes`
    * `:expires`, `:subject` – whether `exp` and `sub` are required; `:strict_type` – whether `typ` must be `at+jwt`
    * `:introspected` – whether the issuer itself answers what a token grants: see `introspected/3`
    * `:bound` – whether a token may be bound to the thumbprint of a key, in its claim `cnf`
    * `:scope_claims` – paths, the first existing one counts; `:claims` – required texts of claims
  """
  @spec policy(map()) :: {:ok, policy()} | {:error, String.t()}
  def policy(options), do: Native.auth_policy(options)

  @doc "Reads the JWK set of an issuer. Unusable keys are skipped and counted."
  @spec keys(json :: binary()) :: {:ok, keys(), [key()], skipped :: non_neg_integer()} | {:error, String.t()}
  def keys(json), do: Native.auth_keyset(json)

  @doc "The key set of one secret of at least 32 bytes."
  @spec secret(binary()) :: {:ok, keys(), [key()], skipped :: non_neg_integer()} | {:error, String.t()}
  def secret(secret), do: Native.auth_secret(secret)

  @doc "The keys whose element in the list is `true`."
  @spec retain(keys(), [boolean()]) :: keys()
  def retain(keys, sound), do: Native.auth_retain(keys, sound)

  @doc "The issuer that a token names, without any verification. `:opaque` is an unsigned token."
  @spec issuer(String.t(), max_bytes :: pos_integer()) :: {:ok, String.t()} | :opaque | refusal()
  def issuer(token, max_bytes), do: Native.auth_issuer(token, max_bytes)

  @doc """
  Checks a token, except for its signature. `now` is in seconds since 1970.

  Without keys, a token that meets all other rules is refused with the reason `:key`.
  """
  @spec screen(String.t(), policy(), keys() | nil, now :: non_neg_integer()) :: {:ok, proof()} | refusal()
  def screen(token, policy, keys, now) do
    with {:ok, pending, algorithm, key, input, signature} <- Native.auth_screen(token, policy, keys, now),
         do: {:ok, %{pending: pending, algorithm: algorithm, key: key, input: input, signature: signature}}
  end

  @doc "The grants of a token. Call it only after the signature was verified."
  @spec verified(proof()) :: grant()
  def verified(%{pending: pending}), do: grant(Native.auth_verified(pending))

  @doc "The grants of a token by its issuer's answer (RFC 7662). The reason `:malformed` means an invalid answer."
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
  A guard that accepts or refuses requests by their heads alone.

    * `:policies` – the policies of issuers with signed tokens
    * `:fixed` – the digests of fixed tokens; `:others` – whether tokens of other issuers may be valid too;
      `:tenants` – whether there may be other issuers
    * `:anonymous` – whether a request may come without a token
    * `:max_token_bytes`; `:scopes` – the endpoint's scopes, for challenges
    * `:most` – the maximum of cached verified tokens
  """
  @spec guard(map()) :: guard()
  def guard(options), do: Native.auth_guard(options)

  @doc "Whether the scopes of a verified token suffice. `nil` if the token is not cached."
  @spec known(guard(), digest :: binary(), now :: non_neg_integer()) :: boolean() | nil
  def known(guard, digest, now), do: Native.auth_known(guard, digest, now)

  @doc """
  Caches a verified token until a second since 1970, or until its keys are withdrawn. `holder` is a number for the
  token's owner, who has room for a few tokens. Returns the digests of dropped tokens.
  """
  @spec remember(
          guard(),
          digest :: binary(),
          {until :: non_neg_integer(), sufficient? :: boolean(), keys() | nil},
          holder :: non_neg_integer()
        ) :: [digest :: binary()]
  def remember(guard, digest, verified, holder), do: Native.auth_remember(guard, digest, verified, holder)

  @doc "Drops all verified tokens."
  @spec forget(guard()) :: :ok
  def forget(guard), do: Native.auth_forget(guard)

  @doc "Drops all tokens that these keys have verified, because other keys replace them."
  @spec withdraw(keys()) :: :ok
  def withdraw(keys), do: Native.auth_withdraw(keys)
end
