defmodule McpServer.DualResponse.Store.Ecto.Table do
  # The names of the two tables. Names cannot be bound as parameters, so nothing but what needs no quoting is let through.
  @moduledoc false

  @default "mcp_dual_responses"

  @doc "The table's name where no other is given."
  @spec default() :: String.t()
  def default, do: @default

  @doc "The tables of the resources and of their rows, as SQL spells them."
  @spec names!(keyword) :: {String.t(), String.t()}
  def names!(options) do
    table = table!(options)
    prefix = prefix!(options[:prefix])
    {prefix <> ~s("#{table}"), prefix <> ~s("#{table}_rows")}
  end

  @doc "The name of the table itself."
  @spec table!(keyword) :: String.t()
  def table!(options) do
    table = Keyword.get(options, :table, @default)
    # The longest name derived of a table's has 23 characters more; PostgreSQL cuts names at 63.
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
