defmodule McpServer.Auth.Scopes do
  @moduledoc false
  # Scopes: their syntax, their hierarchy, and whether a client has the scopes that a router's entry needs.

  alias McpServer.{Auth, Conn}

  @doc "Whether a value is a list of scopes (RFC 6749)."
  @spec valid?(term()) :: boolean()
  def valid?(scopes), do: is_list(scopes) and not List.improper?(scopes) and Enum.all?(scopes, &scope?/1)

  @doc "The scope that clients request themselves, so a server must not ask for it (SEP-2207)."
  @spec offline() :: String.t()
  def offline, do: "offline_access"

  defp scope?(scope), do: is_binary(scope) and scope =~ ~r/\A[\x21\x23-\x5B\x5D-\x7E]+\z/

  @doc """
  Whether the client of a handler has the scopes. Over stdio there are no tokens, so the check always passes.
  """
  @spec check(Conn.t(), [String.t()]) :: :ok | {:error, {:insufficient_scope, [String.t()]}}
  def check(%Conn{auth: nil, mount: nil}, _scopes), do: :ok
  def check(%Conn{auth: nil}, scopes), do: {:error, {:insufficient_scope, scopes}}

  def check(%Conn{auth: %Auth{scopes: granted}}, scopes),
    do: if(scopes -- granted == [], do: :ok, else: {:error, {:insufficient_scope, scopes}})

  @doc "Whether an entry of a router needs scopes."
  @spec asked?(McpServer.Catalog.t()) :: boolean()
  def asked?(catalog) do
    [catalog.tools, catalog.prompts, catalog.resources, catalog.templates]
    |> Enum.flat_map(&Tuple.to_list/1)
    |> Enum.any?(&asks?/1)
  end

  defp asks?(%{access: %{rule: rule, checks: checks}}),
    do: Enum.any?((rule || []) ++ checks, &match?({_key, {:conn, __MODULE__, :check, _scopes}}, &1))

  defp asks?(_open), do: false

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
  The granted scopes with all implied scopes.

      iex> McpServer.Auth.Scopes.expand(["write", "x"], %{"write" => ["read", "x"]})
      ["write", "x", "read"]
  """
  @spec expand([String.t()], %{String.t() => [String.t()]}) :: [String.t()]
  def expand(granted, closure), do: Enum.uniq(granted ++ Enum.flat_map(granted, &Map.get(closure, &1, [])))
end
