defmodule McpServer.DualResponse.Store.Ecto.Term do
  # Terms as JSON text that survives `jsonb` unchanged. Terms that JSON or PostgreSQL's numbers would change are marked.
  # Reading creates no atoms and no functions.
  @moduledoc false

  alias McpServer.JSON

  defmodule Error do
    @moduledoc false
    defexception [:reason]

    @type t :: %__MODULE__{
            reason: :function | :process | :unreadable | :unknown_atom | :unknown_module
          }

    @impl true
    def message(%{reason: :function}), do: "a function cannot be kept in a database"
    def message(%{reason: :process}), do: "a process, port or reference cannot be kept in a database"
    def message(%{reason: :unreadable}), do: "a value in the database is not what was written there"
    def message(%{reason: :unknown_atom}), do: "a value in the database names an atom that this node does not know"
    def message(%{reason: :unknown_module}), do: "a query in the database names a module that this node does not have"
  end

  # A marked map needs two of the 128 levels that JSON text may have.
  @max_depth 50

  # JSON numbers with more digits are not read back.
  @max_integer Integer.pow(10, 1000)

  @doc "The text of a term. Raises `Error` for functions, and for pids, ports and references."
  @spec dump!(term) :: String.t()
  def dump!(term), do: term |> mark(0) |> JSON.encode!()

  @doc "The term of a text from `dump!/1`. Raises `Error` if this node cannot decode it."
  @spec load!(String.t()) :: term
  def load!(text), do: text |> decode() |> unmark()

  @doc "Whether PostgreSQL accepts a binary as text: it has no zero byte."
  @spec text?(binary) :: boolean
  def text?(binary), do: String.valid?(binary) and :binary.match(binary, <<0>>) == :nomatch

  @doc "The text of a resource's query, whose references are `{module, function, arguments}`."
  @spec dump_query!(map) :: String.t()
  def dump_query!(query) do
    JSON.encode!(%{"execute" => reference(query.execute), "count" => reference(query.count)})
  end

  defp reference({module, function, arguments}) when is_atom(module) and is_atom(function) and is_list(arguments) do
    %{"module" => Atom.to_string(module), "function" => Atom.to_string(function), "arguments" => mark(arguments, 0)}
  end

  defp reference(_closure), do: raise(Error, reason: :function)

  @doc "The query of a text from `dump_query!/1`. Loads the modules, so that their atoms exist."
  @spec load_query!(String.t()) :: map
  def load_query!(text) do
    %{"execute" => execute, "count" => count} = decode(text)
    %{execute: loaded_reference(execute), count: loaded_reference(count)}
  end

  defp loaded_reference(%{"module" => module, "function" => function, "arguments" => arguments}) do
    module = known_atom(module)
    Code.ensure_loaded?(module) || raise Error, reason: :unknown_module
    {module, known_atom(function), unmark(arguments)}
  end

  # Term to JSON

  defp mark(term, _depth) when is_boolean(term) or is_nil(term), do: term
  defp mark(term, _depth) when is_integer(term) and abs(term) < @max_integer, do: term

  defp mark(term, _depth) when is_atom(term) do
    name = Atom.to_string(term)
    if text?(name), do: %{"$atom" => name}, else: external(term)
  end

  defp mark(term, _depth) when is_float(term), do: if(exact?(term), do: term, else: external(term))
  defp mark(term, _depth) when is_binary(term), do: if(text?(term), do: term, else: external(term))
  defp mark(term, depth) when depth >= @max_depth, do: external(term)

  defp mark(term, depth) when is_list(term) do
    if List.improper?(term), do: external(term), else: Enum.map(term, &mark(&1, depth + 1))
  end

  defp mark(term, depth) when is_map(term) and not is_struct(term) do
    case keys(term) do
      :texts -> for {key, value} <- term, into: %{}, do: {key, mark(value, depth + 1)}
      :atoms -> %{"$atoms" => for({key, value} <- term, into: %{}, do: {Atom.to_string(key), mark(value, depth + 1)})}
      :others -> external(term)
    end
  end

  defp mark(term, _depth), do: external(term)

  defp keys(map) do
    cond do
      Enum.all?(map, fn {key, _value} -> is_binary(key) and text?(key) and not match?("$" <> _mark, key) end) -> :texts
      Enum.all?(map, fn {key, _value} -> is_atom(key) and text?(Atom.to_string(key)) end) -> :atoms
      true -> :others
    end
  end

  # PostgreSQL stores numbers as decimals: a large float would become an integer, and minus zero would become zero.
  defp exact?(float), do: (float != 0.0 and abs(float) < 1.0e15) or <<float::float>> == <<0.0::float>>

  defp external(term) do
    lasting!(term)
    %{"$term" => term |> :erlang.term_to_binary() |> Base.encode64()}
  end

  defp lasting!(term) when is_function(term), do: raise(Error, reason: :function)
  defp lasting!(term) when is_pid(term) or is_port(term) or is_reference(term), do: raise(Error, reason: :process)
  defp lasting!([head | tail]), do: lasting!(head) && lasting!(tail)
  defp lasting!(term) when is_tuple(term), do: term |> Tuple.to_list() |> lasting!()
  defp lasting!(term) when is_map(term), do: term |> Map.to_list() |> Enum.all?(&lasting!/1)
  defp lasting!(_scalar), do: true

  # JSON to term

  # The size was limited when the text was written.
  defp decode(text) do
    size = byte_size(text) + 1

    case JSON.decode(text, max_bytes: size, max_values: size) do
      {:ok, json} -> json
      {:error, _error} -> raise Error, reason: :unreadable
    end
  end

  defp unmark(%{"$atoms" => map}), do: for({key, value} <- map, into: %{}, do: {known_atom(key), unmark(value)})
  defp unmark(%{"$atom" => name}), do: known_atom(name)
  defp unmark(%{"$term" => text}), do: known_term(text)
  defp unmark(%{} = map), do: for({key, value} <- map, into: %{}, do: {key, unmark(value)})
  defp unmark(list) when is_list(list), do: Enum.map(list, &unmark/1)
  defp unmark(scalar), do: scalar

  defp known_atom(name) do
    String.to_existing_atom(name)
  rescue
    ArgumentError -> reraise Error, [reason: :unknown_atom], __STACKTRACE__
  end

  # `:safe` refuses unknown atoms.
  defp known_term(text) do
    term = text |> Base.decode64!() |> :erlang.binary_to_term([:safe])
    lasting!(term)
    term
  rescue
    _error in [ArgumentError, Error] -> reraise Error, [reason: :unreadable], __STACKTRACE__
  end
end
