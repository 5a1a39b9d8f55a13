defmodule McpServer.Protocol.AuthTest do
  # Key sets: the keys that verify tokens, and the skipped keys.
  use ExUnit.Case, async: true

  alias McpServer.Auth.{Discovery, Signature}
  alias McpServer.JSON
  alias McpServer.Protocol.Auth
  alias McpServer.Test.Issuer

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

  # An odd number with this many bits.
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
    # The algorithm chooses between keys of two types, but not between two of one type.
    assert usable([Map.put(@p256, "kid", "same"), other]) == {2, 0}
    assert usable([other, rsa(modulus(3072)) |> Map.put("kid", "same")]) == {0, 2}
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

  @tag req: "T12"
  @tag slow: "every byte of a token, changed"
  test "every token that differs from a good one in a byte is refused" do
    issuer = start_supervised!(Issuer)
    {:ok, policy} = Auth.policy(%{issuer: Issuer.url(issuer), audience: ["a"]})

    for algorithm <- ["ES256", "EdDSA"] do
      token = Issuer.token(issuer, alg: algorithm, audience: "a")
      {200, json} = Issuer.answer(issuer, "/keys")
      {:ok, %{keys: keys}} = Discovery.read(json)

      taken? = fn token ->
        screened = Auth.screen(token, policy, keys, System.system_time(:second))
        match?({:ok, _proof}, screened) and Signature.valid?(elem(screened, 1))
      end

      taken =
        for at <- 0..(byte_size(token) - 1),
            byte <- 0..255,
            changed = replaced(token, at, byte),
            taken?.(changed),
            do: changed

      assert Enum.uniq(taken) == [token]
      assert length(taken) == byte_size(token)
    end
  end

  defp replaced(token, at, byte) do
    {before, <<_byte, rest::binary>>} = String.split_at(token, at)
    <<before::binary, byte, rest::binary>>
  end

  describe "the examples of RFC 7515, RFC 7520 and RFC 8037" do
    @examples "test/fixtures/jose_examples.json" |> File.read!() |> JSON.decode!() |> Map.fetch!("examples")

    test "verify with their keys, and no other text does" do
      assert length(@examples) == 9

      for %{"name" => name, "algorithm" => algorithm, "jwk" => jwk, "jws" => jws} <- @examples do
        [header, payload, signature] = String.split(jws, ".")
        input = header <> "." <> payload
        {:ok, _keys, [key], 0} = read(jwk)
        signature = Base.url_decode64!(signature, padding: false)
        proof = %{pending: make_ref(), algorithm: algorithm, key: key, input: input, signature: signature}
        assert {name, Signature.valid?(proof)} == {name, true}
        refute Signature.valid?(%{proof | input: input <> "x"})
        <<first, rest::binary>> = signature
        refute Signature.valid?(%{proof | signature: <<Bitwise.bxor(first, 1), rest::binary>>})
      end
    end

    @tag req: ["T6", "T15"]
    test "that hold claims are judged as tokens, and the unsigned one is refused" do
      {:ok, policy} =
        Auth.policy(%{
          issuer: "joe",
          audience: ["joe"],
          audience_claim: "iss",
          subject: false,
          algorithms: ["HS256", "RS256", "ES256"]
        })

      claims = ~s({"iss":"joe",\r\n "exp":1300819380,\r\n "http://example.com/is_root":true})

      for %{"name" => "RFC 7515" <> _section, "jwk" => jwk, "jws" => jws, "algorithm" => algorithm} <- @examples,
          algorithm in ["HS256", "RS256", "ES256"] do
        {:ok, keys, _materials, 0} = read(jwk)
        assert {:ok, %{algorithm: ^algorithm} = proof} = Auth.screen(jws, policy, keys, 1_300_819_409)
        assert Signature.valid?(proof)
        assert %{issuer: "joe", subject: nil, expires_at: 1_300_819_380, claims: ^claims} = Auth.verified(proof)
        assert {:error, :expired, _text} = Auth.screen(jws, policy, keys, 1_300_819_410)

        [_header, payload, _signature] = String.split(jws, ".")
        unsigned = "eyJhbGciOiJub25lIn0." <> payload <> "."
        assert {:error, :algorithm, _text} = Auth.screen(unsigned, policy, keys, 1_300_819_409)
      end
    end

    defp read(%{"kty" => "oct", "k" => secret}), do: secret |> Base.url_decode64!(padding: false) |> Auth.secret()
    defp read(jwk), do: Auth.keys(set([jwk]))
  end
end
