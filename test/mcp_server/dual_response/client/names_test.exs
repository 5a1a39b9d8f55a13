defmodule McpServer.DualResponse.Client.NamesTest do
  # Host names: the names that reach the resolver, and the state after the lookup. One name is defined for this VM, so
  # the tests are not async.
  use ExUnit.Case, async: false

  import McpServer.ScriptedResource
  import McpServer.ScriptedServer

  alias McpServer.DualResponse.Client.Parsed

  setup do
    %{
      server:
        start(fn request -> if(request.method == "GET", do: "rubbish", else: [json(page([0], 0, 99, 1)), "more"]) end)
    }
  end

  defp named(server, name),
    do: parsed(%{server | url: String.replace(server.url, "127.0.0.1", name)}, allow_insecure: true)

  @tag req: "Y11"
  test "this machine's own names are not looked up", %{server: server} do
    for name <- ["localhost", "localhost.", "rows.localhost"] do
      assert {^name, {:ok, %{data: [%{"id" => 0}]}}} = {name, Parsed.fetch(named(server, name))}
    end
  end

  @tag req: "Y11"
  test "nothing stays behind in the caller, which may trap exits: no message and no socket", %{server: server} do
    Process.flag(:trap_exit, true)
    lookup = :inet_db.res_option(:lookup)
    :inet_db.set_lookup([:file])
    :inet_db.add_host({127, 0, 0, 1}, [~c"rows.test"])

    on_exit(fn ->
      :inet_db.set_lookup(lookup)
      :inet_db.del_host({127, 0, 0, 1})
    end)

    named = named(server, "rows.test")
    {:links, links} = Process.info(self(), :links)

    for _round <- 1..20 do
      assert {:ok, _page} = Parsed.fetch(named)
      assert {:error, _error} = Parsed.metadata(named)
    end

    assert length(all_requested(server)) == 40
    assert Process.info(self(), :messages) == {:messages, []}
    assert Process.info(self(), :links) == {:links, links}
  end
end
