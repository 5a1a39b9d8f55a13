defmodule McpServer.Outline do
  @moduledoc false
  # The outline of a term for the log, without texts, because a text can be a client's token. The form of a term usually
  # shows the error. Atoms, numbers, tuples, lists and maps stay. Strings, structs and string keys become placeholders.

  defmodule Placeholder do
    @moduledoc false
    defstruct [:text]

    defimpl Inspect do
      def inspect(%{text: text}, _options), do: text
    end
  end

  @doc """
  Defines the `format_status/1` of a `GenServer`: `status/1`, or the function given as `status:`.

  Elixir declares that callback from 1.17 on.
  """
  defmacro __using__(options) do
    status = Keyword.get(options, :status, quote(do: &unquote(__MODULE__).status/1))

    quote do
      if {:format_status, 1} in GenServer.behaviour_info(:callbacks), do: @impl(true)
      @doc false
      def format_status(status), do: unquote(status).(status)
    end
  end

  # Exceptions whose message is a sentence and a term.
  @terms %{
    MatchError => "no match of right hand side value: ",
    CaseClauseError => "no case clause matching: ",
    WithClauseError => "no with clause matching: ",
    TryClauseError => "no try clause matching: ",
    BadMapError => "expected a map, got: ",
    BadFunctionError => "expected a function, got: "
  }

  # A longer text is cut to this before it is searched for quoted values.
  @max_text_bytes 64 * 1024

  # Deeper and further elements of a term are omitted.
  @max_items 20
  @max_depth 8
  # Since Elixir 1.19 `limit` counts the elements of the whole term. Earlier versions count those of each list.
  @inspect_options [limit: 100, printable_limit: 256, width: 120]

  @doc """
  The outline of a term.

      iex> McpServer.Outline.of({:error, "secret", 36, %{user: "ada"}})
      ~s({:error, #String<6 bytes>, 36, %{user: #String<3 bytes>}})
      iex> McpServer.Outline.of([%{"token" => "secret"}, ~c"secret", %URI{host: "secret"}])
      "[#Map<1 key>, #Charlist<...>, #URI<...>]"
  """
  @spec of(term()) :: String.t()
  def of(term), do: term |> outline(@max_depth) |> inspect(@inspect_options)

  @doc """
  The status of a process with data of clients and applications, for `:sys.get_status/1` and crash reports, without the
  data.
  """
  @spec status(map()) :: map()
  def status(status) do
    status
    |> Map.replace(:log, [])
    |> Map.replace(:message, :hidden)
    |> replace(:state)
    |> replace(:reason)
  end

  defp replace(status, key) when is_map_key(status, key), do: Map.update!(status, key, &of/1)
  defp replace(status, _key), do: status

  @doc """
  A text on one line: control characters become escapes, and so do characters that change the direction of the text.

  A peer's text in the log must neither look like another line nor control a terminal.

      iex> McpServer.Outline.line("done\\n\\e[2Jroot logged in")
      ~S(done\\n\\e[2Jroot logged in)
      iex> McpServer.Outline.line("日本 ü")
      "日本 ü"
  """
  @spec line(binary()) :: String.t()
  def line(text), do: for(part <- parts(text), into: "", do: part)

  defp parts(<<character::utf8, rest::binary>>), do: [shown(character) | parts(rest)]
  defp parts(<<byte, rest::binary>>), do: ["\\x" <> Base.encode16(<<byte>>) | parts(rest)]
  defp parts(""), do: []

  # C0, DEL and C1; line and paragraph separators; directions of the text.
  defp shown(character)
       when character in 0..0x1F or character in 0x7F..0x9F or character in 0x2028..0x202E or
              character in 0x2066..0x2069,
       do: <<character::utf8>> |> inspect() |> escape(character)

  defp shown(character), do: <<character::utf8>>

  # `inspect/1` escapes control characters only.
  defp escape("\"\\" <> escaped, _character), do: "\\" <> String.trim_trailing(escaped, "\"")
  defp escape(_plain, character), do: "\\u{" <> Integer.to_string(character, 16) <> "}"

  @doc """
  The message of an exception, without the terms that caused it, on one line.

  The message of a `RuntimeError` stays, because its author wrote it. Of other messages the first line stays without
  quoted parts, because they can be terms. A database tells rows in its message: its code, table and constraint stay.

      iex> McpServer.Outline.message(%MatchError{term: {:error, "secret"}})
      "no match of right hand side value: {:error, #String<6 bytes>}"
      iex> McpServer.Outline.message(%ArgumentError{message: ~s(cannot parse "secret" as date)})
      ~s(cannot parse "..." as date)
      iex> McpServer.Outline.message(%ArgumentError{message: "attempted to update a stale struct:\\n\\n%User{id: 7}"})
      "attempted to update a stale struct: ..."
  """
  @spec message(Exception.t()) :: String.t()
  def message(exception), do: exception |> said() |> line()

  defp said(%module{term: term}) when is_map_key(@terms, module), do: @terms[module] <> of(term)
  defp said(%KeyError{key: key, term: term}), do: "key #{of(key)} not found in: #{of(term)}"

  # Elixir 1.20 does not have this exception.
  defp said(%{__struct__: BadStructError, struct: struct, term: term}),
    do: "expected a struct named #{inspect(struct)}, got: #{of(term)}"

  defp said(%BadBooleanError{operator: operator, term: term}),
    do: "expected a boolean on left-side of #{inspect(operator)}, got: #{of(term)}"

  defp said(%BadArityError{function: function, args: args}),
    do: "#{inspect(function)} called with #{length(args)} arguments"

  defp said(%Protocol.UndefinedError{protocol: protocol, value: value}),
    do: "protocol #{inspect(protocol)} not implemented for #{of(value)}"

  # These messages name a function, or are the author's text of `raise "text"`.
  defp said(%module{} = exception) when module in [FunctionClauseError, UndefinedFunctionError, RuntimeError],
    do: text(exception)

  # The exceptions of Postgrex, MyXQL and Tds. Names of a schema are no data.
  defp said(%{__exception__: true, postgres: %{code: code} = error}),
    do: Enum.join(["postgres: #{code(code)}" | named(error, [:table, :column, :constraint])], ", ")

  defp said(%{__exception__: true, mysql: %{name: name, code: code}}), do: "mysql: #{code(name)}, #{code(code)}"
  defp said(%{__exception__: true, mssql: %{number: number}}), do: "mssql: error #{code(number)}"

  defp said(exception), do: exception |> text() |> without_quoted() |> first_line()

  defp code(code) when is_atom(code), do: Atom.to_string(code)
  defp code(code), do: of(code)

  defp named(error, keys), do: for(key <- keys, name = error[key], is_binary(name), do: "#{key} #{name}")

  # Further lines are a library's inspected structs, or the details of a database.
  defp first_line(text) do
    case String.split(text, "\n", parts: 2) do
      [line, rest] -> if String.trim(rest) == "", do: line, else: line <> " ..."
      [line] -> line
    end
  end

  # `message/1` of a user's exception is user code, so its text may be long or invalid.
  defp text(exception) do
    text = Exception.message(exception)
    text = binary_part(text, 0, min(byte_size(text), @max_text_bytes))
    if text?(text), do: text, else: "an exception whose message is no text"
  end

  # The text may have been cut inside a character.
  defp text?(text), do: not match?({:error, _text, _rest}, :unicode.characters_to_binary(text))

  defp without_quoted(text), do: Regex.replace(quoted(), text, "\"...\"")

  # Libraries quote inspected values. The expression does not backtrack, because the text is arbitrary.
  defp quoted, do: ~r/"(?:[^"\\]++|\\.)*+(?:"|\z)|(?<!\w)'(?:[^'\\]++|\\.)*+'|<<[^>]*+(?:>>|\z)/s
  defp outline(term, _depth) when is_bitstring(term) and not is_binary(term), do: placeholder("Bitstring", "...")
  defp outline(term, _depth) when is_binary(term), do: placeholder("String", "#{byte_size(term)} bytes")
  defp outline(term, 0) when is_tuple(term) or is_list(term) or is_map(term), do: %Placeholder{text: "..."}
  defp outline(term, depth) when is_tuple(term), do: tuple(term, depth - 1)
  defp outline([], _depth), do: []
  defp outline(term, depth) when is_list(term), do: list(term, depth - 1)
  defp outline(%module{}, _depth), do: placeholder(inspect(module), "...")
  defp outline(term, depth) when is_map(term), do: map(term, depth - 1)
  defp outline(term, _depth), do: term

  defp tuple(term, depth) when tuple_size(term) <= @max_items,
    do: term |> Tuple.to_list() |> Enum.map(&outline(&1, depth)) |> List.to_tuple()

  defp tuple(term, _depth), do: placeholder("Tuple", "#{tuple_size(term)} elements")

  # A list of integers can be a charlist.
  defp list(term, depth) do
    if characters?(term, @max_items), do: placeholder("Charlist", "..."), else: elements(term, depth, @max_items)
  end

  defp characters?([character | rest], left) when left > 0 and character in 0..0x10FFFF, do: characters?(rest, left - 1)
  defp characters?(_rest, 0), do: true
  defp characters?(rest, _left), do: rest == []

  defp elements([element | rest], depth, left) when left > 0,
    do: [outline(element, depth) | elements(rest, depth, left - 1)]

  defp elements([], _depth, _left), do: []
  defp elements([_element | _rest], _depth, _left), do: [%Placeholder{text: "..."}]
  # The end of an improper list.
  defp elements(rest, depth, _left), do: outline(rest, depth)

  defp map(term, depth) do
    if map_size(term) <= @max_items and Enum.all?(Map.keys(term), &is_atom/1),
      do: Map.new(term, fn {name, value} -> {name, outline(value, depth)} end),
      else: placeholder("Map", if(map_size(term) == 1, do: "1 key", else: "#{map_size(term)} keys"))
  end

  defp placeholder(kind, text), do: %Placeholder{text: "##{kind}<#{text}>"}
end
