defmodule McpServer.Test.Proof do
  @moduledoc """
  DPoP proofs (RFC 9449) that a client holds the key of its token, for tests of a server with `dpop:`.

      key = McpServer.Test.Proof.key()
      token = McpServer.Test.Issuer.token(issuer, audience: "http://localhost/mcp", key: key)
      proof = McpServer.Test.Proof.new(key, "POST", "http://localhost/mcp", token)
      headers = [{"authorization", "DPoP " <> token}, {"dpop", proof}]

  Each request needs a new proof.
  """

  alias McpServer.JSON
  alias McpServer.Test.Key

  @opaque key :: Key.t()

  @members ~w(crv e kty n x y)

  @doc "A new key of a client, for `\"ES256\"`, `\"EdDSA\"`, `\"RS256\"` or `\"PS256\"`."
  @spec key(String.t()) :: key()
  def key(alg \\ "ES256"), do: Key.new(alg)

  @doc "The key's thumbprint (RFC 7638): `jkt` of a token that is bound to it."
  @spec thumbprint(key()) :: String.t()
  def thumbprint(%Key{jwk: jwk}) do
    members = for name <- @members, value = jwk[name], do: [JSON.encode!(name), ":", JSON.encode!(value)]
    text = ["{", Enum.intersperse(members, ","), "}"]
    Key.encode(:crypto.hash(:sha256, text))
  end

  @doc """
  A proof for one request: its method, the URL that clients connect to, and the access token.

  | option | |
  |---|---|
  | `:nonce` | the value of the server's header `DPoP-Nonce` |
  | `:claims`, `:header` | further or replaced members; `nil` removes a member |
  | `:signature` | `:wrong` makes an invalid signature |
  """
  @spec new(key(), method :: String.t(), url :: String.t(), token :: String.t(), keyword()) :: String.t()
  def new(%Key{} = key, method, url, token, options \\ []) do
    header = %{"typ" => "dpop+jwt", "alg" => key.algorithm, "jwk" => key.jwk}

    claims = %{
      "jti" => Key.encode(:crypto.strong_rand_bytes(16)),
      "htm" => method,
      "htu" => url,
      "iat" => System.system_time(:second),
      "ath" => Key.encode(:crypto.hash(:sha256, token)),
      "nonce" => options[:nonce]
    }

    Key.sign(key, header, Key.members(claims, %{}), options)
  end
end
