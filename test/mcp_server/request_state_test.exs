defmodule McpServer.RequestStateTest do
  # Not async: the secret is the application's environment.
  use ExUnit.Case, async: false

  alias McpServer.{Request, RequestState}

  setup do
    on_exit(fn ->
      for key <- [:secret, :request_state_ttl_ms], do: Application.delete_env(:mcp_server, key)
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

  # A secret longer than the key of the seal once made every seal fail.
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

  test "it opens until its time is over, and not after" do
    Application.put_env(:mcp_server, :request_state_ttl_ms, 500)
    sealed = RequestState.seal(@request, nil, 1)
    assert RequestState.open(back(sealed), nil) == {:ok, 1}
    Process.sleep(520)
    assert RequestState.open(back(sealed), nil) == {:error, :invalid_state}
  end

  test "one secret for several nodes" do
    Application.put_env(:mcp_server, :secret, String.duplicate("s", 32))
    sealed = RequestState.seal(@request, nil, 1)
    # Another start draws another secret, which the configured one makes irrelevant.
    RequestState.load()
    assert RequestState.open(back(sealed), nil) == {:ok, 1}
    Application.put_env(:mcp_server, :secret, String.duplicate("t", 32))
    assert RequestState.open(back(sealed), nil) == {:error, :invalid_state}
  end

  test "a secret below 32 bytes stops the start" do
    for secret <- [String.duplicate("s", 31), :secret, 1] do
      Application.put_env(:mcp_server, :secret, secret)
      assert_raise ArgumentError, ~r/at least 32 bytes/, fn -> RequestState.load() end
    end
  end
end
