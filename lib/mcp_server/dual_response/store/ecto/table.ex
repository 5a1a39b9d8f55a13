defmodule McpServer.DualResponse.Store.Ecto.Table do
  # The names of the two tables. SQL cannot bind names as parameters, so only names that need no quotes are allowed.
  @moduledoc false

  @default "mcp_dual_responses"

  @doc "The default name of the table."
  @spec default() :: String.t()
  def default, do: @default

  @doc "The tables of the resources and of their rows, as written in SQL."
  @spec names!(keyword) :: {String.t(), String.t()}
  def names!(options) do
    table = table!(options)
    prefix = prefix!(options[:prefix])
    {prefix <> ~s("#{table}"), prefix <> ~s("#{table}_rows")}
  end

  @doc "The unqualified name of the table."
  @spec table!(keyword) :: String.t()
  def table!(options) do
    table = Keyword.get(options, :table, @default)
    # The longest derived name has 23 more characters, and PostgreSQL cuts names at 63.
    if is_binary(table) and table =~ ~r/\A[a-z_][a-z0-9_]{0,39}\z/, do: table, else: invalid!(:table, table, 40)
  end

  defp prefix!(nil), do: ""

  defp prefix!(prefix) do
    if is_binary(prefix) and prefix =~ ~r/\A[a-z_][a-z0-9_]{0,62}\z/,
      do: ~s("#{prefix}".),
      else: invalid!(:prefix, prefix, 63)
  end

  defp invalid!(option, value, length) do
    raise ArgumentError,
          "expected #{inspect(option)} to be at most #{length} lower-case letters, digits and underscores " <>
            "that do not begin with a digit, got: #{inspect(value)}"
  end
end
