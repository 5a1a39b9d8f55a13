defmodule McpServer.Limit do
  @moduledoc false
  # What an option that bounds something can be: a positive integer, and none so large that it bounds nothing.

  # The longest that the VM's timers can wait, in milliseconds.
  @longest 4_294_967_295

  @most %{
    bytes: 1024 * 1024 * 1024,
    words: 4 * 1024 * 1024 * 1024,
    milliseconds: @longest,
    count: 10_000_000
  }

  @typedoc "What is counted, or the most that it can be."
  @type unit :: :bytes | :words | :milliseconds | :count | pos_integer()

  @doc """
  Raises `ArgumentError` unless the option's value is a limit.

      iex> McpServer.Limit.check!(:timeout, 60_000, :milliseconds)
      :ok
      iex> McpServer.Limit.check!(:timeout, :infinity, :milliseconds)
      ** (ArgumentError) expected :timeout to be a positive integer, got: :infinity

      iex> McpServer.Limit.check!(:max_depth, 129, 128)
      ** (ArgumentError) expected :max_depth to be at most 128, got: 129
  """
  @spec check!(name :: atom() | String.t(), value :: term(), unit()) :: :ok
  def check!(name, value, unit) do
    most = most(unit)

    cond do
      not is_integer(value) or value < 1 ->
        raise ArgumentError, "expected #{label(name)} to be a positive integer, got: #{inspect(value)}"

      value > most ->
        raise ArgumentError, "expected #{label(name)} to be at most #{most}, got: #{inspect(value)}"

      true ->
        :ok
    end
  end

  defp label(name) when is_binary(name), do: name
  defp label(name), do: inspect(name)

  @doc """
  Checks each limit of a keyword list, and returns it. `units` are those there are, `others` the options beside them,
  which are looked at elsewhere.

      iex> McpServer.Limit.check_all!([max_variables: 4], max_bytes: 65_536, max_variables: 256)
      [max_variables: 4]
      iex> McpServer.Limit.check_all!([variables: 4], max_bytes: 65_536, max_variables: 256)
      ** (ArgumentError) there is no option :variables; there are [:max_bytes, :max_variables]
  """
  @spec check_all!(limits, [{atom(), unit()}], others :: [atom()]) :: limits when limits: [{atom(), pos_integer()}]
  def check_all!(limits, units, others \\ []) do
    Keyword.keyword?(limits) || raise ArgumentError, "expected options to be a keyword list, got: #{inspect(limits)}"

    for {name, value} <- limits do
      units[name] ||
        raise ArgumentError, "there is no option #{inspect(name)}; there are #{inspect(others ++ Keyword.keys(units))}"

      check!(name, value, units[name])
    end

    limits
  end

  @doc "The largest value of a limit."
  @spec most(unit()) :: pos_integer()
  def most(unit) when is_integer(unit), do: unit
  def most(unit), do: Map.fetch!(@most, unit)
end
