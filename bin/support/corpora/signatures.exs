defmodule Corpora.Signatures do
  # Wycheproof's signatures, verified like signatures of access tokens: the core's key sets read the key as a JWK, and
  # `McpServer.Auth.Signature` verifies the signature. The core checks the length of a token's signature; here this
  # module checks it.

  alias McpServer.Auth.Signature
  alias McpServer.JSON
  alias McpServer.Protocol.Auth

  @files [
    {"ecdsa_secp256r1_sha256_p1363", "ES256"},
    {"ecdsa_secp384r1_sha384_p1363", "ES384"},
    {"ecdsa_secp521r1_sha512_p1363", "ES512"},
    {"ed25519", "EdDSA"},
    {"rsa_signature_2048_sha256", "RS256"},
    {"rsa_signature_3072_sha384", "RS384"},
    {"rsa_signature_4096_sha512", "RS512"},
    {"rsa_pss_2048_sha256_mgf1_32", "PS256"},
    {"rsa_pss_4096_sha512_mgf1_64", "PS512"}
  ]

  def rows(folder) do
    for({file, algorithm} <- @files, do: {"Wycheproof #{file}", cases(folder, file, algorithm)}) ++
      [{"Wycheproof rsa_pss_misc", pss_cases(folder)}]
  end

  defp cases(folder, file, algorithm) do
    for group <- groups(folder, file),
        key = key(group),
        test <- group["tests"],
        do: {"#{test["tcId"]}", outcome(algorithm, key, test)}
  end

  defp groups(folder, file) do
    %{"testGroups" => groups} = folder |> Path.join("wycheproof/#{file}_test.json") |> File.read!() |> JSON.decode!()
    groups
  end

  # Signatures with hashes, masks or salt lengths outside RFC 7518 are valid, but tokens cannot have them.
  @salts %{"SHA-256" => {"PS256", 32}, "SHA-384" => {"PS384", 48}, "SHA-512" => {"PS512", 64}}

  defp pss_cases(folder) do
    for %{"sha" => hash} = group <- groups(folder, "rsa_pss_misc"), test <- group["tests"] do
      {algorithm, salt} = Map.get(@salts, hash, {"PS256", nil})
      ours? = {group["mgfSha"], group["sLen"]} == {hash, salt}
      expected = if ours?, do: test["result"], else: "invalid"
      {"#{test["tcId"]}", outcome(algorithm, key(group), %{test | "result" => expected})}
    end
  end

  # Some groups have no JWK.
  @curves %{"secp256r1" => :secp256r1, "secp384r1" => :secp384r1, "secp521r1" => :secp521r1}
  defp key(%{"publicKey" => %{"curve" => curve, "uncompressed" => point}} = group)
       when is_map_key(@curves, curve) and not is_map_key(group, "publicKeyJwk"),
       do: {:ec, @curves[curve], Base.decode16!(point, case: :lower)}

  defp key(%{"publicKey" => %{"modulus" => modulus, "publicExponent" => exponent}} = group)
       when not is_map_key(group, "publicKeyJwk") do
    [n, e] = for hex <- [modulus, exponent], do: :binary.encode_unsigned(String.to_integer(hex, 16))
    key(%{"keyJwk" => %{"kty" => "RSA", "n" => encode(n), "e" => encode(e)}})
  end

  defp key(group) do
    jwk = group["publicKeyJwk"] || group["keyJwk"]

    case Auth.keys(JSON.encode!(%{"keys" => [jwk]})) do
      {:ok, _keys, [key], 0} -> key
      _refused -> :refused
    end
  end

  defp encode(bytes), do: Base.url_encode64(bytes, padding: false)

  defp outcome(_algorithm, :refused, _test), do: "the key is refused"

  defp outcome(algorithm, key, test) do
    [input, signature] = for name <- ["msg", "sig"], do: Base.decode16!(test[name], case: :lower)
    proof = %{pending: nil, algorithm: algorithm, key: key, input: input, signature: signature}
    valid? = byte_size(signature) == bytes(key) and Signature.valid?(proof)
    if valid? == (test["result"] == "valid"), do: :passed, else: "#{test["result"]}, but #{valid?}"
  end

  defp bytes({:rsa, modulus, _exponent}), do: byte_size(modulus)
  defp bytes({:ec, _curve, point}), do: byte_size(point) - 1
  defp bytes({:ed25519, _public}), do: 64
end
