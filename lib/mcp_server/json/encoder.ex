defprotocol McpServer.JSON.Encoder do
  @moduledoc """
  Selects the fields of a struct that are sent.

  A struct may contain a secret, such as a password's hash, or an association that was not loaded. So the library never
  encodes all fields by default: the struct names the fields that are sent.

      defmodule MyApp.User do
        @derive {McpServer.JSON.Encoder, only: [:id, :name]}
        defstruct [:id, :name, :password_hash]
      end

      McpServer.JSON.encode!(%MyApp.User{id: 7, name: "Ada", password_hash: "$2b$…"})
      #=> {"id":7,"name":"Ada"}

  | option | |
  |---|---|
  | `:only` | the fields that are sent |
  | `:except` | the fields that are not sent; fields added later are sent, so prefer `:only` |

  The names are checked while your module compiles. The native core encodes the fields as fast as those of a map: `nil`
  as `null`, the keys sorted.

  ## Other rules

  A struct is encoded by the first of these rules that exists:

    1. this protocol, derived or implemented
    2. its own implementation of `Jason.Encoder`, derived or written
    3. its own implementation of Elixir's `JSON.Encoder`

  An implementation for `Any` does not count. The output of 2 and 3 is decoded and encoded again, so deriving this
  protocol is faster. A struct without a rule is an error that names the struct, see `McpServer.JSON.EncodeError`.

  A struct that is not sent as an object, or has other names in JSON, implements the protocol:

      defimpl McpServer.JSON.Encoder, for: MyApp.Money do
        def term(money), do: "\#{money.amount} \#{money.currency}"
      end

  For a struct of a library: `Protocol.derive(McpServer.JSON.Encoder, Library.Struct, only: [:id])`.
  """

  @doc "The term to encode in place of the struct."
  @spec term(t) :: term
  def term(struct)
end

defimpl McpServer.JSON.Encoder, for: Any do
  alias McpServer.JSON.Structs

  defmacro __deriving__(module, struct, options) do
    fields = Structs.fields!(module, struct, options)

    quote do
      defimpl McpServer.JSON.Encoder, for: unquote(module) do
        # The native core caches the fields: a reloaded module must replace them.
        @on_load :__loaded__

        def term(struct), do: Map.take(struct, unquote(fields))

        @doc false
        def __fields__, do: unquote(fields)

        @doc false
        def __loaded__, do: unquote(Structs).loaded(unquote(module), unquote(fields))
      end
    end
  end

  def term(value), do: raise(Protocol.UndefinedError, protocol: @protocol, value: value)
end
