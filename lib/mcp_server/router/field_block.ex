defmodule McpServer.Router.FieldBlock do
  @moduledoc """
  The statements inside the block of a field: `field/5` for an `:object`, `items/3` for an `:array`.

      input_field "users", "People to invite", :array, required: true do
        items :object do
          field "email", "Address", :string, required: true, format: "email"
          field "roles", "Roles", :array, items: :string
        end
      end
  """

  alias McpServer.Router.{Field, Refusal, Statement}

  @doc """
  A property of the object around it.

  | option | meaning |
  |---|---|
  | `required:` | whether the property is required (`false`) |
  | `default:` | the value of a missing argument; not together with `required: true` |
  | `items:` | for an `:array`: the type of the elements, or their JSON Schema |
  | `enum:`, `const:`, `examples:` | as in JSON Schema |
  | `min_length:`, `max_length:`, `pattern:`, `format:` | for strings |
  | `minimum:`, `maximum:`, `exclusive_minimum:`, `exclusive_maximum:`, `multiple_of:` | for numbers |
  | `min_items:`, `max_items:`, `unique_items:` | for arrays |
  | `min_properties:`, `max_properties:`, `additional_properties:` | for objects |
  | `undeclared:` | for objects in arguments: `:refuse`, `:drop` or `:pass` members that no field declares (default: as in the outer object) |
  | `struct:` | for objects in arguments: the struct of the value |
  | `title:`, `deprecated:`, `read_only:`, `write_only:`, `content_encoding:`, `content_media_type:` | as in JSON Schema |
  | `"x-…":` | any extension, verbatim |

  Options may also have their names in JSON Schema (`minLength:`). A `format:` is a format of JSON Schema.

  The type is one of `:string`, `:integer`, `:number`, `:boolean`, `:array`, `:object` and `:null`, one of the types
  below, or a list of types, such as `[:date, :null]`. An `[:object, :null]` has a block, too. Arguments of the types
  below are strings that arrive as Elixir values; invalid strings are refused. A `:decimal` may also be a number, but only
  a string keeps the digits that were sent: `12.50` is `12.5` then.

  | type | arrives as | published as | examples |
  |---|---|---|---|
  | `:date` | `Date` | `format: "date"` | `2026-01-31` |
  | `:time` | `Time` | `format: "time"` | `09:30`, `09:30:00.5`, `09:30:00Z`; another offset is refused, as `Time` has none |
  | `:datetime` | `DateTime` in UTC | `format: "date-time"` | `2026-01-31T09:30:00+01:00` |
  | `:naive_datetime` | `NaiveDateTime` | a `pattern`, as JSON Schema has no such format | `2026-01-31T09:30:00` |
  | `:decimal` | `Decimal` | a string with a `pattern`, as above, or a number; at most 1,000 digits | `"12.50"`, `"1e3"`, `12.5` |
  | `:uuid` | a string in small letters | `format: "uuid"` | `123e4567-e89b-12d3-a456-426614174000` |
  | `:text` | the same string | a string; NUL characters are refused, as by PostgreSQL | `Ada` |
  | `:uri` | `URI`, as `URI.new/1` makes it | `format: "uri"` | `https://example.com/path` |

  A number without a fraction, such as `5.0`, is a valid `:integer` and arrives as `5`, also with `input_schema:`.
  `:decimal` needs the package `decimal`: without it the router does not compile. Years are 0 to 9999. In results the
  types only determine the published schema.
  """
  defmacro field(name, description \\ [], type \\ [], options \\ [], block \\ []),
    do: declare(:properties, [name, description, type, options, block], __CALLER__)

  @doc "The type of the array's elements: `items :string`. Options and blocks are those of `field/5`."
  defmacro items(type \\ [], options \\ [], block \\ []) do
    arguments = [type, options, block]
    {[type], options, block} = Statement.split(arguments)
    tail = Statement.tail(arguments, block != nil)

    quote do
      Field.open_items!(__MODULE__, unquote(type), unquote(options), unquote(tail), unquote(Refusal.place(__CALLER__)))
      unquote(close(block))
    end
  end

  # Also behind `input_field` and `output_field`.
  @doc false
  @spec declare(atom, [Macro.t()], Macro.Env.t()) :: Macro.t()
  def declare(into, arguments, caller) do
    {[name, description, type], options, block} = Statement.split(arguments)

    quote do
      Field.open!(
        __MODULE__,
        unquote(into),
        unquote(name),
        {unquote(description), unquote(type)},
        unquote(options),
        unquote(Statement.tail(arguments, block != nil)),
        unquote(Refusal.place(caller))
      )

      unquote(close(block))
    end
  end

  defp close(block) do
    quote do
      unquote(Statement.within(block, [__MODULE__]))
      Field.close!(__MODULE__, unquote(block != nil))
    end
  end
end
