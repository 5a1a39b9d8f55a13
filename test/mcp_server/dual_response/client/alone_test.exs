defmodule McpServer.DualResponse.Client.AloneTest do
  use ExUnit.Case, async: true

  alias McpServer.DualResponse.Client

  defp modules do
    {:ok, modules} = :application.get_key(:mcp_server, :modules)
    for module <- modules, inspect(module) =~ ~r/(DualResponse\.Client|Fetch)\b/, do: module
  end

  # The client's modules, found in the compiled code.
  @tag req: ["S1-01", "S1-03"]
  test "the client needs no server, router or transport of this library, and nothing but OTP" do
    assert McpServer.Fetch.Socket in modules()

    needed =
      for module <- modules(),
          {:ok, {^module, [imports: imports]}} = module |> :code.which() |> :beam_lib.chunks([:imports]),
          {callee, _function, _arity} <- imports,
          inspect(callee) =~ ~r/\A(McpServer|Mix|Logger|Req|Finch|Jason|Plug)\b/,
          callee not in modules(),
          uniq: true,
          do: callee

    # `Response` is the struct that handlers return, and that `parse/2` accepts.
    assert Enum.sort(needed) == [McpServer.DualResponse.Error, McpServer.DualResponse.Response, McpServer.JSON]
  end

  @tag req: "S1-01"
  test "a client is a value, which starts no process" do
    before = Process.list()
    client = Client.new(base_url: "https://api.example.com/resources")
    assert Client.parse(client, %{"content" => []}) == nil
    {:links, links} = Process.info(self(), :links)
    assert Enum.all?(links, &(&1 in before))
  end
end
