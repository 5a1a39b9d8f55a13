defmodule McpServer.Router.FieldBlock do
  @moduledoc """
  The statements inside the block of a field: `field/5` in that of an `:object`, `items/3` in that of an
  `:array`.

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
  | `required:` | whether it has to be there (`false`) |
  | `default:` | what an argument is that was left out; not beside `required: true` |
  | `items:` | of an `:array`: the type of its elements, or their JSON Schema |
  | `enum:`, `const:`, `examples:` | as in JSON Schema |
  | `min_length:`, `max_length:`, `pattern:`, `format:` | of strings |
  | `minimum:`, `maximum:`, `exclusive_minimum:`, `exclusive_maximum:`, `multiple_of:` | of numbers |
  | `min_items:`, `max_items:`, `unique_items:` | of arrays |
  | `min_properties:`, `max_properties:`, `additional_properties:` | of objects |
  | `undeclared:` | of objects in arguments: `:refuse`, `:drop` or `:pass` members that no field declares (that of the object around it) |
  | `struct:` | of objects in arguments: the struct that they become |
  | `title:`, `deprecated:`, `read_only:`, `write_only:`, `content_encoding:`, `content_media_type:` | as in JSON Schema |
  | `"x-…":` | any extension, verbatim |

  Every option can be spelled as in JSON Schema too (`minLength:`). A `format:` is one that JSON Schema has.

  The type is one of `:string`, `:integer`, `:number`, `:boolean`, `:array`, `:object` and `:null`, one of those below, or
  a list of these, such as `[:date, :null]`. Arguments of the types below are strings that arrive as Elixir values; a string
  that is none is refused.

  | type | arrives as | published as | examples |
  |---|---|---|---|
  | `:date` | `Date` | `format: "date"` | `2026-01-31` |
  | `:time` | `Time` | `format: "time"` | `09:30`, `09:30:00.5`, `09:30:00Z`; another offset is refused, as `Time` has none |
  | `:datetime` | `DateTime` in UTC | `format: "date-time"` | `2026-01-31T09:30:00+01:00` |
  | `:naive_datetime` | `NaiveDateTime` | a `pattern`, as JSON Schema has no such format | `2026-01-31T09:30:00` |
  | `:decimal` | `Decimal` | a `pattern`, as above; at most 1,000 digits | `12.50`, `1e3` |
  | `:uuid` | a string in small letters | `format: "uuid"` | `123e4567-e89b-12d3-a456-426614174000` |
  | `:uri` | `URI`, as `URI.new/1` makes it | `format: "uri"` | `https://example.com/path` |

  A number without a fraction such as `5.0` fits an `:integer`, and arrives as `5`, also with a schema given whole.
  `:decimal` needs the package `decimal`: without it the router is not compiled. Years are 0 to 9999. In results the
  types only say what is published.
  """
  defmacro field(name, description \\ [], type \\ [], options \\ [], block \\ []),
    do: declare(:properties, [name, description, type, options, block], __CALLER__)

  @doc "What the elements of the array around it are: `items :string`. Options and blocks are those of `field/5`."
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
