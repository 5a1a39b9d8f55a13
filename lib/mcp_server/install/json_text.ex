defmodule McpServer.Install.JsonText do
  @moduledoc false
  # Adds a member to an object in a JSON text, or removes it. All other bytes stay, because the order of keys and the
  # layout belong to the file's owner.
  #
  # The caller has checked that the text is JSON with an object at its root.

  alias McpServer.JSON

  @blank [?\s, ?\t, ?\r, ?\n]

  @typedoc "A member: its key, its start, the start of its value, and its end."
  @type member :: {key :: String.t(), from :: non_neg_integer(), value :: non_neg_integer(), to :: non_neg_integer()}

  @doc """
  The text with a member `name` in the object `key` of its root. `render` returns the member's value for a unit and a
  depth of indentation.
  """
  @spec put(String.t(), String.t(), String.t(), (unit :: String.t(), indentation :: String.t() -> String.t())) ::
          {:ok, String.t()} | {:error, :not_an_object}
  def put(text, key, name, render) do
    root = object(text, skip(text, 0))
    unit = unit(text, root)

    case member(root, key) do
      nil ->
        inner =
          "{\n" <> unit <> unit <> JSON.encode!(name) <> ": " <> render.(unit, unit <> unit) <> "\n" <> unit <> "}"

        {:ok, insert(text, root, unit, "", JSON.encode!(key) <> ": " <> inner)}

      {_key, _from, value, _to} ->
        if :binary.at(text, value) == ?{,
          do: {:ok, put_inner(text, value, unit, name, render)},
          else: {:error, :not_an_object}
    end
  end

  defp put_inner(text, value, unit, name, render) do
    object = object(text, value)
    indentation = indentation(text, object) || unit <> unit

    case member(object, name) do
      {_name, _from, from, to} -> splice(text, from, to, lines(render.(unit, indentation), text))
      nil -> insert(text, object, indentation, unit, JSON.encode!(name) <> ": " <> render.(unit, indentation))
    end
  end

  @doc "The text without the member `name` in the object `key` of its root."
  @spec delete(String.t(), String.t(), String.t()) :: String.t()
  def delete(text, key, name) do
    with {_key, _from, value, _to} <- member(object(text, skip(text, 0)), key),
         ?{ <- :binary.at(text, value),
         object = object(text, value),
         {_name, from, _value, to} <- member(object, name) do
      remove(text, object, from, to)
    else
      _absent -> text
    end
  end

  # A comma is removed with the member.
  defp remove(text, %{members: [_only]} = object, _from, _to), do: splice(text, object.open + 1, object.close, "")

  defp remove(text, object, from, to) do
    place = Enum.find_index(object.members, &(elem(&1, 1) == from))

    if place == 0 do
      {_key, next, _value, _to} = Enum.at(object.members, 1)
      splice(text, from, next, "")
    else
      {_key, _from, _value, before} = Enum.at(object.members, place - 1)
      splice(text, before, to, "")
    end
  end

  defp insert(text, %{members: []} = object, indentation, outer, member) do
    splice(text, object.open + 1, object.close, lines("\n" <> indentation <> member <> "\n" <> outer, text))
  end

  defp insert(text, object, indentation, _outer, member) do
    {_key, _from, _value, to} = List.last(object.members)
    splice(text, to, to, lines(",\n" <> indentation <> member, text))
  end

  defp splice(text, from, to, new), do: binary_part(text, 0, from) <> new <> binary_part(text, to, byte_size(text) - to)

  # The new text gets the line ends of the file.
  defp lines(new, text), do: if(String.contains?(text, "\r\n"), do: String.replace(new, "\n", "\r\n"), else: new)

  defp member(object, key), do: Enum.find(object.members, &(elem(&1, 0) == key))

  # One level of indentation: that of the root's first member, or two spaces.
  defp unit(text, root), do: indentation(text, root) || "  "

  defp indentation(_text, %{members: []}), do: nil

  defp indentation(text, %{open: open, members: [{_key, from, _value, _to} | _]}) do
    between = binary_part(text, open + 1, from - open - 1)
    if String.contains?(between, "\n"), do: between |> String.split("\n") |> List.last()
  end

  defp object(text, open), do: members(text, skip(text, open + 1), %{open: open, members: [], close: nil})

  defp members(text, at, object) do
    case :binary.at(text, at) do
      ?} -> %{object | close: at, members: Enum.reverse(object.members)}
      ?, -> members(text, skip(text, at + 1), object)
      ?" -> one(text, at, object)
    end
  end

  defp one(text, from, object) do
    key_end = string(text, from + 1)
    value = skip(text, skip(text, key_end) + 1)
    to = value(text, value)
    key = JSON.decode!(binary_part(text, from, key_end - from))
    members(text, skip(text, to), %{object | members: [{key, from, value, to} | object.members]})
  end

  defp value(text, at) do
    case :binary.at(text, at) do
      ?" -> string(text, at + 1)
      open when open in [?{, ?[] -> nested(text, at + 1, 1)
      _scalar -> scalar(text, at)
    end
  end

  defp nested(_text, at, 0), do: at

  defp nested(text, at, depth) do
    case :binary.at(text, at) do
      ?" -> nested(text, string(text, at + 1), depth)
      open when open in [?{, ?[] -> nested(text, at + 1, depth + 1)
      close when close in [?}, ?]] -> nested(text, at + 1, depth - 1)
      _other -> nested(text, at + 1, depth)
    end
  end

  defp scalar(text, at) do
    if at < byte_size(text) and :binary.at(text, at) not in [?,, ?}, ?] | @blank], do: scalar(text, at + 1), else: at
  end

  defp string(text, at) do
    case :binary.at(text, at) do
      ?" -> at + 1
      ?\\ -> string(text, at + 2)
      _byte -> string(text, at + 1)
    end
  end

  defp skip(text, at), do: if(:binary.at(text, at) in @blank, do: skip(text, at + 1), else: at)
end
