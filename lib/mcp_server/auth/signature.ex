defmodule McpServer.Auth.Signature do
  @moduledoc false
  # Verifies signatures with OTP's `:crypto`. The core has already checked the key, the algorithm and the signature's
  # length.

  alias McpServer.Protocol.Auth

  # The salt is as long as the hash: with OTP's default, other lengths would pass (RFC 7518, section 3.5).
  @salts %{sha256: 32, sha384: 48, sha512: 64}

  @doc "Whether the signature of a token or proof is valid."
  @spec valid?(Auth.proof() | Auth.key_proof()) :: boolean()
  def valid?(%{algorithm: algorithm, key: key, input: input, signature: signature}) do
    verify(algorithm, key, input, signature)
  rescue
    # OTP raises for invalid keys, such as a point off its curve.
    _error in [ErlangError, ArgumentError] -> false
  end

  defp verify("RS" <> bits, {:rsa, modulus, exponent}, input, signature),
    do: :crypto.verify(:rsa, hash(bits), input, signature, [exponent, modulus])

  defp verify("PS" <> bits, {:rsa, modulus, exponent}, input, signature) do
    hash = hash(bits)
    options = [rsa_padding: :rsa_pkcs1_pss_padding, rsa_pss_saltlen: @salts[hash], rsa_mgf1_md: hash]
    :crypto.verify(:rsa, hash, input, signature, [exponent, modulus], options)
  end

  defp verify("ES" <> bits, {:ec, curve, point}, input, signature),
    do: :crypto.verify(:ecdsa, hash(bits), input, der(signature), [point, curve])

  defp verify("Ed" <> _name, {:ed25519, public}, input, signature),
    do: :crypto.verify(:eddsa, :none, input, signature, [public, :ed25519])

  defp verify("HS" <> bits, {:hmac, secret}, input, signature),
    do: :crypto.hash_equals(:crypto.mac(:hmac, hash(bits), secret, input), signature)

  defp hash("256"), do: :sha256
  defp hash("384"), do: :sha384
  defp hash("512"), do: :sha512

  # OTP expects r and s as a DER sequence.
  defp der(signature) do
    half = div(byte_size(signature), 2)
    [r, s] = for start <- [0, half], do: signature |> binary_part(start, half) |> :binary.decode_unsigned()
    :public_key.der_encode(:"ECDSA-Sig-Value", {:"ECDSA-Sig-Value", r, s})
  end

  @doc "Whether a key is usable. `false` for a point that is not on its curve."
  @spec usable?(Auth.key()) :: boolean()
  def usable?({:ec, curve, point}),
    do: probe(fn -> :crypto.verify(:ecdsa, :sha256, "", der(<<1::64>>), [point, curve]) end)

  def usable?({:ed25519, public}),
    do: probe(fn -> :crypto.verify(:eddsa, :none, "", <<0::512>>, [public, :ed25519]) end)

  def usable?(_other), do: true

  defp probe(verify) do
    _refused = verify.()
    true
  rescue
    _error in [ErlangError, ArgumentError] -> false
  end
end
