defmodule McpServer.Schema.Validator do
  @moduledoc """
  A schema that the native core has compiled for validation.

  Compile once and store the result in a process's state, an ETS table or `:persistent_term`; a module attribute cannot
  hold it. Validation of a tool's arguments takes well below a microsecond, compilation a thousand times as long.

      iex> {:ok, validator} = McpServer.Schema.Validator.compile(%{"required" => ["q"]})
      iex> McpServer.Schema.Validator.validate(validator, %{"q" => 1})
      :ok
      iex> {:error, error} = McpServer.Schema.Validator.validate(validator, %{})
      iex> [%{pointer: "", keyword: "required"}] = error.problems
      iex> :ok
      :ok

  The dialect is JSON Schema 2020-12 unless `$schema` names draft 4, 6, 7 or 2019-09. Regular expressions are matched in
  linear time, so look-around and back-references are refused. Expressions that are slow for each byte, such as
  `a.{0,1000}b`, count as more steps (see `guides/limits.md`). Numbers are compared exactly, integers of any size. The
  validator never fetches a document: a `$ref` must lead into the schema or into one of its `:documents`.

  Limits bound the cost of a schema; see `compile/2`.

  ## Formats

  By default `format` does not affect validity: 2019-09 and 2020-12 specify this, and older drafts leave it open. With
  `formats: :assert`, or a list of names, a string must have the format.

  | from | formats |
  |---|---|
  | draft 4 | `date`, `date-time`, `email`, `hostname`, `ipv4`, `ipv6`, `regex`, `time`, `uri` |
  | draft 6 | `json-pointer`, `uri-reference`, `uri-template` |
  | draft 7 | `iri`, `iri-reference`, `relative-json-pointer` |
  | 2019-09 | `duration`, `uuid` |

  In an earlier draft, and with any other name, a format stays an annotation. So do `idn-email` and `idn-hostname`,
  because their rules need Unicode tables that this library does not include. `date-time` and `time` require an offset
  (`Z`, `+01:00`), as in RFC 3339.

  ## Repair

  `repair/2` corrects typical mistakes of models: `"42"` for an integer, an array or object as a string of JSON, one
  value in place of a list. It changes only parts of an invalid value whose schema allows one type and that have another
  type. It adds and removes no members, and keeps a string wherever the schema allows one. It returns the result only if
  it is valid. One value becomes a list if the items have one type, and the value has this type or is repaired to it:
  `7`, or `"7"`, for a list of integers. A blank string does not become a list, because it may mean no item.

      iex> {:ok, validator} = McpServer.Schema.Validator.compile(%{properties: %{limit: %{type: "integer"}}})
      iex> McpServer.Schema.Validator.repair(validator, %{"limit" => "42"})
      {:ok, %{"limit" => 42}, [:number]}
  """

  alias McpServer.{JSON, Limit, Native}
  alias McpServer.JSON.{EncodeError, Structs}
  alias McpServer.Schema.Error

  @enforce_keys [:ref]
  defstruct [:ref]

  @opaque t :: %__MODULE__{ref: reference}
  @type schema :: map | boolean | McpServer.Schema.t()

  # The maxima of the limits: a thread of 64 MiB can compile such a schema, and a check takes seconds.
  @limits [
    max_bytes: {:bytes, 16 * 1024 * 1024},
    max_depth: {:count, 127},
    max_subschemas: {:count, 100_000},
    max_regex_bytes: {:bytes, 64 * 1024 * 1024},
    max_refs_on_path: {:count, 1_000},
    max_steps: {:count, 1_000_000_000},
    max_problems: {:count, 20}
  ]

  @options [:formats, :documents]

  @type limit ::
          {:max_bytes, pos_integer}
          | {:max_depth, pos_integer}
          | {:max_subschemas, pos_integer}
          | {:max_regex_bytes, pos_integer}
          | {:max_refs_on_path, pos_integer}
          | {:max_steps, pos_integer}
          | {:max_problems, 1..20}

  @typedoc "`:assert` checks every format of the schema's draft; a list checks the named formats."
  @type formats :: :annotate | :assert | [String.t()]

  @type option :: limit | {:formats, formats} | {:documents, %{String.t() => schema}}

  @typedoc """
  The kind of one change: a number or a boolean from a string, an array or object from a string of JSON, or a list from
  one value.
  """
  @type repair :: :number | :boolean | :json | :list

  @doc """
  Compiles a schema: a map in either kind of keys, a `McpServer.Schema` or a boolean.

  | option | default | meaning |
  |---|---|---|
  | `:formats` | `:annotate` | the checked formats: `:annotate` (none), `:assert` (all known formats) or a list of names |
  | `:documents` | `%{}` | schemas that the schema may reference, by their absolute URIs |
  | `:max_bytes` | 256 KiB | JSON text, in bytes |
  | `:max_depth` | 64 | subschemas inside each other |
  | `:max_subschemas` | 2,000 | subschemas in all |
  | `:max_regex_bytes` | 1 MiB | memory of one compiled regular expression, in bytes; all of them share sixteen times as much |
  | `:max_refs_on_path` | 64 | references in a row |
  | `:max_steps` | 2 million | steps of one validation, some nanoseconds each |
  | `:max_problems` | 20 | reported problems of one value; at most 20 |

  Limits apply to the schema and its documents together. A document without `$schema` has the dialect of the schema.

      iex> documents = %{"https://example.com/amount" => %{"type" => "number", "minimum" => 0}}
      iex> schema = %{"properties" => %{"price" => %{"$ref" => "https://example.com/amount"}}}
      iex> {:ok, validator} = McpServer.Schema.Validator.compile(schema, documents: documents)
      iex> {:error, error} = McpServer.Schema.Validator.validate(validator, %{"price" => -1})
      iex> Exception.message(error)
      "/price: must be at least 0 (minimum)"

  The error has `kind: :schema` and one problem. Raises `ArgumentError` for an unknown option, an invalid limit,
  documents that are not a map with string keys, and invalid `:formats`.
  """
  @spec compile(schema, [option]) :: {:ok, t} | {:error, Error.t()}
  def compile(schema, options \\ []) do
    {options, limits} = Keyword.split(options, @options)
    limits = limits |> Limit.check_all!(@limits, @options) |> Map.new()
    formats = formats!(options[:formats])

    with {:ok, text} <- JSON.encode(schema),
         {:ok, documents} <- texts(documents!(options[:documents])),
         {:ok, ref} <- Native.Dirty.call(fn -> Native.schema_compile(text, limits, formats, documents) end) do
      {:ok, %__MODULE__{ref: ref}}
    else
      {:error, %EncodeError{} = error} -> {:error, Error.encoding(error)}
      {:error, {{pointer, keyword}, detail}} -> {:error, Error.new(:schema, pointer, keyword, detail)}
    end
  end

  defp formats!(nil), do: :annotate

  defp formats!(formats) do
    if formats?(formats),
      do: formats,
      else: raise(ArgumentError, "formats are :annotate, :assert or a list of names, got: #{inspect(formats)}")
  end

  @doc false
  @spec formats?(term) :: boolean
  def formats?(formats),
    do: formats in [:annotate, :assert] or (is_list(formats) and Enum.all?(formats, &is_binary/1))

  defp documents!(nil), do: []

  defp documents!(documents) do
    if is_map(documents) and Enum.all?(documents, &is_binary(elem(&1, 0))),
      do: Enum.sort_by(documents, &elem(&1, 0)),
      else: raise(ArgumentError, "documents are a map of URIs and schemas, got: #{inspect(documents, limit: 5)}")
  end

  defp texts(documents) do
    Enum.reduce_while(documents, {:ok, []}, fn {uri, schema}, {:ok, texts} ->
      case JSON.encode(schema) do
        {:ok, text} -> {:cont, {:ok, [{uri, text} | texts]}}
        {:error, error} -> {:halt, {:error, %{error | path: [uri | error.path]}}}
      end
    end)
  end

  @doc false
  @spec limits() :: [{atom, Limit.unit()}]
  def limits, do: @limits

  @doc """
  Validates a value: any term that `McpServer.JSON.encode/2` accepts. Keys of maps may be atoms, and atoms count as
  strings.

  The error has `kind: :value` and up to 20 problems. A schema that is not compiled yet is compiled first, and the error
  may be about the schema.
  """
  @spec validate(t | schema, term) :: :ok | {:error, Error.t()}
  def validate(%__MODULE__{} = validator, value) do
    with {:error, reason} <- check(validator, value), do: {:error, error(reason)}
  end

  def validate(schema, value) do
    with {:ok, validator} <- compile(schema), do: validate(validator, value)
  end

  @doc false
  @spec check(t, term) :: :ok | {:error, [Error.problem()] | EncodeError.t()}
  def check(%__MODULE__{ref: ref}, value) do
    result =
      Structs.write(value, fn value ->
        with :over_budget <- Native.schema_validate(ref, value),
             do: Native.Dirty.call(fn -> Native.schema_validate_dirty(ref, value) end)
      end)

    with {:error, {:unsupported, reason}} <- result, do: {:error, EncodeError.new(reason)}
  end

  @doc """
  Validates a value like `validate/2`, and repairs an invalid value where the schema makes the intended value clear.

  The changes are listed in their order; a valid value is returned unchanged, without changes. A repair makes at most
  256 changes and decodes at most 256 KiB of JSON in strings, within the limits of `McpServer.JSON.decode/2`. The
  intended value is clear if the subschema names one type, neither it nor a subschema above it has `anyOf`, `oneOf`,
  `allOf`, `not` or `if`, references stay inside the schema, and the schema uses a standard dialect. The error is the
  same as that of `validate/2`.

      iex> {:ok, validator} = McpServer.Schema.Validator.compile(%{type: "array", items: %{type: "integer"}})
      iex> McpServer.Schema.Validator.repair(validator, "[1, 2]")
      {:ok, [1, 2], [:json]}
      iex> McpServer.Schema.Validator.repair(validator, "7")
      {:ok, [7], [:list, :number]}
      iex> {:error, error} = McpServer.Schema.Validator.repair(validator, "seven")
      iex> Exception.message(error)
      "(root): must be an array (type)"
  """
  @spec repair(t, term) :: {:ok, term, [repair]} | {:error, Error.t()}
  def repair(%__MODULE__{ref: ref}, value) do
    repair = fn value -> Native.Dirty.call(fn -> Native.schema_repair(ref, value) end) end

    case Structs.write(value, repair) do
      {:error, {:unsupported, reason}} -> {:error, error(EncodeError.new(reason))}
      {:error, problems} -> {:error, error(problems)}
      repaired -> repaired
    end
  end

  defp error(problems) when is_list(problems), do: %Error{kind: :value, problems: problems}

  defp error(%EncodeError{} = error), do: Error.new(:value, Error.pointer(error.path), "type", Exception.message(error))
end
