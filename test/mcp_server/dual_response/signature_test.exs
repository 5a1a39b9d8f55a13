defmodule McpServer.DualResponse.SignatureTest do
  use ExUnit.Case, async: true

  alias McpServer.DualResponse.{Resource, Signature}

  @secret "0123456789abcdef0123456789abcdef"
  @now 1_736_937_000

  defp settings(options \\ []), do: Signature.options!([secret: @secret] ++ options)

  defp resource(fields \\ []) do
    expires_at = DateTime.from_unix!(@now + 3_600)

    struct!(
      %Resource{
        id: "abc123",
        name: "x",
        columns: [],
        total_count: 0,
        sample_data: [],
        created_at: DateTime.from_unix!(@now),
        expires_at: expires_at
      },
      fields
    )
  end

  defp read(query) do
    [_, exp, sig] = Regex.run(~r/\Aexp=(\d+)&sig=([A-Za-z0-9_-]{43})\z/, query)
    {String.to_integer(exp), sig}
  end

  @tag req: "Q1"
  test "a permission lasts for its time, and not a second longer" do
    settings = settings(ttl: 60_000)
    {expires_at, _sig} = signature = resource() |> Signature.query(settings, @now) |> read()
    assert expires_at == @now + 60
    assert Signature.valid?(resource(), settings, :fetch, signature, @now + 59)
    refute Signature.valid?(resource(), settings, :fetch, signature, @now + 60)
  end

  @tag req: "Q1"
  test "it never outlives the resource" do
    settings = settings(ttl: 7_200_000)
    assert {expires_at, _} = resource() |> Signature.query(settings, @now) |> read()
    assert expires_at == @now + 3_600
    # A pinned resource does not expire.
    assert {expires_at, _} = resource(expires_at: nil) |> Signature.query(settings, @now) |> read()
    assert expires_at == @now + 7_200
  end

  @tag req: "Q1"
  test "it is of one resource, tenant, set of actions, time and secret" do
    settings = settings()
    {expires_at, sig} = signature = resource(tenant: "acme") |> Signature.query(settings, @now) |> read()
    valid? = &Signature.valid?(&1, &2, &3, &4, @now)
    assert valid?.(resource(tenant: "acme"), settings, :metadata, signature)
    assert valid?.(resource(tenant: "acme"), settings, :fetch, signature)

    refute valid?.(resource(tenant: "acme"), settings, :pin, signature)
    refute valid?.(resource(tenant: "acme"), settings, :delete, signature)
    refute valid?.(resource(tenant: "globex"), settings, :fetch, signature)
    refute valid?.(resource(tenant: :acme), settings, :fetch, signature)
    refute valid?.(resource(), settings, :fetch, signature)
    refute valid?.(resource(tenant: "acme", id: "abc124"), settings, :fetch, signature)
    refute valid?.(resource(tenant: "acme"), settings(actions: [:fetch]), :fetch, signature)
    refute valid?.(resource(tenant: "acme"), settings(actions: [:fetch, :pin, :metadata]), :pin, signature)
    refute valid?.(resource(tenant: "acme"), settings, :fetch, {expires_at + 1, sig})
    other = Signature.options!(secret: String.reverse(@secret))
    refute valid?.(resource(tenant: "acme"), other, :fetch, signature)
  end

  test "any term can be a tenant" do
    settings = settings()

    for tenant <- [nil, :acme, "acme", 7, {:org, "a", 1}, %{id: 1, name: "b"}] do
      signature = resource(tenant: tenant) |> Signature.query(settings, @now) |> read()
      assert Signature.valid?(resource(tenant: tenant), settings, :fetch, signature, @now)
      refute Signature.valid?(resource(tenant: [tenant]), settings, :fetch, signature, @now)
    end
  end

  test "settings that are wrong are named, without the secret" do
    short = binary_part(@secret, 0, 31)

    for {options, text} <- [
          {[], "secret"},
          {[secret: short], "at least 32 bytes"},
          {[secret: :atom], "at least 32 bytes"},
          {[secret: @secret, ttl: 999], "ttl"},
          {[secret: @secret, ttl: :infinity], "ttl"},
          {[secret: @secret, actions: []], "actions"},
          {[secret: @secret, actions: [:read]], "actions"},
          {[secret: @secret, actions: :fetch], "actions"},
          {[secret: @secret, key: 1], "key"},
          {:secret, "takes secret"}
        ] do
      error = assert_raise ArgumentError, fn -> Signature.options!(options) end
      assert {options, Exception.message(error) =~ text} == {options, true}
      refute Exception.message(error) =~ short
    end
  end

  test "a secret is in no printed term" do
    refute inspect(settings()) =~ binary_part(@secret, 0, 8)
    assert Signature.options!(settings(ttl: 5_000)).ttl == 5_000
  end
end
