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
  | `items:` | of an `:array`: the type of its elements, or their JSON Schema |
  | `enum:`, `default:`, `const:`, `examples:` | as in JSON Schema |
  | `min_length:`, `max_length:`, `pattern:`, `format:` | of strings |
  | `minimum:`, `maximum:`, `exclusive_minimum:`, `exclusive_maximum:`, `multiple_of:` | of numbers |
  | `min_items:`, `max_items:`, `unique_items:` | of arrays |
  | `min_properties:`, `max_properties:`, `additional_properties:` | of objects |
  | `title:`, `deprecated:`, `read_only:`, `write_only:`, `content_encoding:`, `content_media_type:` | as in JSON Schema |
  | `"x-…":` | any extension, verbatim |

  Every option can be spelled as in JSON Schema too (`minLength:`). The type is one of `:string`,
  `:integer`, `:number`, `:boolean`, `:array`, `:object` and `:null`, or a list of these.
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
