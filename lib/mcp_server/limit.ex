defmodule McpServer.Limit do
  @moduledoc false
  # The values of options that are limits: positive integers with a maximum.

  alias McpServer.Suggestion

  @kibi 1024
  @mebi 1024 * @kibi
  @gibi 1024 * @mebi

  # Milliseconds: the longest that the VM's timers can wait.
  @most %{bytes: @gibi, milliseconds: 4_294_967_295, count: 10_000_000, percent: 100}

  @typedoc "The unit of a limit, optionally with a maximum."
  @type unit :: :bytes | :milliseconds | :count | :percent | {unit(), pos_integer()}

  @doc """
  Raises `ArgumentError` unless the option's value is a limit.

      iex> McpServer.Limit.check!(:timeout, 60_000, :milliseconds)
      :ok
      iex> McpServer.Limit.check!(:timeout, :infinity, :milliseconds)
      ** (ArgumentError) expected :timeout to be an integer from 1 to 4_294_967_295 (milliseconds), got: :infinity

      iex> McpServer.Limit.check!(:max_depth, 129, {:count, 128})
      ** (ArgumentError) expected :max_depth to be an integer from 1 to 128, got: 129
  """
  @spec check!(name :: atom() | String.t(), value :: term(), unit()) :: :ok
  def check!(name, value, unit) do
    within?(value, unit) || raise ArgumentError, "expected #{label(name)} to be #{text(unit)}, got: #{inspect(value)}"
    :ok
  end

  defp label(name) when is_binary(name), do: name
  defp label(name), do: inspect(name)

  @doc """
  Checks each limit of a keyword list, and returns the list. `units` are the limits. `others` are further allowed
  options, which are not checked here.

      iex> McpServer.Limit.check_all!([max_variables: 4], max_bytes: :bytes, max_variables: :count)
      [max_variables: 4]
      iex> McpServer.Limit.check_all!([variables: 4], max_bytes: :bytes, max_variables: :count)
      ** (ArgumentError) there is no option :variables, did you mean max_variables? The options are: max_bytes, max_variables
  """
  @spec check_all!(limits, [{atom(), unit()}], others :: [atom()]) :: limits when limits: [{atom(), pos_integer()}]
  def check_all!(limits, units, others \\ []) do
    Keyword.keyword?(limits) || raise ArgumentError, "expected options to be a keyword list, got: #{inspect(limits)}"

    for {name, value} <- limits do
      units[name] || raise ArgumentError, unknown(name, others ++ Keyword.keys(units))
      check!(name, value, units[name])
    end

    limits
  end

  defp unknown(name, names) do
    names = Enum.map(names, &Atom.to_string/1)
    stop = Suggestion.end_sentence(Atom.to_string(name), names)
    "there is no option #{inspect(name)}#{stop} The options are: #{Enum.join(names, ", ")}"
  end

  @doc """
  How many bytes a term counts for that is kept: its words, and its long binaries, which are elsewhere. A few bytes of JSON
  may be many words.

      iex> McpServer.Limit.held_bytes(String.duplicate("x", 1_000)) in 1_000..1_100
      true
      iex> McpServer.Limit.held_bytes(List.duplicate(0, 1_000)) >= 16_000
      true
  """
  @spec held_bytes(term()) :: pos_integer()
  def held_bytes(term), do: :erlang.external_size(term) + :erts_debug.flat_size(term) * :erlang.system_info(:wordsize)

  @doc "Whether a value is valid for a limit."
  @spec within?(term(), unit()) :: boolean()
  def within?(value, unit), do: is_integer(value) and value >= 1 and value <= most(unit)

  @doc """
  The allowed values of a limit, as a text.

      iex> McpServer.Limit.text({:bytes, 65_536})
      "an integer from 1 to 65_536 (bytes)"
  """
  @spec text(unit()) :: String.t()
  def text({unit, most}), do: "an integer from 1 to #{digits(most)}#{name(unit)}"
  def text(unit), do: text({unit, most(unit)})

  defp name(:count), do: ""
  defp name(unit), do: " (#{unit})"

  @doc "The largest value of a limit."
  @spec most(unit()) :: pos_integer()
  def most({_unit, most}), do: most
  def most(unit), do: Map.fetch!(@most, unit)

  @doc """
  A value in the form for documentation.

      iex> {McpServer.Limit.show(10_485_760, :bytes), McpServer.Limit.show(5_000, :milliseconds)}
      {"10 MiB", "5_000"}
  """
  @spec show(pos_integer(), unit() | term()) :: String.t()
  def show(value, {:bytes, _most}), do: show(value, :bytes)
  def show(value, :bytes) when rem(value, @gibi) == 0, do: "#{div(value, @gibi)} GiB"
  def show(value, :bytes) when rem(value, @mebi) == 0, do: "#{div(value, @mebi)} MiB"
  def show(value, :bytes) when rem(value, @kibi) == 0, do: "#{div(value, @kibi)} KiB"
  def show(value, _unit), do: digits(value)

  # The minimum of a heap limit.
  @least_heap_bytes 64 * @kibi

  @doc "The VM's option for a heap limit. It is at least 64 KiB, because no process can run with less."
  @spec heap(bytes :: pos_integer(), log? :: boolean()) :: map()
  def heap(bytes, log?) do
    words = div(max(bytes, @least_heap_bytes), :erlang.system_info(:wordsize))
    %{size: words, kill: true, error_logger: log?}
  end

  @doc """
  An integer in groups of three digits.

      iex> McpServer.Limit.digits(16_384)
      "16_384"
  """
  @spec digits(non_neg_integer()) :: String.t()
  def digits(value) do
    value |> Integer.to_string() |> String.reverse() |> String.replace(~r/(\d{3})(?=\d)/, "\\1_") |> String.reverse()
  end
end
