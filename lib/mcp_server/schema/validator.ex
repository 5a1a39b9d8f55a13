defmodule McpServer.Schema.Validator do
  @moduledoc """
  A schema compiled for checking values, by the native core.

  Compile once and keep the result (in a module attribute it cannot live; in a process's state, an ETS
  table or `:persistent_term` it can): checking takes well below a microsecond for the arguments of a
  tool, compiling a thousand times as long.

      iex> {:ok, validator} = McpServer.Schema.Validator.compile(%{"required" => ["q"]})
      iex> McpServer.Schema.Validator.validate(validator, %{"q" => 1})
      :ok
      iex> {:error, error} = McpServer.Schema.Validator.validate(validator, %{})
      iex> [%{pointer: "", keyword: "required"}] = error.problems
      iex> :ok
      :ok

  The dialect is JSON Schema 2020-12 unless `$schema` names draft 4, 6, 7 or 2019-09. Regular expressions
  are matched in linear time, so look-around and back-references are refused. Nothing is ever fetched: a
  `$ref` that leaves the schema is refused.

  A schema has limits, so that no schema costs more than its author meant it to; see `compile/2`.
  """

  alias McpServer.{JSON, Limit, Native}
  alias McpServer.JSON.EncodeError
  alias McpServer.Schema.Error

  @enforce_keys [:ref]
  defstruct [:ref]

  @opaque t :: %__MODULE__{ref: reference}
  @type schema :: map | boolean | McpServer.Schema.t()

  # The most that each can be: what a thread of 64 MiB compiles, and what a check does in seconds.
  @limits [
    max_bytes: 16 * 1024 * 1024,
    max_depth: 127,
    max_subschemas: 100_000,
    max_regex_bytes: 64 * 1024 * 1024,
    max_refs_on_path: 1_000,
    max_steps: 1_000_000_000,
    max_problems: 20
  ]

  @type limit ::
          {:max_bytes, pos_integer}
          | {:max_depth, pos_integer}
          | {:max_subschemas, pos_integer}
          | {:max_regex_bytes, pos_integer}
          | {:max_refs_on_path, pos_integer}
          | {:max_steps, pos_integer}
          | {:max_problems, 1..20}

  @doc """
  Compiles a schema: a map in either kind of keys, a `McpServer.Schema` or a boolean.

  | limit | default | what it limits |
  |---|---|---|
  | `:max_bytes` | 256 KiB | the schema's JSON text, in bytes |
  | `:max_depth` | 64 | subschemas inside each other |
  | `:max_subschemas` | 2,000 | subschemas in all |
  | `:max_regex_bytes` | 1 MiB | memory of one compiled regular expression, in bytes |
  | `:max_refs_on_path` | 64 | references in a row |
  | `:max_steps` | 10 million | looks at the value in one check, some nanoseconds each |
  | `:max_problems` | 20 | problems that are reported for one value; 20 at most |

  The error has `kind: :schema` and one problem. Raises `ArgumentError` for a limit that does not exist, or is none.
  """
  @spec compile(schema, [limit]) :: {:ok, t} | {:error, Error.t()}
  def compile(schema, limits \\ []) do
    limits = limits |> Limit.check_all!(@limits) |> Map.new()

    with {:ok, text} <- JSON.encode(schema), {:ok, ref} <- Native.schema_compile(text, limits) do
      {:ok, %__MODULE__{ref: ref}}
    else
      {:error, %EncodeError{} = error} ->
        {:error, Error.new(:schema, pointer(error.path), "", Exception.message(error))}

      {:error, {kind, detail}} ->
        {:error, Error.new(:schema, "", kind, detail)}
    end
  end

  @doc false
  @spec limits() :: [{atom, pos_integer}]
  def limits, do: @limits

  @doc """
  Checks a value: any term that `McpServer.JSON.encode/2` accepts. Maps may have atoms for keys, and
  atoms count as the strings they are written as.

  The error has `kind: :value` and up to 20 problems. A schema that was not compiled before is compiled
  on the spot, and the error may be about that.
  """
  @spec validate(t | schema, term) :: :ok | {:error, Error.t()}
  def validate(%__MODULE__{ref: ref}, value) do
    result =
      with :over_budget <- Native.schema_validate(ref, value) do
        Native.Dirty.call(fn -> Native.schema_validate_dirty(ref, value) end)
      end

    with {:error, problems} <- result, do: {:error, error(problems)}
  end

  def validate(schema, value) do
    with {:ok, validator} <- compile(schema), do: validate(validator, value)
  end

  defp error(problems) when is_list(problems), do: %Error{kind: :value, problems: problems}

  defp error({:unsupported, {_kind, path, _detail} = reason}) do
    Error.new(:value, pointer(path), "type", reason |> EncodeError.new() |> Exception.message())
  end

  defp pointer(path), do: Enum.map_join(path, &("/" <> escape(&1)))

  defp escape(index) when is_integer(index), do: Integer.to_string(index)
  defp escape(key), do: key |> String.replace("~", "~0") |> String.replace("/", "~1")
end
