defmodule McpServer.Auth.Possession do
  @moduledoc false
  # Checks that a client has the key to which its token is bound (DPoP, RFC 9449). The core has the rules for proofs.
  # This module checks the signature, the nonce and replays.

  alias McpServer.{Auth, Once, Secret}
  alias McpServer.Auth.{Plan, Refusal, Signature}
  alias McpServer.Protocol.Auth, as: Rules
  alias McpServer.Quota.Client

  @retry_after 5

  @typedoc "Whether a request is for the endpoint, whose URL is `resource:`, or for a path beside it."
  @type place :: :endpoint | :beside

  @doc "Whether the request proves possession of the token's key. The token itself was checked before."
  @spec check(Plan.t(), {:bearer | :dpop, String.t()}, Auth.t(), Auth.Verifier.request(), place()) ::
          :ok | {:error, Refusal.t() | {:unavailable, pos_integer()}}
  def check(plan, {scheme, token}, auth, request, place) do
    case {scheme, thumbprint(auth)} do
      {_scheme, :unknown} ->
        invalid(plan, :bound, "The access token is bound in a way that this server cannot check")

      {:bearer, nil} when plan.dpop.mode == :required ->
        invalid(plan, :unbound, "The access token must be bound to a key")

      {:bearer, nil} ->
        :ok

      {:bearer, _bound} ->
        invalid(plan, :bound, "The access token is bound to a key")

      {:dpop, nil} ->
        invalid(plan, :unbound, "The access token is not bound to a key")

      {:dpop, thumbprint} ->
        proved(plan, token, {auth, thumbprint}, request, url(plan, request, place))
    end
  end

  # The core accepts only this form of `cnf` in signed tokens. Fixed tokens and verifiers may use it too.
  defp thumbprint(%{claims: %{"cnf" => %{"jkt" => thumbprint} = key}})
       when is_binary(thumbprint) and map_size(key) == 1,
       do: thumbprint

  defp thumbprint(%{claims: %{"cnf" => _another}}), do: :unknown
  defp thumbprint(_auth), do: nil

  defp url(plan, _request, :endpoint), do: plan.resource

  # Host and scheme come from the configuration, never from the request.
  defp url(plan, request, :beside), do: URI.to_string(%{URI.parse(plan.resource) | path: request.request_path})

  defp proved(plan, token, {auth, thumbprint}, request, url) do
    now = System.system_time(:second)
    facts = %{method: request.method, url: url, token_hash: encode(hash(token)), now: now, window: plan.dpop.window}

    # The key in the proof is untrusted and may be slow to verify with, so it must match the token's key first.
    with {:ok, proof} <- Rules.proof(request.req_headers, facts),
         {:bound, true} <- {:bound, encode(hash(proof.thumbprint_text)) == thumbprint},
         {:signed, true} <- {:signed, Signature.valid?(proof)} do
      unique(plan, Auth.holder(auth), thumbprint, Rules.proof_verified(proof), now)
    else
      {:bound, false} -> wrong(plan, :proof_key, "The access token is bound to another key")
      {:signed, false} -> wrong(plan, :proof_signature, "The signature of the proof is wrong")
      {:error, reason, text} -> wrong(plan, reason, text)
    end
  end

  defp unique(plan, owner, thumbprint, %{id: id, nonce: nonce, issued_at: issued_at}, now) do
    if fresh?(plan, nonce, now) do
      # The digest leaves the URL out: a path has several spellings.
      digest = hash([thumbprint, 0, id])

      # After its window a proof is refused for its time, so it need not be stored longer.
      case Once.use_up(:proofs, digest, issued_at + plan.dpop.window + 1, Client.new(owner, nil)) do
        :ok -> :ok
        :used -> wrong(plan, :proof_used, "The proof was used before")
        :full -> {:error, {:unavailable, @retry_after}}
      end
    else
      text = "The proof needs the nonce of the header DPoP-Nonce"
      {:error, %{Refusal.proof(:proof_nonce, text, plan.scopes) | error: "use_dpop_nonce"}}
    end
  end

  # Nonces are not stored: all nodes with the same secret compute the same one. The previous nonce is also valid.
  defp fresh?(%{dpop: %{nonce: false}}, _nonce, _now), do: true
  defp fresh?(_plan, nil, _now), do: false

  defp fresh?(%{dpop: %{nonce: seconds}} = plan, nonce, now) do
    Enum.any?([0, seconds], fn age ->
      expected = nonce(plan, now - age)
      byte_size(nonce) == byte_size(expected) and :crypto.hash_equals(nonce, expected)
    end)
  end

  @doc "The current nonce for proofs, `nil` if they need none."
  @spec nonce(Plan.t()) :: String.t() | nil
  def nonce(%{dpop: %{nonce: false}}), do: nil
  def nonce(%{dpop: %{mode: false}}), do: nil
  def nonce(plan), do: nonce(plan, System.system_time(:second))

  defp nonce(%{dpop: %{nonce: seconds}} = plan, now) do
    text = ["dpop nonce", 0, plan.resource, 0, Integer.to_string(seconds), 0, Integer.to_string(div(now, seconds))]
    encode(:crypto.mac(:hmac, :sha256, Secret.key(), text))
  end

  defp wrong(plan, reason, text), do: {:error, Refusal.proof(reason, text, plan.scopes)}
  defp invalid(plan, reason, text), do: {:error, Refusal.invalid(reason, text, plan.scopes)}

  defp hash(text), do: :crypto.hash(:sha256, text)
  defp encode(bytes), do: Base.url_encode64(bytes, padding: false)
end
