defmodule McpServer.Test.Key do
  @moduledoc false
  # Keys for tests, and compact JWTs signed with them.

  alias McpServer.JSON

  @enforce_keys [:algorithm, :private, :jwk]
  defstruct [:algorithm, :private, :jwk]

  @type t :: %__MODULE__{algorithm: String.t(), private: term(), jwk: %{String.t() => String.t()}}

  @doc "A new key for an algorithm. `members` are added to its JWK."
  @spec new(String.t(), %{String.t() => String.t()}) :: t()
  def new(algorithm, members \\ %{}) do
    {private, jwk} = generate(algorithm)
    %__MODULE__{algorithm: algorithm, private: private, jwk: Map.merge(jwk, members)}
  end

  defp generate("ES256") do
    {<<4, x::binary-size(32), y::binary-size(32)>>, private} = :crypto.generate_key(:ecdh, :secp256r1)
    {private, %{"kty" => "EC", "crv" => "P-256", "x" => encode(x), "y" => encode(y)}}
  end

  defp generate("EdDSA") do
    {public, private} = :crypto.generate_key(:eddsa, :ed25519)
    {private, %{"kty" => "OKP", "crv" => "Ed25519", "x" => encode(public)}}
  end

  defp generate(rsa) when rsa in ["RS256", "PS256"] do
    {[e, n], private} = :crypto.generate_key(:rsa, {2048, 65_537})
    {private, %{"kty" => "RSA", "n" => encode(n), "e" => encode(e), "alg" => rsa}}
  end

  @doc """
  A signed JWT. The options `:header` and `:claims` add members. A member with `nil` is removed. `signature: :wrong`
  makes the signature invalid.
  """
  @spec sign(t(), map(), map(), keyword()) :: String.t()
  def sign(key, header, claims, options) do
    input = segment(header, options[:header]) <> "." <> segment(claims, options[:claims])
    signed = if options[:signature] == :wrong, do: input <> "x", else: input
    input <> "." <> encode(signature(key.algorithm, signed, key.private))
  end

  defp segment(members, others), do: members |> members(others) |> JSON.encode!() |> encode()

  @doc "Merges members. Members with `nil` are removed."
  @spec members(map(), Enumerable.t() | nil) :: map()
  def members(members, others),
    do: members |> Map.merge(Map.new(others || %{})) |> Map.reject(fn {_name, value} -> value == nil end)

  defp signature("ES256", input, private) do
    der = :crypto.sign(:ecdsa, :sha256, input, [private, :secp256r1])
    {:"ECDSA-Sig-Value", r, s} = :public_key.der_decode(:"ECDSA-Sig-Value", der)
    <<r::256, s::256>>
  end

  defp signature("EdDSA", input, private), do: :crypto.sign(:eddsa, :none, input, [private, :ed25519])
  defp signature("RS256", input, private), do: :crypto.sign(:rsa, :sha256, input, private)

  defp signature("PS256", input, private) do
    options = [rsa_padding: :rsa_pkcs1_pss_padding, rsa_pss_saltlen: 32, rsa_mgf1_md: :sha256]
    :crypto.sign(:rsa, :sha256, input, private, options)
  end

  @doc "Base64url without padding."
  @spec encode(binary()) :: String.t()
  def encode(bytes), do: Base.url_encode64(bytes, padding: false)
end
