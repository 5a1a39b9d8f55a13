defmodule McpServer.Auth.Scopes do
  @moduledoc false
  # Scopes that imply others: who may write may read.

  @doc """
  The hierarchy as a map from each scope to all that it implies.

      iex> McpServer.Auth.Scopes.closure!(%{"admin" => ["write"], "write" => ["read"]})
      %{"admin" => ["read", "write"], "write" => ["read"]}
      iex> McpServer.Auth.Scopes.closure!(%{"a" => ["b"], "b" => ["a"]})
      ** (ArgumentError) implies: "a" implies itself
  """
  @spec closure!(%{String.t() => [String.t()]}) :: %{String.t() => [String.t()]}
  def closure!(implies), do: Map.new(implies, fn {scope, _implied} -> {scope, implied!(scope, implies)} end)

  defp implied!(scope, implies) do
    implied = reach(Map.fetch!(implies, scope), implies, MapSet.new())
    if scope in implied, do: raise(ArgumentError, "implies: #{inspect(scope)} implies itself")
    Enum.sort(implied)
  end

  defp reach([], _implies, found), do: found

  defp reach([scope | others], implies, found) do
    if scope in found,
      do: reach(others, implies, found),
      else: reach(Map.get(implies, scope, []) ++ others, implies, MapSet.put(found, scope))
  end

  @doc """
  What is granted, with all that it implies.

      iex> McpServer.Auth.Scopes.expand(["write", "x"], %{"write" => ["read", "x"]})
      ["write", "x", "read"]
  """
  @spec expand([String.t()], %{String.t() => [String.t()]}) :: [String.t()]
  def expand(granted, closure), do: Enum.uniq(granted ++ Enum.flat_map(granted, &Map.get(closure, &1, [])))
end
