defmodule McpServer.JSON do
  @moduledoc """
  JSON text of terms, and terms of JSON text, by the native core.

      iex> McpServer.JSON.encode!(%{name: "add", arguments: [1, 2.0, nil]})
      ~s({"arguments":[1,2.0,null],"name":"add"})

      iex> McpServer.JSON.decode(~s({"id": 123456789012345678901234567890}))
      {:ok, %{"id" => 123456789012345678901234567890}}

  ## What becomes what

  | term | JSON |
  |---|---|
  | binary | string; it must be UTF-8 |
  | `nil`, `true`, `false` | `null`, `true`, `false` |
  | any other atom | string |
  | integer of at most 100,000 digits | number, every digit of it |
  | float | number; the shortest that reads back the same, always with a fraction or an exponent |
  | list | array; improper lists are refused |
  | map | object with its keys (binaries, atoms, integers) verbatim and sorted; two that are the same text are refused |
  | `Date`, `Time`, `NaiveDateTime`, `DateTime` | string, ISO 8601 |
  | `Decimal` | string |
  | a struct of this library, such as `McpServer.Tool` | its MCP object: camelCase keys, `nil` fields left out |
  | any other struct | what its own rule says: `McpServer.JSON.Encoder`, `Jason.Encoder` or `JSON.Encoder`; without one it is refused |
  | tuple, pid, port, reference, function, bitstring | refused |

  The same term always gives the same text. Terms may be nested 128 deep.

  Reading gives maps with binary keys, lists, binaries, integers, floats, `true`, `false` and `nil`. It
  never makes an atom, and it refuses what could be understood in two ways: equal keys in one object
  (unless told which of them counts), lone surrogates, numbers beyond the range of floats.

  ## Structs

  No struct is written by the fields it happens to have: one of them may be a secret. A struct of yours says what is
  sent:

      defmodule MyApp.User do
        @derive {McpServer.JSON.Encoder, only: [:id, :name]}
        defstruct [:id, :name, :password_hash]
      end

  A struct that has an implementation of its own of `Jason.Encoder` or of Elixir's `JSON.Encoder` is written by that. Any
  other is an error that names the struct; so are `MapSet`, `Range`, `URI` and exceptions, which you turn into lists,
  maps or strings. This holds for whatever is encoded: results of tools, stored rows, error data. `McpServer.JSON.Encoder`
  has the details.

  ## Schedulers

  A text of more than 96 KiB, or of more than 8,000 values, is read on a dirty CPU scheduler, and one of
  more than 96 KiB is written there, plain text counted as a sixteenth and an integer beyond 64 bits by the
  square of its digits. One of those schedulers is always
  left to others; a call that finds the rest taken waits for its turn.
  """

  alias McpServer.JSON.{DecodeError, EncodeError, Structs}
  alias McpServer.{Limit, Native}

  @inline_bytes Native.Dirty.inline_bytes()
  @inline_values 8_000

  # Below this no string is long enough to be a view.
  @view_bytes 4 * 1024

  @limits [max_bytes: 10 * 1024 * 1024, max_depth: 128, max_values: 200_000, max_digits: 1024]
  # What the core reads, with the place of `max_values` in it.
  @default_options {@limits[:max_bytes], @limits[:max_depth], @limits[:max_values], @limits[:max_digits], false}
  @max_values 2
  # The most they can be: an integer's digits take time by their square. As many digits are written.
  @most [
    max_bytes: :bytes,
    max_depth: {:count, 100_000},
    max_values: {:count, 100_000_000},
    max_digits: {:count, 100_000}
  ]

  @typedoc "Keys in order, each alone or with the order of what is under it; a list hands it on to its elements."
  @type order :: [String.t() | {String.t(), order}]

  @type encode_option :: {:pretty, boolean} | {:order, order}
  @type decode_option ::
          {:max_bytes, pos_integer}
          | {:max_depth, pos_integer}
          | {:max_values, pos_integer}
          | {:max_digits, pos_integer}
          | {:duplicate_keys, :refuse | :last}

  @doc """
  The JSON text of a term.

  | option | default | |
  |---|---|---|
  | `:pretty` | `false` | one member a line, two spaces a level |
  | `:order` | `[]` | the keys that come first, at each level: `["q", {"rows", ["id", "title"]}]`; the others follow, sorted |

  The error's `:kind` is one of `:unsupported`, `:invalid_utf8`, `:improper_list`, `:invalid_key`,
  `:key_collision`, `:too_deep`, `:missing_field`, `:invalid_field`, `:unknown_struct` and `:encoder_failed`; its `:path` says where in the
  term. See `McpServer.JSON.EncodeError`.

      iex> {:error, error} = McpServer.JSON.encode(%{"rows" => [1, self()]})
      iex> {error.kind, error.path}
      {:unsupported, ["rows", 1]}
      iex> McpServer.JSON.encode(%{"a" => 1, "q" => "x", "b" => [%{"t" => 2, "id" => 3}]}, order: ["q", {"b", ["t"]}])
      {:ok, ~s({"q":"x","b":[{"t":2,"id":3}],"a":1})}
  """
  @spec encode(term, [encode_option]) :: {:ok, String.t()} | {:error, EncodeError.t()}
  def encode(term, options \\ []) do
    options = encode_options(options)

    result =
      Structs.write(term, fn term ->
        with :over_budget <- Native.json_encode(term, options) do
          Native.Dirty.call(fn -> Native.json_encode_dirty(term, options) end)
        end
      end)

    with {:error, reason} <- result, do: {:error, EncodeError.new(reason)}
  end

  @doc "As `encode/2`, but gives the text itself and raises `McpServer.JSON.EncodeError`."
  @spec encode!(term, [encode_option]) :: String.t()
  def encode!(term, options \\ []), do: bang!(encode(term, options))

  @doc """
  As `encode/2`. The text is made in one piece, so the iodata is a binary; use it where iodata is
  asked for.
  """
  @spec encode_to_iodata(term, [encode_option]) :: {:ok, iodata} | {:error, EncodeError.t()}
  def encode_to_iodata(term, options \\ []), do: encode(term, options)

  @doc "As `encode_to_iodata/2`, but gives the text itself and raises `McpServer.JSON.EncodeError`."
  @spec encode_to_iodata!(term, [encode_option]) :: iodata
  def encode_to_iodata!(term, options \\ []), do: encode!(term, options)

  @doc """
  The term of a JSON text.

  | option | default | what it limits or means |
  |---|---|---|
  | `:max_bytes` | 10 MiB | bytes of text |
  | `:max_depth` | 128 | arrays and objects inside each other |
  | `:max_values` | 200,000 | values in all: scalars, arrays and objects, not keys |
  | `:max_digits` | 1,024 | digits of one number |
  | `:duplicate_keys` | `:refuse` | `:last` takes the last of equal keys, as most readers do; messages of MCP are never read so |

  The error's `:kind` is one of `:syntax`, `:unexpected_end`, `:trailing_bytes`, `:invalid_utf8`,
  `:control_character`, `:invalid_escape`, `:lone_surrogate`, `:invalid_number`,
  `:number_out_of_range`, `:too_many_digits`, `:too_large`, `:too_deep`, `:too_many_values` and
  `:duplicate_key`; its `:offset` says at which byte. See `McpServer.JSON.DecodeError`.

      iex> {:error, error} = McpServer.JSON.decode("[1,]")
      iex> {error.kind, error.offset}
      {:syntax, 3}
      iex> McpServer.JSON.decode(~s({"a": 1, "a": 2}), duplicate_keys: :last)
      {:ok, %{"a" => 2}}

  Strings are copied out of the text, so that keeping one does not keep all of the text. Only one of at
  least 4 KiB that is a quarter of the text or more is a part of the text itself; and none is where the text
  is itself a part of a larger binary.

  Raises `ArgumentError` for an option that does not exist, or is no limit: `max_bytes: :infinity`.
  """
  @spec decode(binary, [decode_option]) :: {:ok, term} | {:error, DecodeError.t()}
  def decode(text, options \\ []) when is_binary(text) do
    with {:error, {kind, offset}} <- read(text, decode_options(options), views?(text)) do
      {:error, %DecodeError{kind: kind, offset: offset}}
    end
  end

  @doc "As `decode/2`, but gives the term itself and raises `McpServer.JSON.DecodeError`."
  @spec decode!(binary, [decode_option]) :: term
  def decode!(text, options \\ []), do: bang!(decode(text, options))

  defp read(text, options, views?) when byte_size(text) <= @inline_bytes do
    max_values = elem(options, @max_values)

    case Native.json_decode(text, put_elem(options, @max_values, min(max_values, @inline_values)), views?) do
      {:error, {:too_many_values, _offset}} when max_values > @inline_values -> read_dirty(text, options, views?)
      result -> result
    end
  end

  defp read(text, options, views?), do: read_dirty(text, options, views?)

  defp read_dirty(text, options, views?) do
    Native.Dirty.call(fn -> Native.json_decode_dirty(text, options, views?) end)
  end

  # A view into a part of a binary keeps all of that binary.
  defp views?(text), do: byte_size(text) >= @view_bytes and :binary.referenced_byte_size(text) <= byte_size(text)

  defp encode_options([]), do: {false, nil, []}

  defp encode_options(options) do
    [order: order, pretty: pretty] = options |> Keyword.validate!(pretty: false, order: []) |> Enum.sort()
    is_boolean(pretty) || raise ArgumentError, "expected :pretty to be a boolean, got: #{inspect(pretty)}"

    order?(order) ||
      raise ArgumentError,
            "expected :order to be a list of strings and {string, order}, got: #{inspect(order, limit: 5)}"

    {pretty, nil, order}
  end

  defp order?([]), do: true
  defp order?([{key, inner} | rest]), do: is_binary(key) and order?(inner) and order?(rest)
  defp order?([key | rest]), do: is_binary(key) and order?(rest)
  defp order?(_other), do: false

  defp decode_options([]), do: @default_options

  defp decode_options(options) do
    {keys, limits} = Keyword.pop(options, :duplicate_keys, :refuse)

    keys in [:refuse, :last] ||
      raise ArgumentError, "expected :duplicate_keys to be :refuse or :last, got: #{inspect(keys)}"

    Limit.check_all!(limits, @most, [:duplicate_keys])
    {max_bytes, max_depth, max_values, max_digits, _last?} = @default_options

    {
      Keyword.get(limits, :max_bytes, max_bytes),
      Keyword.get(limits, :max_depth, max_depth),
      Keyword.get(limits, :max_values, max_values),
      Keyword.get(limits, :max_digits, max_digits),
      keys == :last
    }
  end

  @doc false
  @spec plan_struct(module, [atom]) :: :ok
  def plan_struct(module, fields), do: Native.json_plan_struct(module, fields)

  @doc false
  @spec knows_struct?(module) :: boolean
  def knows_struct?(module), do: Native.json_knows_struct(module)

  defp bang!({:ok, value}), do: value
  defp bang!({:error, error}), do: raise(error)
end
