defmodule McpServer.JSON.EncodeError do
  @moduledoc """
  A term that cannot be encoded as JSON.

  | field | |
  |---|---|
  | `:kind` | the kind of problem, see below |
  | `:path` | the place: map keys (strings) and list indexes (from 0), from the outside in |
  | `:detail` | the type that was found or expected; never the value itself |

  | kind | the term at the path |
  |---|---|
  | `:unsupported` | has no form in JSON: a tuple, a pid, a function … |
  | `:invalid_utf8` | is a binary, or has one for a key, that is not UTF-8 |
  | `:improper_list` | is an improper list |
  | `:invalid_key` | is a map with a key that is no binary, atom or integer |
  | `:key_collision` | is a map with two keys of the same text, such as `:a` and `"a"` |
  | `:too_deep` | is nested too deeply |
  | `:missing_field` | is a required field of an MCP object |
  | `:invalid_field` | is a field of an MCP object with an invalid value |
  | `:unknown_struct` | is a struct without a rule for its fields; `:detail` is its module |
  | `:encoder_failed` | is a struct whose encoder raised; `:detail` names the encoder and the exception |

      iex> {:error, error} = McpServer.JSON.encode(%{"content" => ["a", <<255>>]})
      iex> Exception.message(error)
      "cannot encode a binary that is not UTF-8, at /content/1"
      iex> {:error, error} = McpServer.JSON.encode(%{"pages" => 1..3})
      iex> error |> Exception.message() |> String.split(". ") |> hd()
      "cannot encode the struct %Range{}, at /pages"
  """

  @enforce_keys [:kind]
  defexception [:kind, path: [], detail: ""]

  @type kind ::
          :unsupported
          | :invalid_utf8
          | :improper_list
          | :invalid_key
          | :key_collision
          | :too_deep
          | :missing_field
          | :invalid_field
          | :unknown_struct
          | :encoder_failed
  @type t :: %__MODULE__{kind: kind, path: [String.t() | non_neg_integer], detail: String.t()}

  @longest_step 64

  @doc false
  @spec new({kind, [String.t() | non_neg_integer], String.t()}) :: t
  def new({kind, path, detail}), do: %__MODULE__{kind: kind, path: path, detail: detail}

  @advice "A struct is sent by a rule of its own only. Where it is yours, name the fields above its defstruct: " <>
            "@derive {McpServer.JSON.Encoder, only: [...]}. Otherwise send a map of what is wanted, or implement " <>
            "McpServer.JSON.Encoder, Jason.Encoder or JSON.Encoder for it"

  @impl true
  def message(%__MODULE__{kind: :unknown_struct, path: path, detail: module}),
    do: "cannot encode the struct %#{module}{}#{at(path)}. #{@advice}"

  def message(%__MODULE__{kind: kind, path: path, detail: detail}), do: "#{fault(kind, detail)}#{at(path)}"

  defp fault(kind, detail) when kind in [:unsupported, :invalid_utf8, :improper_list, :invalid_key],
    do: "cannot encode #{detail}"

  defp fault(_kind, detail), do: detail

  defp at([]), do: ""
  defp at(path), do: ", at /" <> Enum.map_join(path, "/", &step/1)

  # Keys can be arbitrarily long.
  defp step(key) when is_binary(key) and byte_size(key) > @longest_step, do: String.slice(key, 0, @longest_step) <> "…"
  defp step(step), do: to_string(step)
end
