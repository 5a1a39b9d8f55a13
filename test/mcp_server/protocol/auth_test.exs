defmodule McpServer.Protocol.AuthTest do
  # Key sets: which of their keys verify tokens, and which are skipped.
  use ExUnit.Case, async: true

  alias McpServer.Auth.{Discovery, Signature}
  alias McpServer.JSON
  alias McpServer.Protocol.Auth

  @p256 (
          {<<4, x::binary-size(32), y::binary-size(32)>>, _private} = :crypto.generate_key(:ecdh, :secp256r1)
          encode = &Base.url_encode64(&1, padding: false)
          %{"kty" => "EC", "crv" => "P-256", "x" => encode.(x), "y" => encode.(y)}
        )

  @primes [11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157]

  defp encode(bytes), do: Base.url_encode64(bytes, padding: false)
  defp set(keys), do: JSON.encode!(%{"keys" => keys})

  defp usable(keys) do
    {:ok, %{usable: usable, skipped: skipped}} = Discovery.read(set(keys))
    {usable, skipped}
  end

  defp rsa(modulus, exponent \\ 65_537),
    do: %{
      "kty" => "RSA",
      "n" => encode(:binary.encode_unsigned(modulus)),
      "e" => encode(:binary.encode_unsigned(exponent))
    }

  # An odd number of so many bits.
  defp modulus(bits), do: Integer.pow(2, bits - 1) + 12_345

  test "keys of each kind are used" do
    ed = %{"kty" => "OKP", "crv" => "Ed25519", "x" => encode(elem(:crypto.generate_key(:eddsa, :ed25519), 0))}
    assert usable([@p256, ed, rsa(modulus(2048)), rsa(modulus(8192))]) == {4, 0}

    assert usable([Map.merge(@p256, %{"use" => "sig", "alg" => "ES256", "key_ops" => ["verify"], "kid" => "a"})]) ==
             {1, 0}
  end

  @tag req: "T28"
  test "weak keys are skipped, and nothing else with them" do
    product = Enum.product(@primes)
    power = :binary.decode_unsigned(:crypto.mod_pow(65_537, 3, product))
    start = div(Integer.pow(2, 2047), product) + 1
    roca = Enum.find_value(start..(start + 1), &if(rem(&1 * product + power, 2) == 1, do: &1 * product + power))

    for weak <- [
          rsa(modulus(2047)),
          rsa(modulus(8193)),
          rsa(modulus(2048) + 1),
          rsa(modulus(2048), 1),
          rsa(modulus(2048), 65_536),
          rsa(modulus(2048), Integer.pow(2, 64) + 1),
          rsa(roca),
          %{@p256 | "x" => @p256["y"]},
          %{@p256 | "x" => encode(<<1>>)},
          %{@p256 | "crv" => "P-384"},
          %{@p256 | "crv" => "secp256k1"},
          %{@p256 | "kty" => "EC2"}
        ] do
      assert {weak, usable([weak, Map.put(@p256, "kid", "good")])} == {weak, {1, 1}}
    end
  end

  @tag req: ["T29", "T7"]
  test "keys that are not for verifying, or not public, are skipped" do
    for member <- [
          %{"use" => "enc"},
          %{"key_ops" => ["sign"]},
          %{"key_ops" => "verify"},
          %{"alg" => "RS256"},
          %{"alg" => "ES384"},
          %{"alg" => "none"},
          %{"alg" => 1},
          %{"kid" => 1},
          %{"kid" => String.duplicate("k", 257)},
          %{"d" => "AQ"},
          %{"k" => "AQ"}
        ] do
      assert {member, usable([Map.merge(@p256, member)])} == {member, {0, 1}}
    end

    assert usable([%{"kty" => "oct", "k" => encode(String.duplicate("s", 32))}]) == {0, 1}
    other = rsa(modulus(2048)) |> Map.put("kid", "same")
    assert usable([Map.put(@p256, "kid", "same"), other]) == {0, 2}
    assert usable([other, other]) == {2, 0}
  end

  @tag req: "T24"
  test "what is no key set is refused as a whole" do
    many = for n <- 1..101, do: Map.put(@p256, "kid", "#{n}")
    deep = ~s({"keys":[],"x":) <> String.duplicate("[", 9) <> String.duplicate("]", 9) <> "}"

    for text <- [
          "",
          "[]",
          "{}",
          ~s({"keys":{}}),
          ~s({"keys":[],"keys":[]}),
          deep,
          set(many),
          String.duplicate(" ", 131_073)
        ] do
      assert {:error, "the key set is not JSON of at most 128 KiB" <> _rest} = Auth.keys(text)
    end
  end

  @tag req: "T28"
  test "a secret has at least 32 bytes" do
    assert {:error, "the secret must have at least 32 bytes"} = Auth.secret(String.duplicate("s", 31))
    assert {:ok, _keys, [{:hmac, _secret}], 0} = Auth.secret(String.duplicate("s", 32))
  end

  # RFC 8037, appendix A.4.
  test "the example of RFC 8037 verifies" do
    jwk = %{"kty" => "OKP", "crv" => "Ed25519", "x" => "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
    {:ok, _keys, [key], 0} = Auth.keys(set([jwk]))
    signature = "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"

    proof = %{
      pending: make_ref(),
      algorithm: "EdDSA",
      key: key,
      input: "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
      signature: Base.url_decode64!(signature, padding: false)
    }

    assert Signature.valid?(proof)
    refute Signature.valid?(%{proof | input: proof.input <> "x"})
  end

  # RFC 7515, appendix A.3.
  test "the example of RFC 7515 for ES256 verifies" do
    jwk = %{
      "kty" => "EC",
      "crv" => "P-256",
      "x" => "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
      "y" => "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
    }

    {:ok, _keys, [key], 0} = Auth.keys(set([jwk]))

    input =
      "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    signature = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

    proof = %{
      pending: make_ref(),
      algorithm: "ES256",
      key: key,
      input: input,
      signature: Base.url_decode64!(signature, padding: false)
    }

    assert Signature.valid?(proof)
    refute Signature.valid?(%{proof | input: input <> "x"})
  end
end
