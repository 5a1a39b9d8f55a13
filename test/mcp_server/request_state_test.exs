defmodule McpServer.RequestStateTest do
  # Not async: the secret is in the application's environment.
  use ExUnit.Case, async: false

  alias McpServer.{Request, RequestState, Secret}

  setup do
    on_exit(fn ->
      for key <- [:secret, :request_state_ttl], do: Application.delete_env(:mcp_server, key)
    end)
  end

  @request %Request{
    id: 1,
    method: "tools/call",
    revision: "2026-07-28",
    kind: :tool,
    index: 0,
    name: "run",
    arguments: %{"a" => 1}
  }

  defp back(sealed, changes \\ %{}), do: struct!(%{@request | id: 2, request_state: sealed}, changes)

  test "what is sealed opens for the same request with another id" do
    for state <- [1, "text", %{a: [1, {2, nil}]}, %MapSet{}] do
      assert RequestState.open(back(RequestState.seal(@request, nil, state)), nil) == {:ok, state}
    end
  end

  # Earlier, every seal failed with a secret longer than the seal's key.
  test "a secret is as long as its owner likes, from 32 bytes on" do
    for bytes <- [32, 33, 64, 1_000] do
      Application.put_env(:mcp_server, :secret, String.duplicate("s", bytes))
      assert RequestState.open(back(RequestState.seal(@request, nil, 1)), nil) == {:ok, 1}
    end
  end

  test "no state is none" do
    assert RequestState.seal(@request, nil, nil) == nil
    assert RequestState.open(@request, nil) == {:ok, nil}
  end

  test "the same state is sealed differently each time" do
    assert RequestState.seal(@request, nil, 1) != RequestState.seal(@request, nil, 1)
  end

  test "it opens for nobody else, and for no other method, name or arguments" do
    sealed = RequestState.seal(@request, "ada", 1)
    assert RequestState.open(back(sealed), "ada") == {:ok, 1}

    for {request, principal} <- [
          {back(sealed), "bob"},
          {back(sealed), nil},
          {back(sealed, %{name: "other"}), "ada"},
          {back(sealed, %{method: "prompts/get"}), "ada"},
          {back(sealed, %{arguments: %{"a" => 2}}), "ada"},
          {back(sealed <> "A"), "ada"},
          {back("AAAA"), "ada"},
          {back(""), "ada"}
        ] do
      assert RequestState.open(request, principal) == {:error, :invalid_state}
    end
  end

  # Earlier, `nil` equalled `""`, and a term equalled the string of its external form.
  test "nobody, a string and any other term are never the same principal" do
    principals = [nil, "", "none", "text ", :ada, "ada", :erlang.term_to_binary(:ada), {:ada}, %{"sub" => "ada"}]

    for sealed_for <- principals, asked_by <- principals do
      sealed = RequestState.seal(@request, sealed_for, 1)
      expected = if sealed_for === asked_by, do: {:ok, 1}, else: {:error, :invalid_state}
      assert {sealed_for, asked_by, RequestState.open(back(sealed), asked_by)} == {sealed_for, asked_by, expected}
    end
  end

  test "it opens at the router and the mount that it was sealed at, and nowhere else" do
    places = [{nil, nil}, {Shop, nil}, {Shop, "http /mcp"}, {Shop, "http /admin"}, {Bank, "http /mcp"}]

    for sealed_at <- places, opened_at <- places do
      sealed = RequestState.seal(@request, "ada", 1, sealed_at)
      expected = if sealed_at == opened_at, do: {:ok, 1}, else: {:error, :invalid_state}
      opened = RequestState.open(back(sealed), "ada", opened_at)
      assert {sealed_at, opened_at, opened} == {sealed_at, opened_at, expected}
    end
  end

  # Each bound part follows its length. Earlier releases bound no router.
  test "a state of the old form is refused" do
    Application.put_env(:mcp_server, :secret, String.duplicate("s", 32))
    request = ["tools/call", "run", :crypto.hash(:sha256, McpServer.JSON.encode!(@request.arguments))]
    old = sealed_by_hand(["ada" | request])
    new = sealed_by_hand(["2", "text ada", "Elixir.Shop", "http /mcp" | request])

    for {sealed, opened} <- [{old, {:error, :invalid_state}}, {new, {:ok, 1}}],
        do: assert(RequestState.open(back(sealed), "ada", {Shop, "http /mcp"}) == opened)

    assert RequestState.open(back(old), "ada") == {:error, :invalid_state}
  end

  defp sealed_by_hand(parts) do
    nonce = :crypto.strong_rand_bytes(24)
    bound_to = for part <- parts, do: <<byte_size(part)::64, part::binary>>
    plain = <<System.system_time(:millisecond) + 60_000::64, :erlang.term_to_binary(1)::binary>>
    key = hchacha20(:crypto.hash(:sha256, String.duplicate("s", 32)), binary_part(nonce, 0, 16))
    short = <<0::32, binary_part(nonce, 16, 8)::binary>>
    {text, tag} = :crypto.crypto_one_time_aead(:chacha20_poly1305, key, short, plain, bound_to, true)
    Base.url_encode64(nonce <> text <> tag, padding: false)
  end

  # The key that XChaCha20 derives from the first 16 bytes of its nonce: a block of ChaCha20 without the last addition.
  defp hchacha20(key, nonce) do
    block = :crypto.crypto_one_time(:chacha20, key, nonce, <<0::512>>, true)
    constants = "expand 32-byte k"
    initial = for <<word::little-32 <- constants <> key <> nonce>>, do: word
    words = for <<word::little-32 <- block>>, do: word
    words = for {word, first} <- Enum.zip(words, initial), do: rem(word - first + 0x100000000, 0x100000000)
    for word <- Enum.take(words, 4) ++ Enum.take(words, -4), into: <<>>, do: <<word::little-32>>
  end

  test "it opens until its time is over, and not after" do
    Application.put_env(:mcp_server, :request_state_ttl, 500)
    now = System.system_time(:millisecond)
    place = {Shop, "http /mcp"}
    sealed = RequestState.seal(@request, nil, 1, place, now)

    for {later, opened} <- [{0, {:ok, 1}}, {499, {:ok, 1}}, {500, {:error, :invalid_state}}],
        do: assert({later, RequestState.open(back(sealed), nil, place, now + later)} == {later, opened})
  end

  test "the time is that of the wall clock" do
    now = System.system_time(:millisecond)
    ttl = RequestState.ttl_ms()
    place = {nil, nil}

    # A minute for a test that is interrupted.
    for {sealed_at, opened} <- [{now - ttl + 60_000, {:ok, 1}}, {now - ttl, {:error, :invalid_state}}],
        do: assert(RequestState.open(back(RequestState.seal(@request, nil, 1, place, sealed_at)), nil) == opened)

    sealed = RequestState.seal(@request, nil, 1)
    assert RequestState.open(back(sealed), nil, place, now + ttl - 1) == {:ok, 1}
    later = System.system_time(:millisecond)
    assert RequestState.open(back(sealed), nil, place, later + ttl) == {:error, :invalid_state}
  end

  test "one secret for several nodes" do
    Application.put_env(:mcp_server, :secret, String.duplicate("s", 32))
    sealed = RequestState.seal(@request, nil, 1)
    # Each start generates a new random secret, which is not used with a configured secret.
    Secret.load()
    assert RequestState.open(back(sealed), nil) == {:ok, 1}
    Application.put_env(:mcp_server, :secret, String.duplicate("t", 32))
    assert RequestState.open(back(sealed), nil) == {:error, :invalid_state}
  end

  test "a secret below 32 bytes stops the start" do
    for secret <- [String.duplicate("s", 31), :secret, 1] do
      Application.put_env(:mcp_server, :secret, secret)
      assert_raise ArgumentError, ~r/at least 32 bytes/, fn -> Secret.load() end
    end
  end
end
