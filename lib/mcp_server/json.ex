defmodule McpServer.JSON do
  @moduledoc """
  Encodes and decodes JSON with the native core.

      iex> McpServer.JSON.encode!(%{name: "add", arguments: [1, 2.0, nil]})
      ~s({"arguments":[1,2.0,null],"name":"add"})

      iex> McpServer.JSON.decode(~s({"id": 123456789012345678901234567890}))
      {:ok, %{"id" => 123456789012345678901234567890}}

  ## Conversion

  | term | JSON |
  |---|---|
  | binary | string; it must be UTF-8 |
  | `nil`, `true`, `false` | `null`, `true`, `false` |
  | any other atom | string |
  | integer of at most 100,000 digits | number, every digit of it |
  | float | number; the shortest text that decodes to the same float, always with a fraction or an exponent |
  | list | array; improper lists are refused |
  | map | object with sorted keys (binaries, atoms, integers); two keys with the same text are refused |
  | `Date`, `Time`, `NaiveDateTime`, `DateTime` | string, ISO 8601 |
  | `Decimal` | string |
  | a struct of this library, such as `McpServer.Tool` | its MCP object: camelCase keys, `nil` fields left out |
  | any other struct | the result of its `McpServer.JSON.Encoder`, `Jason.Encoder` or `JSON.Encoder`; without one it is refused |
  | tuple, pid, port, reference, function, bitstring | refused |

  The same term always gives the same text. Terms may be nested 128 deep.

  Decoding returns maps with binary keys, lists, binaries, integers, floats, `true`, `false` and `nil`. It never creates
  atoms, and refuses ambiguous text: equal keys in one object (unless an option allows them), lone surrogates, numbers
  beyond the range of floats.

  ## Structs

  The fields of a struct are not encoded by default, because one of them may be a secret. Your struct lists the fields
  that are sent:

      defmodule MyApp.User do
        @derive {McpServer.JSON.Encoder, only: [:id, :name]}
        defstruct [:id, :name, :password_hash]
      end

  A struct with its own implementation of `Jason.Encoder` or Elixir's `JSON.Encoder` is encoded with it. Other structs
  are an error that names the struct. So are `MapSet`, `Range`, `URI` and exceptions: convert them to lists, maps or
  strings. This applies to all encoded data: results of tools, stored rows, error data. `McpServer.JSON.Encoder` has the
  details.

  ## Schedulers

  A text of more than 96 KiB, or of more than 8,000 values, is decoded on a dirty CPU scheduler. A text of more than 96
  KiB is encoded there; plain text counts as a sixteenth, and an integer beyond 64 bits as the square of its digits. One
  dirty scheduler is always free for other code; calls wait if the others are busy.
  """

  alias McpServer.JSON.{DecodeError, EncodeError, Structs}
  alias McpServer.{Limit, Native}

  @inline_bytes Native.Dirty.inline_bytes()
  @inline_values 8_000

  # Below this no string is long enough to be a view.
  @view_bytes 4 * 1024

  @limits [max_bytes: 10 * 1024 * 1024, max_depth: 128, max_values: 200_000, max_digits: 1024]
  # The form that the core reads, and the position of `max_values` in it.
  @default_options {@limits[:max_bytes], @limits[:max_depth], @limits[:max_values], @limits[:max_digits], false}
  @max_values 2
  # Decoding an integer takes time quadratic in its digits. The writer has the same limit of digits.
  @most [
    max_bytes: :bytes,
    max_depth: {:count, 100_000},
    max_values: {:count, 100_000_000},
    max_digits: {:count, 100_000}
  ]

  @typedoc "Keys in order, each alone or with the order of its value; a list passes its order to its elements."
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
  | `:order` | `[]` | the first keys, at each level: `["q", {"rows", ["id", "title"]}]`; the other keys follow, sorted |

  The error's `:kind` is one of `:unsupported`, `:invalid_utf8`, `:improper_list`, `:invalid_key`, `:key_collision`,
  `:too_deep`, `:missing_field`, `:invalid_field`, `:unknown_struct` and `:encoder_failed`; its `:path` is the place in
  the term. See `McpServer.JSON.EncodeError`.

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

  @doc "Like `encode/2`, but returns the text and raises `McpServer.JSON.EncodeError`."
  @spec encode!(term, [encode_option]) :: String.t()
  def encode!(term, options \\ []), do: bang!(encode(term, options))

  @doc """
  Like `encode/2`, for APIs that need iodata. The result is a binary.
  """
  @spec encode_to_iodata(term, [encode_option]) :: {:ok, iodata} | {:error, EncodeError.t()}
  def encode_to_iodata(term, options \\ []), do: encode(term, options)

  @doc "Like `encode_to_iodata/2`, but returns the text and raises `McpServer.JSON.EncodeError`."
  @spec encode_to_iodata!(term, [encode_option]) :: iodata
  def encode_to_iodata!(term, options \\ []), do: encode!(term, options)

  @doc """
  The term of a JSON text.

  | option | default | meaning |
  |---|---|---|
  | `:max_bytes` | 10 MiB | bytes of text |
  | `:max_depth` | 128 | nesting of arrays and objects |
  | `:max_values` | 200,000 | values in all: scalars, arrays and objects, not keys |
  | `:max_digits` | 1,024 | digits of one number |
  | `:duplicate_keys` | `:refuse` | `:last` takes the last of equal keys, as most decoders do; messages of MCP are never decoded this way |

  The error's `:kind` is one of `:syntax`, `:unexpected_end`, `:trailing_bytes`, `:invalid_utf8`, `:control_character`,
  `:invalid_escape`, `:lone_surrogate`, `:invalid_number`, `:number_out_of_range`, `:too_many_digits`, `:too_large`,
  `:too_deep`, `:too_many_values` and `:duplicate_key`; its `:offset` is the place in bytes. See
  `McpServer.JSON.DecodeError`.

      iex> {:error, error} = McpServer.JSON.decode("[1,]")
      iex> {error.kind, error.offset}
      {:syntax, 3}
      iex> McpServer.JSON.decode(~s({"a": 1, "a": 2}), duplicate_keys: :last)
      {:ok, %{"a" => 2}}

  Strings are copied, so that a stored string does not keep the whole text in memory. Only a string of at least 4 KiB
  and a quarter of the text refers to the text, unless the text is part of a larger binary.

  Raises `ArgumentError` for an unknown option or an invalid limit, such as `max_bytes: :infinity`.
  """
  @spec decode(binary, [decode_option]) :: {:ok, term} | {:error, DecodeError.t()}
  def decode(text, options \\ []) when is_binary(text) do
    with {:error, {kind, offset}} <- read(text, decode_options(options), views?(text)) do
      {:error, %DecodeError{kind: kind, offset: offset}}
    end
  end

  @doc "Like `decode/2`, but returns the term and raises `McpServer.JSON.DecodeError`."
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
