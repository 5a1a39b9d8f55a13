# Requests and their responses, row by row, the same for both servers; see `McpServer.HttpTable`.
for {name, kind} <- [HttpTableListenerTest: :listener, HttpTablePlugTest: :plug] do
  defmodule Module.concat(McpServer, name) do
    use ExUnit.Case, async: true

    alias McpServer.{HttpServers, HttpTable}

    @moduletag :capture_log

    setup_all do: {:ok, server: HttpServers.start(unquote(kind))}

    for %{name: name, req: req, only: only} <- HttpTable.rows(), only in [nil, kind] do
      @tag req: req
      test "#{kind}: #{name}", %{server: server} do
        HttpTable.check(server, HttpTable.fetch(unquote(name)))
      end
    end
  end
end

defmodule McpServer.HttpTableTest do
  use ExUnit.Case, async: true

  alias McpServer.{HttpServers, HttpTable}

  @moduletag :capture_log

  test "no two rows have one name" do
    names = for row <- HttpTable.rows(), do: row.name
    assert names -- Enum.uniq(names) == []
  end

  @tag slow: "every row of the table, to both servers"
  test "both servers give the same answers, byte for byte" do
    servers = for kind <- [:listener, :plug], do: HttpServers.start(kind)

    for %{only: nil} = row <- HttpTable.rows() do
      [listener, plug] = for server <- servers, do: HttpTable.check(server, row)
      assert {row.name, content(listener)} == {row.name, content(plug)}
    end
  end

  # Ignores differences between runs: error ids of failed handlers, and streams, which were read already.
  defp content(%{status: status, body: body}) when is_binary(body),
    do: {status, String.replace(body, ~r/error id [0-9a-f]{16}/, "error id …")}

  defp content(%{status: status}), do: status
end
