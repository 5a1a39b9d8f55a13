defmodule McpServer.Schema.Validator do
  @moduledoc """
  A schema compiled for checking values, by the native core.

  Compile once and store the result in a process's state, an ETS table or `:persistent_term`; a module attribute cannot
  hold it. To check the arguments of a tool takes well below a microsecond, to compile a schema a thousand times as
  long.

      iex> {:ok, validator} = McpServer.Schema.Validator.compile(%{"required" => ["q"]})
      iex> McpServer.Schema.Validator.validate(validator, %{"q" => 1})
      :ok
      iex> {:error, error} = McpServer.Schema.Validator.validate(validator, %{})
      iex> [%{pointer: "", keyword: "required"}] = error.problems
      iex> :ok
      :ok

  The dialect is JSON Schema 2020-12 unless `$schema` names draft 4, 6, 7 or 2019-09. Regular expressions
  are matched in linear time, so look-around and back-references are refused; those that are slow with each
  byte, such as `a.{0,1000}b`, count as more steps (see `guides/limits.md`). Numbers are compared exactly,
  integers of any size. Nothing is ever fetched: a
  `$ref` that leads neither into the schema nor into one of the documents given with it is refused.

  A schema has limits, so that no schema costs more than its author meant it to; see `compile/2`.

  ## Formats

  `format` says nothing about validity unless that is asked for: 2019-09 and 2020-12 have it so, and the older
  drafts leave it open. With `formats: :assert`, or a list of names, a string has to have the format.

  | from | formats |
  |---|---|
  | draft 4 | `date`, `date-time`, `email`, `hostname`, `ipv4`, `ipv6`, `regex`, `time`, `uri` |
  | draft 6 | `json-pointer`, `uri-reference`, `uri-template` |
  | draft 7 | `iri`, `iri-reference`, `relative-json-pointer` |
  | 2019-09 | `duration`, `uuid` |

  In an earlier draft, and with any other name, a format stays an annotation. So do `idn-email` and `idn-hostname`:
  which names they allow depends on tables of Unicode that this library does not carry. `date-time` and `time` want an
  offset (`Z`, `+01:00`), as RFC 3339 does.

  ## Repair

  `repair/2` is for what models send: `"42"` for an integer, an array or object as a string of JSON, one value for a
  list of them. In an invalid value it changes only parts whose place allows one type, and that have another. It adds
  and removes nothing, and leaves a string wherever a string is allowed. It returns the result only if that is valid.
  One value becomes a list where the items have one type and the value has it, or is repaired to it: `7`, or `"7"`, for
  a list of integers. A blank string does not, for it may mean no item at all.

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

  # The most that each can be: what a thread of 64 MiB compiles, and what a check does in seconds.
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

  @typedoc "`:assert` stands for every format of the schema's draft; a list for its own."
  @type formats :: :annotate | :assert | [String.t()]

  @type option :: limit | {:formats, formats} | {:documents, %{String.t() => schema}}

  @typedoc """
  What one change was: a number or a boolean out of a string, an array or object out of a string of JSON, or a value
  that became the list of it.
  """
  @type repair :: :number | :boolean | :json | :list

  @doc """
  Compiles a schema: a map in either kind of keys, a `McpServer.Schema` or a boolean.

  | option | default | meaning |
  |---|---|---|
  | `:formats` | `:annotate` | which formats strings have to have: `:annotate` (none), `:assert` (all that are known) or a list of names |
  | `:documents` | `%{}` | schemas that this one may refer to, by their absolute URIs |
  | `:max_bytes` | 256 KiB | JSON text, in bytes |
  | `:max_depth` | 64 | subschemas inside each other |
  | `:max_subschemas` | 2,000 | subschemas in all |
  | `:max_regex_bytes` | 1 MiB | memory of one compiled regular expression, in bytes; all of them share sixteen times as much |
  | `:max_refs_on_path` | 64 | references in a row |
  | `:max_steps` | 10 million | looks at the value in one check, some nanoseconds each |
  | `:max_problems` | 20 | problems that are reported for one value; 20 at most |

  Limits are for the schema and its documents together. A document that names no dialect is written in the schema's.

      iex> documents = %{"https://example.com/amount" => %{"type" => "number", "minimum" => 0}}
      iex> schema = %{"properties" => %{"price" => %{"$ref" => "https://example.com/amount"}}}
      iex> {:ok, validator} = McpServer.Schema.Validator.compile(schema, documents: documents)
      iex> {:error, error} = McpServer.Schema.Validator.validate(validator, %{"price" => -1})
      iex> Exception.message(error)
      "/price: must be at least 0 (minimum)"

  The error has `kind: :schema` and one problem. Raises `ArgumentError` for a limit that does not exist, or is none, for
  documents that are not a map with strings as keys, and for formats of another shape.
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
  Checks a value: any term that `McpServer.JSON.encode/2` accepts. Maps may have atoms for keys, and
  atoms count as the strings they are written as.

  The error has `kind: :value` and up to 20 problems. A schema that was not compiled before is compiled
  on the spot, and the error may be about that.
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
  Checks a value as `validate/2` does, and repairs one that is not valid where the schema leaves no doubt what was meant.

  The changes are listed in the order in which they were made; a valid value comes back as it is, with none. At most 256
  changes are made, at most 256 KiB of JSON in strings are read, and what is read has the limits of
  `McpServer.JSON.decode/2`. No doubt means that the subschema of the place names one type, that neither it nor any on the
  way to it has `anyOf`, `oneOf`, `allOf`, `not` or `if`, that references lead to it inside the schema, and that the schema
  is written in a draft's own dialect. The error is `validate/2`'s.

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
