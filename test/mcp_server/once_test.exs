defmodule McpServer.OnceTest do
  # Ids that may be used once. To sweep drops the ids of other tests, so this module runs alone.
  use ExUnit.Case

  alias McpServer.{Once, Quota}
  alias McpServer.Quota.Client

  @ada Client.new({"https://auth.example", "ada"}, nil)
  @ben Client.new({"https://auth.example", "ben"}, nil)

  setup do
    until = System.system_time(:second) + 100_000
    on_exit(fn -> Once.sweep(until) end)
    %{until: until, ids: for(_ <- 1..2, do: :crypto.strong_rand_bytes(16))}
  end

  defp full(kind), do: Quota.put_bound(Quota.of_node(), kind, {1, 1})

  for kind <- [:proofs, :consents] do
    @kind kind

    test "#{kind}: no more are taken when the table is full, and what has expired is forgotten", context do
      %{until: until, ids: [first, second]} = context
      assert Once.use_up(@kind, first, until, @ada) == :ok
      assert Once.use_up(@kind, first, until, @ada) == :used
      assert Once.use_up(@kind, second, until, @ada, nil, full(@kind)) == :full
      assert Once.use_up(@kind, first, until, @ada, nil, full(@kind)) == :used
      assert Once.sweep(until - 1) == :ok
      assert Once.use_up(@kind, first, until, @ada) == :used
      assert Once.sweep(until) == :ok
      assert Once.use_up(@kind, first, until, @ada) == :ok
    end
  end

  for {kind, share} <- [proofs: 125_000, consents: 12_500] do
    @kind kind
    @share share

    test "#{kind}: one client has an eighth, and gets its share back", %{until: until} do
      use_up = fn client -> Once.use_up(@kind, :crypto.strong_rand_bytes(32), until, client) end
      for _ <- 1..@share, do: assert(use_up.(@ada) == :ok)
      assert use_up.(@ada) == :full
      assert use_up.(@ben) == :ok
      Once.sweep(until)
      assert use_up.(@ada) == :ok
      Once.sweep(until)
      for client <- [@ada, @ben], do: assert(Quota.held(Quota.of_node(), @kind, client) == 0)
    end
  end

  test "its user may use an id again, and nobody else", %{until: until, ids: [id, _]} do
    assert Once.use_up(:consents, id, until, @ada, :call) == :ok
    assert Once.use_up(:consents, id, until, @ada, :call, full(:consents)) == :ok
    assert Once.use_up(:consents, id, until, @ada, :another) == :used
    assert Once.use_up(:proofs, id, until, @ada) == :ok
    assert Quota.held(Quota.of_node(), :consents, @ada) == 1
  end
end
