defmodule Corpora.Tokens do
  # Wycheproof's JSON Web Signatures, keys and encryptions, judged like access tokens. Their payloads are no claims, so
  # each case has two steps. First a token with the same header and valid claims is screened with the case's keys; then
  # the case's signature is verified with the found key. A payload in the place of the signature shows whether its
  # base64url is accepted.

  alias McpServer.Auth.{Discovery, Signature}
  alias McpServer.JSON
  alias McpServer.Protocol.Auth

  @files ~w(json_web_signature json_web_key json_web_crypto json_web_encryption)
  @issuer "https://auth.example"
  @now 1_700_000_000

  def rows(folder), do: for(file <- @files, do: {"Wycheproof #{file}", cases(folder, file)})

  defp cases(folder, file) do
    %{"testGroups" => groups} = folder |> Path.join("wycheproof/#{file}_test.json") |> File.read!() |> JSON.decode!()

    for group <- groups, keys = keys(group), test <- group["tests"], do: {"#{test["tcId"]}", outcome(keys, test)}
  end

  # A secret is configured, never published; an issuer may publish it with other keys by mistake.
  defp keys(%{"public" => public}), do: published(public)

  defp keys(%{"private" => %{"kty" => "oct", "use" => "sig", "k" => k}}),
    do: secret(Base.url_decode64(k, padding: false))

  defp keys(%{"private" => %{"keys" => [key]}}), do: keys(%{"private" => key})
  defp keys(%{"private" => private}), do: published(private)

  defp secret({:ok, secret}) do
    case Auth.secret(secret) do
      {:ok, keys, _materials, 0} -> keys
      {:error, _short} -> published([])
    end
  end

  defp secret(:error), do: published([])

  defp published(%{"keys" => _keys} = set) do
    {:ok, %{keys: keys}} = Discovery.read(JSON.encode!(set))
    keys
  end

  defp published(keys), do: published(%{"keys" => List.wrap(keys)})

  # Encrypted tokens are not supported.
  defp outcome(keys, %{"jwe" => jwe}), do: judged("invalid", taken?(keys, jwe))
  defp outcome(keys, %{"jws" => jws, "result" => result}), do: judged(result, taken?(keys, jws))

  defp judged(result, taken?) do
    if taken? == (result == "valid"), do: :passed, else: "#{result}, but #{if taken?, do: "taken", else: "refused"}"
  end

  defp taken?(keys, jws) when is_binary(jws) do
    case String.split(jws, ".") do
      [header, payload, signature] ->
        not match?({:error, :malformed, _text}, screen(keys, header, payload)) and
          verified?(screen(keys, header, signature), header <> "." <> payload)

      _segments ->
        match?({:ok, _issuer}, Auth.issuer(jws, 65_536))
    end
  end

  # A header cannot contain a token in its JSON form.
  defp taken?(_keys, _json), do: false

  defp screen(keys, header, signature),
    do: Auth.screen(Enum.join([header, claims(), signature], "."), policy(), keys, @now)

  defp verified?({:ok, proof}, input), do: Signature.valid?(%{proof | input: input})
  defp verified?({:error, _reason, _text}, _input), do: false

  defp claims do
    %{"iss" => @issuer, "aud" => "a", "sub" => "s", "exp" => @now}
    |> JSON.encode!()
    |> Base.url_encode64(padding: false)
  end

  @algorithms ~w(HS256 HS384 HS512 RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519)
  defp policy do
    {:ok, policy} = Auth.policy(%{issuer: @issuer, audience: ["a"], algorithms: @algorithms, max_token_bytes: 65_536})
    policy
  end
end
