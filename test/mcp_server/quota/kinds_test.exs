defmodule McpServer.Quota.KindsTest do
  # Every kind has a limit and a share, and SECURITY.md tells both.
  use ExUnit.Case, async: true

  alias McpServer.Auth
  alias McpServer.DualResponse.{Options, Rest}
  alias McpServer.Quota.Kinds
  alias McpServer.ServerOptions
  alias McpServer.Tasks.Server
  alias McpServer.Tools

  # The options that a user has not changed, of each scope.
  defp defaults(:server) do
    auth = check!(Auth.Options.table(), resource: "http://localhost/mcp", issuer: "http://localhost")
    Map.put(server(), :cache, auth.cache)
  end

  defp defaults(:node) do
    Enum.reduce([Server, Tools.Server], server(), &Map.merge(&2, check!(&1.table(), [])))
  end

  defp defaults(:endpoint), do: Rest.new(server: McpServer.Results)
  defp defaults(:store), do: check!(Options.table(), name: McpServer.Results, base_url: "https://api.example.com")

  defp server do
    options = check!(ServerOptions.http_server(), router: McpServer.HttpRouter)
    options |> ServerOptions.bounds() |> Map.merge(options.http)
  end

  defp check!(table, options), do: McpServer.Options.check!("a server", table, options)

  for {name, %{of: scope} = kind} <- Kinds.all() do
    case kind do
      %{within: other} ->
        test "#{name} are counted within #{other}, which have a share" do
          assert {limit, share} = Kinds.bound(unquote(other), defaults(unquote(scope)))
          assert share < limit
          assert Keyword.fetch!(Kinds.all(), unquote(other)).of == unquote(scope)
        end

      %{limit: _limit} ->
        test "#{name} have a limit, and a client has a share of it" do
          assert {limit, share} = Kinds.bound(unquote(name), defaults(unquote(scope)))
          assert is_integer(limit) and is_integer(share)
          assert share in 1..(limit - 1)
        end
    end
  end

  test "SECURITY.md lists every kind, its limit, its share and what happens beyond" do
    [_before, rest] =
      "SECURITY.md" |> File.read!() |> String.split("\n| kind | for | limit | one client | beyond it |\n")

    [table | _after] = String.split(rest, "\n\n")

    rows =
      for [_all, name, of, rest] <- Regex.scan(~r/^\| `(\w+)`[^|]* \| ([^|]+) \| (.+) \|$/m, table),
          do: {name, {of, rest}}

    kinds = for {name, %{limit: _limit} = kind} <- Kinds.all(), do: {Atom.to_string(name), kind}
    assert Enum.map(rows, &elem(&1, 0)) |> Enum.sort() == Enum.map(kinds, &elem(&1, 0)) |> Enum.sort()

    for {name, kind} <- kinds, {of, text} = Map.fetch!(Map.new(rows), name) do
      assert {name, of} ==
               {name, %{server: "a server", endpoint: "a REST endpoint", node: "a node", store: "a store"}[kind.of]}

      for said <- [limit(kind.limit), share(kind.share)], do: assert(text =~ said, "#{name}: #{said} is not in #{text}")
    end
  end

  defp limit({:each_scheduler, option}), do: "`#{option}` for each scheduler"
  defp limit(option) when is_atom(option), do: "`#{option}`"
  defp limit(number) when rem(number, 1024 * 1024) == 0, do: "#{div(number, 1024 * 1024)} MiB"
  defp limit(number), do: number |> McpServer.Limit.digits() |> String.replace("_", ",")

  defp share({:part, 8}), do: "an eighth"
  defp share({:count, option}) when is_atom(option), do: "`#{option}`"
  defp share({:count, number}), do: "| #{number} "
  defp share(option) when is_atom(option), do: "`#{option}`"
  defp share(percent), do: "#{percent} %"
end
